// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/PrecisionError.h"

#include "runtime/numerics/Elements.h"
#include "runtime/session/RandomInputs.h"
#include "runtime/session/Session.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace wsc::driver {

using format::ElementType;

namespace {

double valueAt(const Tensor &tensor, int64_t element) {
  const ElementType type = tensor.type.type;
  const uint64_t bits = numerics::loadElement(tensor.bytes.data() + element * format::elementBytes(type), type);
  return std::bit_cast<double>(numerics::convertElement(bits, type, ElementType::F64));
}

/// Squares of differences and of values in f32, over all samples; of rows, by how much the largest element leads.
struct Sums {
  double difference = 0, value = 0;
  struct Row {
    double lead;
    bool isSame;
  };
  std::vector<Row> rows;
};

/// The number of the largest of `count` elements from `begin` on; the first of equal ones.
int64_t largestOf(const Tensor &tensor, int64_t begin, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (valueAt(tensor, begin + i) > valueAt(tensor, begin + best))
      best = i;
  return best;
}

void compareRows(const Tensor &narrow, const Tensor &wide, Sums &sums) {
  const std::vector<int64_t> &shape = wide.type.shape;
  if (shape.empty() || shape.size() > 2 || shape.back() < 2)
    return;
  for (int64_t begin = 0; begin < wide.type.elements(); begin += shape.back()) {
    const int64_t top = largestOf(wide, begin, shape.back());
    double lead = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < shape.back(); ++i)
      if (i != top)
        lead = std::min(lead, valueAt(wide, begin + top) - valueAt(wide, begin + i));
    sums.rows.push_back({lead, largestOf(narrow, begin, shape.back()) == top});
  }
}

void countRows(const Sums &sums, report::OutputError &error) {
  for (const Sums::Row &row : sums.rows) {
    const bool isClear = row.lead > 2 * error.largest;
    ++error.rows;
    error.sameTop += row.isSame;
    error.clearRows += isClear;
    error.clearSameTop += isClear && row.isSame;
  }
}

/// False where one of the two is finite and the other is not.
bool add(const Tensor &narrow, const Tensor &wide, report::OutputError &error, Sums &sums) {
  for (int64_t i = 0; i < wide.type.elements(); ++i) {
    const double is = valueAt(narrow, i), shall = valueAt(wide, i);
    if (std::isfinite(is) != std::isfinite(shall))
      return false;
    if (!std::isfinite(shall))
      continue;
    error.largest = std::max(error.largest, std::abs(is - shall));
    error.largestValue = std::max(error.largestValue, std::abs(shall));
    sums.difference += (is - shall) * (is - shall);
    sums.value += shall * shall;
  }
  compareRows(narrow, wide, sums);
  return true;
}

} // namespace

absl::Status measureError(const std::string &narrowFile, const std::string &wideFile, int threads,
                          report::PrecisionFacts &facts) {
  SessionOptions options;
  options.threads = threads;
  auto narrow = Session::open(narrowFile, options), wide = Session::open(wideFile, options);
  for (const auto *session : {&narrow, &wide})
    if (!session->ok())
      return session->status();
  const std::vector<format::Entry> &entries = (*wide)->executable().entries;
  const auto main = std::find_if(entries.begin(), entries.end(), [](const auto &each) { return each.name == "main"; });
  const int entry = main == entries.end() ? 0 : int(main - entries.begin());
  const std::vector<format::TensorType> &types = entries[size_t(entry)].outputs;
  facts.outputs.clear();
  for (const format::TensorType &type : types)
    facts.outputs.push_back({type.name});
  std::vector<Sums> sums(types.size());
  for (int k = 0; k < facts.samples; ++k) {
    const auto inputs = randomInputs(entries[size_t(entry)], facts.seed, k);
    auto is = (*narrow)->run(entry, inputs), shall = (*wide)->run(entry, inputs);
    for (const auto *outputs : {&is, &shall})
      if (!outputs->ok())
        return outputs->status();
    for (size_t i = 0; i < types.size(); ++i)
      if (numerics::isFloat(types[i].type) && !add((*is)[i], (*shall)[i], facts.outputs[i], sums[i])) {
        facts.unknown =
            absl::StrCat("output ", types[i].name, " of sample ", k,
                         " is not finite where it is in fp32: numbers exceed the range of ", facts.operands);
        facts.outputs.clear();
        return absl::OkStatus();
      }
  }
  for (size_t i = types.size(); i-- > 0;) {
    if (numerics::isFloat(types[i].type)) {
      facts.outputs[i].relativeL2 = sums[i].value > 0 ? std::sqrt(sums[i].difference / sums[i].value) : 0;
      countRows(sums[i], facts.outputs[i]);
    } else {
      facts.outputs.erase(facts.outputs.begin() + std::ptrdiff_t(i));
    }
  }
  if (facts.outputs.empty())
    facts.unknown = "no output is of floats";
  return absl::OkStatus();
}

} // namespace wsc::driver
