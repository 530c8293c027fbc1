// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of a loop's constants hold what the file does, in the order in which iterations read it.
#include "runtime/emulator/NearWindows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

using namespace wsc;
using namespace wsc::format;
using emulator::WindowPlace;

namespace {

constexpr int32_t kRows = 2, kCols = 3, kIterations = 4;
constexpr int64_t kCoreBytes = 4 * 64;

// A constant on 2 × 3 cores, 64 bytes for each of four iterations, and one role on the second row of them.
class NearWindows : public testing::Test {
protected:
  NearWindows() : bytes(kRows * kCols * kCoreBytes) {
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::byte(i * 7 % 251);
    executable.sections.push_back({"weights", bytes});
    Resident weights;
    weights.bytes = kCoreBytes;
    weights.cores.dims[0] = {kRows, 1, 0};
    weights.cores.dims[1] = {kCols, 0, 1};
    weights.section = 0;
    weights.sectionOffset.perDim = {kCols * kCoreBytes, kCoreBytes};
    executable.residents.push_back(weights);
    Role role;
    role.cores.row = 1;
    role.cores.dims[0] = {kCols, 0, 1};
    executable.configurations.emplace_back();
    executable.configurations[0].roles.push_back(role);
    executable.entries.emplace_back();
    executable.entries[0].steps.emplace_back();
    executable.entries[0].steps[0].count = kIterations;
  }

  void addWindow(int64_t offset, int64_t size, int64_t runStep) {
    Buffer window;
    window.kind = BufferKind::Resident;
    window.resident = 0;
    window.residentOffset = offset;
    window.bytes = size;
    window.runStep = runStep;
    executable.configurations[0].roles[0].buffers.push_back(window);
  }
  std::vector<WindowPlace> windows() const {
    auto places = emulator::placeWindows(executable, executable.configurations[0]);
    EXPECT_TRUE(places.ok());
    emulator::bringNear(executable, 0, *places);
    return (*places)[0];
  }
  const std::byte *inFile(int32_t col, int64_t offset) const {
    return bytes.data() + (kCols + col) * kCoreBytes + offset;
  }

  std::vector<std::byte> bytes;
  Executable executable;
};

} // namespace

TEST_F(NearWindows, HoldWhatTheFileDoes) {
  addWindow(8, 36, 64);
  addWindow(3 * 64, 12, -64);
  const emulator::ResidentStore store(executable);
  const std::vector<WindowPlace> places = windows();
  for (size_t b = 0; b < places.size(); ++b) {
    const Buffer &window = executable.configurations[0].roles[0].buffers[b];
    ASSERT_TRUE(places[b].near);
    for (int32_t col = 0; col < kCols; ++col)
      for (int32_t i = 0; i < kIterations; ++i)
        EXPECT_EQ(std::memcmp(store.window(places[b], col, i), inFile(col, window.residentOffset + i * window.runStep),
                              size_t(window.bytes)),
                  0)
            << "window " << b << ", core (1, " << col << "), iteration " << i;
  }
}

TEST_F(NearWindows, CoresOfAnIterationLieSideBySide) {
  addWindow(0, 36, 64);
  const emulator::ResidentStore store(executable);
  const WindowPlace place = windows()[0];
  EXPECT_EQ(store.window(place, 1, 2) - store.window(place, 0, 2), 40); // 36 and up to a multiple of 8
  EXPECT_EQ(store.window(place, 1, 3) - store.window(place, 1, 2), place.iterationStep());
  EXPECT_EQ(place.iterationStep(), kRows * kCols * 40);
}

TEST_F(NearWindows, AreSharedByEqualWindows) {
  addWindow(0, 36, 64);
  addWindow(0, 36, 64);
  addWindow(0, 40, 64);
  const std::vector<WindowPlace> places = windows();
  EXPECT_EQ(places[0].near, places[1].near);
  EXPECT_NE(places[0].near, places[2].near);
}

// In one iteration the file is read as it lies; so is what does not move.
TEST_F(NearWindows, AreOfLoopsOnly) {
  addWindow(0, 36, 0);
  addWindow(0, 36, 64);
  EXPECT_FALSE(windows()[0].near);
  EXPECT_TRUE(windows()[1].near);
  executable.entries[0].steps[0].count = 1;
  const WindowPlace place = windows()[1];
  EXPECT_FALSE(place.near);
  EXPECT_EQ(emulator::ResidentStore(executable).window(place, 2, 0), inFile(2, 0));
}
