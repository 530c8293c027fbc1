// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Einsum: operands are contracted from left to right. For each pair, labels that neither the result nor a later operand
// has are summed: first those of one operand alone, then those of both by a batched matrix product over
// [shared and kept, own of the left, summed] and [shared and kept, summed, own of the right]. A label twice in an
// operand takes its diagonal. An ellipsis stands for the dimensions without label, written here as labels of their own.
#include "compiler/import/common/Einsum.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace wsc::import {
namespace {

/// Letters, and 0x80 + k for the k-th last dimension of the ellipsis.
using Labels = std::vector<unsigned char>;

bool has(const Labels &labels, unsigned char label) { return llvm::is_contained(labels, label); }

struct Operand {
  Expression tensor;
  Labels labels;
};

/// A tensor with its dimensions in another order.
Expression permuted(const Operand &operand, const Labels &order) {
  llvm::SmallVector<int64_t> permutation;
  for (unsigned char label : order)
    permutation.push_back(llvm::find(operand.labels, label) - operand.labels.begin());
  return operand.tensor.transpose(permutation);
}

int64_t extentOf(const Operand &operand, unsigned char label) {
  return operand.tensor.shape()[llvm::find(operand.labels, label) - operand.labels.begin()];
}

/// Along equal labels i, i of extent n: every (n + 1)-th of the n·n elements.
void takeDiagonals(Operand &operand) {
  for (size_t d = 0; d < operand.labels.size(); ++d)
    for (size_t other = d + 1; other < operand.labels.size();) {
      if (operand.labels[other] != operand.labels[d]) {
        ++other;
        continue;
      }
      llvm::SmallVector<int64_t> order, joined;
      for (size_t k = 0; k < operand.labels.size(); ++k)
        if (k != d && k != other)
          order.push_back(static_cast<int64_t>(k));
      order.push_back(static_cast<int64_t>(d));
      order.push_back(static_cast<int64_t>(other));
      int64_t extent = operand.tensor.shape()[d];
      Expression moved = operand.tensor.transpose(order);
      joined.assign(moved.shape().begin(), moved.shape().end() - 2);
      joined.push_back(extent * extent);
      int64_t axis = static_cast<int64_t>(joined.size()) - 1;
      operand.tensor = moved.reshape(joined).slice(axis, 0, extent, extent + 1);
      Labels labels;
      for (size_t k = 0; k < operand.labels.size(); ++k)
        if (k != d && k != other)
          labels.push_back(operand.labels[k]);
      labels.push_back(operand.labels[d]);
      operand.labels = labels;
      return takeDiagonals(operand);
    }
}

/// Sums over the labels that `kept` does not have.
void sumOthers(Operand &operand, const Labels &kept) {
  llvm::SmallVector<int64_t> axes;
  Labels labels;
  for (auto [d, label] : llvm::enumerate(operand.labels))
    if (has(kept, label))
      labels.push_back(label);
    else
      axes.push_back(static_cast<int64_t>(d));
  if (!axes.empty())
    operand.tensor = sumOver(operand.tensor, axes, /*keepdims=*/false);
  operand.labels = labels;
}

/// Product of two operands, summed over labels of both that `kept` does not have.
Operand contract(Operand a, Operand b, const Labels &kept) {
  Labels keptOrB(kept), keptOrA(kept);
  keptOrB.insert(keptOrB.end(), b.labels.begin(), b.labels.end());
  keptOrA.insert(keptOrA.end(), a.labels.begin(), a.labels.end());
  sumOthers(a, keptOrB);
  sumOthers(b, keptOrA);
  Labels shared, summed, ownA, ownB;
  for (unsigned char label : a.labels)
    (!has(b.labels, label) ? ownA : has(kept, label) ? shared : summed).push_back(label);
  for (unsigned char label : b.labels)
    if (!has(a.labels, label))
      ownB.push_back(label);
  auto join = [](std::initializer_list<const Labels *> parts) {
    Labels all;
    for (const Labels *part : parts)
      all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  llvm::SmallVector<int64_t> left, right, result;
  for (unsigned char label : shared) { // extents of 1 broadcast
    left.push_back(extentOf(a, label));
    right.push_back(extentOf(b, label));
    result.push_back(std::max(left.back(), right.back()));
  }
  auto product = [](const Operand &operand, const Labels &labels) {
    int64_t count = 1;
    for (unsigned char label : labels)
      count *= extentOf(operand, label);
    return count;
  };
  left.append({product(a, ownA), product(a, summed)});
  right.append({product(b, summed), product(b, ownB)});
  for (unsigned char label : ownA)
    result.push_back(extentOf(a, label));
  for (unsigned char label : ownB)
    result.push_back(extentOf(b, label));
  Expression y = matmul(permuted(a, join({&shared, &ownA, &summed})).reshape(left),
                        permuted(b, join({&shared, &summed, &ownB})).reshape(right));
  return {y.reshape(result), join({&shared, &ownA, &ownB})};
}

/// Labels of a term for a tensor of `rank` dimensions; `ellipsis` is the greatest number of dimensions one stands for.
std::optional<Labels> readTerm(std::string_view term, int64_t rank, size_t &ellipsis) {
  Labels labels;
  int64_t letters = std::count_if(term.begin(), term.end(), [](unsigned char c) { return std::isalpha(c); });
  for (size_t i = 0; i < term.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(term[i]);
    if (std::isalpha(c)) {
      labels.push_back(c);
    } else if (term.substr(i, 3) == "...") {
      size_t hidden = rank >= letters ? static_cast<size_t>(rank - letters) : 0;
      for (size_t k = hidden; k-- > 0;)
        labels.push_back(static_cast<unsigned char>(0x80 + k));
      ellipsis = std::max(ellipsis, hidden);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return static_cast<int64_t>(labels.size()) == rank ? std::optional(labels) : std::nullopt;
}

} // namespace

Expression einsum(LayerBuilder &layers, std::string equation, llvm::ArrayRef<Expression> inputs) {
  auto refused = [&](const std::string &text) {
    layers.fail(text);
    return Expression{layers, {}};
  };
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  size_t arrow = equation.find("->");
  std::vector<std::string> terms = absl::StrSplit(equation.substr(0, arrow), ',');
  if (layers.failed())
    return {layers, {}};
  if (terms.size() != inputs.size())
    return refused(
        absl::StrCat("equation '", equation, "' has ", terms.size(), " terms for ", inputs.size(), " inputs"));
  std::vector<Operand> operands;
  size_t ellipsis = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    auto labels = readTerm(terms[i], inputs[i].rank(), ellipsis);
    if (!labels)
      return refused(absl::StrCat("term '", terms[i], "' of equation '", equation, "' does not fit ",
                                  nn::formatShape(inputs[i].shape())));
    for (size_t d = 0; d < labels->size(); ++d)
      for (const Operand &other : operands)
        if (has(other.labels, (*labels)[d])) {
          int64_t extent = inputs[i].shape()[d], before = extentOf(other, (*labels)[d]);
          if (extent != before && (((*labels)[d] & 0x80) == 0 || (extent != 1 && before != 1)))
            return refused(
                absl::StrCat("equation '", equation, "': extents ", before, " and ", extent, " have one label"));
        }
    operands.push_back({inputs[i], *labels});
    takeDiagonals(operands.back());
  }
  // Without arrow: the ellipsis, then the labels that occur once, in alphabetical order.
  Labels result;
  std::string output = arrow == std::string::npos ? "..." : equation.substr(arrow + 2);
  for (size_t i = 0; i < output.size(); ++i)
    if (output.substr(i, 3) == "...") {
      for (size_t k = ellipsis; k-- > 0;)
        result.push_back(static_cast<unsigned char>(0x80 + k));
      i += 2;
    } else {
      result.push_back(static_cast<unsigned char>(output[i]));
    }
  if (arrow == std::string::npos)
    for (unsigned char label = 'A'; label <= 'z'; ++label)
      if (std::isalpha(label) && std::count(equation.begin(), equation.end(), static_cast<char>(label)) == 1)
        result.push_back(label);
  Operand y = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels kept = result;
    for (size_t later = i + 1; later < operands.size(); ++later)
      kept.insert(kept.end(), operands[later].labels.begin(), operands[later].labels.end());
    y = contract(y, operands[i], kept);
  }
  sumOthers(y, result);
  for (unsigned char label : result)
    if (!has(y.labels, label) || llvm::count(result, label) != 1)
      return refused(absl::StrCat("equation '", equation, "' has an output label that no input has, or one twice"));
  return permuted(y, result);
}

} // namespace wsc::import
