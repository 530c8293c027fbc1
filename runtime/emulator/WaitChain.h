// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who waits for whom, for messages: from one that waits to the one it waits for, until one waits for something that
// will not come, or a circle closes.
#pragma once

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wsc::emulator {

constexpr size_t kMostWaitsShown = 16;

struct WaitChain {
  bool isCircle = false;
  std::string text; // "a; b; c", at most kMostWaitsShown of them
};

/// `waitOf(who)` gives {text, on}: what `who` waits for in words, and whom, if anyone.
template <typename Who, typename WaitOf> WaitChain followWaits(const Who &start, WaitOf waitOf) {
  std::vector<Who> chain;
  std::vector<std::string> texts;
  std::optional<Who> who = start;
  WaitChain result;
  while (who) {
    const auto seen = std::find(chain.begin(), chain.end(), *who);
    if (seen != chain.end()) {
      texts.erase(texts.begin(), texts.begin() + (seen - chain.begin()));
      result.isCircle = true;
      break;
    }
    chain.push_back(*who);
    auto wait = waitOf(*who);
    texts.push_back(std::move(wait.text));
    who = wait.on;
  }
  // The far end of a chain is what holds the others up; of a circle any part will do.
  const size_t cut = texts.size() > kMostWaitsShown ? texts.size() - kMostWaitsShown : 0;
  const auto first = result.isCircle ? texts.begin() : texts.begin() + int64_t(cut);
  for (auto text = first; text != first + int64_t(texts.size() - cut); ++text)
    absl::StrAppend(&result.text, text == first ? "" : "; ", *text);
  if (cut > 0)
    absl::StrAppend(&result.text, "; and ", cut, " more");
  return result;
}

} // namespace wsc::emulator
