// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy format, versions 1 to 3: magic, header length, a Python dictionary literal with descr, fortran_order and
// shape, then the elements.
#include "runtime/session/TensorFile.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace wsc {

using format::ElementType;

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

struct Descr {
  ElementType type;
  const char *name; // without the byte order
};
constexpr Descr kDescrs[] = {{ElementType::F32, "f4"}, {ElementType::F16, "f2"},  {ElementType::BF16, "V2"},
                             {ElementType::I32, "i4"}, {ElementType::I64, "i8"},  {ElementType::U8, "u1"},
                             {ElementType::I8, "i1"},  {ElementType::Bool, "b1"}, {ElementType::F64, "f8"},
                             {ElementType::I16, "i2"}, {ElementType::U16, "u2"},  {ElementType::U32, "u4"},
                             {ElementType::U64, "u8"}};

// A scanner over the header's dictionary: only what NumPy writes.
class Header {
public:
  Header(std::string_view text, std::string where) : text(text), where(std::move(where)) {}

  absl::Status parse() {
    if (!take('{'))
      return error("the header is no dictionary");
    bool seenDescr = false, seenOrder = false, seenShape = false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return error("a key was expected in the header");
      bool good = true;
      if (key == "descr") {
        if (!string(descr))
          return error("only plain arrays are read, not structured ones");
        seenDescr = true;
      } else if (key == "fortran_order") {
        seenOrder = true;
        if (word("True"))
          fortranOrder = true;
        else
          good = word("False");
      } else if (key == "shape") {
        good = tuple();
        seenShape = true;
      } else {
        good = false;
      }
      if (!good)
        return error(absl::StrCat("bad value of '", key, "' in the header"));
      take(',');
    }
    if (!seenDescr || !seenOrder || !seenShape)
      return error("the header lacks descr, fortran_order or shape");
    return absl::OkStatus();
  }

  absl::Status error(const std::string &what) const {
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
  }

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

private:
  void space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool take(char c) {
    space();
    if (at < text.size() && text[at] == c)
      return ++at, true;
    return false;
  }
  bool word(std::string_view w) {
    space();
    if (text.substr(at, w.size()) != w)
      return false;
    at += w.size();
    return true;
  }
  bool string(std::string &out) {
    space();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    const size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos)
      return false;
    out = std::string(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return true;
  }
  bool tuple() {
    if (!take('('))
      return false;
    while (!take(')')) {
      space();
      int64_t value = 0;
      const size_t begin = at;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        if (value > (int64_t(1) << 48))
          return false;
        value = value * 10 + (text[at] - '0');
      }
      if (at == begin)
        return false;
      take('L');
      shape.push_back(value);
      take(',');
    }
    return true;
  }

  std::string_view text;
  std::string where;
  size_t at = 0;
};

// Column-major elements to row-major.
std::vector<std::byte> toRowMajor(const std::vector<std::byte> &from, const std::vector<int64_t> &shape, int64_t size) {
  std::vector<std::byte> to(from.size());
  std::vector<int64_t> index(shape.size());
  const int64_t count = int64_t(from.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = 0;
    for (size_t d = shape.size(); d-- > 0;)
      source = source * shape[d] + index[d];
    std::memcpy(to.data() + i * size, from.data() + source * size, size_t(size));
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
  return to;
}

} // namespace

absl::StatusOr<Tensor> parseNpy(std::string_view content, const std::string &where) {
  Header header("", where);
  if (content.size() < 10 || content.substr(0, kMagicBytes) != std::string_view(kMagic, kMagicBytes))
    return header.error("not a .npy file (its magic is missing)");
  const auto byte = [&](size_t i) { return uint64_t(uint8_t(content[i])); };
  const int version = int(byte(6));
  if (version < 1 || version > 3)
    return header.error(absl::StrCat(".npy version ", version, "; 1 to 3 are read"));
  size_t begin = 10;
  uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) {
    if (content.size() < 12)
      return header.error("the file ends inside the header");
    begin = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > content.size() - begin)
    return header.error("the file ends inside the header");
  header = Header(content.substr(begin, length), where);
  if (absl::Status status = header.parse(); !status.ok())
    return status;

  const char order = header.descr.empty() ? ' ' : header.descr[0];
  const bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string name = ordered ? header.descr.substr(1) : header.descr;
  const Descr *descr =
      std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr &d) { return name == d.name; });
  if (name == "?")
    descr = &kDescrs[7];
  if (descr == std::end(kDescrs))
    return header.error(
        absl::StrCat("element type '", header.descr,
                     "' is not supported; use f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, b1 or V2 (bfloat16)"));
  Tensor tensor;
  tensor.type.type = descr->type;
  tensor.type.shape = header.shape;
  const int64_t size = format::elementBytes(descr->type);
  const size_t available = content.size() - begin - length;
  uint64_t bytes = uint64_t(size);
  for (int64_t dim : header.shape)
    if (__builtin_mul_overflow(bytes, uint64_t(dim), &bytes))
      return header.error("the shape overflows");
  if (bytes != available)
    return header.error(absl::StrCat(describe(tensor.type), " needs ", bytes, " bytes, the file holds ", available));
  tensor.bytes.resize(bytes);
  if (bytes > 0)
    std::memcpy(tensor.bytes.data(), content.data() + begin + length, bytes);
  if (order == '>')
    for (size_t i = 0; i < bytes; i += size_t(size))
      std::reverse(tensor.bytes.begin() + int64_t(i), tensor.bytes.begin() + int64_t(i) + size);
  if (header.fortranOrder)
    tensor.bytes = toRowMajor(tensor.bytes, header.shape, size);
  return tensor;
}

std::string printNpy(const Tensor &tensor) {
  const Descr *descr =
      std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr &d) { return d.type == tensor.type.type; });
  const char *order = format::elementBytes(tensor.type.type) == 1 ? "|" : "<";
  std::string header = absl::StrCat("{'descr': '", order, descr->name, "', 'fortran_order': False, 'shape': (");
  for (size_t d = 0; d < tensor.type.shape.size(); ++d)
    absl::StrAppend(&header, d ? ", " : "", tensor.type.shape[d]);
  header += tensor.type.shape.size() == 1 ? ",), }" : "), }";
  // The elements begin at a multiple of 64 bytes, after a newline.
  const size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  std::string content(kMagic, kMagicBytes);
  content += '\x01';
  content += '\0';
  content += char(header.size() & 0xff);
  content += char(header.size() >> 8);
  content += header;
  content.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  return content;
}

} // namespace wsc
