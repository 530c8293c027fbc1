// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of space as batch or as channels, and back; patches of images.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/ops/Layout.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

/// [M, 2] numbers of an input, not negative.
std::vector<int64_t> pairsIn(NodeContext &node, size_t i, const char *what, size_t count) {
  auto known = node.known(i, what);
  if (!known)
    return {};
  if (known->isFloat() || known->size() != static_cast<int64_t>(2 * count)) {
    node.fail(absl::StrCat(what, " (input ", i, ") must be integers [", count, ", 2]"));
    return {};
  }
  for (int64_t number : known->ints)
    if (number < 0 || number >= (int64_t{1} << 31))
      node.fail(absl::StrCat(what, " holds ", number, ", which is outside [0, 2^31)"));
  return known->ints;
}

/// [N, H, W, …] with blocks b, c: [b·c·N, H/b, W/c, …], the block's place being the outer part of the batch.
void spaceToBatch(NodeContext &node, std::vector<int64_t> block, size_t padsInput) {
  Expression x = node.in(0);
  std::vector<int64_t> pads = pairsIn(node, padsInput, "the paddings", block.size());
  if (node.failed())
    return;
  const size_t count = block.size();
  if (x.rank() < static_cast<int64_t>(count) + 1)
    return node.fail(absl::StrCat("block ", nn::formatShape(block), " does not fit ", nn::formatShape(x.shape())));
  Extents split{x.shape()[0]}, order, joined{x.shape()[0]};
  for (size_t d = 0; d < count; ++d) {
    x = x.pad(static_cast<int64_t>(d + 1), pads[2 * d], pads[2 * d + 1]);
    if (node.failed())
      return;
    const int64_t extent = x.shape()[d + 1];
    if (block[d] < 1 || extent % block[d] != 0 || __builtin_mul_overflow(joined[0], block[d], &joined[0]))
      return node.fail(
          absl::StrCat("block ", nn::formatShape(block), " does not divide the padded ", nn::formatShape(x.shape())));
    split.append({extent / block[d], block[d]});
    joined.push_back(extent / block[d]);
    order.push_back(static_cast<int64_t>(2 * d + 2));
  }
  order.push_back(0);
  for (size_t d = 0; d < count; ++d)
    order.push_back(static_cast<int64_t>(2 * d + 1));
  for (size_t d = count + 1; d < static_cast<size_t>(x.rank()); ++d) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(x.shape()[d]);
    joined.push_back(x.shape()[d]);
  }
  node.setResult(x.reshape(split).transpose(order).reshape(joined));
}

void batchToSpace(NodeContext &node, std::vector<int64_t> block, size_t cropsInput) {
  Expression x = node.in(0);
  std::vector<int64_t> crops = pairsIn(node, cropsInput, "the crops", block.size());
  if (node.failed())
    return;
  const size_t count = block.size();
  int64_t product = 1;
  for (int64_t size : block)
    if (size < 1 || size > nn::maxExtent || __builtin_mul_overflow(product, size, &product))
      return node.fail(absl::StrCat("block ", nn::formatShape(block), " is not valid"));
  if (x.rank() < static_cast<int64_t>(count) + 1 || x.shape()[0] % product != 0)
    return node.fail(absl::StrCat("block ", nn::formatShape(block), " does not fit ", nn::formatShape(x.shape())));
  Extents split(block.begin(), block.end()), order{static_cast<int64_t>(count)}, joined{x.shape()[0] / product};
  split.push_back(x.shape()[0] / product);
  for (size_t d = 0; d < count; ++d) {
    split.push_back(x.shape()[d + 1]);
    order.append({static_cast<int64_t>(count + 1 + d), static_cast<int64_t>(d)});
    joined.push_back(x.shape()[d + 1] * block[d]);
  }
  for (size_t d = count + 1; d < static_cast<size_t>(x.rank()); ++d) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(x.shape()[d]);
    joined.push_back(x.shape()[d]);
  }
  Expression y = x.reshape(split).transpose(order).reshape(joined);
  for (size_t d = 0; d < count && !node.failed(); ++d) {
    const int64_t axis = static_cast<int64_t>(d + 1), kept = y.shape()[axis] - crops[2 * d] - crops[2 * d + 1];
    if (kept < 0)
      return node.fail(absl::StrCat("crops ", crops[2 * d], " and ", crops[2 * d + 1], " of dimension ", axis,
                                    " take more than its extent ", y.shape()[axis]));
    y = y.slice(axis, crops[2 * d], kept);
  }
  node.setResult(y);
}

void spaceToBatchNd(NodeContext &node) { spaceToBatch(node, node.constantInts(1, "the block"), 2); }
void batchToSpaceNd(NodeContext &node) { batchToSpace(node, node.constantInts(1, "the block"), 2); }
void spaceToBatch2(NodeContext &node) {
  int64_t size = node.intAttribute("block_size", 2);
  spaceToBatch(node, {size, size}, 1);
}
void batchToSpace2(NodeContext &node) {
  int64_t size = node.intAttribute("block_size", 2);
  batchToSpace(node, {size, size}, 1);
}

/// Channels are ordered [block row, block column, channel] whatever the layout.
template <bool toDepth> void depthAndSpace(NodeContext &node) {
  Expression given = node.in(0);
  int64_t block = node.intAttribute("block_size", 2);
  const bool last = readChannelsLast(node, given.rank());
  if (node.failed())
    return;
  if (given.rank() != 4 || block < 1 || block > 65536)
    return node.fail(absl::StrCat("block_size ", block, " does not fit ", nn::formatShape(given.shape())));
  Expression x = toChannelsFirst(given, last);
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  if (toDepth ? h % block != 0 || w % block != 0 : c % (block * block) != 0)
    return node.fail(absl::StrCat("block_size ", block, " does not fit ", nn::formatShape(given.shape())));
  Expression y = toDepth ? x.reshape({n, c, h / block, block, w / block, block})
                               .transpose({0, 3, 5, 1, 2, 4})
                               .reshape({n, c * block * block, h / block, w / block})
                         : x.reshape({n, block, block, c / (block * block), h, w})
                               .transpose({0, 3, 4, 1, 5, 2})
                               .reshape({n, c / (block * block), h * block, w * block});
  node.setResult(fromChannelsFirst(y, last));
}

/// The elements under each tap of a window, one tap after the other, as channels.
void extractPatches(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (x.rank() != 4)
    return node.fail(absl::StrCat("needs images [N, H, W, C], found ", nn::formatShape(x.shape())));
  wsc::tf::NodeDef def = node.node(); // its dilations are called rates
  for (wsc::tf::AttrEntry &entry : *def.mutable_attr())
    if (entry.key() == "rates")
      entry.set_key("dilations");
  NodeContext renamed(def, node.layers, node.reader(), node.machine, {});
  node.ignoreAttributes({"ksizes", "strides", "rates", "padding"});
  SpatialWindow window = readWindow(renamed, x.shape().slice(1, 2), readSpatial(renamed, "ksizes", 4, true, 1), true);
  if (node.failed())
    return;
  std::vector<int64_t> places = outputExtents(window, x.shape().slice(1, 2));
  const Window &w = window.window;
  for (int64_t d = 0; d < 2; ++d)
    x = x.pad(d + 1, w.pads[d], w.pads[2 + d]);
  if (productOf(window.kernel) > 1024 || places[0] < 1 || places[1] < 1)
    return node.unsupported(absl::StrCat("windows ", nn::formatShape(window.kernel), " over ",
                                         nn::formatShape(x.shape()), " are not supported"));
  std::vector<Expression> taps;
  for (int64_t ky = 0; ky < window.kernel[0]; ++ky)
    for (int64_t kx = 0; kx < window.kernel[1]; ++kx) {
      Expression part = x;
      for (int64_t d = 0; d < 2; ++d)
        part = part.slice(d + 1, (d ? kx : ky) * w.dilations[d], (places[d] - 1) * w.strides[d] + 1)
                   .slice(d + 1, 0, places[d], w.strides[d]);
      taps.push_back(part);
    }
  node.setResult(taps.size() == 1 ? taps[0] : concat(taps, 3));
}

} // namespace

static const Operator table[] = {
    {"SpaceToBatchND", 3, 3, spaceToBatchNd},      {"BatchToSpaceND", 3, 3, batchToSpaceNd},
    {"SpaceToBatch", 2, 2, spaceToBatch2},         {"BatchToSpace", 2, 2, batchToSpace2},
    {"SpaceToDepth", 1, 1, depthAndSpace<true>},   {"DepthToSpace", 1, 1, depthAndSpace<false>},
    {"ExtractImagePatches", 1, 1, extractPatches},
};
llvm::ArrayRef<Operator> spaceOperators() { return table; }

} // namespace wsc::import::tf
