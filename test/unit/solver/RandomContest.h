// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contest problems made at random: networks like the contest's (residual networks of blocks or of single convolutions),
// and tiny ones for exhaustive search.
#pragma once

#include "compiler/solver/contest/Contest.h"
#include "test/unit/solver/TestUtil.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::test {

struct ContestText {
  std::string nodes, connections;
  int32_t count = 0;

  // Returns the kernel's number.
  int32_t add(const std::string &kind, const std::string &attributes) {
    ++count;
    absl::StrAppend(&nodes, kind, "[", count, "] ", attributes, " name='k", count, "'\n");
    kinds.push_back(kind);
    return count;
  }
  void connect(int32_t from, int32_t to) {
    if (from > 0)
      absl::StrAppend(&connections, kinds[from - 1], "[", from, "]:y -> ", kinds[to - 1], "[", to, "]:x\n");
  }
  std::string text(int32_t side, int32_t timeWeight, int32_t wireWeight, int32_t memory) const {
    return absl::StrCat("(*\ntest=random\nwidth=", side, "\nheight=", side, "\nwdeltat=", timeWeight,
                        "\nwlength=", wireWeight, "\nwadapter=0\nmemlimit=", memory, "\n*)\n", nodes, connections);
  }

private:
  std::vector<std::string> kinds;
};

inline std::string convText(int32_t H, int32_t R, int32_t C, int32_t K, int32_t T) {
  return absl::StrCat("H=", H, " W=", H, " R=", R, " S=", R, " C=", C, " K=", K, " T=", T, " U=", T);
}

// A residual network in four stages that halve the image and double the features: one cblock and some dblocks each, as
// blocks, or as their convolutions with the shortcut's connections.
inline std::string randomNetwork(Random &random, bool asConvolutions, int32_t mostBlocksPerStage, int32_t wireWeight) {
  ContestText network;
  int32_t H = 28 << random.in(0, 2), F = 128 << random.in(0, 2), last = 0;
  for (int32_t stage = 0; stage < 4; ++stage) {
    for (int32_t block = 0, blocks = random.in(1, mostBlocksPerStage); block <= blocks; ++block) {
      const bool first = block == 0;
      const int32_t stride = first ? 2 : 1, in = first ? F / 2 : F, out = first ? H / 2 : H;
      if (asConvolutions) {
        const int32_t a = network.add("conv", convText(H, 1, in, F / 4, 1)),
                      b = network.add("conv", convText(H, 3, F / 4, F / 4, stride)),
                      c = network.add("conv", convText(out, 1, F / 4, F, 1));
        network.connect(last, a);
        network.connect(a, b);
        network.connect(b, c);
        if (first) {
          const int32_t shortcut = network.add("conv", convText(H, 1, in, F, 2));
          network.connect(a, shortcut);
          network.connect(shortcut, c);
        } else {
          network.connect(a, c);
        }
        last = c;
      } else {
        const int32_t kernel = network.add(first ? "cblock" : "dblock", absl::StrCat("f=", F, " h=", H, " w=", H));
        network.connect(last, kernel);
        last = kernel;
      }
      if (first)
        H = out;
    }
    F *= 2;
    if (H % 2 != 0)
      break;
  }
  return network.text(633, 1, wireWeight, 24576);
}

// Two or three convolutions with extents of a few elements on a grid of a few tiles.
inline std::string tinyNetwork(Random &random) {
  ContestText network;
  int32_t last = 0;
  for (int32_t i = 0, kernels = random.in(2, 3); i < kernels; ++i) {
    const int32_t kernel = network.add(
        "conv", convText(random.in(1, 4), random.in(1, 2), random.in(1, 4), random.in(1, 4), random.in(1, 2)));
    network.connect(last, kernel);
    last = kernel;
  }
  return network.text(random.in(6, 12), 1, 0, random.in(10, 60));
}

} // namespace wsc::solver::test
