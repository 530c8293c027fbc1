// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wafer-pin: a JSON file of what the user wants of kernels and routes becomes `pin` and `via` attributes.
#include "passes/wafer/NetworkIR.h"
#include "passes/wafer/Passes.h"
#include "runtime/target/Target.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

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
    const llvm::json::Object *kernels = root ? root->getObject("kernels") : nullptr;
    const llvm::json::Object *routes = root ? root->getObject("routes") : nullptr;
    if ((!kernels && !routes) || root->size() != size_t(kernels != nullptr) + size_t(routes != nullptr))
      return refuse(
          "expected an object \"kernels\" of kernels by name, \"routes\" of streams by name, or both, such as "
          "{\"kernels\": {\"conv0\": {\"columns\": 4}}, \"routes\": {\"conv0\": {\"via\": 1}}}");
    if (kernels && failed(pinAll(*kernels, "kernel", opsOfKernels(), &PinKernelsPass::pin)))
      return failure();
    if (!routes)
      return success();
    auto network = readNetwork(getOperation(), Phase::Kernels);
    if (failed(network))
      return failure();
    SmallVector<NamedOp> streams;
    for (auto [op, stream] : llvm::zip(network->streamOps, network->plan.streams))
      if (!stream.layout.silent)
        streams.push_back({stream.name, op});
    return pinAll(*routes, "stream", streams, &PinKernelsPass::pinRoute);
  }

  using NamedOp = std::pair<std::string, Operation *>;

  SmallVector<NamedOp> opsOfKernels() {
    SmallVector<NamedOp> ops;
    getOperation().walk([&](KernelOp op) { ops.push_back({op.getName().str(), op}); });
    return ops;
  }

  /// Calls `pinOne` with the operation and value of every name in `wanted`.
  LogicalResult pinAll(const llvm::json::Object &wanted, StringRef what, ArrayRef<NamedOp> ops,
                       LogicalResult (PinKernelsPass::*pinOne)(StringRef, Operation *, const llvm::json::Value &)) {
    for (const auto &[key, value] : wanted) {
      const StringRef name(key);
      const auto *named = llvm::find_if(ops, [&](const NamedOp &op) { return op.first == name; });
      if (named == ops.end()) {
        std::string names;
        for (const NamedOp &op : ops)
          names += (names.empty() ? "" : ", ") + op.first;
        const StringRef whole = name.rsplit('.').first;
        const bool isPart = whole != name && llvm::any_of(ops, [&](const NamedOp &op) { return op.first == whole; });
        return refuse("no " + what + " " + name + "; " +
                      (isPart ? "parts are made when kernels are sized, pin " + whole + ", which then stays whole"
                              : "there are " + Twine(names)));
      }
      if (failed((this->*pinOne)(name, named->second, value)))
        return failure();
    }
    return success();
  }

  LogicalResult pinRoute(StringRef name, Operation *op, const llvm::json::Value &value) {
    const llvm::json::Object *fields = value.getAsObject();
    const llvm::json::Value *via = fields ? fields->get("via") : nullptr;
    if (!via || fields->size() != 1)
      return refuse("stream " + name + ": expected an object with via, such as {\"via\": 1} or {\"via\": [0, 1]}");
    SmallVector<int32_t> turns;
    auto add = [&](const llvm::json::Value &number) {
      const std::optional<int64_t> given = number.getAsInteger();
      const bool fits = given && std::abs(*given) <= target::kMaxMeshSide;
      if (fits)
        turns.push_back(int32_t(*given));
      return fits;
    };
    bool whole = true;
    if (const llvm::json::Array *list = via->getAsArray())
      whole = !list->empty() && llvm::all_of(*list, add);
    else
      whole = add(*via);
    if (!whole)
      return refuse("stream " + name + ": via must be a whole number from -" + Twine(target::kMaxMeshSide) + " to " +
                    Twine(target::kMaxMeshSide) + ", or a list of such numbers");
    auto attribute = DenseI32ArrayAttr::get(op->getContext(), turns);
    if (auto enter = dyn_cast<EnterOp>(op))
      enter.setViaAttr(attribute);
    else
      cast<KernelOp>(op).setViaAttr(attribute);
    return success();
  }

  LogicalResult pin(StringRef name, Operation *op, const llvm::json::Value &value) {
    std::optional<int64_t> columns, col;
    const llvm::json::Object *fields = value.getAsObject();
    if (!fields || fields->empty())
      return refuse("kernel " + name + ": expected an object with columns, col or both");
    for (const auto &[key, number] : *fields) {
      const llvm::StringRef field(key);
      if (field != "columns" && field != "col")
        return refuse("kernel " + name + ": unknown field " + field +
                      "; columns and col can be pinned, kernels take all rows");
      const int64_t least = field == "columns" ? 1 : 0;
      const std::optional<int64_t> given = number.getAsInteger();
      if (!given || *given < least || *given > target::kMaxMeshSide)
        return refuse("kernel " + name + ": " + field + " must be a whole number from " + Twine(least) + " to " +
                      Twine(target::kMaxMeshSide));
      (field == "columns" ? columns : col) = given;
    }
    cast<KernelOp>(op).setPinAttr(PinAttr::get(op->getContext(), columns, col));
    return success();
  }
};

} // namespace
} // namespace wsc::wafer
