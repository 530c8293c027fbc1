// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cores hold of constants against the sharding's own enumeration: seeded random shapes, shardings and views, from
// memory and from a file, converted or not.
#include "compiler/spmd/phases/Constants.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/RandomSharding.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace wsc::test {
namespace {

using namespace spmd;
using format::ElementType;

std::vector<std::byte> randomBytes(std::mt19937_64 &random, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (std::byte &byte : bytes)
    byte = std::byte(random() % 120); // no NaNs
  return bytes;
}

/// A file that goes with the test.
class TemporaryFile {
public:
  TemporaryFile() {
    path = testing::TempDir() + "wsc-constants-XXXXXX";
    ::close(::mkstemp(path.data()));
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  void write(const std::vector<std::byte> &before, const std::vector<std::byte> &bytes) const {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(before.data()), std::streamsize(before.size()));
    file.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  }
  std::string path;
};

struct Made {
  NetworkBuilder builder;
  TensorId tensor = -1;
  std::vector<std::byte> elements; // of the tensor, row-major
};

/// A constant, or a view of it: its elements in reverse, the last ones left out, so that some are the fill.
Made makeConstant(std::mt19937_64 &random, const std::vector<int64_t> &shape, const TemporaryFile &file,
                  const std::vector<std::byte> &stored, ElementType type, ElementType storedType, int64_t offset) {
  Made made;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  const TensorId constant = made.builder.constant("c", type, shape, stored);
  Tensor &tensor = made.builder.network.tensors[size_t(constant)];
  if (storedType != type)
    tensor.source.stored = storedType;
  if (random() % 2) {
    tensor.source.inlineBytes = nullptr;
    tensor.source.path = file.path;
    tensor.source.offset = offset;
  }
  made.tensor = constant;
  made.elements = storedType != type ? convertElements(stored, storedType, type) : stored;
  if (random() % 2)
    return made;
  made.tensor = made.builder.value("view", type, shape);
  Remap remap;
  remap.result = made.tensor;
  remap.fill = 7;
  const int64_t kept = std::max<int64_t>(1, count - int64_t(random() % 3));
  remap.pieces.push_back({constant, kept - 1, 0, {{kept, -1, 1}}});
  made.builder.add(remap);
  const std::vector<std::byte> before = made.elements, fill = elementOf(7, type);
  const int64_t width = format::elementBytes(type);
  for (int64_t i = 0; i < count; ++i)
    std::copy_n(i < kept ? before.begin() + (kept - 1 - i) * width : fill.begin(), width,
                made.elements.begin() + i * width);
  return made;
}

std::vector<std::byte> expectedBox(const Made &made, const Sharding &sharding, int32_t row, int32_t col,
                                   const std::vector<std::byte> &padding) {
  std::vector<int64_t> at;
  sharding.elementsAt(row, col, at);
  if (at.empty())
    at.assign(size_t(sharding.localElements()), -1);
  std::vector<std::byte> bytes;
  for (int64_t element : at) {
    const auto from = element < 0 ? padding.begin() : made.elements.begin() + element * int64_t(padding.size());
    bytes.insert(bytes.end(), from, from + ptrdiff_t(padding.size()));
  }
  return bytes;
}

TEST(ConstantBoxes, HoldWhatTheShardingSays) {
  std::mt19937_64 random(26);
  const TemporaryFile file;
  for (int i = 0; i < 400; ++i) {
    const std::vector<int64_t> shape = randomShape(random, 300);
    const Rectangle whole{0, 0, int32_t(1 + random() % 7), int32_t(1 + random() % 7)};
    const Sharding sharding = randomSharding(random, shape, whole.rows, whole.cols);
    const std::pair<ElementType, ElementType> types[] = {{ElementType::F32, ElementType::F32},
                                                         {ElementType::F16, ElementType::F32},
                                                         {ElementType::I8, ElementType::I8},
                                                         {ElementType::F64, ElementType::F32}};
    const auto [type, storedType] = types[random() % 4];
    int64_t bytes = format::elementBytes(storedType);
    for (int64_t extent : shape)
      bytes *= extent;
    const std::vector<std::byte> stored = randomBytes(random, bytes);
    const auto offset = int64_t(random() % 9);
    file.write(randomBytes(random, offset), stored);
    Made made = makeConstant(random, shape, file, stored, type, storedType, offset);
    Views views(made.builder.network);
    const ConstantBoxes boxes(made.builder.network, views, made.tensor, sharding, whole, 3);
    auto open = boxes.open();
    ASSERT_TRUE(open.ok()) << open.status();
    const std::vector<std::byte> padding = elementOf(3, type);
    for (int32_t r = 0; r < boxes.rows.distinct(); ++r)
      for (int32_t c = 0; c < boxes.cols.distinct(); ++c) {
        std::vector<std::byte> box(static_cast<size_t>(boxes.bytes()));
        open->write(r, c, box.data());
        const int32_t row = boxes.rows.distinct() > 1 ? boxes.rows.representative(r) : sharding.rectangle.row;
        const int32_t col = boxes.cols.distinct() > 1 ? boxes.cols.representative(c) : sharding.rectangle.col;
        ASSERT_EQ(box, expectedBox(made, sharding, row, col, padding))
            << "case " << i << ", " << print(sharding) << ", core (" << row << ", " << col << ")";
      }
  }
}

TEST(ConstantBoxes, AreWrittenIntoWindowsOfASection) {
  NetworkBuilder builder;
  const TensorId first = builder.constant("a", ElementType::F32, {4}, {1, 2, 3, 4});
  const TensorId second = builder.constant("b", ElementType::F32, {4}, {5, 6, 7, 8});
  Views views(builder.network);
  const auto sharding = parseSharding("(0, 0, 2, 3) [4 = r*2 | 2]");
  ASSERT_TRUE(sharding.ok()) << sharding.status();
  ConstantStack stack{{}, 12};
  for (TensorId each : {first, second})
    stack.boxes.emplace_back(builder.network, views, each, *sharding, Rectangle{0, 0, 2, 3}, 0);
  ConstantTable table;
  const auto added = table.add("stack", ElementType::F32, std::move(stack));
  ASSERT_TRUE(added.ok()) << added.status();
  const auto content = emit::sectionContent(table.sections[0]);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(*content, elementsOf(ElementType::F32, {1, 2, 0, 5, 6, 0, 3, 4, 0, 7, 8, 0}));
  EXPECT_EQ(table.residents[0].bytes, 24);
}

TEST(ConstantBoxes, EqualRowsAndColumnsAreHeldOnce) {
  NetworkBuilder builder;
  const TensorId same = builder.constant("same", ElementType::F32, {6}, {2, 2, 2, 2, 2, 2});
  Views views(builder.network);
  const auto sharding = parseSharding("(0, 0, 3, 2) [6 = r*2 + c*1 | 1]");
  ASSERT_TRUE(sharding.ok()) << sharding.status();
  ConstantTable table;
  const auto added =
      table.add("same", ElementType::F32,
                ConstantStack{{ConstantBoxes(builder.network, views, same, *sharding, Rectangle{0, 0, 3, 2}, 0)}, 4});
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(*emit::sectionContent(table.sections[0]), elementsOf(ElementType::F32, {2}));
}

// Tables of equal layers are one, whatever they are called; a type or an axis of its own makes another.
TEST(ConstantTable, EqualConstantsAreHeldOnce) {
  ConstantTable table;
  const Rectangle mesh{0, 0, 2, 3};
  auto add = [&](const char *name, ElementType type, int32_t rows, int32_t cols, int seed) {
    std::mt19937_64 random{uint64_t(seed)};
    return table.add(name, type, mesh, rows, cols, 4, randomBytes(random, int64_t(rows) * cols * 16));
  };
  const int32_t first = add("first", ElementType::I32, 1, 3, 1);
  EXPECT_EQ(add("second", ElementType::I32, 1, 3, 1), first);
  const int32_t other = add("other", ElementType::I32, 1, 3, 2);
  EXPECT_NE(other, first);
  EXPECT_NE(add("floats", ElementType::F32, 1, 3, 1), first);
  EXPECT_NE(add("by row", ElementType::I32, 2, 1, 1), first);
  EXPECT_EQ(add("third", ElementType::I32, 1, 3, 1), first);
  EXPECT_EQ(add("another", ElementType::I32, 1, 3, 2), other);
  EXPECT_EQ(table.residents.size(), 4u);
  EXPECT_EQ(table.sections.size(), 4u);
}

TEST(ConstantBoxes, NameTheConstantThatCannotBeRead) {
  NetworkBuilder builder;
  const TensorId constant = builder.constant("weights", ElementType::F32, {2}, {1, 2});
  ElementSource &source = builder.network.tensors[size_t(constant)].source;
  source.inlineBytes = nullptr;
  source.path = "/no/such/file";
  Views views(builder.network);
  const ConstantBoxes boxes(builder.network, views, constant, flatSharding({0, 0, 1, 1}, 2, 1), {0, 0, 1, 1}, 0);
  EXPECT_EQ(std::string(boxes.open().status().message()),
            "constant weights: cannot open /no/such/file: No such file or directory");
}

} // namespace
} // namespace wsc::test
