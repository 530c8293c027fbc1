// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Target descriptions: what the built-in ones hold, how files inherit, and the message that refuses each wrong one.
#include "runtime/target/Target.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace wsc::target {
namespace {

// The status message of a description that must be refused, named "my.json".
std::string refusal(const std::string &json) {
  auto target = parseTarget(json, "my.json");
  return target.ok() ? "accepted" : std::string(target.status().message());
}

// A description on top of wse2; `fields` begins on line 3.
std::string onWse2(const std::string &fields) {
  return "{ \"base\": \"wse2\",\n  \"name\": \"t\",\n  " + fields + "\n}\n";
}

TEST(BuiltinTargets, PassTheirCheckAndStateASourceForEveryNumber) {
  for (const char *name : {"wse1", "wse2", "wse3"}) {
    auto target = loadTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->name, name);
    EXPECT_TRUE(checkTarget(*target, name).ok());
    EXPECT_EQ(target->json.find("not stated"), std::string::npos) << name;
    EXPECT_EQ(target->json.find("\"base\""), std::string::npos) << name;
  }
}

TEST(BuiltinTargets, HoldTheNumbersOfTheMachineModel) {
  auto wse2 = *loadTarget("wse2");
  EXPECT_EQ(wse2.rows, 750);
  EXPECT_EQ(wse2.cols, 994);
  EXPECT_EQ(wse2.sramBytes, 48 * 1024);
  EXPECT_EQ(wse2.usableColours(), 22);
  EXPECT_TRUE(wse2.isReservedColour(23));
  EXPECT_FALSE(wse2.isReservedColour(0));
  EXPECT_EQ(wse2.usableSramBytes(), 49152 - 4200 - 1024);
  EXPECT_NEAR(wse2.ioWordsPerCycle(), 44.1, 0.1);
  EXPECT_EQ(loadTarget("wse1")->numCores(), 633 * 633);
  auto wse3 = *loadTarget("wse3");
  EXPECT_EQ(wse3.hopLatencyCycles, 2);
  EXPECT_EQ(wse3.routerQueueWords, 4);
  EXPECT_EQ(wse3.fmaPerCycleF32, 0.5);
  EXPECT_EQ(wse3.outputQueueWords, std::vector<int32_t>(8, 8));
}

TEST(BuiltinTargets, ReadBackFromTheirCanonicalForm) {
  for (const char *name : {"wse1", "wse2", "wse3", "mesh-4x7"}) {
    auto target = *loadTarget(name);
    auto again = parseTarget(target.json, "again");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, target);
    EXPECT_EQ(targetJson(target), target.json);
  }
}

TEST(MeshTargets, AreWse2OnAnotherMesh) {
  auto mesh = *loadTarget("mesh-4x7");
  auto wse2 = *loadTarget("wse2");
  EXPECT_EQ(mesh.name, "mesh-4x7");
  EXPECT_EQ(mesh.rows, 4);
  EXPECT_EQ(mesh.cols, 7);
  mesh.name = wse2.name, mesh.rows = wse2.rows, mesh.cols = wse2.cols, mesh.json = wse2.json;
  EXPECT_EQ(mesh, wse2);
}

TEST(MeshTargets, RefuseMeshesThatAreNone) {
  for (const char *name : {"mesh-0x4", "mesh-4x0", "mesh--1x4", "mesh-4x-1", "mesh-8193x4",
                           "mesh-4x99999999999999999999", "mesh-4", "mesh-x", "mesh-4x4x4", "mesh-4x4 ", "mesh-+4x4"}) {
    auto target = loadTarget(name);
    ASSERT_FALSE(target.ok()) << name;
    EXPECT_EQ(std::string(target.status().message()),
              "target \"" + std::string(name) +
                  "\": expected mesh-RxC with R rows and C columns of 1 to 8192 each, such as "
                  "mesh-16x16");
  }
}

TEST(TargetFiles, OverrideTheirBaseAndKeepOtherSources) {
  auto target = parseTarget(
      onWse2("\"rows\": 3, // few\n  \"fma_per_cycle_f32\": 0.25,\n  \"sources\": { \"rows\": \"a wish\" }"),
      "my.json");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->rows, 3);
  EXPECT_EQ(target->fmaPerCycleF32, 0.25);
  EXPECT_EQ(target->cols, 994);
  EXPECT_NE(target->json.find("\"rows\": \"a wish\""), std::string::npos);
  EXPECT_NE(target->json.find("\"fma_per_cycle_f32\": \"not stated\""), std::string::npos);
  EXPECT_NE(target->json.find("\"sram_banks\": \"8 banks"), std::string::npos);
}

TEST(TargetFiles, MayGiveRatesOfFurtherTypes) {
  auto wse2 = *loadTarget("wse2");
  EXPECT_EQ(wse2.fmaPerCycleI8, 0); // derived
  EXPECT_EQ(wse2.json.find("fma_per_cycle_i8"), std::string::npos);
  auto target = parseTarget(onWse2("\"fma_per_cycle_i8\": 8, \"elements_per_cycle_f64\": 0.25,\n"
                                   "  \"sources\": { \"fma_per_cycle_i8\": \"a wish\" }"),
                            "my.json");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->fmaPerCycleI8, 8);
  EXPECT_EQ(target->elementsPerCycleF64, 0.25);
  auto again = parseCompleteTarget(target->json, "again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *target);
  EXPECT_NE(refusal(onWse2("\"fma_per_cycle_i8\": 2.5")).find("value 2.5 is neither a whole number nor one over it"),
            std::string::npos);
  EXPECT_NE(refusal(onWse2("\"fma_per_cycle_i64\": -1")).find("value -1 is outside"), std::string::npos);
}

TEST(TargetFiles, EmbeddedOnesStandAlone) {
  auto based = parseCompleteTarget(onWse2("\"rows\": 3"), "my.json");
  ASSERT_FALSE(based.ok());
  EXPECT_NE(based.status().message().find("is not complete"), std::string::npos) << based.status();
  EXPECT_TRUE(parseCompleteTarget(loadTarget("wse2")->json, "wse2").ok());
}

TEST(TargetFiles, LoadFromAPath) {
  auto path = std::filesystem::temp_directory_path() / ("wsc-target-test-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << onWse2("\"cols\": 9");
  auto target = loadTarget(path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->cols, 9);
  EXPECT_EQ(std::string(loadTarget("no/such/file.json").status().message()),
            "target \"no/such/file.json\": neither a built-in target (wse1, wse2, wse3, mesh-RxC) nor a file that can "
            "be read");
  EXPECT_FALSE(loadTarget("/").ok());
  EXPECT_FALSE(loadTarget("").ok());
}

TEST(TargetJson, NamesFieldsChangedByAProgram) {
  auto target = *loadTarget("mesh-4x4");
  target.sramBytes = 65536;
  auto again = parseTarget(targetJson(target), "again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->sramBytes, 65536);
  EXPECT_NE(again->json.find("\"sram_bytes\": \"set by program\""), std::string::npos);
}

TEST(TargetErrors, UnknownField) {
  EXPECT_EQ(refusal(onWse2("\"row\": 3")), "my.json:3:3: field \"row\": unknown field: row");
}

TEST(TargetErrors, WrongType) {
  EXPECT_EQ(refusal(onWse2("\"rows\": [3]")),
            "my.json:3:3: field \"rows\": Cannot assign token starting with '[' to value of <int> type.");
  EXPECT_EQ(refusal(onWse2("\"rows\": \"many\"")), "my.json:3:3: field \"rows\": a number is expected, not a word");
  EXPECT_EQ(refusal(onWse2("\"rows\": 3.5")),
            "my.json:3:3: field \"rows\": Cannot assign token starting with 'float constant' to value of <int> type.");
  EXPECT_EQ(refusal(onWse2("\"input_queue_words\": 4")),
            "my.json:3:24: after field \"input_queue_words\": expecting: [ instead got: integer constant");
  EXPECT_EQ(
      refusal(onWse2("\"rows\": 99999999999")),
      "my.json:3:3: field \"rows\": invalid number: \"99999999999\", constant does not fit [-2147483648; 2147483647]");
}

TEST(TargetErrors, Syntax) {
  EXPECT_EQ(refusal(onWse2("\"rows\": 3,,")),
            "my.json:3:13: after field \"rows\": expecting: string constant instead got: ,");
  EXPECT_EQ(refusal(onWse2("\"rows\": 3, \"rows\": 4")),
            "my.json:3:14: field \"rows\": field set more than once: rows");
  EXPECT_EQ(refusal("{ \"base\": \"wse2\""),
            "my.json:1:16: after field \"base\": expecting: , instead got: end of file");
  EXPECT_EQ(refusal(""), "my.json:1:1: input file is empty");
  EXPECT_EQ(refusal("table T { x: int; } { \"base\": \"wse2\" }"), "my.json:1:5: expecting: { instead got: table");
  EXPECT_EQ(refusal(onWse2("\"rows\": 3") + "{}"),
            "my.json:5:1: after field \"rows\": expecting: end of file instead got: {");
  EXPECT_EQ(refusal(std::string("{\0}", 3)), "my.json: a target description is text; this holds a zero byte");
  EXPECT_EQ(refusal(std::string(100000, '[')), "my.json:1:1: expecting: { instead got: [");
  EXPECT_EQ(refusal(std::string((1 << 20) + 1, ' ')),
            "my.json: a target description of 1048577 bytes; the limit is 1048576");
}

TEST(TargetErrors, UnknownBase) {
  EXPECT_EQ(refusal("{\n \"base\": \"wse9\" }"),
            "my.json:2:2: field \"base\": no built-in target \"wse9\"; there are wse1, wse2 and wse3");
}

TEST(TargetErrors, MissingFields) {
  EXPECT_EQ(refusal("{}"), "my.json: field \"name\" is missing");
  EXPECT_EQ(refusal("{ \"name\": \"t\", \"rows\": 3 }"),
            "my.json: field \"cols\" is missing; give it, or start from a built-in target with \"base\": \"wse2\"");
}

TEST(TargetErrors, RatesComeInWholeBatches) {
  EXPECT_EQ(refusal(onWse2("\"fma_per_cycle_f32\": 2.5")),
            "my.json:3:3: field \"fma_per_cycle_f32\": value 2.5 is neither a whole number nor one over it");
}

TEST(TargetErrors, QueueTooShallowToStream) {
  EXPECT_EQ(refusal(onWse2("\"hop_latency_cycles\": 2,\n  \"router_queue_words\": 2")),
            "my.json:4:3: field \"router_queue_words\": a router queue of 2 words cannot stream at full rate; hop 2 "
            "and credit 1 cycles "
            "need at least 3");
  // The field at fault may be inherited: then there is no line to show.
  EXPECT_EQ(refusal(onWse2("\"hop_latency_cycles\": 2")),
            "my.json: field \"router_queue_words\": a router queue of 2 words cannot stream at full rate; hop 2 and "
            "credit 1 cycles need "
            "at least 3");
}

TEST(TargetErrors, Values) {
  EXPECT_EQ(refusal(onWse2("\"rows\": 0")), "my.json:3:3: field \"rows\": value 0 is outside 1 to 8192");
  EXPECT_EQ(refusal(onWse2("\"cols\": -7")), "my.json:3:3: field \"cols\": value -7 is outside 1 to 8192");
  EXPECT_EQ(refusal(onWse2("\"clock_ghz\": 0")), "my.json:3:3: field \"clock_ghz\": value 0 is outside 1e-06 to 1e+06");
  EXPECT_EQ(refusal(onWse2("\"clock_ghz\": nan")),
            "my.json:3:3: field \"clock_ghz\": value nan is outside 1e-06 to 1e+06");
  EXPECT_EQ(refusal(onWse2("\"sram_bytes\": 5000")),
            "my.json:3:3: field \"sram_bytes\": 5000 bytes leave nothing for programs after 4200 "
            "of runtime code and 1024 of stack");
  EXPECT_EQ(refusal(onWse2("\"reserved_colours\": [24]")),
            "my.json:3:3: field \"reserved_colours\": colour 24 does not exist; colours are 0 to 23");
  EXPECT_EQ(refusal(onWse2("\"reserved_colours\": [2, 2]")),
            "my.json:3:3: field \"reserved_colours\": colour 2 is listed twice");
  EXPECT_EQ(refusal(onWse2("\"colours\": 1, \"reserved_colours\": [0]")),
            "my.json:3:17: field \"reserved_colours\": all 1 colours are reserved; leave at least one");
  EXPECT_EQ(refusal(onWse2("\"input_queue_words\": []")),
            "my.json:3:3: field \"input_queue_words\": 0 queues listed; 1 to 32 can be");
  EXPECT_EQ(refusal(onWse2("\"output_queue_words\": [2, 0]")),
            "my.json:3:3: field \"output_queue_words\": queue 1 holds 0 words; 1 to 65536 are possible");
  EXPECT_EQ(refusal("{ \"base\": \"wse2\", \"name\": \"\" }"),
            "my.json:1:19: field \"name\": a name of 0 bytes; 1 to 256 are possible");
}

} // namespace
} // namespace wsc::target
