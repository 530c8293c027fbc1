// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of a channel's words each sink takes. Filters let parts of a stream through to each core; all those parts are
// words of one channel, as they pass the same queues in one order. Words that nobody takes are in no channel: their
// source sends them without waiting for anybody.
#pragma once

#include "runtime/emulator/Network.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace wsc::emulator::timing {

// For i in [0, count), words [begin + i · period, begin + i · period + words) of a channel's sample, which a sink takes
// as its words from own + i · words on.
struct Stretch {
  int64_t own = 0, begin = 0;
  int64_t words = 0, period = 0, count = 1;

  int64_t ownEnd() const { return own + words * count; }
  bool operator==(const Stretch &) const = default;
};

// A sink's words among the channel's, numbered over all samples. Without stretches it takes all of them.
struct Window {
  std::span<const Stretch> stretches;  // in order of both
  int64_t words = 0, channelWords = 0; // per sample

  // The place in the channel of the sink's word `word`.
  int64_t place(int64_t word) const {
    if (stretches.empty())
      return word;
    const int64_t sample = word / words, own = word % words;
    const Stretch &at =
        *std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.ownEnd() <= own; });
    return sample * channelWords + at.begin + (own - at.own) / at.words * at.period + (own - at.own) % at.words;
  }

  // The sink's first word after `word` that does not follow the one before it in the channel.
  int64_t runEnd(int64_t word) const {
    const int64_t own = word % words;
    const Stretch &at =
        *std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.ownEnd() <= own; });
    return word - (own - at.own) % at.words + at.words;
  }

  // How many of the channel's first `passed` words the sink takes. A negative number of words contains none.
  int64_t taken(int64_t passed) const {
    if (stretches.empty() || passed <= 0)
      return passed;
    const int64_t sample = passed / channelWords, rest = passed % channelWords;
    auto at =
        std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.begin < rest; });
    if (at == stretches.begin())
      return sample * words;
    --at;
    const int64_t periods = std::min(at->count - 1, (rest - at->begin) / at->period);
    return sample * words + at->own + periods * at->words +
           std::min(at->words, rest - at->begin - periods * at->period);
  }
};

// The words of one channel of a stream: those that some of its sinks take, in the order of the route.
struct ChannelWords {
  std::vector<Segment> parts;
  int64_t words = 0;
  struct Taken {
    int32_t composition = 0;
    std::vector<Stretch> stretches; // none: all words
  };
  std::vector<Taken> compositions; // of the stream's, those that this channel delivers
};

// One channel where the filters of a stream's sinks pass windows of the same words; where switches send different words
// to different sinks, one for each composition.
std::vector<ChannelWords> channelsOf(const format::Configuration &configuration, const Stream &stream);

} // namespace wsc::emulator::timing
