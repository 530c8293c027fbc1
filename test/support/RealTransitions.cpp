// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A family is a function that draws the extents and gives source and target. Shardings are written along two axes: A,
// the one of the tokens (or image rows), and B; which of them is rows is drawn, as the planner uses both.
#include "test/support/RealTransitions.h"

#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <utility>

namespace wsc::test {

using namespace spmd;

namespace {

enum class Way { A, B };

/// A dimension while a sharding is written.
struct Dim {
  int64_t extent = 1;
  DimSharding places;
};

class Drawer {
public:
  explicit Drawer(std::mt19937_64 &random) : random(random), swaps(random() % 2 == 1) {}

  int64_t between(int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); }
  bool chance(int64_t of) { return random() % uint64_t(of) == 0; }
  template <typename T> T oneOf(std::initializer_list<T> all) {
    return all.begin()[size_t(random() % uint64_t(all.size()))];
  }

  Axis axis(Way way) const { return (way == Way::A) != swaps ? Axis::Row : Axis::Col; }

  /// Not spread.
  static Dim whole(int64_t extent) {
    Dim dim{extent, {}};
    if (extent > 1)
      dim.places.local = {{extent, 1}};
    return dim;
  }
  /// One number for all.
  static Dim at(int64_t extent, int64_t index) { return {extent, {index, {}, {}}}; }
  /// Blocks of `block` on cores one after another, `divisor` adjacent ones alike, again from the first after `modulus`.
  Dim blocks(int64_t extent, int64_t block, Way way, int64_t divisor = 1, int64_t modulus = 0) const {
    Dim dim{extent, {}};
    dim.places.mesh = {{axis(way), divisor, modulus, block}};
    if (block > 1)
      dim.places.local = {{block, 1}};
    return dim;
  }
  /// Windows of `reach` before each block and `behind` after it.
  Dim windows(int64_t extent, int64_t block, int64_t reach, int64_t behind, Way way, int64_t divisor = 1,
              int64_t modulus = 0) const {
    Dim dim = blocks(extent, block, way, divisor, modulus);
    dim.places.base = -reach;
    dim.places.local = {{block + reach + behind, 1}};
    return dim;
  }

  /// `coresA` × `coresB` cores from (0, 0) on.
  Sharding sharding(int64_t coresA, int64_t coresB, std::vector<Dim> dims) const {
    Sharding made;
    made.rectangle = rectangle(coresA, coresB);
    for (Dim &dim : dims) {
      made.shape.push_back(dim.extent);
      made.dims.push_back(std::move(dim.places));
    }
    return made;
  }
  Rectangle rectangle(int64_t coresA, int64_t coresB) const {
    return {0, 0, int32_t(swaps ? coresB : coresA), int32_t(swaps ? coresA : coresB)};
  }

  /// On a mesh of coresA × coresB.
  MoveCase move(const char *family, int64_t coresA, int64_t coresB, const Sharding &from, const Sharding &to,
                format::ElementType type = format::ElementType::F32) {
    MoveCase made = moveBetween(from, to, rectangle(coresA, coresB), type);
    made.family = family;
    return made;
  }

  /// Features in blocks of 1 to 4 on the lines' cores, 1 to `mostCores` of them: extent, block, cores.
  struct Spread {
    int64_t extent, block, cores;
  };
  Spread spread(int64_t leastCores, int64_t mostCores, int64_t mostBlock) {
    const int64_t block = between(1, mostBlock), cores = between(leastCores, mostCores);
    return {block * cores, block, cores};
  }

private:
  std::mt19937_64 &random;
  const bool swaps;
};

// ---- Transformers: encoder_12l, gpt_12l, vit_b_16

/// Normalised tokens, one on each core of a line, to the product that wants all of them:
/// n1 → attn/qkv, n2 → up, GELU → down in encoder_12l and gpt_12l, ln_1, ln_2, mlp in vit_b_16;
/// [128 = c, 768 = r*3 | 3] → [128 = 0 | 128, 768 = r*3 | 3], on as many lines or more, and on longer ones.
MoveCase tokensToProduct(Drawer &draw) {
  const int64_t tokens = draw.between(6, 24), longer = tokens + draw.between(0, 32 - tokens);
  const auto features = draw.spread(4, 32, 6);
  const int64_t wanting = draw.chance(2) ? longer : draw.between(tokens, longer);
  return draw.move(
      "tokens to a product", longer, features.cores,
      draw.sharding(
          tokens, features.cores,
          {draw.whole(1), draw.blocks(tokens, 1, Way::A), draw.blocks(features.extent, features.block, Way::B)}),
      draw.sharding(wanting, features.cores,
                    {draw.whole(1), draw.whole(tokens), draw.blocks(features.extent, features.block, Way::B)}),
      draw.oneOf({format::ElementType::F32, format::ElementType::F32, format::ElementType::F16}));
}

/// The looked-up numbers of tokens to all rows: tok/Gather.numbers of encoder_12l and gpt_12l;
/// [128 = r, 512 = c] → [128 = 0 | 128, 512 = c].
MoveCase lookupToProduct(Drawer &draw) {
  const int64_t tokens = draw.between(6, 24), longer = tokens + draw.between(0, 32 - tokens);
  const int64_t features = draw.between(8, 32);
  return draw.move(
      "looked-up lines to a product", longer, features,
      draw.sharding(tokens, features,
                    {draw.whole(1), draw.blocks(tokens, 1, Way::A), draw.blocks(features, 1, Way::B)}),
      draw.sharding(longer, features, {draw.whole(1), draw.whole(tokens), draw.blocks(features, 1, Way::B)}),
      format::ElementType::I32);
}

/// One token, the class token, to the classifier: n2 → head in encoder_12l, encoder/ln → heads in vit_b_16;
/// [197 = c, 768 = r*3 | 3] → [197 = 0 |, 768 = r*3 | 3].
MoveCase classToken(Drawer &draw) {
  const int64_t tokens = draw.between(6, 24), longer = tokens + draw.between(0, 32 - tokens);
  const auto features = draw.spread(4, 32, 4);
  return draw.move(
      "class token to the head", longer, features.cores,
      draw.sharding(
          tokens, features.cores,
          {draw.whole(1), draw.blocks(tokens, 1, Way::A), draw.blocks(features.extent, features.block, Way::B)}),
      draw.sharding(longer, features.cores,
                    {draw.whole(1), draw.at(tokens, 0), draw.blocks(features.extent, features.block, Way::B)}));
}

struct Heads {
  int64_t heads, group, tokens, depth; // `group` cores for each head, which have `depth` features each
  int64_t cores() const { return heads * group; }
};
Heads drawHeads(Drawer &draw) {
  const int64_t group = draw.oneOf<int64_t>({2, 4, 4, 8}), heads = draw.between(2, 32 / group);
  return {heads, group, draw.between(6, 24), draw.between(1, 3)};
}

/// Scores, each core a part of the keys, to the softmax, which wants all keys of a query (Softmax of encoder_12l,
/// vit_b_16, gpt_12l): [12 = c/32, 128 = r, 128 = c%32*4 | 4] → [12 = c/32, 128 = r, 128 = 0 | 128].
MoveCase scoresToSoftmax(Drawer &draw) {
  const Heads at = drawHeads(draw);
  const int64_t block = ceilDiv(at.tokens, at.group);
  const auto heads = draw.blocks(at.heads, 1, Way::B, at.group), queries = draw.blocks(at.tokens, 1, Way::A);
  return draw.move(
      "scores to the softmax", at.tokens, at.cores(),
      draw.sharding(at.tokens, at.cores(), {heads, queries, draw.blocks(at.tokens, block, Way::B, 1, at.group)}),
      draw.sharding(at.tokens, at.cores(), {heads, queries, draw.whole(at.tokens)}));
}

/// Softmax to the product with the values, which sums over keys along the other axis (attn/Softmax of encoder_12l, of
/// gpt_12l): [12 = c/32, 128 = r, 128 = c%32*4 | 4] → [12 = c/32, 128 = r/4*2 | 2, 128 = r%4*32 | 32].
MoveCase softmaxToContext(Drawer &draw) {
  Heads at = drawHeads(draw);
  const int64_t parts = draw.oneOf<int64_t>({2, 4}), groups = draw.between(2, 32 / parts);
  const int64_t block = draw.between(1, 2);
  at.tokens = std::min<int64_t>(groups * block, 32);
  const auto heads = draw.blocks(at.heads, 1, Way::B, at.group);
  return draw.move("softmax to the context", std::max(at.tokens, groups * parts), at.cores(),
                   draw.sharding(at.tokens, at.cores(),
                                 {heads, draw.blocks(at.tokens, 1, Way::A),
                                  draw.blocks(at.tokens, ceilDiv(at.tokens, at.group), Way::B, 1, at.group)}),
                   draw.sharding(groups * parts, at.cores(),
                                 {heads, draw.blocks(at.tokens, ceilDiv(at.tokens, groups), Way::A, parts),
                                  draw.blocks(at.tokens, ceilDiv(at.tokens, parts), Way::A, 1, parts)}));
}

/// The context of all tokens to the projection (attn/MatMul_1 of encoder_12l, gpt_12l, self_attention of vit_b_16):
/// [12 = c/32, 128 = r/4*2 | 2 or r, 64 = c%32*2 | 2] → [12 = c/32, 128 = 0 | 128, 64 = c%32*2 | 2].
MoveCase contextToProjection(Drawer &draw) {
  const Heads at = drawHeads(draw);
  const int64_t parts = draw.oneOf<int64_t>({1, 1, 2, 4}), groups = draw.between(2, 32 / parts),
                block = draw.between(1, 3);
  const int64_t tokens = groups * block, rows = groups * parts + (parts == 1 ? draw.between(0, 32 - groups) : 0);
  const auto heads = draw.blocks(at.heads, 1, Way::B, at.group),
             features = draw.blocks(at.group * at.depth, at.depth, Way::B, 1, at.group);
  return draw.move(
      "context to the projection", rows, at.cores(),
      draw.sharding(groups * parts, at.cores(), {heads, draw.blocks(tokens, block, Way::A, parts), features}),
      draw.sharding(rows, at.cores(), {heads, draw.whole(tokens), features}));
}

/// What all heads of a query have to the cores of each (attn/Softmax of encoder_12l, its largest score):
/// [12 = 0 | 12, 128 = r, 1] on 128 columns → [12 = c/32, 128 = r, 1] on 384.
MoveCase maximaToHeads(Drawer &draw) {
  const Heads at = drawHeads(draw);
  const int64_t held = draw.between(1, at.cores());
  return draw.move(
      "a query's maxima to its heads", at.tokens, at.cores(),
      draw.sharding(at.tokens, held, {draw.whole(at.heads), draw.blocks(at.tokens, 1, Way::A), draw.whole(1)}),
      draw.sharding(at.tokens, at.cores(),
                    {draw.blocks(at.heads, 1, Way::B, at.group), draw.blocks(at.tokens, 1, Way::A), draw.whole(1)}));
}

/// Scores by heads and keys to keys alone (attn/Softmax of encoder_12l):
/// [12 = c/32, 128 = r, 128 = c%32*4 | 4] → [12 = 0 | 12, 128 = r, 128 = c].
MoveCase headsTogether(Drawer &draw) {
  Heads at = drawHeads(draw);
  at.tokens = std::min(at.tokens, at.cores());
  return draw.move(
      "scores of all heads together", at.tokens, at.cores(),
      draw.sharding(at.tokens, at.cores(),
                    {draw.blocks(at.heads, 1, Way::B, at.group), draw.blocks(at.tokens, 1, Way::A),
                     draw.blocks(at.tokens, ceilDiv(at.tokens, at.group), Way::B, 1, at.group)}),
      draw.sharding(at.tokens, at.tokens,
                    {draw.whole(at.heads), draw.blocks(at.tokens, 1, Way::A), draw.blocks(at.tokens, 1, Way::B)}));
}

/// Queries, keys or values of the one product (attn/qkv of all three): nothing leaves its core;
/// [128 = 0 | 128, 3 = 0 | 3, 12 = c/32, 64 = c%32*2 | 2] → [128 = r%4*32 | 32, 3 = 2 |, …].
MoveCase sliceOfQkv(Drawer &draw) {
  const Heads at = drawHeads(draw);
  const int64_t rows = draw.between(4, 32), parts = draw.oneOf<int64_t>({1, 2, 4});
  const auto heads = draw.blocks(at.heads, 1, Way::B, at.group),
             features = draw.blocks(at.group * at.depth, at.depth, Way::B, 1, at.group);
  return draw.move("a slice of queries, keys and values", rows, at.cores(),
                   draw.sharding(rows, at.cores(), {draw.whole(at.tokens), draw.whole(3), heads, features}),
                   draw.sharding(rows, at.cores(),
                                 {parts == 1 ? draw.whole(at.tokens)
                                             : draw.blocks(at.tokens, ceilDiv(at.tokens, parts), Way::A, 1, parts),
                                  draw.at(3, draw.between(0, 2)), heads, features}));
}

/// Normalised tokens to the product with the vocabulary, which has tokens and features on one axis (norm → head of
/// gpt_12l): [64 = c, 768 = r*2 | 2] → [64 = c/128*16 | 16, 768 = c%128*6 | 6] on all rows.
MoveCase tokensToVocabulary(Drawer &draw) {
  const int64_t groups = draw.oneOf<int64_t>({2, 4}), each = draw.between(2, 32 / groups),
                tokens = groups * draw.between(2, 6);
  const auto features = draw.spread(4, 32, 2);
  const bool tokensOnB = draw.chance(2);
  const int64_t rows = std::max(tokensOnB ? features.cores : tokens, draw.between(8, 32));
  const int64_t cols = std::max(groups * each, tokensOnB ? tokens : features.cores);
  const Sharding from = tokensOnB ? draw.sharding(features.cores, tokens,
                                                  {draw.whole(1), draw.blocks(tokens, 1, Way::B),
                                                   draw.blocks(features.extent, features.block, Way::A)})
                                  : draw.sharding(tokens, features.cores,
                                                  {draw.whole(1), draw.blocks(tokens, 1, Way::A),
                                                   draw.blocks(features.extent, features.block, Way::B)});
  return draw.move("tokens to the vocabulary's product", rows, cols, from,
                   draw.sharding(rows, groups * each,
                                 {draw.whole(1), draw.blocks(tokens, tokens / groups, Way::B, each),
                                  draw.blocks(features.extent, ceilDiv(features.extent, each), Way::B, 1, each)}));
}

/// Logits to where they leave (head of gpt_12l): [64 = c/128*16 | 16, 50257 = r*99 | 99] → [64 = c, 50257 = r*99 | 99].
MoveCase logits(Drawer &draw) {
  const int64_t groups = draw.oneOf<int64_t>({2, 4, 8}), each = draw.between(2, 32 / groups);
  const int64_t tokens = groups * draw.between(1, each), rows = draw.between(8, 32), block = draw.between(4, 24);
  const auto words = draw.blocks(rows * block - draw.between(0, block - 1), block, Way::A);
  MoveCase made = draw.move(
      "logits to where they leave", rows, groups * each,
      draw.sharding(rows, groups * each, {draw.whole(1), draw.blocks(tokens, tokens / groups, Way::B, each), words}),
      draw.sharding(rows, tokens, {draw.whole(1), draw.blocks(tokens, 1, Way::B), words}));
  made.toHost = draw.chance(2);
  return made;
}

/// The tokens' numbers from the row at which they come to all rows (input of gpt_12l): [64 = c] on one row → on all.
MoveCase tokenNumbers(Drawer &draw) {
  const int64_t tokens = draw.between(8, 32), rows = draw.between(8, 32);
  return draw.move("the tokens' numbers to all", rows, tokens,
                   draw.sharding(1, tokens, {draw.whole(1), draw.blocks(tokens, 1, Way::B)}),
                   draw.sharding(rows, tokens, {draw.whole(1), draw.blocks(tokens, 1, Way::B)}),
                   format::ElementType::I64);
}

// ---- Recurrences: lstm, bilstm

/// A step's state from columns, where it was made, to rows, where the next product sums over it (LSTM):
/// [1, 256 = c*4 | 4] → [1, 256 = r*8 | 8].
MoveCase stateToProduct(Drawer &draw) {
  const auto hidden = draw.spread(8, 32, 4);
  const int64_t rows = draw.between(4, 32), directions = draw.chance(3) && hidden.cores <= 16 ? 2 : 1;
  const int64_t block = ceilDiv(hidden.extent, rows);
  const int64_t cols = hidden.cores * directions;
  if (directions == 1)
    return draw.move("a step's state to the next product", rows, cols,
                     draw.sharding(rows, cols, {draw.whole(1), draw.blocks(hidden.extent, hidden.block, Way::B)}),
                     draw.sharding(rows, cols, {draw.whole(1), draw.blocks(hidden.extent, block, Way::A)}));
  const auto way = draw.blocks(2, 1, Way::B, hidden.cores); // bilstm: each direction on columns of its own
  return draw.move("a step's state to the next product", rows, cols,
                   draw.sharding(rows, cols, {way, draw.blocks(hidden.extent, hidden.block, Way::B, 1, hidden.cores)}),
                   draw.sharding(rows, cols, {way, draw.blocks(hidden.extent, block, Way::A)}));
}

/// The gates of all steps, spread over rows, to every row (LSTM of all): [50 = 0 | 50, 4 = r/8, 256 = c*4 | 4] →
/// [50, 4 = 0 | 4, 256 = c*4 | 4]; of one step alone ([50 = 49 |, …]).
MoveCase gatesToStep(Drawer &draw) {
  const int64_t steps = draw.between(4, 24), each = draw.between(1, 8);
  const auto hidden = draw.spread(8, 32, 2);
  const bool one = draw.chance(2);
  return draw.move(one ? "one step's gates to its rows" : "all steps' gates to the rows", 4 * each, hidden.cores,
                   draw.sharding(4 * each, hidden.cores,
                                 {draw.whole(steps), draw.blocks(4, 1, Way::A, each),
                                  draw.blocks(hidden.extent, hidden.block, Way::B)}),
                   draw.sharding(4 * each, hidden.cores,
                                 {one ? draw.at(steps, steps - 1) : draw.whole(steps), draw.whole(4),
                                  draw.blocks(hidden.extent, hidden.block, Way::B)}));
}

/// One of a step's gates: nothing leaves its core ([4 = 0 | 4, 256 = c*4 | 4] → [4 = 3 |, …], LSTM).
MoveCase gateSlice(Drawer &draw) {
  const auto hidden = draw.spread(8, 32, 4);
  const int64_t rows = draw.between(4, 32);
  return draw.move(
      "a slice of a step's gates", rows, hidden.cores,
      draw.sharding(rows, hidden.cores,
                    {draw.whole(4), draw.whole(1), draw.blocks(hidden.extent, hidden.block, Way::B)}),
      draw.sharding(rows, hidden.cores,
                    {draw.at(4, draw.between(0, 3)), draw.whole(1), draw.blocks(hidden.extent, hidden.block, Way::B)}));
}

/// The states of all steps but one, and the last, to the next layer's product, which has features on rows (LSTM_1):
/// [1, 256 = c*4 | 4] and [49, 256 = c*4 | 4] → [50, 256 = r*8 | 8].
MoveCase statesToLayer(Drawer &draw) {
  const int64_t steps = draw.between(3, 16), rows = draw.between(4, 32);
  const auto hidden = draw.spread(8, 32, 3);
  const auto columns = draw.blocks(hidden.extent, hidden.block, Way::B);
  MoveCase made;
  made.family = "all steps' states to the next layer";
  MoveProblem &problem = made.problem;
  problem.rectangle = draw.rectangle(rows, hidden.cores);
  problem.sources = {{draw.sharding(rows, hidden.cores, {draw.whole(1), columns}), 0},
                     {draw.sharding(rows, hidden.cores, {draw.whole(steps), draw.whole(1), columns}), 0}};
  problem.target = draw.sharding(
      rows, hidden.cores,
      {draw.whole(steps + 1), draw.whole(1), draw.blocks(hidden.extent, ceilDiv(hidden.extent, rows), Way::A)});
  StridedPiece last, before;
  last.source = 0;
  last.resultOffset = steps * hidden.extent;
  last.digits = {{hidden.extent, 1, 1}};
  before.source = 1;
  before.digits = {{steps * hidden.extent, 1, 1}};
  problem.pieces = {last, before};
  describe(made);
  return made;
}

/// A recurrence's input from where it comes, steps on columns, to the product, which sums over rows (lstm, bilstm):
/// [50 = c, 64 = r*2 | 2] → [50 = 0 | 50, 64 = r%8*8 | 8].
MoveCase stepsToProduct(Drawer &draw) {
  const int64_t steps = draw.between(4, 24), parts = draw.oneOf<int64_t>({2, 4}), groups = draw.between(1, 32 / parts);
  const int64_t features = parts * groups * draw.between(1, 2), cols = draw.between(steps, 32);
  return draw.move(
      "a recurrence's input to its product", parts * groups, cols,
      draw.sharding(
          parts * groups, steps,
          {draw.whole(1), draw.blocks(steps, 1, Way::B), draw.blocks(features, features / (parts * groups), Way::A)}),
      draw.sharding(parts * groups, cols,
                    {draw.whole(1), draw.whole(steps), draw.blocks(features, features / parts, Way::A, 1, parts)}));
}

// ---- Images: resnet18, squeezenet, unet

/// Image rows in blocks on A, columns in blocks on B; within each block's cores, channels or nothing.
struct Image {
  int64_t channels, height, width;
  int64_t rowBlock, colBlock; // of pixels
  int64_t rowCores, colCores; // of a block of pixels
  int64_t rowBlocks() const { return ceilDiv(height, rowBlock); }
  int64_t colBlocks() const { return ceilDiv(width, colBlock); }
  int64_t coresA() const { return rowBlocks() * rowCores; }
  int64_t coresB() const { return colBlocks() * colCores; }
};
Image drawImage(Drawer &draw) {
  Image image;
  image.rowCores = draw.oneOf<int64_t>({1, 2, 3, 4, 8});
  image.colCores = draw.oneOf<int64_t>({2, 4, 8});
  image.rowBlock = draw.between(1, 4);
  image.colBlock = draw.between(1, 4);
  image.height = draw.between(2, std::min<int64_t>(14, 32 / image.rowCores * image.rowBlock));
  image.width = draw.between(2, std::min<int64_t>(14, 32 / image.colCores * image.colBlock));
  image.channels = image.rowCores * image.colCores * draw.between(1, 2);
  return image;
}
Dim channelsOnA(const Drawer &draw, const Image &image) {
  return draw.blocks(image.channels, ceilDiv(image.channels, image.rowCores), Way::A, 1, image.rowCores);
}
Dim channelsOnB(const Drawer &draw, const Image &image) {
  return draw.blocks(image.channels, ceilDiv(image.channels, image.colCores), Way::B, 1, image.colCores);
}

MoveCase imageMove(Drawer &draw, const char *family, const Image &image, std::vector<Dim> from, std::vector<Dim> to) {
  from.insert(from.begin(), draw.whole(1));
  to.insert(to.begin(), draw.whole(1));
  MoveCase made =
      draw.move(family, image.coresA(), image.coresB(), draw.sharding(image.coresA(), image.coresB(), std::move(from)),
                draw.sharding(image.coresA(), image.coresB(), std::move(to)));
  return made;
}

/// An image whose channels lie on columns to the next convolution, whose input channels lie on rows, with the borders
/// of each block (layer3.1/relu of resnet18, c1.2/Relu of unet, squeeze_activation of squeezenet):
/// [256 = c%32*8 | 8, 14 = r/128*4 | 4, 14 = c/32] → [256 = r%128*2 | 2, 14 = -1 + r/128*4 | 6, 14 = -1 + c/32 | 3].
MoveCase channelsToConvolution(Drawer &draw) {
  const Image at = drawImage(draw);
  MoveCase made = imageMove(draw, "channels and borders to a convolution", at,
                            {channelsOnB(draw, at), draw.blocks(at.height, at.rowBlock, Way::A, at.rowCores),
                             draw.blocks(at.width, at.colBlock, Way::B, at.colCores)},
                            {channelsOnA(draw, at), draw.windows(at.height, at.rowBlock, 1, 1, Way::A, at.rowCores),
                             draw.windows(at.width, at.colBlock, 1, 1, Way::B, at.colCores)});
  made.problem.fillMatters = true;
  return made;
}

/// The borders of each block alone (features.10/squeeze_activation of squeezenet, input of unet):
/// [48 = r%24*2 | 2, 13 = r/24, 13 = c/32] → [48 = r%24*2 | 2, 13 = -1 + r/24 | 3, 13 = -1 + c/32 | 3].
MoveCase bordersToConvolution(Drawer &draw) {
  const Image at = drawImage(draw);
  const Dim channels = draw.chance(3) ? draw.whole(draw.between(1, 3)) : channelsOnA(draw, at);
  MoveCase made = imageMove(draw, "borders to a convolution", at,
                            {channels, draw.blocks(at.height, at.rowBlock, Way::A, at.rowCores),
                             draw.blocks(at.width, at.colBlock, Way::B, at.colCores)},
                            {channels, draw.windows(at.height, at.rowBlock, 1, 1, Way::A, at.rowCores),
                             draw.windows(at.width, at.colBlock, 1, 1, Way::B, at.colCores)});
  made.problem.fillMatters = true;
  return made;
}

/// Other blocks of pixels, channels from columns to rows (d1.5/Relu and c1.5/Relu of unet):
/// [16 = c/4, 128 = r/8*2 | 2, 128 = c%4*32 | 32] → [16 = r%8*2 | 2, 128 = r/8*2 | 2, 128 = c*2 | 2].
MoveCase pixelsRegrouped(Drawer &draw) {
  const int64_t channels = draw.between(2, 8), parts = draw.oneOf<int64_t>({2, 4}), cols = channels * parts;
  const int64_t rowCores = draw.oneOf<int64_t>({2, 4, 8}), rowBlocks = draw.between(2, 32 / rowCores);
  const int64_t rowBlock = draw.between(1, 2), colBlock = draw.between(1, 2), width = cols * colBlock;
  const auto rows = draw.blocks(rowBlocks * rowBlock, rowBlock, Way::A, rowCores);
  return draw.move(
      "an image in other blocks of pixels", rowBlocks * rowCores, cols,
      draw.sharding(rowBlocks * rowCores, cols,
                    {draw.whole(1), draw.blocks(channels, 1, Way::B, parts), rows,
                     draw.blocks(width, width / parts, Way::B, 1, parts)}),
      draw.sharding(rowBlocks * rowCores, cols,
                    {draw.whole(1), draw.blocks(channels, ceilDiv(channels, rowCores), Way::A, 1, rowCores), rows,
                     draw.blocks(width, colBlock, Way::B)}));
}

/// An image to a pooling of windows of 3 at every second pixel, on fewer cores (features.1/Relu, features.4/Concat of
/// squeezenet, relu of resnet18): [64 = c/8, 111 = r/3, 111 = c%8*14 | 14] → [64 = c/8, 111 = r*2 | 3,
/// 111 = c%8*14 | 15].
MoveCase toPooling(Drawer &draw) {
  const int64_t channels = draw.between(2, 8), parts = draw.oneOf<int64_t>({1, 2, 4}),
                share = draw.oneOf<int64_t>({1, 3});
  const int64_t height = draw.between(5, 32 / share), block = 2 * draw.between(1, 3),
                width = parts * block + draw.between(0, 1);
  const auto where = draw.blocks(channels, 1, Way::B, parts);
  return draw.move("an image to a pooling", height * share, channels * parts,
                   draw.sharding(height * share, channels * parts,
                                 {draw.whole(1), where, draw.blocks(height, 1, Way::A, share),
                                  draw.blocks(width, ceilDiv(width, parts), Way::B, 1, parts)}),
                   draw.sharding((height - 1) / 2, channels * parts,
                                 {draw.whole(1), where, draw.windows(height, 2, 0, 1, Way::A),
                                  draw.windows(width, block, 0, 1, Way::B, 1, parts)}));
}

/// Two images' channels behind each other (Concat of squeezenet's fire modules, unet's skips):
/// [128 = c%32*4 | 4, 27 = r/16, 27 = c/32] twice → [256 = c%32*8 | 8, 27 = r/16, 27 = c/32].
MoveCase concatenation(Drawer &draw) {
  const Image at = drawImage(draw);
  const auto rows = draw.blocks(at.height, at.rowBlock, Way::A, at.rowCores),
             cols = draw.blocks(at.width, at.colBlock, Way::B, at.colCores);
  const Dim first = draw.chance(3) ? channelsOnA(draw, at) : channelsOnB(draw, at), second = channelsOnB(draw, at);
  Image both = at;
  both.channels *= 2;
  MoveCase made;
  made.family = "two images' channels together";
  MoveProblem &problem = made.problem;
  problem.rectangle = draw.rectangle(at.coresA(), at.coresB());
  for (const Dim &channels : {first, second})
    problem.sources.push_back({draw.sharding(at.coresA(), at.coresB(), {draw.whole(1), channels, rows, cols}), 0});
  problem.target = draw.sharding(at.coresA(), at.coresB(), {draw.whole(1), channelsOnB(draw, both), rows, cols});
  const int64_t elements = at.channels * at.height * at.width;
  for (int32_t i : {0, 1}) {
    StridedPiece piece;
    piece.source = i;
    piece.resultOffset = i * elements;
    piece.digits = {{elements, 1, 1}};
    problem.pieces.push_back(piece);
  }
  describe(made);
  return made;
}

/// A small image, pixels spread, to cores that each want all of it for one channel (layer4.1/relu of resnet18):
/// [512 = r%64*8 | 8, 7 = r/64, 7 = c/64] → [512 = r, 7 = -1 | 9, 7 = -1 | 9].
MoveCase wholeImages(Drawer &draw) {
  const int64_t height = draw.between(2, 6), width = draw.between(2, 6), parts = 32 / height;
  const int64_t channels = parts * draw.between(1, 2), share = draw.between(1, 32 / width);
  const int64_t rows = std::max(height * parts, channels);
  MoveCase made =
      draw.move("whole images to a convolution", rows, width * share,
                draw.sharding(height * parts, width * share,
                              {draw.whole(1), draw.blocks(channels, channels / parts, Way::A, 1, parts),
                               draw.blocks(height, 1, Way::A, parts), draw.blocks(width, 1, Way::B, share)}),
                draw.sharding(channels, width * share,
                              {draw.whole(1), draw.blocks(channels, 1, Way::A),
                               draw.windows(height, height, 1, 1, Way::A, 1 << 20),
                               draw.windows(width, width, 1, 1, Way::B, 1 << 20)}));
  for (size_t d : {2, 3}) // every core has the same window
    made.problem.target->dims[d].mesh.clear();
  made.problem.fillMatters = true;
  describe(made);
  return made;
}

/// The network's image to the first convolution (input of resnet18, squeezenet, unet, vit_b_16):
/// [3 = 0 | 3, 224 = r, 224 = c] → [3 = 0 | 3, 224 = -3 + r/7*4 | 9, 224 = -3 + c%8*28 | 33]; half of them from the
/// host.
MoveCase imageToFirst(Drawer &draw) {
  const int64_t share = draw.oneOf<int64_t>({1, 2, 4}), parts = draw.oneOf<int64_t>({4, 8});
  const int64_t block = draw.between(1, 2), rows = draw.between(3, 32 / share), colBlock = draw.between(1, 3);
  const int64_t height = std::min<int64_t>(rows * block, 32), width = std::min<int64_t>(parts * colBlock, 24),
                reach = draw.between(0, 2);
  const int64_t cols = std::max<int64_t>(width, parts * draw.between(1, 32 / parts));
  MoveCase made = draw.move(
      "the image to the first convolution", std::max(height, rows * share), cols,
      draw.sharding(height, width,
                    {draw.whole(1), draw.whole(3), draw.blocks(height, 1, Way::A), draw.blocks(width, 1, Way::B)}),
      draw.sharding(rows * share, cols / parts * parts,
                    {draw.whole(1), draw.whole(3), draw.windows(height, block, reach, reach, Way::A, share),
                     draw.windows(width, colBlock, reach, reach, Way::B, 1, parts)}));
  made.problem.fillMatters = true;
  made.fromHost = draw.chance(2);
  return made;
}

/// An image to where it leaves (out/Conv of unet): [4 = c/16, 128 = r/8*2 | 2, 128 = c%16*8 | 8] →
/// [4 = 0 | 4, 128 = r, 128 = c*2 | 2]; half of them to the host.
MoveCase imageToOutput(Drawer &draw) {
  const int64_t channels = draw.between(2, 4), parts = draw.oneOf<int64_t>({2, 4, 8}),
                share = draw.oneOf<int64_t>({2, 4});
  const int64_t groups = draw.between(2, 32 / share), width = parts * draw.between(1, 4), cols = channels * parts;
  MoveCase made = draw.move(
      "the image to where it leaves", groups * share, cols,
      draw.sharding(groups * share, cols,
                    {draw.whole(1), draw.blocks(channels, 1, Way::B, parts), draw.blocks(groups * 2, 2, Way::A, share),
                     draw.blocks(width, width / parts, Way::B, 1, parts)}),
      draw.sharding(groups * 2, ceilDiv(width, ceilDiv(width, cols)),
                    {draw.whole(1), draw.whole(channels), draw.blocks(groups * 2, 1, Way::A),
                     draw.blocks(width, ceilDiv(width, cols), Way::B)}));
  made.toHost = draw.chance(2);
  return made;
}

struct Family {
  MoveCase (*draw)(Drawer &);
  int weight; // families whose words stay on their cores are rarer than in networks, where they are about half
};

} // namespace

MoveCase drawTransition(std::mt19937_64 &random) {
  static const Family families[] = {{tokensToProduct, 4},      {lookupToProduct, 1},  {classToken, 1},
                                    {scoresToSoftmax, 2},      {softmaxToContext, 2}, {contextToProjection, 2},
                                    {maximaToHeads, 1},        {headsTogether, 1},    {sliceOfQkv, 2},
                                    {tokensToVocabulary, 1},   {logits, 1},           {tokenNumbers, 1},
                                    {stateToProduct, 2},       {gatesToStep, 2},      {gateSlice, 1},
                                    {statesToLayer, 1},        {stepsToProduct, 1},   {channelsToConvolution, 4},
                                    {bordersToConvolution, 3}, {pixelsRegrouped, 2},  {toPooling, 2},
                                    {concatenation, 3},        {wholeImages, 1},      {imageToFirst, 2},
                                    {imageToOutput, 1}};
  int all = 0;
  for (const Family &family : families)
    all += family.weight;
  Drawer draw(random);
  int at = int(random() % uint64_t(all));
  for (const Family &family : families) {
    if (at < family.weight)
      return family.draw(draw);
    at -= family.weight;
  }
  return families[0].draw(draw);
}

} // namespace wsc::test
