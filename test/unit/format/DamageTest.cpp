// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Damaged and hostile files: each is refused with a message, none crashes the reader or makes it hang.
#include "runtime/format/FileLayout.h"
#include "runtime/format/Metadata.h"
#include "runtime/format/Reader.h"
#include "runtime/format/wse_generated.h"
#include "test/support/Seed.h"
#include "test/unit/format/Sample.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <sys/stat.h>

namespace wsc::format {
namespace {

class Damage : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(writeExecutable(residentSample(), sampleSections(), file.path), absl::OkStatus());
    sound = bytes = readBytes(file.path);
  }

  Header &header() { return *reinterpret_cast<Header *>(bytes.data()); }
  SectionEntry &entry(int i) { return reinterpret_cast<SectionEntry *>(bytes.data() + sizeof(Header))[i]; }
  std::span<const std::byte> view(size_t offset, size_t count) {
    return std::as_bytes(std::span(bytes.data() + offset, count));
  }

  // Makes all hashes fit again, so that what lies behind them is reached.
  void rehash() {
    entry(0).hash = header().metadataHash = hashBytes(view(entry(0).offset, entry(0).bytes));
    header().tableHash = hashBytes(view(sizeof(Header), header().sectionCount * sizeof(SectionEntry)));
    header().headerHash = hashBytes(view(0, offsetof(Header, headerHash)));
  }

  std::string load(bool weights = false) {
    writeBytes(file.path, bytes);
    auto executable = loadExecutable(file.path, {.verifyWeightHashes = weights});
    if (executable.ok())
      return "loaded";
    std::string message(executable.status().message());
    EXPECT_EQ(message.rfind(file.path, 0), 0u) << message; // every message names the file
    return message.substr(std::min(message.size(), file.path.size() + 2));
  }

  TemporaryFile file{"damage.wse"};
  std::vector<char> sound, bytes;
};

TEST_F(Damage, TruncatedAnywhere) {
  for (size_t size = 0; size < sound.size(); size += 4096) {
    bytes.assign(sound.begin(), sound.begin() + long(size));
    EXPECT_EQ(load(), size == 0 ? "0 bytes are too few for a wafer executable; its header alone has 80"
                                : "the file has " + std::to_string(size) + " bytes, its header says " +
                                      std::to_string(sound.size()));
  }
  bytes = sound;
  bytes.push_back(0);
  EXPECT_NE(load(), "loaded");
}

TEST_F(Damage, EveryByteOfHeaderAndTableCounts) {
  for (size_t i = 0; i < sizeof(Header) + header().sectionCount * sizeof(SectionEntry); ++i) {
    bytes[i] ^= 0x10;
    EXPECT_NE(load(), "loaded") << "byte " << i;
    bytes[i] ^= 0x10;
  }
}

TEST_F(Damage, PaddingMustBeZero) {
  bytes[4095] = 1;
  EXPECT_EQ(load(), "bytes 240 to 4096 before section 0 are not zero");
}

TEST_F(Damage, Metadata) {
  bytes[entry(0).offset + entry(0).bytes / 2] ^= 1;
  EXPECT_EQ(load(), "the metadata is damaged (its hash differs)");
}

TEST_F(Damage, WeightsAreCheckedOnRequest) {
  size_t offset = entry(2).offset;
  bytes[offset + 77] ^= 1;
  EXPECT_EQ(load(), "loaded");
  EXPECT_EQ(load(true), "section fc.weights at byte " + std::to_string(offset) + " is damaged (its hash differs)");
}

TEST_F(Damage, NotOneOfOurs) {
  bytes[0] = 'X';
  EXPECT_EQ(load(), "not a wafer executable (it does not begin with WSE)");
}

TEST_F(Damage, VersionsAndEpochs) {
  header().formatVersion = kFormatVersion + 1;
  EXPECT_EQ(load(), "format version 6; this program reads 1 to 5");
  bytes = sound;
  header().epoch = 9;
  rehash();
  EXPECT_EQ(load(), "epoch 9; this program executes epoch 1: compile the model again");
}

TEST_F(Damage, TableMustTileTheFile) {
  entry(2).offset += 4096;
  rehash();
  EXPECT_NE(load().find("section 2 of 5000 bytes is said to be at"), std::string::npos);
  for (uint64_t size : {uint64_t(4095), uint64_t(4097), uint64_t(1) << 62, UINT64_MAX, UINT64_MAX - 4095}) {
    bytes = sound;
    entry(4).bytes = size;
    rehash();
    EXPECT_NE(load(), "loaded") << size;
  }
  for (uint32_t count : {0u, 1u, 4u, 6u, 1u << 30, UINT32_MAX}) {
    bytes = sound;
    header().sectionCount = count;
    // The table's hash can only be set where the table lies inside the file.
    if (count < 10)
      header().tableHash = hashBytes(view(sizeof(Header), count * sizeof(SectionEntry)));
    header().headerHash = hashBytes(view(0, offsetof(Header, headerHash)));
    EXPECT_NE(load(), "loaded") << count;
  }
}

TEST_F(Damage, UnknownSections) {
  entry(4).kind = 77;
  rehash();
  EXPECT_EQ(load(), "section 4 is of critical kind 77, which this program does not know");
  entry(4).flags = 6;
  rehash();
  EXPECT_EQ(load(), "section 4 has unknown flags 6");
  entry(4).flags = 0;
  rehash();
  EXPECT_EQ(load(), "the metadata names 4 raw sections, the file has 3");
}

TEST_F(Damage, AncillarySectionsAreIgnored) {
  size_t end = alignSection(bytes.size());
  bytes.resize(end + 10, 'z');
  std::fill(bytes.begin() + long(sound.size()), bytes.begin() + long(end), 0);
  header().fileBytes = bytes.size();
  header().sectionCount = 6;
  entry(5) = {77, 0, end, 10, hashBytes(view(end, 10))};
  rehash();
  EXPECT_EQ(load(true), "loaded");
}

TEST_F(Damage, MetadataSectionMustBeTheOne) {
  entry(0).kind = uint32_t(SectionKind::Raw);
  rehash();
  EXPECT_EQ(load(), "no metadata section");
  bytes = sound;
  entry(1).kind = uint32_t(SectionKind::Metadata);
  rehash();
  EXPECT_EQ(load(), "more than one metadata section");
  bytes = sound;
  header().metadataBytes -= 1;
  header().headerHash = hashBytes(view(0, offsetof(Header, headerHash)));
  EXPECT_EQ(load(), "header and section table disagree about the metadata");
}

TEST_F(Damage, NotAFile) {
  EXPECT_FALSE(loadExecutable("/no/such/file").ok());
  EXPECT_FALSE(loadExecutable("/").ok());
  EXPECT_FALSE(loadExecutable("/dev/zero").ok());
  TemporaryFile pipe("pipe");
  ASSERT_EQ(::mkfifo(pipe.path.c_str(), 0600), 0);
  EXPECT_FALSE(loadExecutable(pipe.path).ok());
}

// Roles that refer to parts that are not there, or that are few bytes and far too much in memory.
TEST(Metadata, RolesReferToWhatIsThere) {
  namespace fb = flatbuffers;
  // A role with the given memory, connections and program, of one each: a memory of `buffers`, none of which is there,
  // and a program of `threads` times the same thread of `length` times one instruction.
  auto decode = [](int32_t memory, int32_t connections, int32_t program, size_t buffers = 0, size_t threads = 1,
                   size_t length = 1) {
    fb::FlatBufferBuilder builder;
    auto numbers = [&](size_t count, uint32_t number) {
      return schema::CreateNumbers(builder, builder.CreateVector(std::vector<uint32_t>(count, number)));
    };
    auto lists = [&](fb::Offset<schema::Numbers> list) { return builder.CreateVector(&list, 1); };
    auto instruction = schema::CreateInstruction(builder);
    auto instructions = builder.CreateVector(&instruction, 1);
    auto queues = schema::CreateConnections(builder);
    auto connectionLists = builder.CreateVector(&queues, 1);
    auto memories = lists(numbers(buffers, 3)), threadLists = lists(numbers(length, 0)),
         programs = lists(numbers(threads, 0));
    schema::RoleBuilder role(builder);
    role.add_memory(memory);
    role.add_connections(connections);
    role.add_program(program);
    auto made = role.Finish();
    auto roles = builder.CreateVector(&made, 1);
    schema::ConfigurationBuilder configuration(builder);
    configuration.add_roles(roles);
    configuration.add_memories(memories);
    configuration.add_connections(connectionLists);
    configuration.add_instructions(instructions);
    configuration.add_threads(threadLists);
    configuration.add_programs(programs);
    auto one = configuration.Finish();
    auto configurations = builder.CreateVector(&one, 1);
    auto target = builder.CreateString(target::targetJson(*target::loadTarget("mesh-8x8")));
    builder.Finish(schema::CreateExecutable(builder, target, 0, configurations));
    auto decoded = decodeMetadata(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())), "here");
    return decoded.ok() ? "sound" : std::string(decoded.status().message());
  };
  EXPECT_EQ(decode(0, 0, 0), "sound");
  EXPECT_EQ(decode(0, 0, 0, 1), "here: buffer 3 does not exist; there are 0");
  EXPECT_EQ(decode(1, 0, 0), "here: list 1 does not exist; there are 1");
  EXPECT_EQ(decode(-1, 0, 0), "here: list -1 does not exist; there are 1");
  EXPECT_EQ(decode(0, 7, 0), "here: list of connections 7 does not exist; there are 1");
  EXPECT_EQ(decode(0, 0, 1), "here: list 1 does not exist; there are 1");
  EXPECT_EQ(decode(0, 0, 0, 0, 1000, 1000), "here: roles expand to far more than the metadata's size");
}

// Random damage behind fitting hashes: the reader either refuses or gives an executable that can be walked.
TEST_F(Damage, RandomFlips) {
  const uint64_t seed = wsc::test::seedOf(1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  size_t begin = entry(0).offset, size = entry(0).bytes;
  int loaded = 0;
  for (int round = 0; round < 2000; ++round) {
    bytes = sound;
    int flips = 1 + int(random() % 4);
    for (int f = 0; f < flips; ++f) {
      size_t at = random() % 16 == 0 ? random() % (sizeof(Header) + 5 * sizeof(SectionEntry)) : begin + random() % size;
      bytes[at] = char(random() % 4 == 0 ? 0xff : random());
    }
    // Half of the files keep hashes that fit, where the table is still where it was.
    if (round % 2 == 0 && header().sectionCount == 5 && entry(0).offset == begin && entry(0).bytes == size)
      rehash();
    writeBytes(file.path, bytes);
    auto executable = loadExecutable(file.path);
    if (!executable.ok())
      continue;
    ++loaded;
    int64_t cores = 0;
    for (const Configuration &configuration : executable->configurations)
      for (const Role &role : configuration.roles) {
        cores += role.cores.size();
        for (const Buffer &buffer : role.buffers)
          if (buffer.kind == BufferKind::Constant) {
            LatticeIndex last;
            for (int d = 0; d < kMaxDims; ++d)
              last[d] = role.cores.dims[d].count - 1;
            ASSERT_LE(buffer.sectionOffset.at(last) + buffer.bytes,
                      int64_t(executable->sections[buffer.section].bytes.size()));
          }
      }
    ASSERT_LE(cores, executable->target.numCores() * int64_t(executable->configurations.size()));
  }
  EXPECT_LT(loaded, 2000);
}

} // namespace
} // namespace wsc::format
