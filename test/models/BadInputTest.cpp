// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What wsc-compile and wsc-run say to input that is wrong: exit status 1, one error line that says what, where and the
// way out, nothing on standard output, and no file left behind.
#include "test/models/ModelCheck.h"

#include "runtime/format/FileLayout.h"
#include "runtime/session/TensorFile.h"

#include <cstring>
#include <fstream>
#include <set>
#include <sys/wait.h>

namespace wsc::test {
namespace {

class BadInput : public ::testing::Test {
protected:
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path))
      names.insert(entry.path().string());
    return names;
  }

  /// Runs a tool of this build in the folder; its standard error. The folder must stay as it was.
  std::string expectError(const std::string &command, const std::vector<std::string> &parts) {
    SCOPED_TRACE(command);
    TemporaryFolder streams;
    std::set<std::string> before = files();
    int status = std::system(
        ("cd " + folder.path + " && " WSC_BIN_DIR "/" + command + " >" + (streams / "out") + " 2>" + (streams / "err"))
            .c_str());
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(files(), before) << "files came or went";
    EXPECT_EQ(*readFile(streams / "out"), "");
    std::string error = *readFile(streams / "err");
    EXPECT_EQ(error.rfind("error: ", 0), 0u) << error;
    EXPECT_EQ(error.find("\nerror: "), std::string::npos) << "more than one error line: " << error;
    for (const std::string &part : parts)
      EXPECT_NE(error.find(part), std::string::npos) << "expected \"" << part << "\" in: " << error;
    return error;
  }

  void write(const std::string &name, const std::string &content) {
    std::ofstream(folder / name, std::ios::binary) << content;
  }

  /// good.onnx, input x [1,2,4,4], output y [1,3,4,4].
  void writeGood() {
    NetBuilder net(1);
    NetValue x = net.input("x", {1, 2, 4, 4});
    NetValue y = net.conv(x, 3, {.kernel = {1, 1}});
    net.output(y);
    ASSERT_TRUE(net.onnx.write(folder / "good.onnx"));
  }
  void compileGood() {
    writeGood();
    absl::Status status = compileModel(folder / "good.onnx", "mesh-16x16", folder / "good.wse");
    ASSERT_TRUE(status.ok()) << status;
  }

  TemporaryFolder folder;
};

TEST_F(BadInput, ModelFileIsMissing) { expectError("wsc-compile none.onnx -o m.wse", {"none.onnx"}); }

TEST_F(BadInput, ModelIsTruncated) {
  writeGood();
  std::string bytes = *readFile(folder / "good.onnx");
  for (size_t size : {size_t(0), size_t(1), bytes.size() / 3, bytes.size() / 2, bytes.size() - 1}) {
    write("cut.onnx", bytes.substr(0, size));
    expectError("wsc-compile cut.onnx -o m.wse", {"cut.onnx"});
  }
}

TEST_F(BadInput, ModelIsNoOnnx) {
  write("text.onnx", "This is a text, not a model.\n");
  expectError("wsc-compile text.onnx -o m.wse", {"text.onnx"});
  write("bad.mlir", "func.func @main( {");
  expectError("wsc-compile bad.mlir -o m.wse", {"bad.mlir"});
}

TEST_F(BadInput, AllUnknownOperatorsAreListed) {
  OnnxBuilder b;
  b.input("x", {1, 2, 4, 4});
  std::string y = b.node("Bogus", {"x"}, {}, "first");
  y = b.node("Relu", {y});
  y = b.node("Unheard", {y}, {}, "second");
  b.output(b.node("Bogus", {y}, {}, "third"));
  ASSERT_TRUE(b.write(folder / "m.onnx"));
  expectError("wsc-compile m.onnx -o m.wse", {"Bogus", "Unheard", "first", "second"});
  expectError("wsc-compile m.onnx --validate-only",
              {"Bogus (opset 17): 2 nodes, first first", "Unheard (opset 17): 1 node, first second"});
}

TEST_F(BadInput, AllLayersWithoutAKernelFormAreListed) {
  OnnxBuilder b;
  b.input("x", {1, 2, 4, 4});
  std::string y = b.node("Mod", {"x", "x"}, {Attribute::i("fmod", 1)});
  b.output(b.node("ReduceMax", {y}, {Attribute::ints("axes", {1})}));
  ASSERT_TRUE(b.write(folder / "m.onnx"));
  expectError("wsc-compile m.onnx --execution pipelined -o m.wse",
              {"layers without a kernel form", "nn.binary", "nn.reduce"});
}

TEST_F(BadInput, ExternalDataIsMissing) {
  OnnxBuilder b;
  b.input("x", {1, 2, 4, 4});
  b.floats("w", {3, 2, 1, 1}, std::vector<float>(6, 1));
  b.output(b.node("Conv", {"x", "w"}));
  auto &tensor = *b.graph().mutable_initializer(0);
  tensor.clear_raw_data();
  tensor.set_data_location(wsc::onnx::TensorProto::EXTERNAL);
  auto &entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  ASSERT_TRUE(b.write(folder / "m.onnx"));
  expectError("wsc-compile m.onnx -o m.wse", {"weights.bin", "w"});
  write("weights.bin", "short");
  expectError("wsc-compile m.onnx -o m.wse", {"weights.bin"});
}

TEST_F(BadInput, SymbolicDimensionIsOpen) {
  OnnxBuilder b;
  b.input("x", {Dim("batch"), 2, 4, 4});
  b.output(b.node("Relu", {"x"}));
  ASSERT_TRUE(b.write(folder / "m.onnx"));
  expectError("wsc-compile m.onnx -o m.wse", {"batch", "--dim"});
  expectError("wsc-compile m.onnx --dim other=1 -o m.wse", {"other"});
}

TEST_F(BadInput, ALayerFitsNoRectangle) {
  NetBuilder net(3);
  NetValue x = net.input("x", {1, 4000});
  net.output(net.gemm(x, 3000)); // 48 MB of weights for 64 cores of 48 KB
  ASSERT_TRUE(net.onnx.write(folder / "m.onnx"));
  expectError("wsc-compile m.onnx --target mesh-8x8 -o m.wse", {"matmul0", "bytes", "49152", "more SRAM"});
}

/// Of phases: the layer, what it needs, who lives then, the limit, the way out.
TEST_F(BadInput, ATensorFitsNoSram) {
  NetBuilder net(3);
  NetValue x = net.input("x", {1, 4000});
  net.output(net.gemm(x, 3000));
  ASSERT_TRUE(net.onnx.write(folder / "weights.onnx"));
  expectError("wsc-compile weights.onnx --execution phased --target mesh-8x8 -o m.wse",
              {"layer ", "needs ", " bytes on a core", " are left to tensors on a mesh of 8x8", "more SRAM"});
  OnnxBuilder b;
  // Each takes 4,000 bytes of a core, and all are added at the end.
  std::vector<std::string> kept{b.node("Relu", {b.input("x", {64, 1000})}, {}, "kept")};
  for (int64_t i = 0; i < 10; ++i)
    kept.push_back(b.node("Softmax", {kept.back()}, {Attribute::i("axis", i % 2)}));
  std::string y = kept.back();
  for (size_t i = kept.size() - 1; i-- > 0;)
    y = b.node("Add", {y, kept[i]}, {});
  b.output(y);
  ASSERT_TRUE(b.write(folder / "tensors.onnx"));
  expectError("wsc-compile tensors.onnx --execution phased --target mesh-8x8 -o m.wse",
              {"layer ", "needs ", " bytes on a core, beside ", " tensors that are still needed (", "kept ",
               " are left to tensors on a mesh of 8x8", "more SRAM"});
}

TEST_F(BadInput, AStateFitsNoSram) {
  write("state.mlir", "nn.variable @total : tensor<1000x1000xf32> = dense<0.0> : tensor<1000x1000xf32>\n"
                      "func.func @step(%x: tensor<1000x1000xf32> {nn.name = \"x\"}) {\n"
                      "  %old = nn.read @total : tensor<1000x1000xf32>\n"
                      "  %new = nn.binary add %old, %x : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> "
                      "tensor<1000x1000xf32>\n"
                      "  nn.write @total, %new : tensor<1000x1000xf32>\n"
                      "  return\n}\n");
  expectError("wsc-compile state.mlir --execution phased --target mesh-8x8 -o m.wse",
              {"bytes on a core", "still needed (", "8x8", "more SRAM"});
}

TEST_F(BadInput, TargetIsUnknown) {
  writeGood();
  expectError("wsc-compile good.onnx --target wse9 -o m.wse", {"wse9", "wse2"});
  expectError("wsc-compile good.onnx --target mesh-0x4 -o m.wse", {"mesh-0x4"});
  write("t.json", "{\"base\": \"wse2\", \"rows\": \"many\"}");
  expectError("wsc-compile good.onnx --target t.json -o m.wse", {"t.json"});
}

TEST_F(BadInput, OutputCannotBeWritten) {
  writeGood();
  expectError("wsc-compile good.onnx --target mesh-16x16 -o nowhere/m.wse", {"nowhere/m.wse"});
}

/// A later failure must not harm what an earlier run wrote.
TEST_F(BadInput, AnEarlierOutputStays) {
  compileGood();
  std::string before = *readFile(folder / "good.wse");
  write("cut.onnx", "no model");
  expectError("wsc-compile cut.onnx -o good.wse", {"cut.onnx"});
  EXPECT_EQ(*readFile(folder / "good.wse"), before);
}

TEST_F(BadInput, DamageInEachSection) {
  compileGood();
  const std::string good = *readFile(folder / "good.wse");
  format::Header header;
  std::memcpy(&header, good.data(), sizeof header);
  std::vector<format::SectionEntry> table(header.sectionCount);
  std::memcpy(table.data(), good.data() + header.tableOffset, table.size() * sizeof(format::SectionEntry));
  auto flipped = [&](size_t at) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 0x10);
    write("bad.wse", bad);
  };
  for (size_t at : {size_t(0), size_t(8), size_t(16), size_t(40), size_t(header.tableOffset) + 8}) {
    SCOPED_TRACE("byte " + std::to_string(at));
    flipped(at);
    expectError("wsc-run bad.wse --timing-only", {"bad.wse"});
    expectError("wsc-info bad.wse", {"bad.wse"});
  }
  ASSERT_GE(table.size(), 2u);
  for (const format::SectionEntry &section : table) {
    flipped(size_t(section.offset + section.bytes / 2));
    if (section.kind == uint32_t(format::SectionKind::Metadata))
      expectError("wsc-run bad.wse --timing-only", {"bad.wse", "metadata"});
    else // weights are hashed on request, for they are large
      expectError("wsc-info bad.wse --verify", {"bad.wse"});
  }
  for (size_t size : {size_t(0), size_t(7), size_t(79), size_t(4096), good.size() - 1}) {
    write("bad.wse", good.substr(0, size));
    expectError("wsc-run bad.wse --timing-only", {"bad.wse"});
  }
  write("bad.wse", good + "x");
  expectError("wsc-run bad.wse --timing-only", {"bad.wse"});
}

TEST_F(BadInput, InputsOfTheRun) {
  compileGood();
  auto tensor = [&](const std::string &file, format::ElementType type, const std::vector<int64_t> &shape) {
    Tensor value{{"x", type, shape}, {}};
    value.bytes.resize(size_t(value.type.elements() * format::elementBytes(type)));
    ASSERT_TRUE(writeTensor(value, folder / file).ok());
  };
  tensor("good.npy", format::ElementType::F32, {1, 2, 4, 4});
  tensor("flat.npy", format::ElementType::F32, {32});
  tensor("int.npy", format::ElementType::I32, {1, 2, 4, 4});
  expectError("wsc-run good.wse --input z=good.npy", {"z", "x f32[1,2,4,4]"});
  expectError("wsc-run good.wse --input x=flat.npy", {"x", "f32[32]", "f32[1,2,4,4]"});
  expectError("wsc-run good.wse --input x=int.npy", {"x", "i32[1,2,4,4]", "f32[1,2,4,4]"});
  expectError("wsc-run good.wse --input x=none.npy", {"none.npy"});
  expectError("wsc-run good.wse --input x=good.npy --input x=good.npy", {"x", "twice"});
  expectError("wsc-run good.wse --input x=good.npy --entry train", {"train", "main"});
  expectError("wsc-run none.wse --input x=good.npy", {"none.wse"});
  write("cut.npy", readFile(folder / "good.npy")->substr(0, 100));
  expectError("wsc-run good.wse --input x=cut.npy", {"cut.npy"});
}

} // namespace
} // namespace wsc::test
