// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend-test folders written for a test, and commands run on them.
#pragma once

#include "runtime/session/TensorFile.h"
#include "test/support/OnnxBuilder.h"
#include "tools/support/Cases.h"
#include "tools/support/Child.h"
#include "tools/support/Json.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace wsc::test {

inline tools::ChildOutcome call(std::vector<std::string> command) {
  auto outcome = tools::runChild(command, 120);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? *outcome : tools::ChildOutcome();
}

inline Tensor floats(const std::string &name, std::vector<int64_t> shape, const std::vector<float> &values) {
  Tensor tensor;
  tensor.type = {name, format::ElementType::F32, std::move(shape)};
  tensor.bytes.resize(values.size() * 4);
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

// A folder of cases.
class CaseFolder {
public:
  std::string path() const { return folder.path; }
  std::string operator/(const std::string &name) const { return folder.path + "/" + name; }

  void model(const std::string &name, const OnnxBuilder &builder) {
    std::filesystem::create_directories(folder.path + "/" + name);
    EXPECT_TRUE(builder.write(folder.path + "/" + name + "/model.onnx"));
  }
  void data(const std::string &name, int set, const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) {
    const std::string to = folder.path + "/" + name + "/test_data_set_" + std::to_string(set);
    std::filesystem::create_directories(to);
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_TRUE(writeTensor(inputs[i], to + "/input_" + std::to_string(i) + ".pb").ok());
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(writeTensor(outputs[i], to + "/output_" + std::to_string(i) + ".pb").ok());
  }
  void text(const std::string &name, const std::string &content) {
    std::filesystem::create_directories(std::filesystem::path(folder.path + "/" + name).parent_path());
    std::ofstream(folder.path + "/" + name) << content;
  }

private:
  tools::TemporaryFolder folder;
};

// y = relu(x), x [1, 2, 2, 2].
inline OnnxBuilder relu() {
  OnnxBuilder b;
  b.input("x", {1, 2, 2, 2});
  b.output(b.node("Relu", {"x"}, {}, "y"));
  return b;
}
inline Tensor reluInput() { return floats("x", {1, 2, 2, 2}, {-1, 2, -3, 4, 5, -6, 7, -8}); }
inline Tensor reluOutput() { return floats("y", {1, 2, 2, 2}, {0, 2, 0, 4, 5, 0, 7, 0}); }

// y = x · w, x [batch, 3], w [3, 2].
inline OnnxBuilder product(Dim batch) {
  OnnxBuilder b;
  b.input("x", {batch, 3});
  b.output(b.node("MatMul", {"x", b.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})}, {}, "y"));
  return b;
}

inline llvm::json::Object readJson(const std::string &path) {
  auto content = readFile(path);
  EXPECT_TRUE(content.ok()) << content.status();
  auto object = tools::parseObject(content.ok() ? *content : "{}");
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? *std::move(object) : llvm::json::Object();
}

} // namespace wsc::test
