// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TfIdfVectorizer on numbers: how often each n-gram of a pool occurs in a row. The elements of an n-gram may stand 1 to
// max_skip_count + 1 places apart, all at the same distance. For each length and distance the row's windows are
// compared with all n-grams of the length.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import {
namespace {

struct Pool {
  std::vector<int64_t> elements, starts, columns;

  /// Where the n-grams of a length begin and end.
  int64_t begin(size_t length) const { return starts[length - 1]; }
  int64_t end(size_t length) const {
    return length < starts.size() ? starts[length] : static_cast<int64_t>(elements.size());
  }
  int64_t count(size_t length) const { return (end(length) - begin(length)) / static_cast<int64_t>(length); }
};

bool isPool(NodeContext &node, const Pool &pool, int64_t shortest, int64_t longest) {
  if (shortest < 1 || longest < shortest || longest > static_cast<int64_t>(pool.starts.size())) {
    node.fail(absl::StrCat("min_gram_length ", shortest, " and max_gram_length ", longest, " do not fit ",
                           pool.starts.size(), " elements of ngram_counts"));
    return false;
  }
  int64_t grams = 0;
  for (size_t length = 1; length <= pool.starts.size(); ++length) {
    if (pool.begin(length) < 0 || pool.end(length) < pool.begin(length) ||
        pool.end(length) > static_cast<int64_t>(pool.elements.size()) ||
        (pool.end(length) - pool.begin(length)) % static_cast<int64_t>(length) != 0) {
      node.fail(absl::StrCat("ngram_counts gives n-grams of length ", length, " the elements ", pool.begin(length),
                             " to ", pool.end(length), " of pool_int64s, which has ", pool.elements.size()));
      return false;
    }
    grams += pool.count(length);
  }
  for (int64_t column : pool.columns)
    if (column < 0 || column >= maxConstantElements) {
      node.fail(absl::StrCat("ngram_indexes holds ", column, ", which is outside [0, ", maxConstantElements, ")"));
      return false;
    }
  if (grams == static_cast<int64_t>(pool.columns.size()) && grams > 0)
    return true;
  node.fail(absl::StrCat("ngram_indexes has ", pool.columns.size(), " elements for ", grams, " n-grams"));
  return false;
}

/// [rows, n-grams of the length] as f32.
Expression occurrences(const Expression &x, const Pool &pool, size_t length, int64_t distances) {
  LayerBuilder &layers = x.layers();
  const int64_t size = static_cast<int64_t>(length), count = pool.count(length);
  mlir::Type f32 = layers.builder().getF32Type();
  Expression sum{layers, layers.scalar(f32, 0)};
  for (int64_t distance = 1; distance <= (length == 1 ? 1 : distances); ++distance) {
    const int64_t windows = x.shape()[1] - (size - 1) * distance;
    if (windows < 1)
      break;
    Expression isThere{layers, {}};
    for (int64_t j = 0; j < size; ++j) {
      std::vector<int64_t> values;
      for (int64_t gram = 0; gram < count; ++gram)
        values.push_back(pool.elements[static_cast<size_t>(pool.begin(length) + gram * size + j)]);
      Expression isEqual = equal(x.slice(1, j * distance, windows).unsqueeze(2), constant(layers, {count}, values));
      isThere = isThere ? isThere & isEqual : isEqual;
    }
    sum = sum + sumOver(isThere.cast(f32), {1}, /*keepdims=*/false);
  }
  return sum.broadcast({x.shape()[0], count});
}

void tfIdfVectorizer(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  Pool pool{node.intsAttribute("pool_int64s"), node.intsAttribute("ngram_counts"), node.intsAttribute("ngram_indexes")};
  int64_t shortest = node.intAttribute("min_gram_length", 1), longest = node.intAttribute("max_gram_length", 1);
  int64_t skips = node.intAttribute("max_skip_count", 0);
  std::string mode = node.stringAttribute("mode", "TF");
  std::vector<double> weights = node.floatsAttribute("weights");
  if (!node.stringsAttribute("pool_strings").empty())
    return node.unsupported("a pool of strings is not supported; give pool_int64s");
  if (node.failed() || !isPool(node, pool, shortest, longest))
    return;
  if ((x.rank() != 1 && x.rank() != 2) || x.isFloat() || skips < 0)
    return node.fail(absl::StrCat("needs integers [elements] or [rows, elements] and a max_skip_count of 0 or more; "
                                  "found ",
                                  nn::formatShape(x.shape()), " and ", skips));
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.fail("attribute 'mode' is '" + mode + "'; TF, IDF and TFIDF are known");
  const int64_t columns = *std::max_element(pool.columns.begin(), pool.columns.end()) + 1;
  if (!weights.empty() && weights.size() != pool.columns.size())
    return node.fail(
        absl::StrCat("attribute 'weights' has ", weights.size(), " elements for ", pool.columns.size(), " n-grams"));
  Expression rows = (x.rank() == 1 ? x.unsqueeze(0) : x).cast(layers.builder().getI64Type());
  const int64_t distances = std::min(skips, rows.shape()[1]) + 1;
  // The n-grams that count, one after another, the column and weight of each; behind them one that never occurs.
  llvm::SmallVector<Expression> parts;
  std::vector<int64_t> column;
  std::vector<double> factors;
  int64_t gram = 0;
  for (size_t length = 1; length <= pool.starts.size(); ++length) {
    const int64_t count = pool.count(length);
    if (count > 0 && static_cast<int64_t>(length) >= shortest && static_cast<int64_t>(length) <= longest) {
      parts.push_back(occurrences(rows, pool, length, distances));
      column.insert(column.end(), pool.columns.begin() + gram, pool.columns.begin() + gram + count);
      for (int64_t i = gram; i < gram + count; ++i)
        factors.push_back(weights.empty() ? 1 : weights[static_cast<size_t>(i)]);
    }
    gram += count;
  }
  mlir::Type f32 = layers.builder().getF32Type();
  parts.push_back(Expression(layers, layers.scalar(f32, 0)).broadcast({rows.shape()[0], 1}));
  std::vector<int64_t> source(static_cast<size_t>(columns), static_cast<int64_t>(column.size()));
  for (size_t i = 0; i < column.size(); ++i) {
    int64_t &from = source[static_cast<size_t>(column[i])];
    if (from != static_cast<int64_t>(column.size()))
      return node.unsupported(absl::StrCat("two n-grams of column ", column[i], " are not supported"));
    from = static_cast<int64_t>(i);
  }
  Expression y = concat(parts, 1);
  if (mode == "IDF")
    y = select(less(0, y), 1.0, y);
  if (mode != "TF") {
    factors.push_back(0);
    y = y * constant(layers, {static_cast<int64_t>(factors.size())}, factors, f32);
  }
  y = picked(y, 1, source);
  node.setResult(x.rank() == 1 ? y.reshape({columns}) : y);
}

} // namespace

static const Operator table[] = {
    {"TfIdfVectorizer", 9, newestOpset, 1, 1, tfIdfVectorizer, "", "the pool holds integers, one n-gram for a column"},
};
llvm::ArrayRef<Operator> gramOperators() { return table; }

} // namespace wsc::import
