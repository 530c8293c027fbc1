// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes wrong is named: deadlocks with who waits for what, words left, control words that go astray, and
// configurations that the engine does not take.
#include "Cycle.h"

namespace wsc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string messageOf(const absl::StatusOr<CycleResult> &run) {
  return run.ok() ? "no error" : std::string(run.status().message());
}

// Two cores that each want the other's word first.
TEST(CycleErrors, DeadlockTellsTheCycleOfWaits) {
  Executable e = executable("mesh-1x2");
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("left", rectangle(0, 0, 1, 1), {in(1), out(0)},
                         {{move(1, memory(), queue(0)), move(1, queue(1), memory())}}));
  c.roles.push_back(role("right", rectangle(0, 1, 1, 1), {in(0), out(1)},
                         {{move(1, memory(), queue(0)), move(1, queue(1), memory())}}));
  eastRoute(c, 0, 0, 0, 1);
  c.routers.push_back(router(1, rectangle(0, 1, 1, 1), {{Port::Ramp, bit(Port::West)}}));
  c.routers.push_back(router(1, rectangle(0, 0, 1, 1), {{Port::East, bit(Port::Ramp)}}));
  for (int threads : {1, 2}) {
    auto run = cycles(e, 1, threads);
    EXPECT_TRUE(absl::IsFailedPrecondition(run.status()));
    EXPECT_EQ(
        messageOf(run),
        "configuration main: deadlock in cycle 14: 2 threads and 0 ports are not done; a cycle of waits: "
        "role left, core (0, 0), thread 0, instruction 0 move waits for words of input queue 0 (colour 1): has 0, "
        "needs 1; router (0, 0), colour 1 waits for words at EAST: has 0, needs 1; router (0, 1), colour 1 waits "
        "for words at RAMP: has 0, needs 1; role right, core (0, 1), thread 0, instruction 0 move waits for words "
        "of input queue 0 (colour 0): has 0, needs 1; router (0, 1), colour 0 waits for words at WEST: has 0, "
        "needs 1; router (0, 0), colour 0 waits for words at RAMP: has 0, needs 1. Deepen what is full, or send "
        "and take in the same order");
  }
}

// A FIFO too small for what must be in it: the popper waits for words of the core that waits for space.
TEST(CycleErrors, FullFifo) {
  Executable e = executable("mesh-1x1");
  e.configurations[0].roles.push_back(role("skip", rectangle(0, 0, 1, 1), {},
                                           {{move(8, fifo(1), memory()), move(1, fifo(2), memory())},
                                            {move(1, memory(), fifo(2)), move(8, memory(), fifo(1))}},
                                           {4, 1}));
  EXPECT_THAT(messageOf(cycles(e)),
              AllOf(HasSubstr("deadlock in cycle 32"), HasSubstr("a cycle of waits"),
                    HasSubstr("thread 0, instruction 0 move waits for space in FIFO fifo1: has 0, needs 1"),
                    HasSubstr("thread 1, instruction 0 move waits for elements of FIFO fifo2: has 0, needs 1")));
}

TEST(CycleErrors, DeadlockBehindOneThatIsDone) {
  Executable e = sendAlongRow(3, 4);
  e.configurations[0].roles[1].threads[0][0].extent[0] = Affine(5);
  EXPECT_THAT(messageOf(cycles(e)),
              AllOf(HasSubstr("deadlock"), HasSubstr("1 threads and 0 ports are not done; who waits for whom"),
                    HasSubstr("role send, core (0, 0), thread 0 is done")));
}

// Space that never comes, through full queues of routers.
TEST(CycleErrors, FullQueues) {
  Executable e = sendAlongRow(3, 40);
  e.configurations[0].roles[1].threads[0][0].extent[0] = Affine(5);
  EXPECT_THAT(
      messageOf(cycles(e)),
      AllOf(HasSubstr("waits for space in output queue 0 (colour 0): has 0, needs 1; router (0, 0), colour 0 waits "
                      "for space at EAST: the queue holds 2 of 2"),
            HasSubstr("role take, core (0, 2), thread 0 is done")));
}

TEST(CycleErrors, PortsThatNeverPassTheirWords) {
  Executable e = executable("mesh-1x1");
  bind(e, false, 0, 0, Port::West, 0, 5);
  bind(e, true, 0, 0, Port::East, 0, 6);
  e.configurations[0].routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::West, bit(Port::East)}}));
  EXPECT_THAT(messageOf(cycles(e)),
              AllOf(HasSubstr("0 threads and 1 ports are not done"), HasSubstr("5 of 6 words have passed"),
                    HasSubstr("has passed all its 5 words")));
}

TEST(CycleErrors, WordsLeft) {
  Executable e = sendAlongRow(2, 7);
  e.configurations[0].roles[1].threads[0][0].extent[0] = Affine(5);
  EXPECT_THAT(messageOf(cycles(e)),
              AllOf(HasSubstr("unbalanced words: 2 are left in role take, core (0, 1), queue 0 (colour 0)"),
                    Not(HasSubstr("deadlock"))));
  Executable more = executable("mesh-1x1");
  bind(more, false, 0, 0, Port::West, 0, 6);
  bind(more, true, 0, 0, Port::East, 0, 5);
  more.configurations[0].routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::West, bit(Port::East)}}));
  EXPECT_THAT(messageOf(cycles(more)), HasSubstr("unbalanced words: 1 are left in output binding 1"));
}

TEST(CycleErrors, ControlWordsStayOnRouters) {
  Executable e = sendAlongRow(2, 7);
  e.configurations[0].roles[0].threads[0].push_back(control(0, 1));
  // Seven words from 14, the control word in 21; router 1 would move it in 25.
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("control word: in cycle 25 one leaves router (0, 1), colour 0"));
}

TEST(CycleErrors, TooLong) {
  CycleOptions options;
  options.mostCycles = 20;
  auto run = runCycles(sendAlongRow(2, 10), 0, options);
  EXPECT_TRUE(absl::IsDeadlineExceeded(run.status()));
  EXPECT_THAT(messageOf(run), HasSubstr("too long: 1 samples are not done after 20 cycles"));
}

TEST(CycleErrors, ConfigurationsThatAreNone) {
  Executable e = sendAlongRow(2, 1);
  e.configurations[0].routers.push_back(e.configurations[0].routers[0]);
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("two routes: router (0, 0), colour 0 has router roles 0 and 2"));
  e = sendAlongRow(2, 1);
  e.configurations[0].roles[1].queues.clear();
  e.configurations[0].roles[1].threads.clear();
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("open route: router (0, 1), colour 0 sends words to RAMP"));
  e = sendAlongRow(2, 1);
  e.configurations[0].routers[0].positions[0].outputs = bit(Port::North);
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("open route: router (0, 0), colour 0 sends words to NORTH"));
  e = sendAlongRow(2, 1);
  bind(e, false, 0, 1, Port::North, 3, 1);
  bind(e, false, 0, 1, Port::North, 3, 1);
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("two bindings: NORTH of router (0, 1), colour 3"));
  e = sendAlongRow(2, 1);
  e.configurations[0].roles[0].threads.push_back(e.configurations[0].roles[0].threads[0]);
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("queue 0 is used by threads 0 and 1"));
  e = sendAlongRow(2, 1);
  e.configurations[0].roles[0].threads[0].push_back(loop(2));
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("Loop without EndLoop"));
  e = sendAlongRow(2, 1);
  e.configurations[0].roles[0].queues.push_back(out(0, 1));
  EXPECT_THAT(messageOf(cycles(e)), HasSubstr("two queues: role send binds colour 0 twice"));
  EXPECT_THAT(messageOf(runCycles(e, 3)), HasSubstr("configuration 3 does not exist"));
  EXPECT_THAT(messageOf(cycles(e, 0)), HasSubstr("0 samples"));
}

} // namespace
} // namespace wsc::test
