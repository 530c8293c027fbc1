// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folders are cases, and in what order their data sets come.
#include "Tools.h"

namespace wsc::test {
namespace {

TEST(Cases, AreFoundInOrder) {
  CaseFolder folder;
  for (int set : {10, 2, 0})
    folder.data("b/many", set, {reluInput()}, {});
  folder.model("b/many", relu());
  folder.text("b/many/test_data_set_x/readme", "");
  folder.model("a", relu());
  folder.model("a/inner", relu()); // below a case
  folder.data("c", 0, {reluInput()}, {});
  folder.text("d/readme", "");
  std::filesystem::create_directory_symlink(folder.path(), folder / "e");
  auto cases = tools::findCases(folder.path());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 3u);
  EXPECT_EQ((*cases)[0].name, "a");
  EXPECT_TRUE((*cases)[0].dataSets.empty());
  EXPECT_EQ((*cases)[1].name, "b/many");
  ASSERT_EQ((*cases)[1].dataSets.size(), 3u);
  EXPECT_EQ(std::filesystem::path((*cases)[1].dataSets[1]).filename(), "test_data_set_2");
  EXPECT_EQ((*cases)[2].name, "c");
  EXPECT_TRUE((*cases)[2].model.empty());
  EXPECT_FALSE(tools::findCases(folder / "nowhere").ok());
}

} // namespace
} // namespace wsc::test
