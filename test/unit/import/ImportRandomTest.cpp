// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators whose decomposition is far from their definition, with random shapes and attributes, against loops that
// follow the definition. WSC_SEED sets the first seed.
#include "compiler/import/common/Fold.h"
#include "test/support/NnReference.h"
#include "test/unit/import/ImportFixture.h"
#include <cstdlib>
#include <numeric>
#include <random>

namespace {

using namespace wsc::test;
using wsc::import::forEachIndex;
using wsc::onnx::TensorProto;
using Shape = std::vector<int64_t>;

int64_t count(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
}

int64_t flat(const Shape &shape, llvm::ArrayRef<int64_t> index) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    position = position * shape[d] + index[d];
  return position;
}

class ImportRandom : public ImportTest {
protected:
  static std::vector<Dim> dims(const Shape &shape) { return {shape.begin(), shape.end()}; }

  /// Imports and executes; nothing but a failure where either refuses.
  std::vector<Array> run(const OnnxBuilder &builder, const std::vector<Array> &arguments,
                         const wsc::import::ImportOptions &options = {}) {
    std::string text = importModel(builder, options);
    EXPECT_TRUE(module) << text;
    std::string error;
    auto results = module ? runReference(*module, arguments, error) : std::nullopt;
    EXPECT_TRUE(results) << error;
    return results.value_or(std::vector<Array>{});
  }
};

TEST_F(ImportRandom, TransposedConvolution) {
  forSeeds(60, [&] {
    size_t rank = static_cast<size_t>(between(1, 3));
    int64_t groups = between(1, 2), batch = between(1, 2), in = groups * between(1, 2), outPerGroup = between(1, 2);
    Shape xShape{batch, in}, wShape{in, outPerGroup}, yShape{batch, groups * outPerGroup}, strides, dilations, extra;
    Shape before, after;
    for (size_t d = 0; d < rank; ++d) {
      xShape.push_back(between(1, 4));
      wShape.push_back(between(1, 3));
      strides.push_back(between(1, 3));
      dilations.push_back(between(1, 2));
      int64_t reach = (wShape.back() - 1) * dilations.back();
      before.push_back(between(0, reach));
      after.push_back(between(0, reach - before.back()));
      extra.push_back(between(0, strides.back() - 1));
      yShape.push_back((xShape.back() - 1) * strides.back() + reach + 1 + extra.back() - before.back() - after.back());
    }
    Shape pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    OnnxBuilder b;
    b.output(b.node("ConvTranspose", {b.input("x", dims(xShape)), b.input("w", dims(wShape))},
                    {Attribute::ints("strides", strides), Attribute::ints("dilations", dilations),
                     Attribute::ints("pads", pads), Attribute::ints("output_padding", extra),
                     Attribute::i("group", groups)}));
    Array x = numbers(xShape), w = numbers(wShape), expected{yShape, std::vector<double>(count(yShape), 0)};
    forEachIndex(xShape, [&](int64_t i, llvm::ArrayRef<int64_t> at) {
      forEachIndex(wShape, [&](int64_t k, llvm::ArrayRef<int64_t> tap) {
        if (tap[0] != at[1])
          return;
        Shape to{at[0], at[1] / (in / groups) * outPerGroup + tap[1]};
        for (size_t d = 0; d < rank; ++d) {
          to.push_back(at[2 + d] * strides[d] + tap[2 + d] * dilations[d] - before[d]);
          if (to.back() < 0 || to.back() >= yShape[2 + d])
            return;
        }
        expected.values[flat(yShape, to)] += x.values[i] * w.values[k];
      });
    });
    auto results = run(b, {x, w});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].shape, expected.shape);
    EXPECT_EQ(results[0].values, expected.values);
  });
}

TEST_F(ImportRandom, Einsum) {
  forSeeds(80, [&] {
    // Up to four labels, each operand some of them, perhaps twice, in any order.
    Shape extents;
    for (int i = 0; i < 4; ++i)
      extents.push_back(between(1, 3));
    std::string equation, present;
    std::vector<std::string> terms;
    std::vector<Array> arguments;
    OnnxBuilder b;
    std::vector<std::string> inputs;
    for (int64_t operand = 0, operands = between(1, 3); operand < operands; ++operand) {
      std::string term;
      Shape shape;
      for (int64_t d = between(1, 3); d > 0; --d) {
        term.push_back(static_cast<char>('i' + between(0, 3)));
        shape.push_back(extents[static_cast<size_t>(term.back() - 'i')]);
        if (present.find(term.back()) == std::string::npos)
          present.push_back(term.back());
      }
      terms.push_back(term);
      equation += (operand ? "," : "") + term;
      arguments.push_back(numbers(shape));
      inputs.push_back(b.input("x" + std::to_string(operand), dims(shape)));
    }
    std::shuffle(present.begin(), present.end(), random);
    std::string output = present.substr(0, static_cast<size_t>(between(0, static_cast<int64_t>(present.size()))));
    equation += "->" + output;
    SCOPED_TRACE(equation);
    b.output(b.node("Einsum", inputs, {Attribute::s("equation", equation)}));
    Shape yShape, all;
    for (char label : output)
      yShape.push_back(extents[static_cast<size_t>(label - 'i')]);
    for (char label : present)
      all.push_back(extents[static_cast<size_t>(label - 'i')]);
    Array expected{yShape, std::vector<double>(count(yShape), 0)};
    forEachIndex(all, [&](int64_t, llvm::ArrayRef<int64_t> index) {
      auto at = [&](const std::string &term) {
        Shape place;
        for (char label : term)
          place.push_back(index[present.find(label)]);
        return place;
      };
      double product = 1;
      for (size_t k = 0; k < terms.size(); ++k)
        product *= arguments[k].values[flat(arguments[k].shape, at(terms[k]))];
      expected.values[flat(yShape, at(output))] += product;
    });
    auto results = run(b, arguments);
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].shape, expected.shape);
    EXPECT_EQ(results[0].values, expected.values);
  });
}

TEST_F(ImportRandom, ScatterElements) {
  forSeeds(60, [&] {
    static const char *const reductions[] = {"none", "add", "mul", "min", "max"};
    std::string reduction = reductions[between(0, 4)];
    Shape shape, part;
    int64_t rank = between(1, 3), axis = between(0, rank - 1);
    for (int64_t d = 0; d < rank; ++d) {
      shape.push_back(between(1, 4));
      part.push_back(between(1, shape.back()));
    }
    Array data = numbers(shape), updates = numbers(part), indices{part, {}};
    // Without a reduction each place is written once: along the axis a permutation, from either end.
    for (int64_t i = 0; i < count(part); ++i)
      indices.values.push_back(0);
    Shape line = part;
    line[axis] = 1;
    forEachIndex(line, [&](int64_t, llvm::ArrayRef<int64_t> index) {
      Shape order(shape[axis]);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      Shape place(index.begin(), index.end());
      for (int64_t k = 0; k < part[axis]; ++k) {
        place[axis] = k;
        int64_t target = reduction == "none" ? order[k] : between(0, shape[axis] - 1);
        indices.values[flat(part, place)] = static_cast<double>(between(0, 1) ? target : target - shape[axis]);
      }
    });
    OnnxBuilder b(18);
    b.output(b.node("ScatterElements",
                    {b.input("x", dims(shape)), b.input("i", dims(part), TensorProto::INT64), b.input("u", dims(part))},
                    {Attribute::i("axis", axis), Attribute::s("reduction", reduction)}));
    Array expected = data;
    forEachIndex(part, [&](int64_t i, llvm::ArrayRef<int64_t> index) {
      Shape place(index.begin(), index.end());
      place[axis] = static_cast<int64_t>(indices.values[i]);
      place[axis] += place[axis] < 0 ? shape[axis] : 0;
      double &to = expected.values[flat(shape, place)], u = updates.values[i];
      to = reduction == "none"  ? u
           : reduction == "add" ? to + u
           : reduction == "mul" ? to * u
           : reduction == "min" ? std::min(to, u)
                                : std::max(to, u);
    });
    auto results = run(b, {data, indices, updates});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].values, expected.values) << reduction;
  });
}

TEST_F(ImportRandom, TopK) {
  forSeeds(40, [&] {
    Shape shape{between(1, 3), between(1, 8)};
    int64_t k = between(1, shape[1]);
    bool largest = between(0, 1) != 0;
    OnnxBuilder b;
    b.nodeWithOutputs("TopK", {b.input("x", dims(shape)), b.ints("k", {k})}, {"values", "indices"},
                      {Attribute::i("largest", largest)});
    b.output("values");
    b.output("indices");
    Array x = numbers(shape);
    Array values{{shape[0], k}, {}}, indices{{shape[0], k}, {}};
    for (int64_t row = 0; row < shape[0]; ++row) {
      Shape order(shape[1]);
      std::iota(order.begin(), order.end(), 0);
      auto at = [&](int64_t i) { return x.values[row * shape[1] + i]; };
      std::sort(order.begin(), order.end(),
                [&](int64_t p, int64_t q) { return at(p) != at(q) ? (at(p) > at(q)) == largest : p < q; });
      for (int64_t i = 0; i < k; ++i) {
        values.values.push_back(at(order[i]));
        indices.values.push_back(static_cast<double>(order[i]));
      }
    }
    auto results = run(b, {x});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].values, values.values);
    EXPECT_EQ(results[1].values, indices.values);
  });
}

TEST_F(ImportRandom, Pads) {
  forSeeds(60, [&] {
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    std::string mode = modes[between(0, 3)];
    Shape shape, pads, result;
    int64_t rank = between(1, 3);
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(between(2, 4));
    for (int64_t i = 0; i < 2 * rank; ++i)
      pads.push_back(between(-1, 3));
    for (int64_t d = 0; d < rank; ++d)
      result.push_back(shape[d] + pads[d] + pads[rank + d]);
    OnnxBuilder b(19);
    b.output(b.node("Pad", {b.input("x", dims(shape)), b.ints("pads", pads)}, {Attribute::s("mode", mode)}));
    Array x = numbers(shape), expected{result, std::vector<double>(count(result), 0)};
    forEachIndex(result, [&](int64_t i, llvm::ArrayRef<int64_t> index) {
      Shape from;
      for (int64_t d = 0; d < rank; ++d) {
        // Elements taken away are not part of what is continued.
        int64_t first = std::max<int64_t>(-pads[d], 0), last = shape[d] - 1 - std::max<int64_t>(-pads[rank + d], 0);
        int64_t place = index[d] - pads[d], extent = last - first + 1;
        while (mode != "constant" && (place < first || place > last)) {
          if (mode == "edge" || extent == 1)
            place = std::clamp(place, first, last);
          else if (mode == "wrap")
            place += place < first ? extent : -extent;
          else
            place = place < first ? 2 * first - place : 2 * last - place;
        }
        if (place < 0 || place >= shape[d])
          return;
        from.push_back(place);
      }
      expected.values[i] = x.values[flat(shape, from)];
    });
    auto results = run(b, {x});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].shape, expected.shape);
    EXPECT_EQ(results[0].values, expected.values) << mode;
  });
}

} // namespace
