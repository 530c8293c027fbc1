// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small CNN with its gradients and momentum as a TensorFlow training graph, and the same training written down as
// loops in double precision: convolution 3 × 3 (SAME), bias, ReLU, pool 2 × 2, a dense layer, softmax and cross entropy
// with the mean over the batch.
#pragma once
#include "test/support/TfBuilder.h"
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace wsc::test {

struct TfTraining {
  static constexpr int64_t batch = 4, size = 8, filters = 3, classes = 5, pooled = size / 2,
                           features = pooled * pooled * filters;
  static constexpr float rate = 0.02f, momentum = 0.9f;

  explicit TfTraining(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0, 0.3f);
    auto draw = [&](const std::string &name, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        parameters[name].push_back(normal(random));
    };
    draw("filter", 9 * filters);
    draw("bias", filters);
    draw("dense", features * classes);
    draw("dense_bias", classes);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < batch * size * size; ++i)
      images.push_back(uniform(random));
    for (int64_t i = 0; i < batch; ++i)
      labels.push_back(static_cast<int>(i % classes));
  }

  std::map<std::string, std::vector<double>> parameters, slots;
  std::vector<double> images;
  std::vector<int> labels;

  /// Outputs: loss, and train, which has no tensor.
  TfBuilder graph() const {
    TfBuilder b;
    b.input("images", {batch, size, size, 1});
    b.input("labels", {batch}, wsc::tf::DT_INT32);
    auto variable = [&](const std::string &name, const std::vector<int64_t> &shape) {
      const std::vector<double> &values = parameters.at(name);
      b.node("VariableV2", name, {}, {TfAttr::shape("shape", shape), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
      b.floats(name + "/initial", shape, std::vector<float>(values.begin(), values.end()));
      b.node("Assign", name + "/Assign", {name, name + "/initial"});
      b.node("Identity", name + "/read", {name});
      b.node("VariableV2", name + "/Momentum", {},
             {TfAttr::shape("shape", shape), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
      b.ints(name + "/shape", std::vector<int32_t>(shape.begin(), shape.end()));
      b.node("Fill", name + "/zeros", {name + "/shape", "zero"});
      b.node("Assign", name + "/Momentum/Assign", {name + "/Momentum", name + "/zeros"});
    };
    b.number("zero", 0);
    variable("filter", {3, 3, 1, filters});
    variable("bias", {filters});
    variable("dense", {features, classes});
    variable("dense_bias", {classes});
    const std::vector<TfAttr> window{TfAttr::s("padding", "SAME"), TfAttr::ints("strides", {1, 1, 1, 1})};
    const std::vector<TfAttr> pool{TfAttr::s("padding", "VALID"), TfAttr::ints("ksize", {1, 2, 2, 1}),
                                   TfAttr::ints("strides", {1, 2, 2, 1})};
    b.node("Conv2D", "conv", {"images", "filter/read"}, window);
    b.node("BiasAdd", "biased", {"conv", "bias/read"});
    b.node("Relu", "relu", {"biased"});
    b.node("MaxPool", "pool", {"relu"}, pool);
    b.ints("flat", {-1, static_cast<int32_t>(features)});
    b.node("Reshape", "features", {"pool", "flat"});
    b.node("MatMul", "product", {"features", "dense/read"});
    b.node("BiasAdd", "logits", {"product", "dense_bias/read"});
    b.node("SparseSoftmaxCrossEntropyWithLogits", "xent", {"logits", "labels"});
    b.node("Mean", "loss", {"xent", b.ints("all", {0})});
    // Gradients.
    b.number("share", 1.0f / batch);
    b.node("Mul", "d_logits", {"xent:1", "share"});
    b.node("BiasAddGrad", "d_dense_bias", {"d_logits"});
    b.node("MatMul", "d_dense", {"features", "d_logits"}, {TfAttr::b("transpose_a", true)});
    b.node("MatMul", "d_features", {"d_logits", "dense/read"}, {TfAttr::b("transpose_b", true)});
    b.node("Shape", "pool/shape", {"pool"});
    b.node("Reshape", "d_pool", {"d_features", "pool/shape"});
    b.node("MaxPoolGrad", "d_relu", {"relu", "pool", "d_pool"}, pool);
    b.node("ReluGrad", "d_biased", {"d_relu", "relu"});
    b.node("BiasAddGrad", "d_bias", {"d_biased"});
    b.ints("filter/sizes", {3, 3, 1, static_cast<int32_t>(filters)});
    b.node("Conv2DBackpropFilter", "d_filter", {"images", "filter/sizes", "d_biased"}, window);
    b.number("rate", rate);
    b.number("momentum", momentum);
    wsc::tf::NodeDef train = tfNode("NoOp", "train", {});
    for (const char *name : {"filter", "bias", "dense", "dense_bias"}) {
      const std::string text = name;
      b.node("ApplyMomentum", "update/" + text, {text, text + "/Momentum", "rate", "d_" + text, "momentum"});
      train.add_input("^update/" + text);
    }
    b.add(train);
    return b;
  }

  /// One step of the same training; gives the loss before it.
  double step() {
    std::map<std::string, std::vector<double>> gradients;
    for (const auto &[name, values] : parameters)
      gradients[name].assign(values.size(), 0);
    double loss = 0;
    for (int64_t n = 0; n < batch; ++n)
      loss += example(n, gradients) / batch;
    for (auto &[name, values] : parameters) {
      slots[name].resize(values.size(), 0);
      for (size_t i = 0; i < values.size(); ++i) {
        slots[name][i] = slots[name][i] * static_cast<double>(momentum) + gradients[name][i];
        values[i] -= static_cast<double>(rate) * slots[name][i];
      }
    }
    return loss;
  }

private:
  double example(int64_t n, std::map<std::string, std::vector<double>> &gradients) {
    auto eachTap = [&](auto visit) {
      for (int64_t y = 0; y < size; ++y)
        for (int64_t x = 0; x < size; ++x)
          for (int64_t ky = 0; ky < 3; ++ky)
            for (int64_t kx = 0; kx < 3; ++kx)
              if (const int64_t iy = y + ky - 1, ix = x + kx - 1; iy >= 0 && iy < size && ix >= 0 && ix < size)
                visit((y * size + x) * filters, (n * size + iy) * size + ix, (ky * 3 + kx) * filters);
    };
    std::vector<double> maps(size * size * filters), pooledMaps(features, -1), logits(parameters["dense_bias"]);
    std::vector<int64_t> best(features);
    eachTap([&](int64_t to, int64_t from, int64_t tap) {
      for (int64_t f = 0; f < filters; ++f)
        maps[to + f] += images[from] * parameters["filter"][tap + f];
    });
    for (size_t i = 0; i < maps.size(); ++i)
      maps[i] = std::max(0.0, maps[i] + parameters["bias"][i % filters]);
    for (int64_t y = 0; y < size; ++y)
      for (int64_t x = 0; x < size; ++x)
        for (int64_t f = 0; f < filters; ++f) {
          const int64_t from = (y * size + x) * filters + f, to = ((y / 2) * pooled + x / 2) * filters + f;
          if (maps[from] > pooledMaps[to])
            pooledMaps[to] = maps[from], best[to] = from;
        }
    for (int64_t i = 0; i < features; ++i)
      for (int64_t c = 0; c < classes; ++c)
        logits[c] += pooledMaps[i] * parameters["dense"][i * classes + c];
    double sum = 0;
    for (double logit : logits)
      sum += std::exp(logit);
    std::vector<double> dLogits, dMaps(maps.size());
    for (int64_t c = 0; c < classes; ++c)
      dLogits.push_back((std::exp(logits[c]) / sum - (c == labels[n])) / batch);
    for (int64_t c = 0; c < classes; ++c)
      gradients["dense_bias"][c] += dLogits[c];
    for (int64_t i = 0; i < features; ++i)
      for (int64_t c = 0; c < classes; ++c) {
        gradients["dense"][i * classes + c] += pooledMaps[i] * dLogits[c];
        if (maps[best[i]] > 0)
          dMaps[best[i]] += parameters["dense"][i * classes + c] * dLogits[c];
      }
    for (size_t i = 0; i < dMaps.size(); ++i)
      gradients["bias"][i % filters] += dMaps[i];
    eachTap([&](int64_t to, int64_t from, int64_t tap) {
      for (int64_t f = 0; f < filters; ++f)
        gradients["filter"][tap + f] += images[from] * dMaps[to + f];
    });
    return std::log(sum) - logits[labels[n]];
  }
};

} // namespace wsc::test
