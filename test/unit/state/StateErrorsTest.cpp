// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be done with state is refused with the variable, the value and the limit.
#include "test/unit/state/Program.h"

namespace wsc::test {
namespace {

void expectRefused(const std::string &text, const std::string &target, const std::vector<std::string> &parts) {
  Program program(text, target);
  ASSERT_FALSE(program.ok()) << text;
  for (const std::string &part : parts)
    EXPECT_NE(std::string(program.status.message()).find(part), std::string::npos) << part << " in " << program.status;
}

std::string keep(const std::string &type) {
  return "nn.variable @v : " + type + "\nfunc.func @f(%x: " + type + ") {\n  nn.write @v, %x : " + type +
         "\n  return\n}\n";
}

TEST(StateErrors, TypesWithoutAPlane) {
  expectRefused(keep("tensor<2x3x4xf32>"), "mesh-8x8", {"tensor<2x3x4xf32>", "[1, C, H, W]"});
  expectRefused(keep("tensor<4xf16>"), "mesh-8x8", {"tensor<4xf16>", "f32"});
}

TEST(StateErrors, BroadcastAlongTheWidth) {
  // [8] over [1, 8, 8, 8] is one element per column, not per channel.
  expectRefused(R"(nn.variable @v : tensor<1x8x8x8xf32>
    func.func @f(%x: tensor<8xf32>) {
      %0 = nn.read @v : tensor<1x8x8x8xf32>
      %1 = nn.binary add %0, %x : (tensor<1x8x8x8xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
      nn.write @v, %1 : tensor<1x8x8x8xf32>
      return
    })",
                "mesh-12x12", {"tensor<8xf32>", "reshape it"});
}

TEST(StateErrors, TooLarge) {
  // 4,000 × 100 elements over at most 8 cores.
  expectRefused(keep("tensor<100x4000xf32>"), "mesh-8x8",
                {"state variable v needs 200000 bytes on each of its cores", "49152"});
}

TEST(StateErrors, MoreVariablesThanColumns) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "nn.variable @v" + std::to_string(i) + " : tensor<4xf32>\n";
  text += "func.func @f() -> tensor<4xf32> {\n  %0 = nn.read @v0 : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
  expectRefused(text, "mesh-8x8", {"8 state variables, one column each", "mesh-8x8 has 8 columns"});
}

TEST(StateErrors, PlacesThatAreGiven) {
  auto text = [](const std::string &place) {
    return "nn.variable @v {wafer.state = #wafer.state<" + place + R"(>} : tensor<4xf32>
      func.func @f(%x: tensor<4xf32>) {
        nn.write @v, %x : tensor<4xf32>
        return
      })";
  };
  Program kept(text("tile_rows = 1, slice = 2, rows = 7, col = 3, address = 20000"), "mesh-8x8");
  ASSERT_TRUE(kept.ok()) << kept.status;
  EXPECT_EQ(placesOf(kept.session->executable().configurations[0]),
            (std::vector<std::string>{"0, 3 at 20000: element 0", "1, 3 at 20000: element 2"}));
  expectRefused(text("tile_rows = 1, slice = 2, rows = 7, col = 8, address = 20000"), "mesh-8x8",
                {"column 8", "has 8"});
  expectRefused(text("tile_rows = 1, slice = 2, rows = 9, col = 3, address = 20000"), "mesh-8x8", {"9 rows", "has 8"});
  expectRefused(text("tile_rows = 1, slice = 2, rows = 7, col = 3, address = 49152"), "mesh-8x8", {"8 bytes", "49152"});
  expectRefused(text("tile_rows = 1, slice = 2, rows = 7, col = 3, address = 20001"), "mesh-8x8", {"multiple of 8"});
}

} // namespace
} // namespace wsc::test
