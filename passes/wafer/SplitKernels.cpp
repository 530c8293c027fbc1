// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/SplitKernels.h"

#include "dialects/nn/Nn.h"
#include "passes/wafer/Constants.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace wsc::wafer {

namespace {

RankedTensorType withWidth(Type type, int64_t width) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.back() = width;
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// A copy of `op` that makes `columns` of its result.
KernelOp createPart(OpBuilder &builder, KernelOp op, const Twine &name, const kernels::Columns &columns) {
  auto part = cast<KernelOp>(builder.clone(*op));
  part.setName(name.str());
  part.getResult().setType(withWidth(op.getResult().getType(), columns.count()));
  bool behind = false; // the convolution
  for (Operation &layer : part.getBody().front()) {
    if (auto conv = dyn_cast<nn::ConvOp>(layer)) {
      const int64_t kernel = cast<RankedTensorType>(conv.getWeight().getType()).getShape().back(),
                    input = cast<RankedTensorType>(conv.getInput().getType()).getShape().back(),
                    stride = conv.getStrides()[1], reach = (kernel - 1) * conv.getDilations()[1] + 1;
      SmallVector<int64_t> pads(conv.getPads());
      pads[1] -= columns.begin * stride;
      pads[3] = (columns.count() - 1) * stride + reach - input - pads[1];
      conv.setPads(pads);
      behind = true;
    }
    for (Value result : layer.getResults())
      if (behind && !isConstant(result))
        result.setType(withWidth(result.getType(), columns.count()));
  }
  return part;
}

KernelOp createJoin(OpBuilder &builder, Location loc, ValueRange parts, Type type, const Twine &name) {
  return createKernel(builder, loc, parts, type, name, [&](OpBuilder &inside, ValueRange arguments) -> Value {
    return nn::ConcatOp::create(inside, loc, type, arguments, /*axis=*/3);
  });
}

} // namespace

void splitKernels(NetworkIR &network, ArrayRef<kernels::SplitRequest> requests) {
  for (const kernels::SplitRequest &request : requests) {
    KernelOp op = network.kernelOps[size_t(request.kernel)];
    OpBuilder builder(op);
    SmallVector<Value> parts;
    const int64_t width = network.plan.kernels[size_t(request.kernel)].spec.out.width;
    for (int64_t part = 0; part < request.parts; ++part)
      parts.push_back(
          createPart(builder, op, op.getName() + "." + Twine(part), kernels::columnsOfPart(width, part, request.parts))
              .getResult());
    KernelOp join = createJoin(builder, op.getLoc(), parts, op.getResult().getType(), op.getName() + ".join");
    op.getResult().replaceAllUsesWith(join.getResult());
    op.erase();
  }
}

} // namespace wsc::wafer
