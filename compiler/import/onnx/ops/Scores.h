// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the classifiers and regressors of ai.onnx.ml share: transforms of scores and the choice of a label.
#pragma once
#include "compiler/import/onnx/NodeContext.h"

namespace wsc::import {

inline constexpr char mlDomain[] = "ai.onnx.ml";
inline constexpr int64_t newestMlOpset = 5;

enum class PostTransform { None, Softmax, Logistic, SoftmaxZero, Probit };

/// Attribute post_transform as a name; fails for other names.
PostTransform readPostTransform(NodeContext &node);

/// Scores [samples, classes], transformed. Softmax of more than one class; softmax_zero leaves zeros at zero.
Expression transformed(const Expression &scores, PostTransform transform);

/// Attribute classlabels_int64s or classlabels_ints; fails for labels that are strings.
std::vector<int64_t> readLabels(NodeContext &node, const char *ints, const char *strings);

/// The label [samples] of the greatest of scores [samples, classes], the first of equal ones.
Expression labelOfGreatest(const Expression &scores, const std::vector<int64_t> &labels);
/// One of two labels [samples] by a condition [samples, 1] of type i1.
Expression labelWhere(const Expression &condition, int64_t whereTrue, int64_t whereFalse);

/// Both columns [samples, 2] from the score [samples, 1] of the second of two classes: its complement 1 - score, or
/// -score, comes first. With the logistic function both are probabilities; probits stay one column.
Expression bothClasses(const Expression &score, PostTransform transform, bool complements);

/// A matrix of samples from an input of any numeric type: [samples, features], one sample from a vector; f64 stays,
/// others become f32.
Expression readSamples(NodeContext &node, size_t input);

} // namespace wsc::import
