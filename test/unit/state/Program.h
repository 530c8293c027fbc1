// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module of nn functions compiled and opened: entries by name, tensors as floats.
#pragma once

#include "compiler/driver/Compiler.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/session/Session.h"
#include "runtime/session/TensorFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace wsc::test {

using Floats = std::vector<float>;

class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wsc-state-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

inline Tensor tensorOf(const format::TensorType &type, const Floats &values) {
  Tensor tensor;
  tensor.type = type;
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

inline Floats floatsOf(const Tensor &tensor) {
  Floats values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Every core that holds elements of a variable, with the address there and the first element's number.
inline std::vector<std::string> placesOf(const format::Configuration &configuration) {
  std::vector<std::string> places;
  for (const format::StateBinding &binding : configuration.stateBindings) {
    const format::Role &role = configuration.roles[binding.role];
    emulator::forEachPoint(role.cores, [&](const format::LatticeIndex &index, int32_t row, int32_t col) {
      places.push_back(std::to_string(row) + ", " + std::to_string(col) + " at " +
                       std::to_string(role.buffers[binding.buffer].address) + ": element " +
                       std::to_string(binding.hostOffset.at(index)));
      return true;
    });
  }
  std::sort(places.begin(), places.end());
  return places;
}

class Program {
public:
  explicit Program(const std::string &text, const std::string &target = "mesh-12x12") {
    std::ofstream(folder / "m.mlir") << text;
    driver::CompileOptions options;
    options.execution = driver::Execution::Pipelined; // state kernels are strips
    options.model = folder / "m.mlir";
    options.output = folder / "m.wse";
    options.target = target;
    options.dumpDir = folder / "phases";
    auto report = driver::compile(options);
    status = report.status();
    if (!status.ok())
      return;
    auto opened = Session::open(options.output);
    status = opened.status();
    if (opened.ok())
      session = *std::move(opened);
  }
  bool ok() const { return status.ok(); }

  // Outputs of entry `name`, whose timing is also asked for. Fails the test on any error.
  std::vector<Floats> run(const std::string &name, const std::vector<Floats> &inputs = {}) {
    std::vector<Floats> results;
    auto entry = session->findEntry(name);
    EXPECT_TRUE(entry.ok()) << entry.status();
    if (!entry.ok())
      return results;
    const auto &types = session->executable().entries[*entry].inputs;
    EXPECT_EQ(types.size(), inputs.size());
    std::map<std::string, Tensor> named;
    for (size_t i = 0; i < types.size(); ++i)
      named[types[i].name] = tensorOf(types[i], inputs[i]);
    auto outputs = session->run(*entry, named);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    if (outputs.ok())
      for (const Tensor &tensor : *outputs)
        results.push_back(floatsOf(tensor));
    auto timing = session->timing(*entry);
    EXPECT_TRUE(timing.ok()) << timing.status();
    return results;
  }
  Floats state(const std::string &name) {
    auto tensor = session->readState(name);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    return tensor.ok() ? floatsOf(*tensor) : Floats();
  }

  Folder folder;
  absl::Status status;
  std::unique_ptr<Session> session;
};

} // namespace wsc::test
