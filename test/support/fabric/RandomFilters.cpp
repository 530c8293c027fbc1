// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Filters of takers: windows of a period that divides a sample's words, and the items that are left of a stream behind
// one. Everything is counted in units of whole elements: one word, or two words for elements of eight bytes.
#include "test/support/fabric/Plan.h"

#include "runtime/timing/Cost.h"

#include <algorithm>
#include <numeric>

namespace wsc::fabric {

using namespace format;

namespace {

int64_t wordsPerUnit(ElementType type) { return elementBytes(type) > 4 ? 2 : 1; }
int64_t elementsPerUnit(ElementType type) { return std::max<int64_t>(1, 4 / elementBytes(type)); }
int64_t unitsOf(const Item &item, ElementType type) {
  return timing::fabricWords(type, item.elements) / wordsPerUnit(type);
}

struct Units {
  int64_t all = 0, divisor = 0; // of each item's
};

Units unitsOf(const Party &taker, ElementType type) {
  Units units;
  for (const Item &item : taker.items) {
    units.all += unitsOf(item, type);
    units.divisor = std::gcd(units.divisor, unitsOf(item, type));
  }
  return units;
}

int64_t randomDivisor(Random &random, int64_t of) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= of; ++d)
    if (of % d == 0)
      divisors.push_back(d);
  return random.of(divisors);
}

} // namespace

Window randomWindow(Random &random, const Plan &plan, const Party &taker, ElementType type) {
  const Units units = unitsOf(taker, type);
  const int64_t further = plan.copies - 1, each = wordsPerUnit(type);
  Window window;
  if (further > 0 && random.chance(70)) {
    window.period = randomDivisor(random, random.chance(60) ? units.divisor : units.all);
    window.begin = random.pick(0, window.period - 1);
    window.beginStep = (window.period - 1 - window.begin) / further;
    window.beginStep = random.pick(0, window.beginStep);
    const int64_t least = window.period - window.begin - window.beginStep * further; // at the last copy
    window.words = random.pick(1, least);
    window.wordsStep = random.pick(0, (least - window.words) / further);
    const int64_t most = (window.words + window.wordsStep * further) * units.all / window.period;
    if (units.divisor % window.period != 0 && most * elementsPerUnit(type) > kMostElements)
      window = {};
  }
  if (window.period == 0) {
    window.period = randomDivisor(random, units.all);
    window.begin = random.pick(0, window.period - 1);
    window.words = random.pick(1, window.period - window.begin);
  }
  return {window.period * each, window.begin * each, window.words * each, window.beginStep * each,
          window.wordsStep * each};
}

bool isWhole(const Party &taker, ElementType type) {
  return taker.window.period == 0 || unitsOf(taker, type).all * wordsPerUnit(type) % taker.window.period == 0;
}

std::vector<Item> takenItems(const Party &taker, ElementType type) {
  if (taker.window.period == 0)
    return taker.items;
  const Units units = unitsOf(taker, type);
  const int64_t each = wordsPerUnit(type), period = taker.window.period / each, begin = taker.window.begin / each,
                words = taker.window.words / each, step = taker.window.wordsStep / each;
  std::vector<Item> taken;
  const auto take = [&](int64_t count, int64_t growth, double key) {
    if (count > 0)
      taken.push_back({count * elementsPerUnit(type), growth * elementsPerUnit(type), 0, key});
  };
  if (step == 0 && taker.window.beginStep == 0) {
    int64_t number = 0;
    for (const Item &item : taker.items) {
      int64_t count = 0;
      for (const int64_t end = number + unitsOf(item, type); number < end; ++number)
        count += number % period >= begin && number % period < begin + words;
      take(count, 0, item.key);
    }
  } else if (units.divisor % period == 0) {
    for (const Item &item : taker.items)
      take(unitsOf(item, type) / period * words, unitsOf(item, type) / period * step, item.key);
  } else {
    take(units.all / period * words, units.all / period * step, taker.items.back().key);
  }
  return taken;
}

} // namespace wsc::fabric
