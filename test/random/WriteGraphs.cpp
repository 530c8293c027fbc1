// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// random-graphs FOLDER SEED COUNT [learners|fused]: writes the graphs of COUNT seeds from SEED on as backend-test
// folders FOLDER/seed-N with inputs, and prints the operators of each. With `learners`, models of one operator of
// ai.onnx.ml; with `fused`, of com.microsoft.
#include "test/support/RandomGraph.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  const bool learners = argc == 5 && std::strcmp(argv[4], "learners") == 0;
  const bool fused = argc == 5 && std::strcmp(argv[4], "fused") == 0;
  if (argc != 4 && !learners && !fused) {
    std::fprintf(stderr, "usage: random-graphs FOLDER SEED COUNT [learners|fused]\n");
    return 2;
  }
  const uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto graph = learners ? wsc::test::makeRandomLearner(seed)
                       : fused  ? wsc::test::makeRandomFused(seed)
                                : wsc::test::makeRandomGraph(seed);
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
