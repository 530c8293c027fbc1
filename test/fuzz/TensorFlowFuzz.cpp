// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer target of the TensorFlow importer. The first byte chooses what the rest is: a GraphDef that is imported
// whole, one as text, a SavedModel, or a checkpoint's index. A seed of each is made on request: `fuzz-tensorflow
// -seeds=FOLDER`. Any answer will do but a crash, a hang or a report of the sanitizers.
#include "compiler/import/tf/Body.h"
#include "compiler/import/tf/Checkpoint.h"
#include "compiler/import/tf/Import.h"
#include "compiler/import/tf/Load.h"
#include "compiler/import/tf/Registry.h"
#include "test/support/TfCheckpoint.h"
#include "test/support/TfTraining.h"
#include "test/support/TfWhileNetworks.h"
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace wsc::import;

/// A file in memory with a path of its own.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("graph", MFD_CLOEXEC)) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0)
        break;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

void importGraph(std::string_view bytes) {
  // A context keeps every type and attribute it ever made.
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (!context || ++uses % 500 == 0) {
    context = std::make_unique<mlir::MLIRContext>();
    context->disableMultithreading();
  }
  MemoryFile file(bytes);
  ImportOptions options;
  (void)importTensorFlow(*context, file.path(), options);
}

void connect(const wsc::tf::GraphDef &graph) { (void)tf::bodyOf(graph, graph.library()); }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 4) {
  case 0:
    importGraph(bytes);
    break;
  case 1:
    if (auto graph = tf::parseGraphText(bytes); graph.ok())
      connect(*graph);
    break;
  case 2:
    if (auto saved = tf::parseSavedModel(bytes); saved.ok())
      for (const auto &meta : saved->meta_graphs())
        connect(meta.graph_def());
    break;
  default:
    (void)tf::readSortedTable(bytes);
    break;
  }
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
    wsc::test::TfCheckpoint checkpoint;
    checkpoint.add("a/b", {2}, {1, 2});
    checkpoint.add("a/c", {1}, {3});
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
        b.node(op.name, "y", inputs, {wsc::test::TfAttr::s("padding", "SAME")});
        write(op.name, 0, b.bytes());
      }
    std::_Exit(0);
  }
  return 0;
}
