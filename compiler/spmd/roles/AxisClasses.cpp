// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each coordinate has a signature: the guards that hold it, and its kind. Coordinates begin as classes of their own;
// then, for each of a few distances in ascending order (1, units, moduli, their common multiples), classes of one
// signature and one form at that distance from each other become one class with a further dimension, as long as
// sub-indices go up evenly. Which distances give the fewest classes is found by trial.
#include "compiler/spmd/roles/AxisClasses.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace wsc::spmd {

namespace {

constexpr size_t kMostClasses = 256; // where an axis has moduli
constexpr size_t kMostDistances = 8;

/// A sub-index that some number depends on.
struct Digit {
  int32_t modulus = 1, unit = 1;
  auto operator<=>(const Digit &) const = default;
  int32_t at(int32_t x) const { return x % modulus / unit; }
  /// What a step of `distance` adds where it adds the same everywhere.
  bool rises(int32_t from, int32_t distance) const {
    const int32_t rise = at(from + distance) - at(from);
    return rise == 0 || (distance % unit == 0 && rise == distance / unit);
  }
};

struct Signature {
  std::vector<bool> holds;
  int kind = 0;
  auto operator<=>(const Signature &) const = default;
};

struct Item {
  int32_t first = 0;
  std::vector<AxisDim> dims;              // outermost first
  std::vector<std::vector<int32_t>> rise; // per dimension and digit
};

class Divider {
public:
  Divider(const std::vector<std::pair<AxisGuard, bool>> &parts, int32_t length,
          const std::function<int(int32_t)> &kind) {
    std::map<Signature, int32_t> numbers;
    for (int32_t x = 0; x < length; ++x) {
      Signature signature;
      for (const auto &[guard, usesSub] : parts)
        signature.holds.push_back(guard.holds(x));
      signature.kind = kind ? kind(x) : 0;
      const auto [found, added] = numbers.emplace(std::move(signature), int32_t(numbers.size()));
      signatureOf.push_back(found->second);
      if (!added)
        continue;
      std::set<Digit> digits;
      for (size_t p = 0; p < parts.size(); ++p)
        if (parts[p].second && parts[p].first.modulus > 1 && found->first.holds[p])
          digits.insert({parts[p].first.modulus, parts[p].first.unit});
      digitsOf.emplace_back(digits.begin(), digits.end());
    }
  }

  std::vector<Item> divide(const std::vector<int32_t> &distances) const {
    std::vector<Item> items;
    for (size_t x = 0; x < signatureOf.size(); ++x)
      items.push_back({int32_t(x), {}, {}});
    for (int32_t distance : distances)
      items = joined(std::move(items), distance);
    return items;
  }

private:
  std::vector<Item> joined(std::vector<Item> items, int32_t distance) const {
    std::vector<int32_t> itemAt(signatureOf.size(), -1);
    for (size_t i = 0; i < items.size(); ++i)
      itemAt[size_t(items[i].first)] = int32_t(i);
    std::vector<bool> taken(items.size(), false);
    std::vector<Item> result;
    for (size_t i = 0; i < items.size(); ++i) {
      if (taken[i])
        continue;
      Item item = std::move(items[i]);
      const int32_t signature = signatureOf[size_t(item.first)];
      int32_t count = 1;
      std::vector<int32_t> rise;
      for (int32_t last = item.first;; last += distance, ++count) {
        const int64_t next = int64_t(last) + distance;
        const int32_t other = next < int64_t(itemAt.size()) ? itemAt[size_t(next)] : -1;
        if (other < 0 || taken[size_t(other)] || signatureOf[size_t(next)] != signature ||
            items[size_t(other)].dims != item.dims || items[size_t(other)].rise != item.rise)
          break;
        std::vector<int32_t> step;
        bool even = true;
        for (const Digit &digit : digitsOf[size_t(signature)]) {
          even &= digit.rises(last, distance);
          step.push_back(digit.at(int32_t(next)) - digit.at(last));
        }
        if (!even || (count > 1 && step != rise))
          break;
        rise = std::move(step);
        taken[size_t(other)] = true;
      }
      if (count > 1) {
        item.dims.insert(item.dims.begin(), {count, distance});
        item.rise.insert(item.rise.begin(), std::move(rise));
      }
      result.push_back(std::move(item));
    }
    return result;
  }

  std::vector<int32_t> signatureOf;         // per coordinate
  std::vector<std::vector<Digit>> digitsOf; // per signature
};

/// Distances that classes may be stepped through with: 1, 2 for parities, units, moduli, and their common multiples.
std::vector<int32_t> distancesOf(const std::vector<std::pair<AxisGuard, bool>> &parts, int32_t length) {
  std::set<int64_t> distances{1}, moduli;
  for (const auto &[guard, usesSub] : parts) {
    if (guard.parity >= 0)
      distances.insert(guard.modulus > 1 ? 2 * guard.unit : 2);
    if (guard.modulus > 1) {
      distances.insert({guard.unit, guard.modulus});
      moduli.insert(guard.modulus);
    }
  }
  int64_t multiple = 1;
  for (int64_t modulus : moduli)
    if (multiple = std::lcm(multiple, modulus); multiple < length)
      distances.insert(multiple);
    else
      break;
  std::vector<int32_t> result;
  for (int64_t distance : distances)
    if (distance < length && result.size() < kMostDistances)
      result.push_back(int32_t(distance));
  return result;
}

} // namespace

void AxisCuts::add(const AxisGuard &guard, bool usesSub) {
  AxisGuard part = guard;
  if (part.modulus <= 1) { // sub-ranges and units say nothing
    part = {guard.begin, guard.end, guard.parity};
    usesSub = false;
  }
  const std::pair entry(part, usesSub);
  const auto at = std::lower_bound(parts.begin(), parts.end(), entry);
  if (at == parts.end() || *at != entry)
    parts.insert(at, entry);
}

absl::StatusOr<std::vector<AxisClass>> AxisCuts::classes(int32_t length, int mostDims,
                                                         const std::function<int(int32_t)> &kind) const {
  const Divider divider(parts, length, kind);
  const std::vector<int32_t> distances = distancesOf(parts, length);
  std::vector<Item> best;
  std::pair<size_t, int> bestCost{SIZE_MAX, 0};
  for (unsigned chosen = 0; chosen < 1u << distances.size(); ++chosen) {
    if (std::popcount(chosen) > mostDims || (distances.size() > 0 && chosen == 0))
      continue;
    std::vector<int32_t> some;
    for (size_t d = 0; d < distances.size(); ++d)
      if (chosen >> d & 1)
        some.push_back(distances[d]);
    std::vector<Item> items = divider.divide(some);
    const std::pair cost(items.size(), std::popcount(chosen));
    if (cost < bestCost) {
      bestCost = cost;
      best = std::move(items);
    }
  }
  std::set<int32_t> moduli;
  for (const auto &[guard, usesSub] : parts)
    if (guard.modulus > 1)
      moduli.insert(guard.modulus);
  if (!moduli.empty() && best.size() > kMostClasses)
    return absl::ResourceExhaustedError(absl::StrCat(
        "groups of ", absl::StrJoin(moduli, ", "), " cores make ", best.size(), " classes of ", length,
        " coordinates; at most ", kMostClasses, " are possible: use groups whose sizes divide each other"));
  std::vector<AxisClass> result;
  for (Item &item : best)
    result.push_back({item.first, std::move(item.dims)});
  return result;
}

} // namespace wsc::spmd
