// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Pages.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace wsc::emulator {

namespace {

// Calls visit(begin, end) for stretches of [begin, begin + bytes), which begins with a page, whose pages hold
// something, in memory or elsewhere. False where the system does not say.
template <typename Visit> bool forTouched(std::byte *begin, int64_t bytes, Visit visit) {
  constexpr uint64_t kTouched = uint64_t(3) << 62; // present, swapped out: Linux, admin-guide/mm/pagemap
  constexpr int64_t kBatch = 1 << 14;
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  std::vector<uint64_t> entries(static_cast<size_t>(kBatch));
  const int64_t first = int64_t(reinterpret_cast<uintptr_t>(begin)) / page, pages = (bytes + page - 1) / page;
  bool said = true;
  int64_t from = -1; // of the stretch in hand
  for (int64_t done = 0; done < pages && said; done += kBatch) {
    const int64_t count = std::min(kBatch, pages - done);
    const auto length = size_t(count) * sizeof(uint64_t);
    said = pread(file, entries.data(), length, (first + done) * int64_t(sizeof(uint64_t))) == ssize_t(length);
    for (int64_t i = 0; i < count && said; ++i) {
      const bool isTouched = (entries[size_t(i)] & kTouched) != 0;
      if (isTouched && from < 0)
        from = done + i;
      if (!isTouched && from >= 0) {
        visit(begin + from * page, begin + (done + i) * page);
        from = -1;
      }
    }
  }
  if (said && from >= 0)
    visit(begin + from * page, begin + bytes);
  close(file);
  return said;
}

} // namespace

void Pages::zero() {
  const auto fill = [](std::byte *begin, std::byte *end) { std::memset(begin, 0, size_t(end - begin)); };
  if (bytes <= kCheaperByHand || !forTouched(base, bytes, fill))
    clear();
}

} // namespace wsc::emulator
