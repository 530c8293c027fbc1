// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer target of the TensorFlow importer. The first byte chooses what the rest is: a graph, one as text, a
// SavedModel, all of which are imported, or a checkpoint's index, which is read. Seeds of each are made on request:
// `fuzz-tensorflow -seeds=FOLDER`. Any answer will do but a crash, a hang or a report of the sanitizers.
#include "compiler/import/tf/Checkpoint.h"
#include "compiler/import/tf/Import.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Nn.h"
#include "test/fuzz/FuzzContext.h"
#include "test/fuzz/FuzzFile.h"
#include "test/support/TfCheckpoint.h"
#include "test/support/TfTraining.h"
#include "test/support/TfWhileNetworks.h"
#include <cstdint>
#include <cstring>
#include <fstream>

namespace {

using namespace wsc::import;

wsc::test::TfCheckpoint seedCheckpoint() {
  wsc::test::TfCheckpoint checkpoint;
  checkpoint.add("a/b", {2}, {1, 2});
  checkpoint.add("a/c", {1}, {3});
  return checkpoint;
}

mlir::MLIRContext &context() {
  static wsc::test::FuzzContext kept;
  return kept.get();
}

/// Reads an index with the data file of the seeds' checkpoint beside it, and every tensor that it names.
void readCheckpoint(std::string_view bytes) {
  static wsc::test::FuzzFile index("model.index"), data("model.data-00000-of-00001");
  static const std::string content = seedCheckpoint().data;
  data.write(content.data(), content.size());
  std::string prefix = index.write(bytes.data(), bytes.size());
  prefix.resize(prefix.rfind('.'));
  FileStore files;
  auto checkpoint = tf::Checkpoint::open(files, prefix);
  auto pairs = tf::readSortedTable(bytes);
  if (!checkpoint.ok() || !pairs.ok())
    return;
  context().loadDialect<wsc::nn::NnDialect>();
  for (const auto &[name, entry] : *pairs)
    (void)checkpoint->find(context(), name);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  // The name of a file tells the importer what it holds.
  static wsc::test::FuzzFile files[] = {wsc::test::FuzzFile("graph.pb"), wsc::test::FuzzFile("graph.pbtxt"),
                                        wsc::test::FuzzFile("saved_model.pb")};
  if (const int kind = data[0] % 4; kind < 3)
    (void)importTensorFlow(context(), files[kind].write(bytes.data(), bytes.size()));
  else
    readCheckpoint(bytes);
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  for (int i = 1; i < *argc; ++i) {
    if (std::strncmp((*argv)[i], "-seeds=", 7) != 0)
      continue;
    const std::string folder = (*argv)[i] + 7;
    wsc::test::TfBuilder graph = wsc::test::TfTraining(1).graph();
    wsc::tf::SavedModel saved;
    *saved.add_meta_graphs()->mutable_graph_def() = graph.graph;
    const wsc::test::TfCheckpoint checkpoint = seedCheckpoint();
    const std::string seeds[] = {graph.bytes(), graph.text(), saved.SerializeAsString(), checkpoint.index()};
    auto write = [&](const std::string &name, int kind, const std::string &bytes) {
      std::ofstream(folder + "/" + name, std::ios::binary) << static_cast<char>(kind) << bytes;
    };
    for (int kind = 0; kind < 4; ++kind)
      write("kind" + std::to_string(kind), kind, seeds[kind]);
    // Loops of both kinds, functions, lists.
    write("frames", 0, wsc::test::TfFrameLstm(1).b.bytes());
    write("while", 0, wsc::test::TfWhileLstm(1).b.bytes());
    write("gru", 0, wsc::test::TfGru(1).b.bytes());
    write("crnn", 0, wsc::test::TfCrnn(1).b.bytes());
    write("regression", 0, wsc::test::TfRegression(1).b.bytes());
    // Each operator once, on two inputs: what is wrong with it is the fuzzer's to find.
    for (const tf::Family &family : tf::families())
      for (const tf::Operator &op : family.operators) {
        wsc::test::TfBuilder b;
        b.input("x", {1, 4, 4, 2});
        std::vector<std::string> inputs;
        for (int i = 0; i < std::min(op.maxInputs, std::max(op.minInputs, 2)); ++i)
          inputs.push_back(i % 2 ? b.ints("c" + std::to_string(i), {1, 2}) : std::string("x"));
        using wsc::test::TfAttr;
        b.node(op.name, "y", inputs,
               {TfAttr::s("padding", "SAME"), TfAttr::ints("strides", {1, 1, 1, 1}),
                TfAttr::ints("ksize", {1, 2, 2, 1}), TfAttr::type("T", wsc::tf::DT_FLOAT), TfAttr::i("N", 2)});
        write(op.name, 0, b.bytes());
      }
    std::_Exit(0);
  }
  return 0;
}
