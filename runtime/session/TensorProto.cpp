// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's TensorProto, read and written on the protobuf wire format itself: a message is a list of (field number, wire
// type, value), unknown fields are skipped. Field numbers are those of onnx.proto's TensorProto.
#include "runtime/session/TensorFile.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <span>

namespace wsc {

using format::ElementType;

namespace {

enum Field {
  Dims = 1,
  DataType = 2,
  FloatData = 4,
  Int32Data = 5,
  StringData = 6,
  Int64Data = 7,
  Name = 8,
  RawData = 9,
  DoubleData = 10,
  Uint64Data = 11,
  ExternalData = 13,
  DataLocation = 14
};
enum Wire { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// `bits`: width in raw_data; below 8, elements share a byte, the first in its lowest bits.
struct OnnxType {
  ElementType type;
  int number;
  int bits = 0; // 0: that of `type`
};
constexpr OnnxType kTypes[] = {{ElementType::F32, 1},  {ElementType::U8, 2},   {ElementType::I8, 3},
                               {ElementType::I32, 6},  {ElementType::I64, 7},  {ElementType::Bool, 9},
                               {ElementType::F16, 10}, {ElementType::F64, 11}, {ElementType::BF16, 16},
                               {ElementType::U16, 4},  {ElementType::I16, 5},  {ElementType::U32, 12},
                               {ElementType::U64, 13}};
// Types that are stored only: floats come as their bits, integers as their values, one a byte.
constexpr OnnxType kStored[] = {{ElementType::U8, 17},    {ElementType::U8, 18},    {ElementType::U8, 19},
                                {ElementType::U8, 20},    {ElementType::U8, 21, 4}, {ElementType::I8, 22, 4},
                                {ElementType::U8, 23, 4}, {ElementType::U8, 24},    {ElementType::U8, 25, 2},
                                {ElementType::I8, 26, 2}};
constexpr const char *kOnnxNames[] = {"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                                      "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                                      "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};

class Scanner {
public:
  explicit Scanner(std::string_view content) : rest(content) {}

  bool done() const { return rest.empty(); }
  bool varint(uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty())
        return false;
      const auto byte = uint8_t(rest[0]);
      rest.remove_prefix(1);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return true;
    }
    return false;
  }
  bool bytes(uint64_t count, std::string_view &out) {
    if (count > rest.size())
      return false;
    out = rest.substr(0, count);
    rest.remove_prefix(count);
    return true;
  }
  bool lengthDelimited(std::string_view &out) {
    uint64_t length;
    return varint(length) && bytes(length, out);
  }

private:
  std::string_view rest;
};

// What a TensorProto holds, numbers kept as 64-bit patterns.
struct Raw {
  std::vector<int64_t> dims;
  uint64_t dataType = 0;
  std::string_view name, raw, external;
  bool hasRaw = false, hasStrings = false, isExternal = false;
  std::vector<uint64_t> numbers; // of the one typed field
};

bool addNumbers(int wire, uint64_t value, std::string_view bytes, int fixedBytes, std::vector<uint64_t> &numbers) {
  if (wire != Bytes) {
    numbers.push_back(value);
    return true;
  }
  Scanner scanner(bytes);
  while (!scanner.done()) {
    uint64_t number = 0;
    if (fixedBytes > 0) {
      std::string_view part;
      if (!scanner.bytes(uint64_t(fixedBytes), part))
        return false;
      std::memcpy(&number, part.data(), part.size());
    } else if (!scanner.varint(number)) {
      return false;
    }
    numbers.push_back(number);
  }
  return true;
}

bool scanMessage(std::string_view content, Raw &out) {
  Scanner scanner(content);
  while (!scanner.done()) {
    uint64_t tag = 0, value = 0;
    std::string_view bytes;
    if (!scanner.varint(tag) || (tag >> 3) == 0)
      return false;
    const auto wire = int(tag & 7);
    bool good = false;
    if (wire == Varint)
      good = scanner.varint(value);
    else if (wire == Bytes)
      good = scanner.lengthDelimited(bytes);
    else if (wire == Fixed64 || wire == Fixed32) {
      good = scanner.bytes(wire == Fixed64 ? 8 : 4, bytes);
      if (good)
        std::memcpy(&value, bytes.data(), bytes.size());
    }
    if (!good)
      return false;
    switch (tag >> 3) {
    case Dims: {
      std::vector<uint64_t> dims;
      if (!addNumbers(wire, value, bytes, 0, dims))
        return false;
      for (uint64_t dim : dims)
        out.dims.push_back(int64_t(dim));
      break;
    }
    case DataType:
      out.dataType = value;
      break;
    case FloatData:
      good = addNumbers(wire, value, bytes, 4, out.numbers);
      break;
    case DoubleData:
      good = addNumbers(wire, value, bytes, 8, out.numbers);
      break;
    case Int32Data:
    case Int64Data:
    case Uint64Data:
      good = addNumbers(wire, value, bytes, 0, out.numbers);
      break;
    case StringData:
      out.hasStrings = true;
      break;
    case Name:
      out.name = bytes;
      break;
    case RawData:
      out.raw = bytes;
      out.hasRaw = true;
      break;
    case ExternalData:
      out.isExternal = true;
      break;
    case DataLocation:
      out.isExternal |= value == 1;
      break;
    default:
      break;
    }
    if (!good)
      return false;
  }
  return true;
}

// Elements of fewer than 8 bits, a byte each.
void unpack(std::string_view packed, const OnnxType &type, size_t elements, std::vector<std::byte> &out) {
  const size_t perByte = size_t(8 / type.bits);
  out.resize(elements);
  for (size_t i = 0; i < elements; ++i) {
    const int code = (uint8_t(packed[i / perByte]) >> (i % perByte * size_t(type.bits))) & ((1 << type.bits) - 1);
    const bool isNegative = type.type == ElementType::I8 && (code >> (type.bits - 1)) != 0;
    out[i] = std::byte(isNegative ? code - (1 << type.bits) : code);
  }
}

void putVarint(uint64_t value, std::string &out) {
  for (; value >= 0x80; value >>= 7)
    out += char(value | 0x80);
  out += char(value);
}

void putTag(Field field, Wire wire, std::string &out) { putVarint(uint64_t(field) << 3 | uint64_t(wire), out); }

} // namespace

absl::StatusOr<Tensor> parseTensorProto(std::string_view content, const std::string &where) {
  const auto error = [&](const std::string &what) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
  };
  Raw raw;
  if (!scanMessage(content, raw))
    return error("not a TensorProto (the wire format is broken)");
  Tensor tensor;
  tensor.type.name = std::string(raw.name);
  bool known = false;
  OnnxType stored{};
  for (std::span<const OnnxType> types : {std::span<const OnnxType>(kTypes), std::span<const OnnxType>(kStored)})
    for (const OnnxType &type : types)
      if (uint64_t(type.number) == raw.dataType) {
        stored = type;
        tensor.type.type = type.type;
        known = true;
      }
  if (!known || raw.hasStrings)
    return error(absl::StrCat("TensorProto of type ",
                              raw.hasStrings                         ? "STRING"
                              : raw.dataType < std::size(kOnnxNames) ? kOnnxNames[raw.dataType]
                                                                     : "unknown",
                              " (", raw.dataType, ") is not supported"));
  if (raw.isExternal)
    return error("external data is not read; store the tensor in the file itself");
  const int64_t size = format::elementBytes(tensor.type.type);
  uint64_t elements = 1, bytes = 0;
  for (int64_t dim : raw.dims)
    if (dim < 0 || __builtin_mul_overflow(elements, uint64_t(dim), &elements))
      return error(absl::StrCat("bad dimension ", dim));
  tensor.type.shape = raw.dims;
  if (__builtin_mul_overflow(elements, uint64_t(size), &bytes))
    return error("the shape overflows");
  if (stored.bits > 0) {
    const uint64_t packedBytes = elements / uint64_t(8 / stored.bits) + (elements % uint64_t(8 / stored.bits) != 0);
    std::string fields;
    for (uint64_t number : raw.numbers)
      fields += char(number & 0xff);
    const std::string_view packed = raw.hasRaw && !raw.raw.empty() ? raw.raw : std::string_view(fields);
    if (packed.size() != packedBytes)
      return error(absl::StrCat(describe(tensor.type), " packed to ", stored.bits, " bits needs ", packedBytes,
                                " bytes, found ", packed.size()));
    unpack(packed, stored, elements, tensor.bytes);
    return tensor;
  }
  if (raw.hasRaw && !(raw.raw.empty() && !raw.numbers.empty())) {
    if (raw.raw.size() != bytes)
      return error(absl::StrCat(describe(tensor.type), " needs ", bytes, " bytes, raw_data holds ", raw.raw.size()));
    tensor.bytes.resize(bytes);
    if (bytes > 0)
      std::memcpy(tensor.bytes.data(), raw.raw.data(), bytes);
    return tensor;
  }
  if (raw.numbers.size() != elements)
    return error(absl::StrCat(describe(tensor.type), " needs ", elements, " elements, the typed data holds ",
                              raw.numbers.size()));
  tensor.bytes.resize(bytes);
  for (size_t i = 0; i < elements; ++i) {
    const uint64_t number = tensor.type.type == ElementType::Bool ? raw.numbers[i] != 0 : raw.numbers[i];
    std::memcpy(tensor.bytes.data() + i * size_t(size), &number, size_t(size)); // little endian
  }
  return tensor;
}

std::string printTensorProto(const Tensor &tensor) {
  std::string out;
  for (int64_t dim : tensor.type.shape) {
    putTag(Dims, Varint, out);
    putVarint(uint64_t(dim), out);
  }
  for (const OnnxType &type : kTypes)
    if (type.type == tensor.type.type) {
      putTag(DataType, Varint, out);
      putVarint(uint64_t(type.number), out);
    }
  if (!tensor.type.name.empty()) {
    putTag(Name, Bytes, out);
    putVarint(tensor.type.name.size(), out);
    out += tensor.type.name;
  }
  putTag(RawData, Bytes, out);
  putVarint(tensor.bytes.size(), out);
  out.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  return out;
}

} // namespace wsc
