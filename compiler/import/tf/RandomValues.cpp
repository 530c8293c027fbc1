// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers by counter: word i of a seed is SplitMix64 of seed + i. A uniform number is a word's upper 24 bits; a normal
// one the sum of twelve uniform ones less 6, which needs no function of the host's library; beyond ±2 a truncated one
// is drawn again.
#include "compiler/import/tf/RandomValues.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Functions.h"
#include "runtime/base/Random.h"

namespace wsc::import::tf {

namespace {

using Words = wsc::Random;

double uniform(Words &words) { return static_cast<double>(words.next() >> 40) * 0x1p-24; }

/// Twelve numbers of 16 bits, three words of four.
double normal(Words &words) {
  uint64_t sum = 0;
  for (int i = 0; i < 3; ++i)
    for (uint64_t word = words.next(), k = 0; k < 4; ++k, word >>= 16)
      sum += word & 0xffff;
  return static_cast<double>(sum) * 0x1p-16 - 6;
}

double draw(Words &words, Random::Kind kind) {
  if (kind == Random::Kind::Uniform)
    return uniform(words);
  double number = normal(words);
  while (kind == Random::Kind::Truncated && (number < -2 || number > 2))
    number = normal(words);
  return number;
}

} // namespace

uint64_t seedOf(const std::string &node, int64_t seed, int64_t second) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (char c : node)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ (static_cast<uint64_t>(seed) << 32) ^ static_cast<uint64_t>(second);
}

absl::StatusOr<Tensor> drawnValues(const Random &random) {
  const int64_t count = random.type.getNumElements();
  if (!mlir::isa<mlir::FloatType>(random.type.getElementType()) || count > maxConstantElements)
    return absl::UnimplementedError(
        absl::StrCat("draws ", count, " random numbers; at most ", maxConstantElements, " floats are drawn"));
  Words words(random.seed);
  auto number = [&] { return random.shift + random.scale * draw(words, random.kind); };
  if (random.type.getElementType().isF32()) {
    std::vector<float> values(count);
    for (float &value : values)
      value = static_cast<float>(number());
    return Tensor{random.type, mlir::DenseElementsAttr::get(random.type, llvm::ArrayRef<float>(values)), {}};
  }
  Literal literal = Literal::zeros(random.type);
  for (double &value : literal.floats)
    value = number();
  literal.normalize();
  return Tensor{random.type, literal.toAttribute(), {}};
}

} // namespace wsc::import::tf
