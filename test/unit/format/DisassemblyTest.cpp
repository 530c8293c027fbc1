// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs, lattices and memory maps as people read them.
#include "runtime/format/Disassembly.h"
#include "runtime/format/MemoryMap.h"
#include "test/unit/format/Sample.h"

#include <gtest/gtest.h>

namespace wsc::format {
namespace {

TEST(Disassembly, OfARole) {
  Executable executable = sampleExecutable();
  const Role &role = executable.configurations[0].roles[0];
  EXPECT_EQ(disassemble(role, role.threads[0]), "   0  loop l0 < 3 + c0\n"
                                                "   1    fma.f16 scratch[16 + 4*i0 + 32*l0 + 64*l1], weights[2 + 4*c3 "
                                                "+ 2*i1 - 2*i3 + 8*l3], in2(colour 3) for i0 < 4, "
                                                "i1 < 8 - c3, i3 < 2\n"
                                                "   2  end_loop\n"
                                                "   3  convert.f32.from.bf16 fifo ring, -0 for i3 < 5\n"
                                                "   4  add.f32 null, 2.5, fifo ring for i2 < 0\n"
                                                "   5  send_control out1(colour 4), count 7\n");
}

TEST(Disassembly, ResolvesAffineValuesForOneCore) {
  Executable executable = sampleExecutable();
  const Role &role = executable.configurations[0].roles[0];
  LatticeIndex index{1, 0, 0, 3};
  EXPECT_EQ(disassemble(role, role.threads[0][1], &index),
            "fma.f16 scratch[16 + 4*i0 + 32*l0 + 64*l1], weights[14 + 2*i1 - 2*i3 + 8*l3], in2(colour 3) for i0 < 4, "
            "i1 < 5, i3 < 2");
}

TEST(Disassembly, Names) {
  EXPECT_EQ(printable("a\x1b[31mb\x7f\n"), "a?[31mb??");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(printable("\xc3"), "?");
  EXPECT_EQ(printable("\xc2\x9b"), "??");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");
  EXPECT_EQ(printTensorType({"x", ElementType::F16, {2, 3}}), "x: f16[2,3]");
  EXPECT_EQ(printSwitchPosition({Port::West, 0b10100}), "W -> E RAMP");
}

TEST(Lattices, AsText) {
  Lattice lattice;
  lattice.row = 3, lattice.col = 4;
  EXPECT_EQ(printLattice(lattice), "core (3, 4)");
  lattice.dims[0] = {3, 2, 0};
  EXPECT_EQ(printLattice(lattice), "rows 3..7 step 2, col 4");
  lattice.dims[3] = {5, 0, 1};
  EXPECT_EQ(printLattice(lattice), "rows 3..7 step 2, cols 4..8");
  lattice.dims[2] = {2, 0, 10};
  EXPECT_EQ(printLattice(lattice), "from (3, 4), 3 times (2, 0), 2 times (0, 10), 5 times (0, 1)");
}

// Every point of the lattice is found at its index, and no other point of the plane is.
TEST(Lattices, FindTheirPoints) {
  Lattice grid{2, 1, {Lattice::Dim{2, 2, 0}, {1, 5, 5}, {1, 0, 0}, {4, 0, 1}}};
  Lattice pairs{0, 0, {Lattice::Dim{3, 4, 0}, {2, 1, 0}, {2, 0, 6}, {3, 0, 1}}};
  Lattice diagonal{8, 0, {Lattice::Dim{4, -2, 1}, {1, 0, 0}, {1, 0, 0}, {2, 0, 7}}};
  Lattice still{1, 1, {Lattice::Dim{3, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}}};
  for (const Lattice &lattice : {grid, pairs, diagonal, still}) {
    int64_t found = 0;
    for (int32_t row = -2; row < 20; ++row)
      for (int32_t col = -2; col < 20; ++col) {
        LatticeIndex index;
        if (!findInLattice(lattice, row, col, index))
          continue;
        ++found;
        int32_t atRow = lattice.row, atCol = lattice.col;
        for (int d = 0; d < kMaxDims; ++d) {
          ASSERT_GE(index[d], 0);
          ASSERT_LT(index[d], lattice.dims[d].count);
          atRow += index[d] * lattice.dims[d].rowStep;
          atCol += index[d] * lattice.dims[d].colStep;
        }
        EXPECT_EQ(atRow, row);
        EXPECT_EQ(atCol, col);
      }
    EXPECT_EQ(found, lattice == still ? 1 : lattice.size());
  }
}

TEST(Residents, AreDescribedWithTheirSource) {
  Executable executable = residentSample();
  for (const SectionSource &section : sampleSections())
    executable.sections.push_back({section.name, {}});
  EXPECT_EQ(printResident(executable, executable.residents[0]),
            "f16, 2048 bytes at 20480, rows 2..4, cols 0..5, constant from section fc.weights at 16 + 1024*c0");
  const LatticeIndex third{2, 4, 0, 0};
  EXPECT_EQ(printResident(executable, executable.residents[0], &third),
            "f16, 2048 bytes at 20480, constant from section fc.weights at 2064");
  EXPECT_EQ(printResident(executable, executable.residents[1]),
            "i64, 16 bytes at 24576, from (0, 0), 8 times (1, 1), elements of counter from 1 + 2*c0");
  EXPECT_EQ(printResident(executable, executable.residents[2]), "u16, 256 bytes at 32768, rows 2..4 step 2, cols 1..4");
  EXPECT_EQ(bufferKindName(BufferKind::Resident), "resident");
}

TEST(Steps, AreDescribedWithTheirCount) {
  const Executable executable = residentSample();
  EXPECT_EQ(printStep(executable, executable.entries[0].steps[2]), "configure spare after 0 1");
  EXPECT_EQ(printStep(executable, executable.entries[0].steps[3]), "run spare x 12 after 2");
}

TEST(MemoryMaps, CountWhatWindowsShareOnce) {
  const Executable executable = residentSample();
  Role role = executable.configurations[1].roles[0];
  const int64_t used = memoryMap(executable.target, role).usedBytes;
  role.buffers.push_back(role.buffers[0]);
  role.buffers.back().address += 48; // of 64 bytes
  EXPECT_EQ(memoryMap(executable.target, role).usedBytes, used + 48);
}

TEST(MemoryMaps, ListRegionsAndGaps) {
  Executable executable = sampleExecutable();
  MemoryMap map = memoryMap(executable.target, executable.configurations[0].roles[0]);
  // 7 instructions of 8 bytes; memory operands: two of the fma, one of the move.
  EXPECT_EQ(map.codeBytes, 7 * 8 + 3 * 16);
  EXPECT_EQ(map.usedBytes, 4200 + 1024 + map.codeBytes + 64 + 256 + 128 + 1024);
  EXPECT_EQ(map.freeBytes, 49152 - map.usedBytes);
  std::string text;
  for (const MemoryRegion &region : map.regions)
    text += region.name + "@" + std::to_string(region.address) + "+" + std::to_string(region.bytes) + " ";
  EXPECT_EQ(text,
            "runtime@0+4200 weights@4096+64 stack@4200+1024 code@5224+104 free@5328+2864 ring@8192+256 free@8448+3840 "
            "cache@12288+128 free@12416+3968 scratch@16384+1024 free@17408+31744 ");
}

} // namespace
} // namespace wsc::format
