// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of structure, one by one: the sample with one thing made wrong, and the message that refuses it.
#include "runtime/format/Structure.h"
#include "test/unit/format/Sample.h"

#include <gtest/gtest.h>

#include <functional>

namespace wsc::format {
namespace {

// The message for the sample after `change`, without the name of the configuration and role.
std::string refusal(const std::function<void(Executable &, Configuration &, Role &)> &change) {
  Executable executable = residentSample();
  executable.configurations[0].io[0].padded = false;
  executable.configurations[0].io[0].hostOffset.constant = 1;
  Configuration &configuration = executable.configurations[0];
  change(executable, configuration, configuration.roles[0]);
  std::vector<int64_t> bytes;
  for (const SectionSource &section : sampleSections())
    bytes.push_back(section.bytes);
  absl::Status status = checkStructure(executable, bytes);
  if (status.ok())
    return "accepted";
  std::string message(status.message());
  for (std::string prefix : {"configuration 0 \"all layers\", ",
                             "configuration 0 \"all layers\": ", "role 0 \"worker\", ", "role 0 \"worker\": "})
    if (message.rfind(prefix, 0) == 0)
      message = message.substr(prefix.size());
  return message;
}

#define REFUSED(CHANGE, MESSAGE) EXPECT_EQ(refusal([](Executable &e, Configuration &c, Role &r) { CHANGE; }), MESSAGE)

TEST(Structure, AcceptsTheSample) { REFUSED((void)e, "accepted"); }

TEST(Structure, Lattices) {
  REFUSED(r.cores.dims[1].count = 0, "dimension 1 of its lattice has count 0; it must be at least 1");
  REFUSED(r.cores.dims[1].count = 1 << 30, "its lattice has 8589934592 points; the limit is 67108864");
  REFUSED(r.cores.row = 1 << 30,
          "its lattice spans rows 1073741824 to 1073741826 and columns 1 to 4; the limit is 1048576 either way");
  REFUSED(r.cores.dims[0].colStep = INT32_MIN,
          "its lattice spans rows 2 to 4 and columns -2147483647 to 4; the limit is 1048576 either way");
  REFUSED(c.roles[1].cores.dims[0].count = 100, "its roles cover more than the 64 places of the mesh");
}

TEST(Structure, Buffers) {
  REFUSED(r.buffers[3].kind = BufferKind(5), "buffer \"scratch\": buffer kind 5 does not exist");
  REFUSED(r.buffers[3].type = ElementType(13), "buffer \"scratch\": element type 13 does not exist");
  REFUSED(r.buffers[3].bytes = -1, "buffer \"scratch\": address 16384 with -1 bytes lies in no SRAM");
  REFUSED(r.buffers[2].state = 2, "buffer \"cache\": state variable 2 does not exist; there are 2");
  REFUSED(r.buffers[3].state = 0, "buffer \"scratch\": names state variable 0 but is no state buffer");
  REFUSED(r.buffers[3].section = 0, "buffer \"scratch\": names section 0 but is no constant");
}

TEST(Structure, ConstantsLieInTheirSectionOnEveryCore) {
  REFUSED(r.buffers[0].section = 4, "buffer \"weights\": section 4 does not exist; there are 4");
  REFUSED(r.buffers[0].section = -1, "buffer \"weights\": section -1 does not exist; there are 4");
  REFUSED(r.buffers[0].section = 0, "buffer \"weights\": takes bytes 8 to 776 of section 0, which has 128");
  REFUSED(r.buffers[0].sectionOffset.perDim[3] = -64,
          "buffer \"weights\": takes bytes -184 to 584 of section 1, which has 5000");
  REFUSED(r.buffers[0].sectionOffset.perDim[3] = 1472, "accepted");
  REFUSED(r.buffers[0].sectionOffset.perDim[3] = 1473,
          "buffer \"weights\": takes bytes 8 to 5003 of section 1, which has 5000");
  REFUSED(r.buffers[0].sectionOffset.perDim[1] = INT64_MIN,
          "buffer \"weights\": an affine step of -9223372036854775808; the limit is 281474976710656 either way");
  REFUSED(r.buffers[0].sectionOffset.constant = INT64_MAX,
          "buffer \"weights\": an affine value from 9223372036854775807 to "
          "9223372036854775807; the limit is 281474976710656 either way");
}

TEST(Structure, Queues) {
  REFUSED(r.queues[0].colour = 24, "queue 0: colour 24 does not exist; there are 24");
  REFUSED(r.queues[0].index = 8, "queue 0: input queue 8 does not exist; there are 8");
  REFUSED(r.queues[1].index = 6, "queue 1: output queue 6 does not exist; there are 6");
}

TEST(Structure, Operands) {
  REFUSED(r.threads[0][1].a.kind = OperandKind(6),
          "thread 0, instruction 1 (fma), operand a: operand kind 6 does not exist");
  REFUSED(r.threads[0][1].a.buffer = -1,
          "thread 0, instruction 1 (fma), operand a: buffer -1 does not exist; there are 4");
  REFUSED(r.threads[0][3].dst.buffer = 3,
          "thread 0, instruction 3 (convert), operand dst: buffer 3 (scratch) is no FIFO");
  REFUSED(r.threads[0][1].b.queue = 2, "thread 0, instruction 1 (fma), operand b: queue 2 does not exist; there are 2");
  REFUSED(r.threads[0][1].b.queue = 1,
          "thread 0, instruction 1 (fma), operand b: queue 1 is an output queue; a source needs the other kind");
  REFUSED(r.threads[0][5].dst.queue = 0, "thread 0, instruction 5 (send_control), operand dst: queue 0 is an input "
                                         "queue; a destination needs the other kind");
}

TEST(Structure, Instructions) {
  REFUSED(r.threads[0][1].opcode = Opcode(kNumOpcodes),
          "thread 0, instruction 1: opcode " + std::to_string(kNumOpcodes) + " does not exist");
  REFUSED(r.threads[0][1].type = ElementType(200), "thread 0, instruction 1 (fma): element type 200 does not exist");
  REFUSED(r.threads[0][1].extent[2] = -1,
          "thread 0, instruction 1 (fma): extent 2 goes from -1 to -1; 0 to 16777216 are possible");
  REFUSED(r.threads[0][1].extent[1].perDim[3] = -3,
          "thread 0, instruction 1 (fma): extent 1 goes from -1 to 8; 0 to 16777216 are possible");
  REFUSED(r.threads[0][5].controlCount = 0,
          "thread 0, instruction 5 (send_control): a control word needs a count of at least 1");
}

TEST(Structure, Loops) {
  REFUSED(r.threads[0].erase(r.threads[0].begin()),
          "thread 0, instruction 1 (end_loop): ends a loop that was never begun");
  REFUSED(r.threads[0].push_back(r.threads[0][0]), "thread 0: 1 loops are never ended");
  REFUSED(r.threads[1].assign(5, r.threads[0][0]), "thread 1, instruction 4 (loop): loops nest deeper than 4");
  REFUSED(r.threads[0][0].extent[0] = 1 << 24; r.threads[0].insert(r.threads[0].begin(), 2, r.threads[0][0]),
                                               "thread 0, instruction 1 (loop): the thread processes more than "
                                               "281474976710656 elements and loop trips per sample");
}

TEST(Structure, Routers) {
  REFUSED(c.routers[0].colour = 24, "router role 0: colour 24 does not exist; there are 24");
  REFUSED(c.routers[0].net = 2, "router role 0: net 2 does not exist; there are 2");
  REFUSED(c.routers[0].positions.clear(), "router role 0: 0 switch positions; 1 to 4 are possible");
  REFUSED(c.routers[0].positions.resize(5), "router role 0: 5 switch positions; 1 to 4 are possible");
  REFUSED(c.routers[0].positions[0].input = Port(5),
          "router role 0: a switch position from port 5 to ports 4; there are 5 ports");
  REFUSED(c.routers[0].positions[0].outputs = 32,
          "router role 0: a switch position from port 3 to ports 32; there are 5 ports");
}

TEST(Structure, InputAndOutput) {
  REFUSED(c.io[0].side = Port::Ramp, "I/O binding 0: side 4 is no outer port");
  REFUSED(c.io[0].tensor = 1, "I/O binding 0, entry \"main\": input 1 does not exist; there are 1");
  REFUSED(c.io[1].tensor = 2, "I/O binding 1, entry \"main\": output 2 does not exist; there are 2");
  REFUSED(c.io[1].stride[3] = -1, "I/O binding 1, entry \"main\": touches elements outside tensor \"y\", which has 12");
  REFUSED(c.io[1].extent[3] = 13, "I/O binding 1, entry \"main\": touches elements outside tensor \"y\", which has 12");
  // The last lane takes 2 of 5 elements: offset 31 and shorter lanes still fit into 80, one more step does not.
  REFUSED(c.io[0].hostOffset.constant = 8, "accepted");
  REFUSED(c.io[0].hostOffset.constant = 9,
          "I/O binding 0, entry \"main\": touches elements outside tensor \"x\", which has 80");
  REFUSED(c.io[0].stride[0] = INT64_MAX,
          "I/O binding 0: a stride of 9223372036854775807 elements; the limit is 1099511627776 either way");
}

TEST(Structure, States) {
  REFUSED(c.stateBindings[0].buffer = 3, "state binding 0: buffer \"scratch\" does not hold state variable 0");
  REFUSED(c.stateBindings[0].role = 2, "state binding 0: role 2 does not exist; there are 2");
  REFUSED(c.stateBindings[0].extent[0] = 5,
          "state binding 0: places more elements than buffer \"cache\" of 128 bytes holds");
  REFUSED(c.stateBindings[0].hostOffset.constant = 15,
          "state binding 0: touches elements outside tensor \"cache\", which has 32");
  REFUSED(r.buffers[2].type = ElementType::I32, "state binding 0: buffer \"cache\" is i32, the variable f32");
  REFUSED(e.states[0].initialSection = 1, "state variable 0: needs 128 initial bytes; section 1 has 5000");
  REFUSED(e.states[0].initialSection = 9, "state variable 0: section 9 does not exist; there are 4");
}

TEST(Structure, PaddedBindingsMayLeaveTheirTensor) {
  REFUSED(c.io[0].padded = true; c.io[0].hostOffset.constant = -1000, "accepted");
  REFUSED(c.io[0].padded = true; c.io[0].stride[1] = int64_t(1) << 40;
          c.io[0].extent[1] = 1 << 20,
          "I/O binding 0: reaches elements more than 281474976710656 from the tensor's first");
}

TEST(Structure, Residents) {
  REFUSED(e.residents[0].type = ElementType(13), "resident 0 \"weights\": element type 13 does not exist");
  REFUSED(e.residents[0].bytes = -1, "resident 0 \"weights\": address 20480 with -1 bytes lies in no SRAM");
  REFUSED(e.residents[0].cores.dims[1].count = 30,
          "resident 0 \"weights\": its lattice has 90 points, the mesh 64 cores");
  REFUSED(e.residents[0].cores.dims[1].count = 0,
          "resident 0 \"weights\": dimension 1 of its lattice has count 0; it must be at least 1");
  REFUSED(e.residents[0].section = 4, "resident 0 \"weights\": section 4 does not exist; there are 4");
  REFUSED(e.residents[0].sectionOffset.perDim[0] = 1500,
          "resident 0 \"weights\": takes bytes 16 to 5064 of section 1, which has 5000");
  REFUSED(e.residents[0].state = 1, "resident 0 \"weights\": names section 1 and state variable 1; it may have one of "
                                    "them");
  REFUSED(e.residents[1].state = 2, "resident 1 \"counters\": state variable 2 does not exist; there are 2");
  REFUSED(e.residents[1].state = 0, "resident 1 \"counters\": is i64, the variable f32");
  REFUSED(e.residents[1].stateOffset.perDim[0] = -1,
          "resident 1 \"counters\": begins at element -6 of its variable on some core");
  REFUSED(e.residents[1].stateOffset.constant = INT64_MAX,
          "resident 1 \"counters\": an affine value from 9223372036854775807 to 9223372036854775807; the limit is "
          "281474976710656 either way");
}

TEST(Structure, WindowsLieInTheirResident) {
  const std::string at = "configuration 1 \"spare\", role 0 \"stay\", buffer \"first\": ";
  auto window = [](Executable &e) -> Buffer & { return e.configurations[1].roles[0].buffers[0]; };
  auto refused = [&](auto change) {
    return refusal([&](Executable &e, Configuration &, Role &) { change(window(e)); });
  };
  EXPECT_EQ(refused([](Buffer &b) { b.resident = 3; }), at + "resident 3 does not exist; there are 3");
  EXPECT_EQ(refused([](Buffer &b) { b.kind = BufferKind::Scratch; }), at + "names resident 0 but is no window of one");
  EXPECT_EQ(refused([](Buffer &b) { b.residentOffset = -2; }),
            at + "views bytes -2 to 766 of resident \"weights\" in 12 iterations; it has 2048");
  // Twelve iterations: the last one begins 11 steps on.
  EXPECT_EQ(refused([](Buffer &b) { b.runStep = 174; }), "accepted");
  EXPECT_EQ(refused([](Buffer &b) { b.runStep = 175; }),
            at + "views bytes 64 to 2053 of resident \"weights\" in 12 iterations; it has 2048");
  EXPECT_EQ(refused([](Buffer &b) { b.runStep = -64; }),
            at + "views bytes -640 to 128 of resident \"weights\" in 12 iterations; it has 2048");
  EXPECT_EQ(refused([](Buffer &b) { b.runStep = INT64_MIN; }),
            at + "a window offset or step of -9223372036854775808 bytes; the limit is 4294967296 either way");
}

TEST(Structure, StepsHaveACount) {
  REFUSED(e.entries[0].steps[3].count = 0, "entry 0 \"main\", step 3: a count of 0; 1 to 1048576 are possible");
  REFUSED(e.entries[0].steps[3].count = 1 << 21,
          "entry 0 \"main\", step 3: a count of 2097152; 1 to 1048576 are possible");
  REFUSED(e.entries[0].steps[2].count = 2,
          "entry 0 \"main\", step 2: a count of 2, but only configurations that run are repeated");
}

TEST(Structure, StepsBeginWithAnIteration) {
  REFUSED(e.entries[0].steps[3].first = -1,
          "entry 0 \"main\", step 3: iterations from number -1 to 10; 0 to 1048575 are possible");
  REFUSED(e.entries[0].steps[3].first = (1 << 20) - 11,
          "entry 0 \"main\", step 3: iterations from number 1048565 to 1048576; 0 to 1048575 are possible");
  REFUSED(e.entries[0].steps[2].first = 2,
          "entry 0 \"main\", step 2: iteration 2, but only configurations that run have iterations");
}

TEST(Structure, Entries) {
  REFUSED(e.entries[0].inputs[0].type = ElementType(13),
          "entry 0 \"main\", input \"x\": element type 13 does not exist");
  REFUSED(e.entries[0].inputs[0].shape = {-1},
          "entry 0 \"main\", input \"x\": an extent of -1; 0 to 1099511627776 are possible");
  REFUSED((e.entries[0].inputs[0].shape = {1 << 30, 1 << 30}),
          "entry 0 \"main\", input \"x\": more than 1099511627776 elements");
  REFUSED(e.entries[0].inputs[0].shape.assign(33, 1), "entry 0 \"main\", input \"x\": rank 33; the limit is 32");
  REFUSED(e.entries[0].steps[0].kind = StepKind(2), "entry 0 \"main\", step 0: step kind 2 does not exist");
  REFUSED(e.entries[0].steps[0].configuration = 2,
          "entry 0 \"main\", step 0: configuration 2 does not exist; there are 2");
  REFUSED(e.entries[0].steps[1].after[0] = 1, "entry 0 \"main\", step 1: earlier step 1 does not exist; there are 1");
  REFUSED(e.entries.resize(257), "entries: there are 257; the limit is 256");
  REFUSED(r.kernel = 2, "kernel 2 does not exist; there are 2");
}

} // namespace
} // namespace wsc::format
