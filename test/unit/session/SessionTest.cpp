// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Folder.h"

#include "runtime/files/OutputFile.h"

#include <numeric>
#include <thread>
#include <tuple>

namespace wsc::test {
namespace {

using format::ElementType;

std::map<std::string, Tensor> inputsOf(const Session &session, float scale = 1) {
  std::map<std::string, Tensor> inputs;
  for (const format::TensorType &type : session.executable().entries[0].inputs) {
    std::vector<float> values(size_t(type.elements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = scale * float(i + 1);
    inputs[type.name] = tensorOf(type.name, ElementType::F32, type.shape, values);
  }
  return inputs;
}

TEST(Session, RunsReplaysAndTimes) {
  Folder folder;
  auto session = Session::open(writeGood(folder), {.threads = 2});
  ASSERT_TRUE(session.ok()) << session.status();
  auto entry = (*session)->findEntry("");
  ASSERT_TRUE(entry.ok()) << entry.status();
  const auto inputs = inputsOf(**session);
  auto units = (*session)->run(*entry, inputs);
  ASSERT_TRUE(units.ok()) << units.status();
  ASSERT_EQ(units->size(), (*session)->executable().entries[0].outputs.size());

  auto worklist = Session::open(folder / "good.wse", {.threads = 1, .worklist = true});
  ASSERT_TRUE(worklist.ok()) << worklist.status();
  auto same = (*worklist)->run(*entry, inputs);
  ASSERT_TRUE(same.ok()) << same.status();
  for (size_t i = 0; i < units->size(); ++i)
    EXPECT_EQ((*units)[i].bytes, (*same)[i].bytes);

  EXPECT_TRUE((*session)->replay(*entry, inputs, 50, 1).ok()) << (*session)->replay(*entry, inputs, 50, 1);

  auto timing = (*session)->timing(*entry);
  ASSERT_TRUE(timing.ok()) << timing.status();
  EXPECT_GT((*timing)->latencyCycles, 16);
  EXPECT_GE((*timing)->intervalCycles, 16);
  EXPECT_EQ(*timing, *(*session)->timing(*entry)); // the same object
}

TEST(Session, SessionsShareAnExecutable) {
  Folder folder;
  const std::string path = writeGood(folder);
  auto executable = openExecutable(path);
  ASSERT_TRUE(executable.ok()) << executable.status();
  auto one = Session::open(*executable), other = Session::open(*executable);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(&(*one)->executable(), &(*other)->executable()); // and with it the mapped weights
  EXPECT_EQ(&(*one)->executable(), &(*executable)->content);
  executable->reset();
  const auto inputs = inputsOf(**one);
  auto wanted = (*one)->run(0, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      auto session = Session::open(path);
      ASSERT_TRUE(session.ok());
      auto got = (*session)->run(0, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      for (size_t i = 0; i < got->size(); ++i)
        EXPECT_EQ((*got)[i].bytes, (*wanted)[i].bytes);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(Session::open(ExecutablePtr()).ok());
}

TEST(Session, OpensFromMemoryAndSaves) {
  Folder folder;
  auto content = readFile(writeGood(folder));
  ASSERT_TRUE(content.ok());
  const std::span bytes(reinterpret_cast<const std::byte *>(content->data()), content->size());
  auto executable = openExecutable(bytes, "memory");
  ASSERT_TRUE(executable.ok()) << executable.status();
  ASSERT_TRUE(saveExecutable(**executable, folder / "saved.wse").ok());
  EXPECT_EQ(*readFile(folder / "saved.wse"), *content);
  EXPECT_FALSE(saveExecutable(**executable, folder / "no/saved.wse").ok());
  for (size_t size : {size_t(0), size_t(10), content->size() / 2, content->size() - 1})
    EXPECT_EQ(openExecutable(bytes.first(size), "part").status().message().substr(0, 6), "part: ");
}

TEST(Session, StatesAreReadAndWritten) {
  Folder folder;
  auto session = Session::open(writeGood(folder));
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_FALSE((*session)->executable().states.empty());
  const std::string name = (*session)->executable().states[0].tensor.name;
  auto before = (*session)->readState(name);
  ASSERT_TRUE(before.ok()) << before.status();
  const auto inputs = inputsOf(**session);
  auto first = (*session)->run(0, inputs);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE((*session)->writeState(name, *before).ok());
  auto again = (*session)->run(0, inputs);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*first)[0].bytes, (*again)[0].bytes);
  Tensor wrong = *before;
  wrong.type.shape.push_back(2);
  EXPECT_FALSE((*session)->writeState(name, wrong).ok());
  EXPECT_FALSE((*session)->readState("nothing").ok());
}

TEST(Session, WrongInputsAreNamed) {
  Folder folder;
  auto session = Session::open(writeGood(folder));
  ASSERT_TRUE(session.ok()) << session.status();
  const auto good = inputsOf(**session);
  const std::string name = good.begin()->first;
  const auto message = [&](const std::map<std::string, Tensor> &inputs) {
    return std::string((*session)->run(0, inputs).status().message());
  };
  EXPECT_NE(message({}).find("input " + name + " of entry"), std::string::npos) << message({});
  auto extra = good;
  extra["other"] = good.begin()->second;
  EXPECT_NE(message(extra).find("has no input other"), std::string::npos) << message(extra);
  auto typed = good;
  typed[name].type.type = ElementType::I32;
  EXPECT_NE(message(typed).find("takes"), std::string::npos) << message(typed);
  EXPECT_FALSE((*session)->run(7, good).ok());
  EXPECT_FALSE((*session)->timing(-1).ok());
  EXPECT_FALSE((*session)->findEntry("nothing").ok());
}

TEST(Session, BrokenFilesAreRefused) {
  Folder folder;
  EXPECT_FALSE(Session::open(folder / "none.wse").ok());
  ASSERT_TRUE(files::writeWhole("no executable", folder / "bad.wse").ok());
  EXPECT_FALSE(Session::open(folder / "bad.wse").ok());
  // A file whose structure is right but which breaks a hardware limit.
  format::Executable executable = format::fixture::goodExecutable();
  executable.configurations[0].roles[0].buffers[0].address = 1 << 20;
  std::vector<format::SectionSource> sections;
  for (const format::Section &section : executable.sections)
    sections.push_back(
        {section.name, int64_t(section.bytes.size()), [](std::span<std::byte>) { return absl::OkStatus(); }});
  ASSERT_TRUE(format::writeExecutable(executable, sections, folder / "limit.wse").ok());
  EXPECT_FALSE(Session::open(folder / "limit.wse").ok());
}

// One thread fills a FIFO of four elements with eight before it tells the other, which waits for that.
format::Executable stopping() {
  format::Executable executable;
  executable.target = *target::loadTarget("mesh-1x1");
  executable.execution = "pipelined";
  format::Role role;
  role.name = "stuck";
  int64_t address = 8192;
  for (auto [name, kind, elements] : {std::tuple("data", format::BufferKind::Fifo, 4),
                                      {"ready", format::BufferKind::Fifo, 1},
                                      {"x", format::BufferKind::Scratch, 8}}) {
    format::Buffer buffer;
    buffer.name = name;
    buffer.kind = kind;
    buffer.address = address;
    buffer.bytes = 4 * elements;
    role.buffers.push_back(buffer);
    address += 64;
  }
  const auto operand = [](format::OperandKind kind, int16_t buffer) {
    format::Operand result;
    result.kind = kind;
    result.buffer = buffer;
    if (kind == format::OperandKind::Memory)
      result.stride[3] = 4;
    return result;
  };
  const auto move = [](int64_t elements, const format::Operand &dst, const format::Operand &a) {
    format::Instruction result;
    result.extent[3] = format::Affine(elements);
    result.dst = dst;
    result.a = a;
    return result;
  };
  const format::Operand data = operand(format::OperandKind::Fifo, 0), ready = operand(format::OperandKind::Fifo, 1),
                        x = operand(format::OperandKind::Memory, 2), one = operand(format::OperandKind::Immediate, -1);
  role.threads = {{move(8, data, one), move(1, ready, one)}, {move(1, x, ready), move(8, x, data)}};
  executable.configurations.resize(1);
  executable.configurations[0].name = "main";
  executable.configurations[0].roles = {role};
  format::Entry entry;
  entry.name = "main";
  entry.steps = {{format::StepKind::Configure, 0, {}}, {format::StepKind::Run, 0, {0}}};
  executable.entries = {entry};
  return executable;
}

TEST(Session, WhatWouldStopIsRefusedOnRequest) {
  Folder folder;
  ASSERT_TRUE(format::writeExecutable(stopping(), {}, folder / "stops.wse").ok());
  auto unasked = Session::open(folder / "stops.wse");
  EXPECT_TRUE(unasked.ok()) << unasked.status();
  auto asked = Session::open(folder / "stops.wse", {.verifyLiveness = true});
  ASSERT_FALSE(asked.ok());
  const std::string text(asked.status().message());
  EXPECT_EQ(text.rfind(folder / "stops.wse: configuration main: deadlock: 2 threads", 0), 0u) << text;
  auto good = Session::open(writeGood(folder), {.verifyLiveness = true});
  EXPECT_TRUE(good.ok()) << good.status();
}

} // namespace
} // namespace wsc::test
