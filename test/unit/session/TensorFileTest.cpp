// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Folder.h"

#include "runtime/files/OutputFile.h"

namespace wsc::test {
namespace {

using format::ElementType;

std::vector<Tensor> oneOfEach() {
  std::vector<Tensor> tensors;
  for (ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I32, ElementType::I64,
                           ElementType::U8, ElementType::I8, ElementType::Bool, ElementType::F64, ElementType::I16,
                           ElementType::U16, ElementType::U32, ElementType::U64}) {
    Tensor tensor;
    tensor.type = {"t" + std::string(format::elementTypeName(type)), type, {2, 3}};
    for (int64_t i = 0; i < 6 * format::elementBytes(type); ++i)
      tensor.bytes.push_back(std::byte(type == ElementType::Bool ? i % 2 : i * 37 + 1));
    tensors.push_back(tensor);
  }
  return tensors;
}

TEST(TensorFile, EveryTypeSurvivesEveryFormat) {
  Folder folder;
  std::vector<Tensor> tensors = oneOfEach();
  for (std::vector<int64_t> shape : {std::vector<int64_t>{6}, {2, 3}, {1, 6, 1}})
    for (Tensor &tensor : tensors) {
      tensor.type.shape = shape;
      for (const char *name : {"x.npy", "x.pb"}) {
        ASSERT_TRUE(writeTensor(tensor, folder / name).ok());
        auto read = readTensor(folder / name);
        ASSERT_TRUE(read.ok()) << read.status();
        EXPECT_EQ(read->type.type, tensor.type.type) << name;
        EXPECT_EQ(read->type.shape, tensor.type.shape);
        EXPECT_EQ(read->bytes, tensor.bytes);
      }
    }
  ASSERT_TRUE(writeNpz(tensors, folder / "x.npz").ok());
  auto read = readNpz(folder / "x.npz");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ((*read)[i].type.name, tensors[i].type.name);
    EXPECT_EQ((*read)[i].bytes, tensors[i].bytes);
  }
}

TEST(TensorFile, ScalarsAndEmptyTensors) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {0, 3}}) {
    Tensor tensor =
        tensorOf<float>("s", ElementType::F32, shape, shape.empty() ? std::vector<float>{1.5f} : std::vector<float>{});
    auto npy = parseNpy(printNpy(tensor), "x");
    auto proto = parseTensorProto(printTensorProto(tensor), "x");
    ASSERT_TRUE(npy.ok() && proto.ok()) << npy.status() << proto.status();
    EXPECT_EQ(npy->type.shape, shape);
    EXPECT_EQ(npy->bytes, tensor.bytes);
    EXPECT_EQ(proto->type.shape, shape);
    EXPECT_EQ(proto->bytes, tensor.bytes);
    EXPECT_EQ(proto->type.name, "s");
  }
}

std::string npy(const std::string &dictionary, const std::string &data) {
  std::string content("\x93NUMPY\x01\x00", 8);
  content += char(dictionary.size() & 0xff);
  content += char(dictionary.size() >> 8);
  return content + dictionary + data;
}

TEST(TensorFile, FortranOrderAndBigEndian) {
  // [[1,2,3],[4,5,6]] by columns, big-endian 32-bit integers.
  std::string data;
  for (char value : {1, 4, 2, 5, 3, 6})
    data += std::string(3, '\0') + value;
  auto tensor = parseNpy(npy("{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }\n", data), "x");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->bytes, tensorOf<int32_t>("", ElementType::I32, {2, 3}, {1, 2, 3, 4, 5, 6}).bytes);
}

TEST(TensorFile, BrokenNpyIsRefused) {
  const std::string good = printNpy(tensorOf<float>("", ElementType::F32, {2}, {1, 2}));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parseNpy(good.substr(0, length), "x").ok()) << length;
  EXPECT_FALSE(parseNpy(good + "x", "x").ok());
  for (const char *dictionary : {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,4), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
                                 "{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (1,), }",
                                 "{'descr': '<f4', 'shape': (1,), }", "{'descr': '<f4", ""})
    EXPECT_FALSE(parseNpy(npy(dictionary, std::string(8, 'x')), "x").ok()) << dictionary;
  auto complex =
      parseNpy(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", std::string(8, 'x')), "f.npy");
  EXPECT_NE(std::string(complex.status().message()).find("f.npy: element type '<c8' is not supported"),
            std::string::npos)
      << complex.status();
}

TEST(TensorFile, TypedProtoFields) {
  // dims 3, FLOAT, packed float_data; dims unpacked; int32_data holding float16 bits and booleans; negative int64.
  auto floats = parseTensorProto(std::string("\x08\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\x40", 14), "x");
  ASSERT_TRUE(floats.ok()) << floats.status();
  EXPECT_EQ(floats->bytes, tensorOf<float>("", ElementType::F32, {2}, {1, 2}).bytes);
  auto half = parseTensorProto(std::string("\x08\x01\x10\x0a\x28\x80\x78", 7), "x"); // 0x3c00 = 1.0
  ASSERT_TRUE(half.ok()) << half.status();
  EXPECT_EQ(half->bytes, (tensorOf<uint16_t>("", ElementType::F16, {1}, {0x3c00}).bytes));
  auto negative =
      parseTensorProto(std::string("\x08\x01\x10\x07\x3a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16), "x");
  ASSERT_TRUE(negative.ok()) << negative.status();
  EXPECT_EQ(negative->bytes, (tensorOf<int64_t>("", ElementType::I64, {1}, {-1}).bytes));
  // UINT16 in int32_data, UINT32 in uint64_data.
  auto u16 = parseTensorProto(std::string("\x08\x01\x10\x04\x28\xff\xff\x03", 8), "x");
  ASSERT_TRUE(u16.ok()) << u16.status();
  EXPECT_EQ(u16->bytes, (tensorOf<uint16_t>("", ElementType::U16, {1}, {65535}).bytes));
  auto u32 = parseTensorProto(std::string("\x08\x01\x10\x0c\x58\xff\xff\xff\xff\x0f", 10), "x");
  ASSERT_TRUE(u32.ok()) << u32.status();
  EXPECT_EQ(u32->bytes, (tensorOf<uint32_t>("", ElementType::U32, {1}, {~0u}).bytes));
}

TEST(TensorFile, PackedProtoElementsAreBytes) {
  // INT4 [3] of two bytes: 1, -1, -8; UINT2 [5]: 0, 1, 2, 3, 2; FLOAT8E5M2 as its bits.
  auto i4 = parseTensorProto(std::string("\x08\x03\x10\x16\x4a\x02\xf1\x08", 8), "x");
  ASSERT_TRUE(i4.ok()) << i4.status();
  EXPECT_EQ(i4->bytes, (tensorOf<int8_t>("", ElementType::I8, {3}, {1, -1, -8}).bytes));
  auto u2 = parseTensorProto(std::string("\x08\x05\x10\x19\x4a\x02\xe4\x02", 8), "x");
  ASSERT_TRUE(u2.ok()) << u2.status();
  EXPECT_EQ(u2->bytes, (tensorOf<uint8_t>("", ElementType::U8, {5}, {0, 1, 2, 3, 2}).bytes));
  auto f8 = parseTensorProto(std::string("\x08\x02\x10\x13\x4a\x02\x3c\xbc", 8), "x");
  ASSERT_TRUE(f8.ok()) << f8.status();
  EXPECT_EQ(f8->bytes, (tensorOf<uint8_t>("", ElementType::U8, {2}, {0x3c, 0xbc}).bytes));
  auto tooFew = parseTensorProto(std::string("\x08\x05\x10\x19\x4a\x01\xe4", 7), "x");
  EXPECT_NE(std::string(tooFew.status().message()).find("packed to 2 bits needs 2 bytes, found 1"), std::string::npos)
      << tooFew.status();
}

TEST(TensorFile, BrokenProtoIsRefused) {
  const std::string good = printTensorProto(tensorOf<float>("n", ElementType::F32, {2}, {1, 2}));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parseTensorProto(good.substr(0, length), "x").ok()) << length;
  EXPECT_FALSE(parseTensorProto(std::string("\x10\x08\x32\x01x", 5), "x").ok());        // strings
  EXPECT_FALSE(parseTensorProto(std::string("\x08\x01\x10\x01\x70\x01", 6), "x").ok()); // external
  EXPECT_FALSE(parseTensorProto(std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", 13), "x")
                   .ok()); // dimension -1
}

TEST(TensorFile, FoldersAndErrors) {
  Folder folder;
  ASSERT_TRUE(writeTensor(tensorOf<float>("a", ElementType::F32, {1}, {1}), folder / "input_0.pb").ok());
  ASSERT_TRUE(writeTensor(tensorOf<float>("b", ElementType::F32, {1}, {2}), folder / "input_1.npy").ok());
  auto tensors = readTensorFolder(folder.path, "input");
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_EQ(tensors->size(), 2u);
  EXPECT_FALSE(readTensorFolder(folder / "none", "input").ok());
  EXPECT_FALSE(readTensor(folder / "none.npy").ok());
  EXPECT_FALSE(readTensor(folder / "x.txt").ok());
  ASSERT_TRUE(files::writeWhole("no zip", folder / "x.npz").ok());
  EXPECT_FALSE(readNpz(folder / "x.npz").ok());
  EXPECT_FALSE(writeTensor(tensors->front(), folder / "none/x.npy").ok());
  for (const auto &file : std::filesystem::directory_iterator(folder.path))
    EXPECT_EQ(file.path().string().find(".tmp"), std::string::npos) << file.path();
}

} // namespace
} // namespace wsc::test
