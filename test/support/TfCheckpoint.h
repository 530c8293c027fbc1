// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes TensorFlow checkpoints for tests: one data file and its index, a sorted table of one block whose keys share
// their beginnings, as TensorFlow writes them.
#pragma once
#include "compiler/import/tf/Crc32c.h"
#include "compiler/import/tf/tf.pb.h"
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace wsc::test {

class TfCheckpoint {
public:
  void add(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values) {
    wsc::tf::BundleEntryProto entry;
    entry.set_dtype(wsc::tf::DT_FLOAT);
    for (int64_t extent : shape)
      entry.mutable_shape()->add_dim()->set_size(extent);
    const std::string bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
    entry.set_offset(static_cast<int64_t>(data.size()));
    entry.set_size(static_cast<int64_t>(bytes.size()));
    entry.set_crc32c(import::tf::masked(import::tf::crc32c(bytes)));
    data += bytes;
    entries[name] = entry;
  }

  /// PREFIX.index and PREFIX.data-00000-of-00001
  void write(const std::string &prefix) const {
    std::ofstream(prefix + ".data-00000-of-00001", std::ios::binary) << data;
    std::ofstream(prefix + ".index", std::ios::binary) << index();
  }

  std::string index() const {
    wsc::tf::BundleHeaderProto header;
    header.set_num_shards(1);
    std::vector<std::pair<std::string, std::string>> pairs{{"", header.SerializeAsString()}};
    for (const auto &[name, entry] : entries)
      pairs.emplace_back(name, entry.SerializeAsString());
    std::string file, place;
    append(file, block(pairs), place);
    std::string metaPlace, indexPlace;
    append(file, block({}), metaPlace);
    append(file, block({{pairs.back().first, place}}), indexPlace);
    std::string footer = metaPlace + indexPlace;
    footer.resize(40, 0);
    putFixed(footer, 0xdb4775248b80fb57u, 8);
    return file + footer;
  }

  std::string data;
  std::map<std::string, wsc::tf::BundleEntryProto> entries;

private:
  static void putVarint(std::string &out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
  }
  static void putFixed(std::string &out, uint64_t value, int width) {
    for (int i = 0; i < width; ++i)
      out.push_back(static_cast<char>(value >> (8 * i)));
  }
  static std::string block(const std::vector<std::pair<std::string, std::string>> &pairs) {
    std::string out, last;
    for (const auto &[key, value] : pairs) {
      size_t shared = 0;
      while (shared < last.size() && shared < key.size() && last[shared] == key[shared])
        ++shared;
      putVarint(out, shared);
      putVarint(out, key.size() - shared);
      putVarint(out, value.size());
      out += key.substr(shared) + value;
      last = key;
    }
    putFixed(out, 0, 4);
    putFixed(out, 1, 4);
    return out;
  }
  static void append(std::string &file, const std::string &content, std::string &place) {
    putVarint(place, file.size());
    putVarint(place, content.size());
    const std::string type(1, 0);
    file += content + type;
    putFixed(file, import::tf::masked(import::tf::crc32c(content + type)), 4);
  }
};

} // namespace wsc::test
