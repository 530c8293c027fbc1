// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/import/onnx/ops/Heads.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

Expression splitHeads(NodeContext &node, const Expression &x, int64_t heads, const char *what) {
  if (node.failed() || x.rank() == 4)
    return x;
  if (x.rank() != 3 || heads < 1 || x.shape()[2] % heads != 0) {
    node.fail(absl::StrCat(what, " ", nn::formatShape(x.shape()), " does not fall into ", heads, " heads"));
    return x;
  }
  int64_t size = x.shape()[2] / heads;
  return x.reshape({x.shape()[0], x.shape()[1], heads, size}).transpose({0, 2, 1, 3});
}
Expression joinHeads(const Expression &x) {
  if (x.layers().failed())
    return x;
  int64_t size = x.shape()[1] * x.shape()[3];
  return x.transpose({0, 2, 1, 3}).reshape({x.shape()[0], x.shape()[2], size});
}

bool headsFit(NodeContext &node, const Expression &q, const Expression &k, const Expression &v) {
  if (node.failed())
    return false;
  bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k.shape()[1] > 0 && q.shape()[1] % k.shape()[1] == 0 &&
              q.shape()[3] == k.shape()[3] && k.shape().take_front(3) == v.shape().take_front(3) &&
              q.shape()[0] == k.shape()[0];
  if (!fits)
    node.fail(absl::StrCat("query ", nn::formatShape(q.shape()), ", key ", nn::formatShape(k.shape()), " and value ",
                           nn::formatShape(v.shape()), " do not fit"));
  return fits;
}

Expression perHead(const Expression &rows, const Expression &shared, bool transposeRhs) {
  if (rows.layers().failed())
    return rows;
  auto shape = rows.shape();
  Expression y = matmul(rows.reshape({shape[0], shared.shape()[1], shape[1] / shared.shape()[1] * shape[2], shape[3]}),
                        shared, transposeRhs);
  return y.layers().failed() ? y : y.reshape({shape[0], shape[1], shape[2], y.shape()[3]});
}

Expression turnedByAngles(const Expression &x, Expression cosine, Expression sine, int64_t turned, bool interleaved) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return x;
  const int64_t length = x.shape()[2], size = x.shape()[3];
  turned = turned == 0 ? size : turned;
  const int64_t half = turned / 2;
  if (turned < 2 || turned % 2 != 0 || turned > size || cosine.shape() != sine.shape() || cosine.rank() < 2 ||
      cosine.shape().back() != half) {
    layers.fail(absl::StrCat("caches ", nn::formatShape(cosine.shape()), " and ", nn::formatShape(sine.shape()),
                             " do not fit ", turned, " turned elements of ", size));
    return x;
  }
  const int64_t angles = cosine.rank() == 2 ? 1 : cosine.shape()[0];
  cosine = cosine.reshape({angles, 1, length, half});
  sine = sine.reshape({angles, 1, length, half});
  Expression first = interleaved ? x.slice(3, 0, half, 2) : x.slice(3, 0, half);
  Expression second = interleaved ? x.slice(3, 1, half, 2) : x.slice(3, half, half);
  Expression real = cosine * first - sine * second, imaginary = sine * first + cosine * second;
  if (layers.failed())
    return x;
  Expression y = concat({real, imaginary}, 3);
  if (interleaved) {
    llvm::SmallVector<int64_t> shape(real.shape());
    shape.back() = turned;
    y = concat({real.unsqueeze(4), imaginary.unsqueeze(4)}, 4).reshape(shape);
  }
  if (turned < size)
    y = concat({y, x.slice(3, turned, size - turned)}, 3);
  return y;
}

} // namespace wsc::import
