// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wire scan; see WireScan.h.
#include "compiler/import/common/WireScan.h"
#include "absl/strings/str_cat.h"
#include <optional>
#include <utility>

namespace wsc::import {
namespace {

/// Packed numbers up to this many bytes stay in the message.
constexpr uint64_t smallBytes = 256;

void appendVarint(std::string &out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

class Scanner {
public:
  Scanner(std::string_view file, const WireSchema &schema) : file_(file), schema_(schema) {}

  /// Appends the message in [begin, end) without its element bytes.
  /// `graphs` of those around it are graphs.
  absl::Status scan(int message, uint64_t begin, uint64_t end, int depth, int graphs, std::string &out) {
    if (schema_.graph != 0 && graphs > schema_.mostGraphs)
      return absl::InvalidArgumentError(
          absl::StrCat("graphs are nested more than ", schema_.mostGraphs, " deep at byte ", begin));
    if (depth > schema_.mostMessages)
      return absl::InvalidArgumentError(
          absl::StrCat("graphs are nested more than ", schema_.mostMessages, " messages deep at byte ", begin));
    std::optional<std::pair<uint64_t, uint64_t>> elements;
    int elementFields = 0;
    bool arePacked = false;
    for (uint64_t at = begin; at < end;) {
      uint64_t start = at, tag = 0, value = 0;
      if (absl::Status status = readVarint(at, end, tag); !status.ok())
        return status;
      uint32_t field = static_cast<uint32_t>(tag >> 3), wire = tag & 7;
      if (field == 0 || tag >> 32)
        return notThisFormat(start);
      bool forged = message == schema_.tensor && field >= wireOffsetField && field <= wirePackedField;
      switch (wire) {
      case 0:
        if (absl::Status status = readVarint(at, end, value); !status.ok())
          return status;
        break;
      case 1:
      case 5: {
        uint64_t width = wire == 1 ? 8 : 4;
        if (width > end - at)
          return truncated(start, width, end - at);
        at += width;
        break;
      }
      case 2: {
        if (absl::Status status = readVarint(at, end, value); !status.ok())
          return status;
        if (value > end - at)
          return truncated(start, value, end - at);
        uint64_t body = at;
        at += value;
        const bool isTensor = message == schema_.tensor, packed = isTensor && schema_.isPacked(field);
        if (isTensor && (schema_.isRaw(field) || (packed && value > smallBytes))) {
          elements = {body, value};
          arePacked = packed;
          ++elementFields;
          continue;
        }
        if (packed && value > 0)
          ++elementFields;
        int child = schema_.childOf(message, field);
        if (child != 0) {
          std::string content;
          if (absl::Status status = scan(child, body, at, depth + 1, graphs + (child == schema_.graph), content);
              !status.ok())
            return status;
          appendVarint(out, tag);
          appendVarint(out, content.size());
          out += content;
          continue;
        }
        break;
      }
      default:
        return notThisFormat(start);
      }
      if (!forged)
        out.append(file_.substr(start, at - start));
    }
    if (elements && elementFields > 1)
      return absl::InvalidArgumentError(
          absl::StrCat("tensor at byte ", begin, " has its elements in ", elementFields, " pieces"));
    if (elements) {
      appendVarint(out, uint64_t{wireOffsetField} << 3);
      appendVarint(out, elements->first);
      appendVarint(out, uint64_t{wireBytesField} << 3);
      appendVarint(out, elements->second);
      if (arePacked) {
        appendVarint(out, uint64_t{wirePackedField} << 3);
        appendVarint(out, 1);
      }
    }
    return absl::OkStatus();
  }

private:
  absl::Status readVarint(uint64_t &at, uint64_t end, uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at >= end)
        return truncated(at, 1, 0);
      unsigned char byte = static_cast<unsigned char>(file_[at++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return absl::OkStatus();
    }
    return notThisFormat(at);
  }

  absl::Status truncated(uint64_t at, uint64_t needed, uint64_t left) {
    return absl::InvalidArgumentError(absl::StrCat("truncated or damaged ", schema_.format, " file: the field at byte ",
                                                   at, " needs ", needed, " bytes, ", left, " are left of ",
                                                   file_.size()));
  }

  absl::Status notThisFormat(uint64_t at) {
    return absl::InvalidArgumentError(absl::StrCat("not ", schema_.kind, ": no protobuf field at byte ", at));
  }

  std::string_view file_;
  const WireSchema &schema_;
};

} // namespace

absl::StatusOr<std::string> stripElements(std::string_view file, const WireSchema &schema) {
  std::string stripped;
  if (absl::Status status = Scanner(file, schema).scan(schema.root, 0, file.size(), 0, 0, stripped); !status.ok())
    return status;
  return stripped;
}

} // namespace wsc::import
