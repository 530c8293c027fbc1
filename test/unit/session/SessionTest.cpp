// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Folder.h"

#include <numeric>
#include <thread>

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
  ASSERT_TRUE(writeFileWhole("no executable", folder / "bad.wse").ok());
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

} // namespace
} // namespace wsc::test
