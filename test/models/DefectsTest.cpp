// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wafers with defects: right results around dead cores and links, or a clear error; never wrong ones.
#include "test/models/ModelCheck.h"
#include "test/support/Seed.h"

#include "compiler/driver/Compiler.h"
#include "runtime/format/Executable.h"

#include "absl/strings/str_cat.h"

#include <fstream>
#include <random>
#include <set>

namespace wsc::test {
namespace {

const uint64_t kSeed = seedOf(4711);

/// A convolution, a branch, a pool, an addition and a dense layer: column, row and skip traffic.
OnnxBuilder smallNetwork(uint64_t seed) {
  NetBuilder net(seed);
  NetValue x = net.input("x", {1, 3, 12, 10});
  NetValue y = net.unary("Relu", net.conv(x, 8, {.pads = {1, 1, 1, 1}}));
  NetValue z = net.binary("Add", net.conv(y, 8, {.pads = {1, 1, 1, 1}}), y);
  z = net.maxPool(z, {.kernel = {2, 2}, .strides = {2, 2}});
  net.output(net.gemm(net.flatten(net.globalAverage(z)), 5));
  return net.onnx;
}

struct Defects {
  std::vector<std::pair<int, int>> cores;
  std::vector<std::string> links;

  std::string json() const {
    std::string text;
    for (auto [row, col] : cores)
      absl::StrAppend(&text, text.empty() ? "\"dead_cores\": [" : ", ", "{\"row\": ", row, ", \"col\": ", col, "}");
    text += text.empty() ? "" : "]";
    std::string list;
    for (const std::string &link : links)
      absl::StrAppend(&list, list.empty() ? "\"dead_links\": [" : ", ", link);
    list += list.empty() ? "" : "]";
    return absl::StrCat(text, text.empty() || list.empty() ? "" : ", ", list);
  }
  std::string describe(int rows, int cols) const {
    return absl::StrCat("{\"base\": \"wse2\", \"name\": \"flawed\", \"rows\": ", rows, ", \"cols\": ", cols, ", ",
                        json(), "}");
  }
};

std::string link(int row, int col, const char *side) {
  return absl::StrCat("{\"row\": ", row, ", \"col\": ", col, ", \"side\": \"", side, "\"}");
}

void checkWith(const Defects &defects, int rows, int cols, uint64_t seed) {
  TemporaryFolder folder;
  std::ofstream(folder / "flawed.json") << defects.describe(rows, cols);
  SCOPED_TRACE(defects.json());
  CheckOptions options;
  options.targets = {folder / "flawed.json"};
  checkModel(smallNetwork(seed), seed, options);
}

TEST(Defects, RandomCores) {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, ", case ", i));
    Defects defects;
    std::set<std::pair<int, int>> cores;
    while (int(cores.size()) < 4 + 2 * i)
      cores.emplace(random() % 40, random() % 48);
    defects.cores.assign(cores.begin(), cores.end());
    checkWith(defects, 40, 48, kSeed + i);
  }
}

TEST(Defects, AClusterAndTheEdges) {
  Defects defects;
  for (int row = 7; row < 11; ++row)
    for (int col = 3; col < 9; ++col)
      defects.cores.emplace_back(row, col);
  defects.cores.emplace_back(0, 0);
  defects.cores.emplace_back(39, 47);
  checkWith(defects, 40, 48, 1);
}

TEST(Defects, LinksAndPorts) {
  Defects defects;
  defects.links = {link(5, 4, "EAST"), link(9, 0, "WEST"), link(20, 6, "SOUTH"), link(30, 47, "EAST"),
                   link(0, 12, "NORTH")};
  checkWith(defects, 40, 48, 2);
}

/// The same mesh with whole lines taken out is the same mapping: the same bits, hops more.
TEST(Defects, LinesTakenOutOnlyCostHops) {
  TemporaryFolder folder;
  ASSERT_TRUE(smallNetwork(3).write(folder / "m.onnx"));
  Defects defects;
  for (int col = 0; col < 32; ++col)
    defects.cores.emplace_back(11, col); // one row
  std::ofstream(folder / "flawed.json") << defects.describe(33, 32);
  ASSERT_TRUE(compileModel(folder / "m.onnx", "mesh-32x32", folder / "sound.wse").ok());
  auto status = compileModel(folder / "m.onnx", folder / "flawed.json", folder / "flawed.wse");
  ASSERT_TRUE(status.ok()) << status;
  auto sound = Session::open(folder / "sound.wse", {}), flawed = Session::open(folder / "flawed.wse", {});
  ASSERT_TRUE(sound.ok() && flawed.ok()) << flawed.status();
  Inputs inputs = randomInputs((*sound)->executable().entries[0], 3);
  auto a = (*sound)->run(0, inputs), b = (*flawed)->run(0, inputs);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ((*a)[0].bytes, (*b)[0].bytes);
  auto timeA = (*sound)->timing(0), timeB = (*flawed)->timing(0);
  ASSERT_TRUE(timeA.ok() && timeB.ok());
  EXPECT_GE((*timeB)->latencyCycles, (*timeA)->latencyCycles);
  EXPECT_GT((*timeB)->linkWordHops, (*timeA)->linkWordHops);
}

std::string refusal(const std::string &defects, const std::string &target = "mesh-8x6") {
  TemporaryFolder folder;
  EXPECT_TRUE(smallNetwork(4).write(folder / "m.onnx"));
  std::ofstream(folder / "d.json") << defects;
  driver::CompileOptions options;
  options.model = folder / "m.onnx";
  options.target = target;
  options.defects = folder / "d.json";
  options.output = folder / "m.wse";
  absl::Status status = driver::compile(options).status();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "m.wse"));
  std::string message(status.message());
  if (size_t at = message.find(folder.path); at != std::string::npos)
    message.erase(at, folder.path.size() + 1);
  return message;
}

TEST(DefectErrors, MeshCutInTwo) {
  Defects defects;
  for (int row = 0; row < 8; ++row)
    defects.links.push_back(link(row, 2, "EAST"));
  std::string message = refusal("{" + defects.json() + "}");
  EXPECT_NE(message.find("defects leave no row of the mesh of 8 x 6"), std::string::npos) << message;
  EXPECT_NE(message.find("every link between columns 2 and 3 is dead: the mesh is cut in two"), std::string::npos)
      << message;
}

TEST(DefectErrors, NothingSoundIsLeft) {
  Defects defects;
  for (int row = 0; row < 8; ++row)
    for (int col = 0; col < 6; ++col)
      defects.cores.emplace_back(row, col);
  EXPECT_NE(refusal("{" + defects.json() + "}").find("defects leave no "), std::string::npos);
}

TEST(DefectErrors, MalformedFiles) {
  EXPECT_EQ(refusal("{\"dead_cores\": [{\"row\": 8, \"col\": 0}]}"),
            "d.json:1:2: field \"dead_cores\": row 8, col 0 lies outside the mesh of 8 x 6 cores");
  EXPECT_EQ(refusal("{\"dead_cores\": [{\"row\": 1}]}"),
            "d.json:1:2: field \"dead_cores\": an entry lacks its row or col, or has a negative one");
  EXPECT_EQ(refusal("{\"dead_cores\": [{\"row\": 1, \"col\": 1}, {\"row\": 1, \"col\": 1}]}"),
            "d.json:1:2: field \"dead_cores\": row 1, col 1 is listed twice");
  EXPECT_EQ(refusal("{\"dead_links\": [{\"row\": 1, \"col\": 1}]}"),
            "d.json:1:2: field \"dead_links\": the entry at row 1, col 1 lacks its side: NORTH, SOUTH, EAST or WEST");
  EXPECT_EQ(refusal("{\"rows\": 3}"),
            "d.json:1:2: field \"rows\": a file of defects holds dead_cores and dead_links only");
  EXPECT_EQ(refusal("{\"base\": \"wse2\"}"),
            "d.json:1:2: field \"base\": a file of defects holds dead_cores and dead_links only");
  EXPECT_EQ(refusal("{}"), "d.json: neither dead_cores nor dead_links are listed");
  EXPECT_NE(refusal("dead").find("d.json:1:"), std::string::npos);
  EXPECT_NE(refusal("").find("not a file that can be read"), std::string::npos);
}

} // namespace
} // namespace wsc::test
