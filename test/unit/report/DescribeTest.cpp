// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of the specification's example (Fixture.h draws it): 16 words from x to y over 9 cores.
#include "runtime/report/Report.h"
#include "test/unit/verifier/Fixture.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace wsc::report {
namespace {

using namespace format;

TEST(Describe, CountsCoresWordsAndLinks) {
  const Executable executable = fixture::goodExecutable();
  const Report report = describe(executable, "good.wse");
  int64_t cores = 0;
  for (const Role &role : executable.configurations[0].roles)
    cores += role.cores.size();
  EXPECT_EQ(report.coresTotal, 64);
  EXPECT_EQ(report.coresUsed, cores);
  const ConfigurationFacts &configuration = report.configurations.at(0);
  EXPECT_EQ(configuration.inputWords, 16);
  EXPECT_EQ(configuration.outputWords, 16);
  EXPECT_EQ(configuration.linkWordsUnknown, "");
  EXPECT_EQ(configuration.maxLinkWords, 16 + 4 + 3 + 5); // the last link of the multicast, and three of four gathered
  EXPECT_EQ(configuration.maxLink, "row 0, col 2, east");
  EXPECT_EQ(configuration.linkWords[size_t(Port::East)].largest, 28);
}

TEST(Describe, RolesShareTables) {
  const Report report = describe(fixture::goodExecutable(), "good.wse");
  const ConfigurationFacts &configuration = report.configurations.at(0);
  EXPECT_EQ(configuration.roles[fixture::kMiddle].cores.size(), 2);
  EXPECT_LT(report.positions.size(), configuration.routers.size());
  const std::vector<MemoryPart> &memory = report.memories.at(size_t(configuration.roles[fixture::kFirst].memory));
  int64_t end = 0;
  for (const MemoryPart &part : memory) {
    EXPECT_EQ(part.address, end) << part.name;
    end = part.address + part.bytes;
  }
  EXPECT_EQ(end, report.target.sramBytes);
}

TEST(Describe, RoutesThatEndNowhereAreTold) {
  Executable executable = fixture::goodExecutable();
  executable.configurations[0].routers.erase(executable.configurations[0].routers.begin());
  const Report report = describe(executable, "open.wse");
  EXPECT_NE(report.configurations.at(0).linkWordsUnknown, "");
  EXPECT_NE(toJson(report).find("\"link_words_unknown\":\""), std::string::npos);
}

TEST(Json, NamesCannotLeaveTheirStrings) {
  Executable executable = fixture::goodExecutable();
  executable.configurations[0].roles[0].name = "</script>\"\\\x01\xff";
  const std::string json = toJson(describe(executable, "good.wse"));
  EXPECT_NE(json.find("\\u003c/script>\\\"\\\\??"), std::string::npos);
  EXPECT_EQ(json.find("</script>"), std::string::npos);
}

TEST(Write, RefusesWhatCannotBeWritten) {
  EXPECT_EQ(std::string(checkPath("report.pdf").message()), "report report.pdf must end in .txt, .json or .html");
  EXPECT_EQ(std::string(write(describe(fixture::goodExecutable(), "good.wse"), "/no/such/folder/r.html").message()),
            "/no/such/folder/r.html: cannot be created: No such file or directory");
}

TEST(Write, WritesWholeFiles) {
  const std::string path = ::testing::TempDir() + "wsc-report.json";
  const Report report = describe(fixture::goodExecutable(), "good.wse");
  ASSERT_TRUE(write(report, path).ok());
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), toJson(report));
  std::remove(path.c_str());
}

} // namespace
} // namespace wsc::report
