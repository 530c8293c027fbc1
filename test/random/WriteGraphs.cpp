// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// random-graphs FOLDER SEED COUNT: writes the graphs of COUNT seeds from SEED on as backend-test folders
// FOLDER/seed-N with inputs, and prints the operators of each.
#include "test/support/RandomGraph.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: random-graphs FOLDER SEED COUNT\n");
    return 2;
  }
  const uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto graph = wsc::test::makeRandomGraph(seed);
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
