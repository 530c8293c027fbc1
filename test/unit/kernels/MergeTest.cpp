// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows merged into lattices expand to the same rows again: every item exactly once, with the numbers it had. Random
// rows come from up to three nested progressions (what generation produces), and from noise.
#include "compiler/kernels/Merge.h"
#include "compiler/kernels/RoleBuilder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>

namespace wsc::kernels {
namespace {

using namespace format;

constexpr uint64_t kSeed = 99;

std::string text(const Affine &affine, const LatticeIndex &index) { return std::to_string(affine.at(index)) + " "; }

/// All indices of a lattice's row dimensions; columns stay inside an item.
template <typename Visit> void forEachRow(const Lattice &lattice, Visit visit) {
  LatticeIndex index{};
  for (index[0] = 0; index[0] < lattice.dims[0].count; ++index[0])
    for (index[1] = 0; index[1] < lattice.dims[1].count; ++index[1])
      for (index[2] = 0; index[2] < lattice.dims[2].count; ++index[2]) {
        int32_t row = lattice.row;
        for (int d = 0; d < 3; ++d)
          row += index[d] * lattice.dims[d].rowStep;
        visit(row, index);
      }
}

/// "Meaning" of an item at one row as text, with numbers in the first and second column.
std::string meaning(const Role &role, LatticeIndex index) {
  std::string out = std::to_string(role.kernel) + ", columns " + std::to_string(role.cores.col) + " + " +
                    std::to_string(role.cores.dims[3].count) + ": ";
  for (int32_t column : {0, 1}) {
    index[3] = column;
    for (const Buffer &buffer : role.buffers)
      out += std::to_string(buffer.bytes) + "@" + text(buffer.sectionOffset, index);
    for (const Thread &thread : role.threads)
      for (const Instruction &instruction : thread) {
        out += std::to_string(int(instruction.opcode)) + " ";
        for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
          out += std::to_string(operand->stride[3]) + " " + text(operand->base, index);
        for (const Affine &extent : instruction.extent)
          out += text(extent, index);
      }
  }
  return out;
}
std::string meaning(const RouterRole &role, const LatticeIndex &) {
  std::string out = std::to_string(role.colour) + " " + std::to_string(role.routers.col) + " " +
                    std::to_string(role.routers.dims[3].count);
  for (const SwitchPosition &position : role.positions)
    out += " " + std::to_string(int(position.input)) + ">" + std::to_string(position.outputs);
  return out;
}
std::string meaning(const IoBinding &binding, const LatticeIndex &index) {
  std::string out =
      std::to_string(binding.colour) + " " + std::to_string(binding.tensor) + " " + text(binding.hostOffset, index);
  for (const Affine &extent : binding.extent)
    out += text(extent, index);
  return out;
}
const Lattice &latticeOf(const Role &role) { return role.cores; }
const Lattice &latticeOf(const RouterRole &role) { return role.routers; }
const Lattice &latticeOf(const IoBinding &binding) { return binding.ports; }

/// (row, meaning) of all rows, sorted.
template <typename Item> std::vector<std::pair<int32_t, std::string>> expand(const std::vector<Item> &items) {
  std::vector<std::pair<int32_t, std::string>> rows;
  for (const Item &item : items)
    forEachRow(latticeOf(item),
               [&](int32_t row, const LatticeIndex &index) { rows.emplace_back(row, meaning(item, index)); });
  std::sort(rows.begin(), rows.end());
  return rows;
}

class Random {
public:
  int64_t pick(int64_t low, int64_t high) { return low + int64_t(engine() % uint64_t(high - low + 1)); }

  /// Rows with a number each: nested progressions in the rows, numbers affine in the indices, and a few strays.
  std::vector<std::pair<int32_t, int64_t>> rows() {
    std::vector<std::pair<int32_t, int64_t>> result;
    int32_t counts[3], steps[3];
    int64_t slopes[3];
    int32_t span = 1;
    for (int d = 2; d >= 0; --d) { // inner progressions fit between the steps of outer ones
      counts[d] = int32_t(pick(1, 4));
      steps[d] = span + int32_t(pick(0, 2));
      span = steps[d] * counts[d];
      slopes[d] = pick(-3, 3);
    }
    int64_t base = pick(-50, 50);
    for (int32_t i = 0; i < counts[0]; ++i)
      for (int32_t j = 0; j < counts[1]; ++j)
        for (int32_t k = 0; k < counts[2]; ++k)
          if (pick(0, 12) != 0) // holes
            result.emplace_back(i * steps[0] + j * steps[1] + k * steps[2], base + i * slopes[0] + j * slopes[1] +
                                                                                k * slopes[2] +
                                                                                (pick(0, 15) == 0 ? pick(1, 5) : 0));
    std::shuffle(result.begin(), result.end(), engine);
    return result;
  }
  std::mt19937_64 engine{kSeed};
};

Role role(int32_t row, int64_t number, int64_t variant) {
  RoleBuilder builder("role", int32_t(variant), row, 3, 2);
  int16_t x = builder.scratch("x", 8 + variant), w = builder.constant("w", 4, 0, number, 7);
  builder.emit(0, Opcode::Mul, {2, 2}, RoleBuilder::memory(x, number & 1, {2, 1}), RoleBuilder::memory(w, 0, {2, 1}),
               RoleBuilder::immediate(2));
  builder.emit(0, Opcode::Move, {4 + (number & 3)}, RoleBuilder::null(), RoleBuilder::memory(x, 0, {1}));
  auto target = target::loadTarget("wse2");
  EXPECT_TRUE(target.ok());
  auto result = builder.finish(*target);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

TEST(Merge, RolesExpandToTheSameRows) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    std::vector<Role> items;
    for (int64_t variant = 0; variant < random.pick(1, 3); ++variant)
      for (auto [row, number] : random.rows())
        items.push_back(role(row, number, variant));
    auto before = expand(items);
    EXPECT_EQ(expand(mergeRoles(items)), before);
  }
}

TEST(Merge, RoutersExpandToTheSameRows) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    std::vector<RouterRole> items;
    for (auto [row, number] : random.rows()) {
      RouterRole item;
      item.routers.row = row;
      item.routers.col = int32_t(number & 1);
      item.routers.dims[kColumnDim] = {3, 0, 1};
      item.colour = 5;
      item.positions = {{Port::West, PortMask(1u << int(number % 3 == 0 ? Port::East : Port::Ramp))}};
      items.push_back(item);
    }
    auto before = expand(items);
    EXPECT_EQ(expand(mergeRouters(items)), before);
  }
}

TEST(Merge, BindingsExpandToTheSameRows) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    std::vector<IoBinding> items;
    for (auto [row, number] : random.rows()) {
      IoBinding item;
      item.ports.row = row;
      item.colour = uint8_t(row % 2);
      item.hostOffset = Affine(number * 10);
      item.extent[3] = Affine(4 + (number == 7));
      items.push_back(item);
    }
    auto before = expand(items);
    EXPECT_EQ(expand(mergeIo(items)), before);
  }
}

TEST(Merge, ProgressionsOfProgressionsBecomeOneItem) {
  std::vector<IoBinding> items;
  for (int32_t i = 0; i < 5; ++i)
    for (int32_t j = 0; j < 4; ++j)
      for (int32_t k = 0; k < 3; ++k) {
        IoBinding item;
        item.ports.row = 100 * i + 20 * j + 2 * k;
        item.hostOffset = Affine(1000 * i + 50 * j + 9 * k);
        items.push_back(item);
      }
  std::vector<IoBinding> merged = mergeIo(items);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].ports.size(), 60);
  EXPECT_EQ(expand(merged), expand(items));
}

/// The same rows in any order of arrival give the same items.
TEST(Merge, OrderOfRowsDoesNotMatter) {
  Random random;
  for (int i = 0; i < 50; ++i) {
    std::vector<IoBinding> items;
    for (auto [row, number] : random.rows()) {
      IoBinding item;
      item.ports.row = row;
      item.hostOffset = Affine(number);
      items.push_back(item);
    }
    std::vector<IoBinding> shuffled = items;
    std::shuffle(shuffled.begin(), shuffled.end(), random.engine);
    EXPECT_EQ(mergeIo(items), mergeIo(shuffled)) << "seed " << kSeed << ", case " << i;
  }
}

/// As many rows as a wafer has cores take about as long per row as a thousandth of them.
TEST(Merge, CostIsLinear) {
  auto seconds = [](int32_t count) {
    std::vector<IoBinding> items;
    for (int32_t i = 0; i < count; ++i) {
      IoBinding item;
      item.ports.row = i;
      item.hostOffset = Affine(int64_t(i) * i % 7); // few progressions
      items.push_back(item);
    }
    auto begin = std::chrono::steady_clock::now();
    std::vector<IoBinding> merged = mergeIo(std::move(items));
    EXPECT_GT(merged.size(), 0u);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double small = std::min(seconds(4000), seconds(4000)), large = std::min(seconds(64000), seconds(64000));
  EXPECT_LT(large, 16 * small * 6 + 0.05) << "4000 rows take " << small << " s, 64000 take " << large << " s";
}

} // namespace
} // namespace wsc::kernels
