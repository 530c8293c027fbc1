// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wafer-pin: a JSON file of what the user wants of kernels becomes their `pin` attributes.
#include "passes/wafer/Passes.h"
#include "runtime/target/Target.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_PINKERNELS
#include "passes/wafer/Passes.h.inc"

namespace {

struct PinKernelsPass : impl::PinKernelsBase<PinKernelsPass> {
  using PinKernelsBase::PinKernelsBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult refuse(const Twine &what) { return getOperation().emitError(file + ": " + what); }

  LogicalResult run() {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!buffer)
      return refuse("the file of pins cannot be read: " + buffer.getError().message());
    auto parsed = llvm::json::parse((*buffer)->getBuffer());
    if (!parsed)
      return refuse(llvm::toString(parsed.takeError()));
    const llvm::json::Object *root = parsed->getAsObject();
    const llvm::json::Object *wanted = root ? root->getObject("kernels") : nullptr;
    if (!wanted || root->size() != 1)
      return refuse(
          "expected one object \"kernels\" of kernels by name, such as {\"kernels\": {\"conv0\": {\"columns\": 4}}}");
    llvm::StringMap<KernelOp> kernels;
    std::string names;
    getOperation().walk([&](KernelOp op) {
      kernels[op.getName()] = op;
      names += (names.empty() ? "" : ", ") + op.getName().str();
    });
    for (const auto &[name, value] : *wanted) {
      auto it = kernels.find(llvm::StringRef(name));
      if (it == kernels.end())
        return refuse("no kernel " + llvm::StringRef(name) + "; there are " + names);
      if (failed(pin(it->second, value)))
        return failure();
    }
    return success();
  }

  LogicalResult pin(KernelOp kernel, const llvm::json::Value &value) {
    std::optional<int64_t> columns, col;
    const llvm::json::Object *fields = value.getAsObject();
    if (!fields || fields->empty())
      return refuse("kernel " + kernel.getName() + ": expected an object with columns, col or both");
    for (const auto &[key, number] : *fields) {
      const llvm::StringRef field(key);
      if (field != "columns" && field != "col")
        return refuse("kernel " + kernel.getName() + ": unknown field " + field +
                      "; columns and col can be pinned, kernels take all rows");
      const int64_t least = field == "columns" ? 1 : 0;
      const std::optional<int64_t> given = number.getAsInteger();
      if (!given || *given < least || *given > target::kMaxMeshSide)
        return refuse("kernel " + kernel.getName() + ": " + field + " must be a whole number from " + Twine(least) +
                      " to " + Twine(target::kMaxMeshSide));
      (field == "columns" ? columns : col) = given;
    }
    kernel.setPinAttr(PinAttr::get(kernel.getContext(), columns, col));
    return success();
  }
};

} // namespace
} // namespace wsc::wafer
