// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of small numbers as bytes: seven bits to a byte, low ones first, the eighth bit of all but a number's last is
// set (LEB128). Signed numbers alternate: 0, -1, 1, -2, … are 0, 1, 2, 3, …. What repeats is numbered in order of its
// first use, which writes it after its number.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace wsc::format {

class PackWriter {
public:
  std::vector<uint8_t> bytes;

  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes.push_back(uint8_t(value) | 0x80);
    bytes.push_back(uint8_t(value));
  }
  void signedNumber(int64_t value) { number(uint64_t(value) << 1 ^ uint64_t(value >> 63)); }
  void text(std::string_view value) {
    number(value.size());
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
};

// Writes each different `content` once. `content`: bytes that determine it.
class PackTable {
public:
  void add(PackWriter &to, const PackWriter &content) {
    const std::string key(content.bytes.begin(), content.bytes.end());
    const auto [known, isNew] = numbers.try_emplace(key, numbers.size());
    to.number(known->second);
    if (isNew)
      to.bytes.insert(to.bytes.end(), content.bytes.begin(), content.bytes.end());
  }

private:
  std::unordered_map<std::string, uint64_t> numbers;
};

// Reads them back. Numbers past the end are 0, and `sound` is false from then on.
class PackReader {
public:
  explicit PackReader(std::span<const uint8_t> bytes) : left(bytes) {}

  bool sound = true;

  bool atEnd() const { return left.empty(); }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left.empty())
        break;
      const uint8_t byte = left.front();
      left = left.subspan(1);
      if (shift == 63 && byte > 1)
        break;
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    return fail();
  }
  int64_t signedNumber() {
    const uint64_t value = number();
    return int64_t(value >> 1) ^ -int64_t(value & 1);
  }
  // Numbers that fit T.
  template <typename T> T as() {
    if constexpr (std::is_signed_v<T>)
      return fitting<T>(signedNumber());
    else
      return fitting<T>(number());
  }
  // `before` and the signed number that follows.
  int32_t after(int32_t before) {
    const int64_t step = signedNumber();
    return step > int64_t(UINT32_MAX) || step < -int64_t(UINT32_MAX) ? int32_t(fail())
                                                                     : fitting<int32_t>(before + step);
  }
  std::string text() {
    const uint64_t size = number();
    if (size > left.size()) {
      fail();
      return {};
    }
    std::string value(left.begin(), left.begin() + int64_t(size));
    left = left.subspan(size);
    return value;
  }
  // What a number of `table` stands for; read() reads what is new.
  template <typename T, typename Read> const T &entry(std::vector<T> &table, Read read) {
    const uint64_t at = number();
    if (at == table.size() && sound)
      table.push_back(read());
    if (at < table.size())
      return table[at];
    fail();
    static const T none{};
    return none;
  }
  uint64_t fail() {
    sound = false;
    left = {};
    return 0;
  }

private:
  template <typename T, typename From> T fitting(From value) {
    if (value > From(std::numeric_limits<T>::max()) ||
        (std::is_signed_v<T> && value < From(std::numeric_limits<T>::min())))
      return T(fail());
    return T(value);
  }

  std::span<const uint8_t> left;
};

} // namespace wsc::format
