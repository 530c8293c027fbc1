// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/TensorFlow.md's list of operators is the table's. WSC_UPDATE=1 writes it.
#include "compiler/import/tf/Registry.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace {

const std::string path = std::string(WSC_SOURCE_DIR) + "/docs/TensorFlow.md";
const std::string begin = "<!-- operators -->\n", end = "<!-- end of operators -->\n";

TEST(TfSupport, PageListsTheTable) {
  std::stringstream buffer;
  buffer << std::ifstream(path).rdbuf();
  std::string page = buffer.str();
  const size_t first = page.find(begin), last = page.find(end);
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(last, std::string::npos);
  const std::string wanted = wsc::import::tf::supportPage();
  if (std::getenv("WSC_UPDATE")) {
    std::ofstream(path) << page.substr(0, first + begin.size()) << wanted << page.substr(last);
    return;
  }
  EXPECT_EQ(page.substr(first + begin.size(), last - first - begin.size()), wanted)
      << "run import-tf-support-test with WSC_UPDATE=1";
}

TEST(TfSupport, NamesAreUnique) {
  std::set<std::string> seen;
  for (const auto &family : wsc::import::tf::families())
    for (const auto &op : family.operators) {
      EXPECT_TRUE(seen.insert(op.name).second) << op.name;
      EXPECT_LE(op.minInputs, op.maxInputs) << op.name;
    }
}

} // namespace
