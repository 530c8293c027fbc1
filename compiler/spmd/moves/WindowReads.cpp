// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/WindowReads.h"

#include <algorithm>
#include <optional>

namespace wsc::spmd {

namespace {

constexpr size_t kMostDigits = 3;      // an instruction has one more, for the blocks
constexpr size_t kMostBases = 1 << 16; // of cores; where there are more, blocks travel whole

std::vector<int64_t> withoutRepeats(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<int64_t> valuesOf(const GroupNumber &number, int32_t begin, int32_t count) {
  std::vector<int64_t> values;
  for (int32_t k = begin; k < begin + count; ++k)
    values.push_back(number.at(k));
  return withoutRepeats(std::move(values));
}

/// Which elements of a core's buffer the copy reads, on any core; empty: not known.
std::vector<bool> elementsRead(const FactoredStage &stage, const BlockCopy &copy) {
  const int64_t size = stage.line.blocks * stage.pitch + stage.slack;
  const std::vector<int64_t> rows = valuesOf(copy.from.row, stage.takers.row, stage.takers.rows),
                             cols = valuesOf(copy.from.col, stage.takers.col, stage.takers.cols);
  std::vector<int64_t> places{0};
  if (copy.table)
    places = copy.table->places();
  if (rows.size() * cols.size() * places.size() > kMostBases)
    return {};
  std::vector<bool> read(static_cast<size_t>(size), false);
  for (int64_t row : rows)
    for (int64_t col : cols)
      for (int64_t place : places)
        if (const int64_t at = copy.from.constant + row + col + place; at >= 0 && at < size)
          read[size_t(at)] = true;
  for (const BlockCopy::Loop &loop : copy.loops) {
    if (loop.count < 2 || loop.fromStride == 0)
      continue;
    std::vector<bool> before = read;
    for (int64_t at = 0; at < size; ++at)
      if (before[size_t(at)])
        for (int64_t i = 1; i < loop.count; ++i)
          if (const int64_t next = at + i * loop.fromStride; next >= 0 && next < size)
            read[size_t(next)] = true;
  }
  return read;
}

/// Sorted numbers as a nest.
std::optional<BlockPart> nestOf(const std::vector<int64_t> &numbers) {
  BlockPart part;
  part.base = numbers.front();
  const auto width = int64_t(numbers.size());
  for (int64_t done = 1; done < width;) {
    const int64_t stride = numbers[size_t(done)] - numbers[0];
    int64_t count = 1;
    while (count * done < width && numbers[size_t(count * done)] - numbers[0] == count * stride)
      ++count;
    if (width % (count * done) != 0 || part.digits.size() == kMostDigits)
      return std::nullopt;
    for (int64_t i = 0; i < count * done; ++i)
      if (numbers[size_t(i)] != numbers[size_t(i % done)] + i / done * stride)
        return std::nullopt;
    part.digits.insert(part.digits.begin(), {count, stride});
    done *= count;
  }
  for (int64_t i = 0; i < width; ++i) {
    int64_t at = part.base, rest = i;
    for (size_t d = part.digits.size(); d-- > 0; rest /= part.digits[d].count)
      at += rest % part.digits[d].count * part.digits[d].stride;
    if (at != numbers[size_t(i)])
      return std::nullopt;
  }
  if (part.digits.empty())
    part.digits.push_back({1, 1});
  return part;
}

} // namespace

int64_t BlockPart::words() const {
  int64_t product = 1;
  for (const Digit &digit : digits)
    product *= digit.count;
  return product;
}

BlockPart wordsRead(const FactoredStage &stage, int64_t elementBytes, int64_t begin, int64_t end) {
  const int64_t blockWords = stage.pitch * elementBytes / 4;
  const BlockPart whole{0, {{blockWords, 1}}};
  std::vector<bool> read = elementsRead(stage, stage.copy);
  for (const BlockCopy &copy : stage.otherCopies) {
    const std::vector<bool> more = elementsRead(stage, copy);
    if (more.empty())
      read.clear();
    for (size_t i = 0; i < read.size(); ++i)
      read[i] = read[i] || more[i];
  }
  std::vector<bool> words(static_cast<size_t>(blockWords), false);
  for (int64_t block = begin; block < end && !read.empty(); ++block)
    for (int64_t element = 0; element < stage.pitch; ++element)
      if (read[size_t(block * stage.pitch + element)])
        for (int64_t byte = 0; byte < elementBytes; byte += std::min<int64_t>(4, elementBytes))
          words[size_t((element * elementBytes + byte) / 4)] = true;
  std::vector<int64_t> numbers;
  for (int64_t word = 0; word < blockWords; ++word)
    if (words[size_t(word)])
      numbers.push_back(word);
  if (numbers.empty())
    return whole;
  BlockPart part = nestOf(numbers).value_or(BlockPart{numbers.front(), {{numbers.back() - numbers.front() + 1, 1}}});
  return 4 * part.words() > 3 * blockWords ? whole : part;
}

int64_t windowCycles(const FactoredStage &stage, int64_t elementBytes) {
  const LinePlan &line = stage.line;
  const auto given = [&](int64_t begin, int64_t end) {
    return begin < end ? wordsRead(stage, elementBytes, begin, end).words() : 0;
  };
  return line.windowCycles(stage.pitch * elementBytes / 4, given(0, line.ownBlock()),
                           given(line.ownBlock() + 1, line.blocks));
}

} // namespace wsc::spmd
