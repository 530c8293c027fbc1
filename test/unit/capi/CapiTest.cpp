// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API: the same results as the C++ one, every wrong argument an error with its text, and what a call costs.
#include "runtime/capi/wsc.h"

#include "test/unit/session/Folder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>

namespace wsc::test {
namespace {

// Whether the last error of this thread says this.
bool says(const std::string &text) { return std::string(wsc_last_error()).find(text) != std::string::npos; }

class Capi : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(wsc_executable_open(writeGood(folder).c_str(), &executable), WSC_OK) << wsc_last_error();
    ASSERT_EQ(wsc_session_open(executable, 1, &session), WSC_OK) << wsc_last_error();
    size_t count = 0;
    ASSERT_EQ(wsc_executable_inputs(executable, 0, &count), WSC_OK);
    for (size_t i = 0; i < count; ++i) {
      wsc_tensor tensor;
      ASSERT_EQ(wsc_executable_input(executable, 0, i, &tensor), WSC_OK);
      std::vector<float> &values = in.emplace_back(tensor.bytes / 4);
      std::iota(values.begin(), values.end(), 1.0f);
      inputs.push_back({values.data(), tensor.bytes});
    }
    ASSERT_EQ(wsc_executable_outputs(executable, 0, &count), WSC_OK);
    for (size_t i = 0; i < count; ++i) {
      wsc_tensor tensor;
      ASSERT_EQ(wsc_executable_output(executable, 0, i, &tensor), WSC_OK);
      std::vector<std::byte> &bytes = out.emplace_back(tensor.bytes);
      outputs.push_back({bytes.data(), bytes.size()});
    }
  }
  void TearDown() override {
    wsc_session_close(session);
    wsc_executable_close(executable);
  }
  wsc_status run() { return wsc_session_run(session, 0, inputs.data(), inputs.size(), outputs.data(), outputs.size()); }
  std::vector<emulator::HostView> views() const {
    std::vector<emulator::HostView> result;
    for (const wsc_input &input : inputs)
      result.push_back({static_cast<const std::byte *>(input.data), input.bytes});
    return result;
  }

  Folder folder;
  wsc_executable *executable = nullptr;
  wsc_session *session = nullptr;
  std::vector<std::vector<float>> in;
  std::vector<std::vector<std::byte>> out;
  std::vector<wsc_input> inputs;
  std::vector<wsc_output> outputs;
};

TEST_F(Capi, GivesTheResultsOfTheSession) {
  ASSERT_EQ(run(), WSC_OK) << wsc_last_error();
  auto same = Session::open(folder / "good.wse");
  ASSERT_TRUE(same.ok()) << same.status();
  auto wanted = (*same)->runViews(0, views());
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], (*wanted)[i].bytes);

  wsc_time time;
  ASSERT_EQ(wsc_session_time(session, 0, &time, sizeof time), WSC_OK) << wsc_last_error();
  EXPECT_EQ(time.latency_cycles, (*(*same)->timing(0))->latencyCycles);
  EXPECT_GT(time.clock_ghz, 0);
}

TEST_F(Capi, DescribesTheExecutable) {
  size_t entries = 0, entry = 9, states = 0;
  EXPECT_EQ(wsc_executable_entries(executable, &entries), WSC_OK);
  EXPECT_EQ(wsc_executable_find_entry(executable, nullptr, &entry), WSC_OK);
  const char *name = nullptr;
  EXPECT_EQ(wsc_executable_entry_name(executable, entry, &name), WSC_OK);
  EXPECT_EQ(wsc_executable_find_entry(executable, name, &entry), WSC_OK);
  EXPECT_EQ(entry, 0u);
  ASSERT_EQ(wsc_executable_states(executable, &states), WSC_OK);
  ASSERT_GT(states, 0u);
  wsc_tensor state;
  ASSERT_EQ(wsc_executable_state(executable, 0, &state), WSC_OK);
  std::vector<std::byte> before(state.bytes), ones(state.bytes, std::byte(1)), after(state.bytes);
  EXPECT_EQ(wsc_session_read_state(session, state.name, before.data(), before.size()), WSC_OK) << wsc_last_error();
  EXPECT_EQ(wsc_session_write_state(session, state.name, ones.data(), ones.size()), WSC_OK) << wsc_last_error();
  EXPECT_EQ(wsc_session_read_state(session, state.name, after.data(), after.size()), WSC_OK) << wsc_last_error();
  EXPECT_EQ(after, ones);
}

TEST_F(Capi, SavesAndOpensFromMemory) {
  ASSERT_EQ(wsc_executable_save(executable, (folder / "copy.wse").c_str()), WSC_OK) << wsc_last_error();
  auto content = readFile(folder / "copy.wse");
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content, *readFile(folder / "good.wse"));
  wsc_executable *copy = nullptr;
  ASSERT_EQ(wsc_executable_open_memory(content->data(), content->size(), "copy", &copy), WSC_OK) << wsc_last_error();
  EXPECT_EQ(wsc_executable_close(copy), WSC_OK);
  EXPECT_EQ(wsc_executable_open_memory(content->data(), content->size() / 2, "half", &copy), WSC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("half: the file has")) << wsc_last_error();
  EXPECT_EQ(wsc_executable_save(executable, (folder / "no/copy.wse").c_str()), WSC_FAILED);
  EXPECT_TRUE(says("cannot be created")) << wsc_last_error();
}

// What every wrong call says. The function's name stands before it.
TEST_F(Capi, WrongCallsAreErrors) {
  size_t count = 0;
  wsc_tensor tensor;
  wsc_time time;
  wsc_executable *other = nullptr;
  float number = 0;
  const auto expect = [](wsc_status got, wsc_status wanted, const std::string &text) {
    EXPECT_EQ(got, wanted) << text;
    EXPECT_TRUE(says(text)) << wsc_last_error();
  };
  expect(wsc_executable_open(nullptr, &other), WSC_INVALID_ARGUMENT, "wsc_executable_open: argument path is a null");
  expect(wsc_executable_open("/no.wse", nullptr), WSC_INVALID_ARGUMENT, "argument executable is a null pointer");
  expect(wsc_executable_open("/no.wse", &other), WSC_NOT_FOUND, "/no.wse: cannot open: No such file or directory");
  expect(wsc_executable_open_memory(nullptr, 4, "x", &other), WSC_INVALID_ARGUMENT, "argument content is a null");
  expect(wsc_executable_open_memory("abc", 3, nullptr, &other), WSC_INVALID_ARGUMENT, "<memory>: 3 bytes are too few");
  EXPECT_EQ(other, nullptr);
  expect(wsc_executable_entries(nullptr, &count), WSC_INVALID_ARGUMENT, "argument executable is a null pointer");
  expect(wsc_executable_entries(executable, nullptr), WSC_INVALID_ARGUMENT, "argument count is a null pointer");
  expect(wsc_executable_entry_name(executable, 7, nullptr), WSC_INVALID_ARGUMENT, "entry 7 does not exist; there");
  expect(wsc_executable_find_entry(executable, "no", &count), WSC_NOT_FOUND, "no entry no; ");
  expect(wsc_executable_inputs(executable, 7, &count), WSC_INVALID_ARGUMENT, "entry 7 does not exist");
  expect(wsc_executable_input(executable, 0, 99, &tensor), WSC_INVALID_ARGUMENT, "input 99 does not exist; there are");
  expect(wsc_executable_output(executable, 0, 0, nullptr), WSC_INVALID_ARGUMENT, "argument tensor is a null pointer");
  expect(wsc_executable_state(executable, 99, &tensor), WSC_INVALID_ARGUMENT, "state variable 99 does not exist");
  expect(wsc_executable_save(executable, nullptr), WSC_INVALID_ARGUMENT, "argument path is a null pointer");
  expect(wsc_session_open(executable, 0, nullptr), WSC_INVALID_ARGUMENT, "argument session is a null pointer");
  expect(wsc_session_open(executable, -1, &session), WSC_INVALID_ARGUMENT, "-1 threads; 0 means all");
  expect(wsc_session_time(session, 0, &time, 3), WSC_INVALID_ARGUMENT, "wsc_time has 32 bytes, 3 given");
  expect(wsc_session_time(session, 7, &time, sizeof time), WSC_INVALID_ARGUMENT, "entry 7 does not exist");
  expect(wsc_session_read_state(session, "no", &number, 4), WSC_NOT_FOUND, "no state variable no; there are");
  expect(wsc_session_read_state(session, nullptr, &number, 4), WSC_INVALID_ARGUMENT, "argument name is a null pointer");
  ASSERT_EQ(wsc_executable_state(executable, 0, &tensor), WSC_OK);
  expect(wsc_session_write_state(session, tensor.name, &number, tensor.bytes + 1), WSC_INVALID_ARGUMENT, "bytes, ");
  expect(wsc_session_write_state(session, tensor.name, nullptr, tensor.bytes), WSC_INVALID_ARGUMENT, "data is a null");

  const auto runWith = [&](size_t entry, std::vector<wsc_input> i, std::vector<wsc_output> o) {
    return wsc_session_run(session, entry, i.data(), i.size(), o.data(), o.size());
  };
  expect(runWith(7, inputs, outputs), WSC_INVALID_ARGUMENT, "entry 7 does not exist");
  expect(runWith(0, {}, outputs), WSC_INVALID_ARGUMENT, "inputs, 0 given");
  expect(runWith(0, inputs, {}), WSC_INVALID_ARGUMENT, "outputs, 0 given");
  std::vector<wsc_input> wrong = inputs;
  wrong[0].bytes -= 1;
  expect(runWith(0, wrong, outputs), WSC_INVALID_ARGUMENT, "bytes, ");
  wrong[0] = {nullptr, inputs[0].bytes};
  expect(runWith(0, wrong, outputs), WSC_INVALID_ARGUMENT, "is a null pointer");
  expect(wsc_session_run(session, 0, nullptr, inputs.size(), outputs.data(), outputs.size()), WSC_INVALID_ARGUMENT,
         "argument inputs is a null pointer");
  std::vector<wsc_output> small = outputs;
  small[0].bytes += 1;
  expect(runWith(0, inputs, small), WSC_INVALID_ARGUMENT, "bytes, ");
}

TEST_F(Capi, ClosedAndForeignHandlesAreErrors) {
  wsc_executable *closed = nullptr;
  wsc_session *kept = nullptr;
  ASSERT_EQ(wsc_executable_open((folder / "good.wse").c_str(), &closed), WSC_OK);
  ASSERT_EQ(wsc_session_open(closed, 1, &kept), WSC_OK);
  ASSERT_EQ(wsc_executable_close(closed), WSC_OK);
  size_t count;
  EXPECT_EQ(wsc_executable_close(closed), WSC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("wsc_executable_close: the executable's handle was closed, or is none")) << wsc_last_error();
  EXPECT_EQ(wsc_executable_entries(closed, &count), WSC_INVALID_ARGUMENT);
  // The session lives on.
  EXPECT_EQ(wsc_session_run(kept, 0, inputs.data(), inputs.size(), outputs.data(), outputs.size()), WSC_OK);
  ASSERT_EQ(wsc_session_close(kept), WSC_OK);
  EXPECT_EQ(wsc_session_run(kept, 0, nullptr, 0, nullptr, 0), WSC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("the session's handle was closed, or is none")) << wsc_last_error();
  EXPECT_EQ(wsc_session_close(kept), WSC_INVALID_ARGUMENT);
  EXPECT_EQ(wsc_session_close(nullptr), WSC_INVALID_ARGUMENT);
  // Neither a handle of the other kind nor a pointer to anything.
  EXPECT_EQ(wsc_session_close(reinterpret_cast<wsc_session *>(executable)), WSC_INVALID_ARGUMENT);
  int thing = 0;
  EXPECT_EQ(wsc_executable_close(reinterpret_cast<wsc_executable *>(&thing)), WSC_INVALID_ARGUMENT);
}

TEST_F(Capi, ErrorsAreOfTheirThread) {
  EXPECT_EQ(wsc_executable_close(nullptr), WSC_INVALID_ARGUMENT);
  std::thread([] { EXPECT_STREQ(wsc_last_error(), ""); }).join();
  EXPECT_STRNE(wsc_last_error(), "");
  EXPECT_STREQ(wsc_version(), "0.1.0");
}

TEST_F(Capi, SixteenThreadsWithSessionsOfTheirOwn) {
  ASSERT_EQ(run(), WSC_OK);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      wsc_session *own = nullptr;
      ASSERT_EQ(wsc_session_open(executable, 1, &own), WSC_OK) << wsc_last_error();
      std::vector<std::vector<std::byte>> results;
      std::vector<wsc_output> places;
      for (const wsc_output &output : outputs)
        results.emplace_back(output.bytes);
      for (std::vector<std::byte> &result : results)
        places.push_back({result.data(), result.size()});
      ASSERT_EQ(wsc_session_run(own, 0, inputs.data(), inputs.size(), places.data(), places.size()), WSC_OK);
      EXPECT_EQ(results, out);
      EXPECT_EQ(wsc_session_close(own), WSC_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
}

// Least of many short measurements, so that what else the machine does is left out.
TEST_F(Capi, ACallCostsLittleMoreThanTheSessions) {
  auto same = Session::open(folder / "good.wse", {.threads = 1});
  ASSERT_TRUE(same.ok());
  const std::vector<emulator::HostView> wanted = views();
  const auto least = [](auto call) {
    double best = 1e9;
    for (int i = 0; i < 200; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (int k = 0; k < 10; ++k)
        call();
      best =
          std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    return best / 10;
  };
  const double cpp = least([&] { ASSERT_TRUE((*same)->runViews(0, wanted).ok()); });
  const double c = least([&] { ASSERT_EQ(run(), WSC_OK); });
  std::printf("a run takes %.2f us from C++, %.2f us from C: %.2f us more\n", cpp, c, c - cpp);
  EXPECT_LE(c - cpp, 2);
}

} // namespace
} // namespace wsc::test
