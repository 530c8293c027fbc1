// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is written is read back field by field; the same content gives the same bytes; failures leave no file behind.
#include "runtime/format/FileLayout.h"
#include "runtime/format/Reader.h"
#include "test/support/Sanitizers.h"
#include "test/unit/format/Sample.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/resource.h>

namespace wsc::format {
namespace {

void expectEqual(const Executable &read, const Executable &written) {
  EXPECT_EQ(read.execution, written.execution);
  ASSERT_EQ(read.configurations.size(), written.configurations.size());
  for (size_t c = 0; c < read.configurations.size(); ++c) {
    const Configuration &a = read.configurations[c], &b = written.configurations[c];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.roles, b.roles);
    EXPECT_EQ(a.routers, b.routers);
    EXPECT_EQ(a.io, b.io);
    EXPECT_EQ(a.stateBindings, b.stateBindings);
    EXPECT_EQ(a.nets, b.nets);
    EXPECT_EQ(a.kernels, b.kernels);
  }
  EXPECT_EQ(read.states, written.states);
  EXPECT_EQ(read.residents, written.residents);
  EXPECT_EQ(read.entries, written.entries);
}

void expectSampleSections(const Executable &executable) {
  auto sources = sampleSections();
  ASSERT_EQ(executable.sections.size(), sources.size());
  for (size_t s = 0; s < sources.size(); ++s) {
    const Section &section = executable.sections[s];
    EXPECT_EQ(section.name, sources[s].name);
    std::vector<std::byte> bytes(sources[s].bytes);
    ASSERT_TRUE(sources[s].produce(bytes).ok());
    EXPECT_TRUE(std::equal(section.bytes.begin(), section.bytes.end(), bytes.begin(), bytes.end())) << section.name;
  }
}

TEST(RoundTrip, KeepsEveryField) {
  TemporaryFile file("round.wse");
  Executable written = residentSample();
  Role &role = written.configurations[0].roles[0];
  role.queues[0].filter = {12, Affine(4), Affine(8)}; // in no golden file
  role.queues[0].filter.begin.perDim[1] = -1;
  role.threads[0][1].priority = 2;
  ASSERT_EQ(writeExecutable(written, sampleSections(), file.path), absl::OkStatus());
  auto read = loadExecutable(file.path, {.verifyWeightHashes = true});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->target, written.target);
  expectEqual(*read, written);
  expectSampleSections(*read);
  EXPECT_EQ(read->weightBytes, 128 + 5000 + 4096);
  EXPECT_GT(read->metadataBytes, 1000);
  for (const Section &section : read->sections)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(section.bytes.data()) % kSectionAlignment, 0u) << section.name;
}

TEST(RoundTrip, KeepsTheBitsOfImmediates) {
  for (double value :
       {-0.0, std::numeric_limits<double>::infinity(), std::bit_cast<double>(uint64_t(0x7ff8000000000123)), 5e-324}) {
    TemporaryFile file("immediate.wse");
    Executable written = sampleExecutable();
    written.configurations[0].roles[0].threads[0][4].a.immediate = value;
    ASSERT_EQ(writeExecutable(written, sampleSections(), file.path), absl::OkStatus());
    auto read = loadExecutable(file.path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(std::bit_cast<uint64_t>(read->configurations[0].roles[0].threads[0][4].a.immediate),
              std::bit_cast<uint64_t>(value));
  }
}

// Equal lists are written once; those of another kind need their own alignment, wherever they come to lie.
TEST(RoundTrip, KeepsListsOfOtherKindsApart) {
  TemporaryFile file("kinds.wse");
  Executable written = sampleExecutable();
  Role &role = written.configurations[0].roles[0];
  role.queues.push_back({false, 5, 3, {12, Affine(4), Affine(8)}}); // queue 2 has filter 0: in bytes the number 2
  written.configurations[0].io[0].hostOffset.perDim[0] = 2;
  for (int more = 0; more < 4; ++more) {
    role.queues.push_back({true, 6, 0}); // moves the lists made later
    ASSERT_EQ(writeExecutable(written, sampleSections(), file.path), absl::OkStatus());
    auto read = loadExecutable(file.path);
    ASSERT_TRUE(read.ok()) << read.status();
    expectEqual(*read, written);
  }
}

TEST(RoundTrip, KeepsTheEmptyExecutable) {
  TemporaryFile file("empty.wse");
  Executable written;
  written.target = *target::loadTarget("wse3");
  ASSERT_EQ(writeExecutable(written, {}, file.path), absl::OkStatus());
  auto read = loadExecutable(file.path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->target, written.target);
  expectEqual(*read, written);
  EXPECT_TRUE(read->sections.empty());
}

TEST(RoundTrip, EmbedsTheTargetAsItsFieldsStand) {
  TemporaryFile file("target.wse");
  Executable written = sampleExecutable();
  written.target.vectorSetupCycles = 3;
  ASSERT_EQ(writeExecutable(written, sampleSections(), file.path), absl::OkStatus());
  EXPECT_EQ(loadExecutable(file.path)->target.vectorSetupCycles, 3);
}

TEST(RoundTrip, OutlivesTheFileName) {
  Executable executable;
  {
    TemporaryFile file("gone.wse");
    ASSERT_EQ(writeExecutable(sampleExecutable(), sampleSections(), file.path), absl::OkStatus());
    executable = *loadExecutable(file.path);
  }
  expectSampleSections(executable);
}

TEST(Writer, SameContentSameBytes) {
  TemporaryFile first("a.wse"), second("b.wse"), third("c.wse");
  ASSERT_EQ(writeExecutable(sampleExecutable(), sampleSections(), first.path), absl::OkStatus());
  ASSERT_EQ(writeExecutable(sampleExecutable(), sampleSections(), second.path), absl::OkStatus());
  EXPECT_EQ(readBytes(first.path), readBytes(second.path));
  // What a loader adds to an executable leaves no trace.
  ASSERT_EQ(writeExecutable(*loadExecutable(first.path), sampleSections(), third.path), absl::OkStatus());
  EXPECT_EQ(readBytes(first.path), readBytes(third.path));
}

TEST(Writer, SpendsFewBytesOnTypicalInstructions) {
  // A plain two-source instruction over memory, with distinct bases: what most of a large program is.
  auto size = [](int instructions) {
    TemporaryFile file("size.wse");
    Executable executable = sampleExecutable();
    Thread &thread = executable.configurations[0].roles[0].threads[1];
    Instruction instruction = thread[0];
    for (int i = 0; i < instructions; ++i) {
      instruction.opcode = Opcode::Fma;
      instruction.dst.base = 4 * i;
      instruction.a.kind = instruction.b.kind = OperandKind::Memory;
      instruction.a.buffer = instruction.b.buffer = 3;
      instruction.a.stride = {4, 0, 0, 0};
      instruction.a.base = 4 * i + 4;
      thread.push_back(instruction);
    }
    EXPECT_EQ(writeExecutable(executable, sampleSections(), file.path), absl::OkStatus());
    return loadExecutable(file.path)->metadataBytes;
  };
  int64_t perInstruction = (size(1100) - size(100)) / 1000;
  RecordProperty("bytesPerInstruction", int(perInstruction));
  EXPECT_LE(perInstruction, 160);
}

// A role that does what another does elsewhere costs its name, its lattice and some numbers.
TEST(Writer, ListsWhatRolesHaveInCommonOnce) {
  TemporaryFile file("common.wse");
  auto size = [&](int roles) {
    Executable executable = sampleExecutable();
    Role &first = executable.configurations[0].roles[0];
    first.cores = {};
    first.threads[0][4].a.immediate = 0.0;
    for (int i = 1; i < roles; ++i) {
      Role role = executable.configurations[0].roles[0];
      role.name = "worker." + std::to_string(i);
      role.cores.row = 1 + i / 7;
      role.cores.col = 1 + i % 7;
      executable.configurations[0].roles.push_back(role);
    }
    executable.configurations[0].roles.back().threads[0][4].a.immediate = -0.0; // equal, but other bits
    EXPECT_EQ(writeExecutable(executable, sampleSections(), file.path), absl::OkStatus());
    auto read = loadExecutable(file.path);
    EXPECT_TRUE(read.ok()) << read.status();
    if (!read.ok())
      return int64_t(0);
    expectEqual(*read, executable);
    EXPECT_TRUE(std::signbit(read->configurations[0].roles.back().threads[0][4].a.immediate));
    EXPECT_EQ(std::signbit(read->configurations[0].roles[0].threads[0][4].a.immediate), roles == 1);
    return read->metadataBytes;
  };
  const int64_t perRole = (size(32) - size(12)) / 20;
  RecordProperty("bytesPerRole", int(perRole));
  EXPECT_LE(perRole, 128);
}

// Weights go to the page cache through a shared mapping: the process's data may stay far below their size.
// Runs in a child: 0 when a section far beyond the limit on data was written under that limit.
int writeUnderDataLimit(const std::string &path) {
  constexpr int64_t bytes = 64 << 20;
  rlimit limit{24 << 20, 24 << 20};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    return 2;
  void *volatile heap = std::malloc(bytes);
  if (heap != nullptr)
    return 3;
  auto fill = [](std::span<std::byte> out) {
    std::memset(out.data(), 7, out.size());
    return absl::OkStatus();
  };
  auto sections = sampleSections();
  sections.push_back({"large", bytes, fill});
  return writeExecutable(sampleExecutable(), sections, path).ok() ? 0 : 1;
}

TEST(WriterDeathTest, WeightsAreNotDataOfTheProcess) {
  if (test::kAddressSanitizer)
    GTEST_SKIP() << "the address sanitizer needs more data than the limit allows";
  TemporaryFile file("large.wse");
  EXPECT_EXIT(std::_Exit(writeUnderDataLimit(file.path)), testing::ExitedWithCode(0), "");
}

size_t filesBeside(const std::string &path) {
  size_t count = 0;
  std::string name = std::filesystem::path(path).filename().string();
  for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    count += entry.path().filename().string().rfind(name, 0) == 0;
  return count;
}

TEST(Writer, LeavesNothingOnFailure) {
  TemporaryFile file("failed.wse");
  auto sections = sampleSections();
  sections[1].produce = [](std::span<std::byte>) { return absl::UnavailableError("the model file is gone"); };
  EXPECT_EQ(writeExecutable(sampleExecutable(), sections, file.path),
            absl::UnavailableError(file.path + ": section \"fc.weights\": the model file is gone"));
  EXPECT_EQ(filesBeside(file.path), 0u);
}

TEST(Writer, KeepsTheOldFileOnFailure) {
  TemporaryFile file("old.wse");
  writeBytes(file.path, {'o', 'l', 'd'});
  auto sections = sampleSections();
  sections[0].produce = [](std::span<std::byte>) { return absl::UnavailableError("no"); };
  EXPECT_FALSE(writeExecutable(sampleExecutable(), sections, file.path).ok());
  EXPECT_EQ(readBytes(file.path), (std::vector<char>{'o', 'l', 'd'}));
  EXPECT_EQ(filesBeside(file.path), 1u);
}

TEST(Writer, RefusesWhatCouldNotBeLoaded) {
  TemporaryFile file("unsound.wse");
  Executable executable = sampleExecutable();
  executable.configurations[0].roles[0].threads[0][1].a.buffer = 4;
  EXPECT_EQ(std::string(writeExecutable(executable, sampleSections(), file.path).message()),
            file.path + ": configuration 0 \"all layers\", role 0 \"worker\", thread 0, instruction 1 (fma), operand "
                        "a: buffer 4 does not "
                        "exist; there are 4");
  executable = sampleExecutable();
  executable.target.rows = 0;
  EXPECT_EQ(std::string(writeExecutable(executable, sampleSections(), file.path).message()),
            file.path + ": target: field \"rows\": value 0 is outside 1 to 8192");
  auto sections = sampleSections();
  sections[3].bytes = -1;
  EXPECT_FALSE(writeExecutable(sampleExecutable(), sections, file.path).ok());
  EXPECT_EQ(filesBeside(file.path), 0u);
  EXPECT_FALSE(writeExecutable(sampleExecutable(), sampleSections(), "/no/such/folder/x.wse").ok());
}

// Files of every format version stay readable. Each was written from the sample of what its version can hold.
TEST(Golden, EveryVersionLoads) {
  for (uint32_t version = 1; version <= kFormatVersion; ++version) {
    SCOPED_TRACE(version);
    auto read = loadExecutable(std::string(WSC_GOLDEN_DIR) + "/v" + std::to_string(version) + ".wse",
                               {.verifyWeightHashes = true});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->target.name, "mesh-8x8");
    EXPECT_EQ(read->target.rows, 8);
    expectEqual(*read, version < 4 ? sampleExecutable() : version < 5 ? residentSample() : loopSample());
    expectSampleSections(*read);
  }
}

// Writes the golden file of the current version, once, when a version is made:
//   format-file-test --gtest_also_run_disabled_tests --gtest_filter=Golden.DISABLED_Write
TEST(Golden, DISABLED_Write) {
  std::string path = std::string(WSC_GOLDEN_DIR) + "/v" + std::to_string(kFormatVersion) + ".wse";
  ASSERT_EQ(writeExecutable(loopSample(), sampleSections(), path), absl::OkStatus());
}

} // namespace
} // namespace wsc::format
