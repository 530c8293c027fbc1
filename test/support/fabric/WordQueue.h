// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A queue of the fabric as the table of docs/Timing.md has it: words usable some cycles after they were put, and space
// that comes back to the sender some cycles after a word was taken.
#pragma once

#include <cstdint>
#include <deque>

namespace wsc::fabric {

struct Word {
  uint32_t bits = 0;
  uint8_t control = 0; // a control word's count; 0: a data word
};

class WordQueue {
public:
  WordQueue() = default;
  WordQueue(int64_t capacity, int64_t latency, int64_t credit) : capacity(capacity), latency(latency), credit(credit) {}

  // Whether `count` more words may be put in cycle t: words and credits under way take space.
  bool hasRoom(int64_t t, int64_t count = 1) const {
    int64_t taken = int64_t(words.size());
    for (int64_t back : credits)
      taken += back > t;
    return taken + count <= capacity;
  }
  // Whether the next `count` words can be used in cycle t.
  bool usable(int64_t t, int64_t count = 1) const {
    return count == 0 || (int64_t(words.size()) >= count && words[size_t(count) - 1].from <= t);
  }
  const Word &head() const { return words.front().word; }
  bool empty() const { return words.empty(); }
  int64_t size() const { return int64_t(words.size()); }

  void put(int64_t t, Word word) { words.push_back({word, t + latency}); }
  Word take(int64_t t) {
    const Word word = words.front().word;
    words.pop_front();
    credits.push_back(t + credit);
    while (credits.front() <= t)
      credits.pop_front();
    return word;
  }
  // A word or a credit that changes what can be done after cycle t.
  bool pending(int64_t t) const {
    return (!words.empty() && words.back().from > t) || (!credits.empty() && credits.back() > t);
  }

private:
  struct Entry {
    Word word;
    int64_t from; // first cycle in which it can be used
  };
  int64_t capacity = 0, latency = 1, credit = 1;
  std::deque<Entry> words;
  std::deque<int64_t> credits; // cycles from which the space of taken words can be used
};

} // namespace wsc::fabric
