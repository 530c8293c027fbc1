// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// random-graphs FOLDER SEED COUNT [small|learners|fused|quantised]: writes the graphs of COUNT seeds from SEED on as
// backend-test folders FOLDER/seed-N with inputs, and prints the operators of each. With `small`, graphs of a few
// operators; with `learners`, models of one operator of ai.onnx.ml; with `fused`, of com.microsoft; with `quantised`,
// quantised nets.
#include "test/support/RandomGraph.h"

#include <cstdio>
#include <cstdlib>
#include <map>

int main(int argc, char **argv) {
  using Make = wsc::test::RandomGraph (*)(uint64_t seed);
  const std::map<std::string, Make> kinds{{"graphs", [](uint64_t seed) { return wsc::test::makeRandomGraph(seed); }},
                                          {"small", [](uint64_t seed) { return wsc::test::makeRandomGraph(seed, 3); }},
                                          {"learners", wsc::test::makeRandomLearner},
                                          {"fused", wsc::test::makeRandomFused},
                                          {"quantised", wsc::test::makeRandomQuantised}};
  const auto kind = kinds.find(argc == 5 ? argv[4] : "graphs");
  if (argc < 4 || argc > 5 || kind == kinds.end()) {
    std::fprintf(stderr, "usage: random-graphs FOLDER SEED COUNT [small|learners|fused|quantised]\n");
    return 2;
  }
  const uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto graph = kind->second(seed);
    const std::string folder = std::string(argv[1]) + "/seed-" + std::to_string(seed);
    if (!wsc::test::writeCase(graph, folder)) {
      std::fprintf(stderr, "error: cannot write %s\n", folder.c_str());
      return 1;
    }
    std::printf("seed-%llu:", static_cast<unsigned long long>(seed));
    for (const std::string &op : graph.operators)
      std::printf(" %s", op.c_str());
    std::printf("\n");
  }
  return 0;
}
