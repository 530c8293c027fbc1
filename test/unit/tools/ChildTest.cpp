// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Child processes that end in every way there is.
#include "Tools.h"

#include <chrono>

namespace wsc::test {
namespace {

TEST(Child, OutputErrorsAndStatus) {
  auto outcome = tools::runChild({"sh", "-c", "echo out; echo error >&2; exit 3"}, 0);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "error\n");
  EXPECT_EQ(outcome->exitStatus, 3);
  EXPECT_EQ(outcome->describe(), "exit status 3");
}

TEST(Child, Signal) {
  auto outcome = tools::runChild({"sh", "-c", "kill -ABRT $$"}, 0);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->signal, SIGABRT);
  EXPECT_FALSE(outcome->ok());
  EXPECT_EQ(outcome->describe().rfind("stopped by signal 6", 0), 0u);
}

TEST(Child, TimeOut) {
  const auto start = std::chrono::steady_clock::now();
  auto outcome = tools::runChild({"sleep", "60"}, 0.05);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->timedOut);
  EXPECT_EQ(outcome->describe(), "timed out");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Child, NoSuchProgram) { EXPECT_FALSE(tools::runChild({"/no/such/program"}, 0).ok()); }

TEST(Dialogue, AnswersUntilItsEnd) {
  auto cat = tools::Dialogue::start({"cat"});
  ASSERT_TRUE(cat.ok()) << cat.status();
  for (const char *line : {"one", "two"}) {
    auto answer = (*cat)->ask(line);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(*answer, line);
  }
  auto rest = (*cat)->finish();
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(*rest, "");
}

TEST(Dialogue, TellsWhyItEnded) {
  auto child = tools::Dialogue::start({"sh", "-c", "echo first; echo last words >&2; exit 1"});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(*(*child)->read(), "first");
  auto answer = (*child)->read();
  EXPECT_EQ(answer.status().message(), "last words");
  EXPECT_FALSE((*child)->ask("anyone there?").ok());
}

} // namespace
} // namespace wsc::test
