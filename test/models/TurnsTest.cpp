// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that turn beside their consumers' columns: the same bits as with straight branches, also around dead lines, and
// the words over the busiest link as counted; pins are kept or refused with the reason.
#include "test/models/ModelCheck.h"
#include "test/models/RandomNet.h"

#include "compiler/driver/Compiler.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <fstream>

namespace wsc::test {
namespace {

struct Compiled {
  driver::CompileReport report;
  std::vector<Tensor> outputs;
  int64_t linkWords = 0; // of the analytic engine
};

class Turns : public ::testing::Test {
protected:
  absl::StatusOr<Compiled> compile(const std::string &pins, const std::string &defects) {
    driver::CompileOptions options;
    options.model = folder / "model.onnx";
    options.output = folder / "model.wse";
    options.target = "mesh-64x64";
    for (auto [text, file] : {std::pair(&pins, &options.pins), std::pair(&defects, &options.defects)})
      if (!text->empty()) {
        *file = folder / (text == &pins ? "pins.json" : "defects.json");
        std::ofstream(*file) << *text;
      }
    auto report = driver::compile(options);
    if (!report.ok())
      return report.status();
    auto session = Session::open(options.output, {.threads = 1});
    if (!session.ok())
      return session.status();
    Inputs inputs = randomInputs((*session)->executable().entries[0], 7);
    auto outputs = (*session)->run(0, inputs);
    if (!outputs.ok())
      return outputs.status();
    if (absl::Status status = (*session)->replay(0, inputs, 10, 7); !status.ok())
      return status;
    auto timing = (*session)->timing(0);
    if (!timing.ok())
      return timing.status();
    return Compiled{*std::move(report), *std::move(outputs), (*timing)->maxLinkWords};
  }

  // Every kernel's stream pinned in several ways; how many pins were kept.
  int pinEach(const OnnxBuilder &model, const std::string &defects) {
    EXPECT_TRUE(model.write(folder / "model.onnx"));
    auto free = compile("", defects);
    EXPECT_TRUE(free.ok()) << free.status();
    if (!free.ok())
      return 0;
    int kept = 0;
    for (const driver::KernelReport &kernel : free->report.kernels)
      for (const char *via : {"1", "-1", "[0, 2]", "[1, 0, -1]"}) {
        SCOPED_TRACE(absl::StrCat("stream ", kernel.name, " via ", via));
        auto pinned = compile(absl::StrCat("{\"routes\": {\"", kernel.name, "\": {\"via\": ", via, "}}}"), defects);
        if (!pinned.ok()) {
          EXPECT_TRUE(absl::StrContains(pinned.status().message(), "can turn at columns") ||
                      absl::StrContains(pinned.status().message(), "colours"))
              << pinned.status();
          continue;
        }
        ++kept;
        for (size_t i = 0; i < free->outputs.size(); ++i)
          EXPECT_EQ(pinned->outputs[i].bytes, free->outputs[i].bytes);
        EXPECT_GE(pinned->report.linkWords, pinned->linkWords);
        EXPECT_LE(pinned->report.linkWords, pinned->linkWords + 1); // the control word that hands a lane on
      }
    return kept;
  }

  TemporaryFolder folder;
};

TEST_F(Turns, PinnedStreamsGiveTheSameBits) {
  int kept = 0;
  for (uint64_t seed = 8100; seed < 8104; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    kept += pinEach(randomNetwork(seed), "");
  }
  std::printf("%d pins kept\n", kept);
  EXPECT_GE(kept, 12);
}

TEST_F(Turns, AroundDeadLines) {
  EXPECT_GE(pinEach(randomNetwork(8105), "{\"dead_cores\": [{\"row\": 9, \"col\": 2}, {\"row\": 30, \"col\": 5}], "
                                         "\"dead_links\": [{\"row\": 4, \"col\": 3, \"side\": \"SOUTH\"}]}"),
            2);
}

} // namespace
} // namespace wsc::test
