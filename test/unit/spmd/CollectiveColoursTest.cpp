// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two collectives on one colour, as an edited executable may have them: the verifier, which knows no collectives, finds
// the routers and queues where they meet.
#include "compiler/spmd/collectives/GroupReduce.h"
#include "test/unit/spmd/CollectiveProgram.h"

#include <set>

using namespace wsc;
using namespace wsc::spmd;

TEST(CollectiveColours, TwoCollectivesThatMeetAreRefused) {
  test::CollectiveProgram program(6, 6);
  const int16_t held = program.source(4, [](int32_t, int32_t, int64_t) { return 1; });
  const int16_t result = program.result(8);
  emitGroupAllReduce(program.code(), {Axis::Row, 6, 6, 1}, format::Opcode::Add, format::ElementType::F32, 4, {held, 0},
                     {result, 0});
  emitGroupAllReduce(program.code(), {Axis::Col, 6, 6, 1}, format::Opcode::Add, format::ElementType::F32, 4, {held, 0},
                     {result, 16});
  auto made = program.make();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(format::findViolations(made->executable).empty());
  std::set<uint8_t> colours;
  for (const format::RouterRole &router : made->executable.configurations[0].routers)
    colours.insert(router.colour);
  ASSERT_EQ(colours.size(), 6u);
  for (uint8_t one : colours)
    for (uint8_t two : colours) {
      if (one == two)
        continue;
      format::Executable edited = made->executable;
      for (format::RouterRole &router : edited.configurations[0].routers)
        if (router.colour == two)
          router.colour = one;
      for (format::Role &role : edited.configurations[0].roles)
        for (format::Queue &queue : role.queues)
          if (queue.colour == two)
            queue.colour = one;
      bool names = false; // a core and the colour
      for (const auto &violation : format::findViolations(edited))
        names |= violation.message.find("colour " + std::to_string(one)) != std::string::npos &&
                 violation.message.find("core (") != std::string::npos;
      EXPECT_TRUE(names) << "colours " << int(one) << " and " << int(two);
    }
}
