// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ResNet-50 as a TensorFlow training graph: variables with momentum slots, batch normalisation in training with moving
// statistics, gradients operator by operator, weight decay, a rate that falls with the step, accuracy, and a train
// operator. Weights are splats, so the file is small.
#pragma once
#include "test/support/TfBuilder.h"
#include <functional>
#include <map>

namespace wsc::test {

class TfResNet {
public:
  TfBuilder b;

  TfResNet(int64_t batch, int64_t size, int64_t classes) : batch_(batch) {
    b.input("images", {batch, size, size, 3});
    b.input("labels", {batch}, wsc::tf::DT_INT32);
    b.number("zero", 0);
    b.number("one", 1);
    b.number("moving", 0.01f);
    b.number("rate", 0.1f);
    b.number("momentum", 0.9f);
    b.number("decay", 1e-4f);
    build(classes);
    measure();
    schedule();
    wsc::tf::NodeDef train = tfNode("NoOp", "train", {});
    for (const std::string &name : variables_) {
      b.node("Mul", name + "/decayed", {name + "/read", "decay"});
      b.node("AddN", name + "/gradient", {name + "/d", name + "/decayed"});
      b.node("ApplyMomentum", name + "/update", {name, name + "/Momentum", "rate/now", name + "/gradient", "momentum"});
      train.add_input("^" + name + "/update");
    }
    for (const std::string &update : updates_)
      train.add_input("^" + update);
    b.add(train);
  }

private:
  std::string variable(const std::string &name, const std::vector<int64_t> &shape, float start) {
    const std::vector<TfAttr> attributes{TfAttr::shape("shape", shape), TfAttr::type("dtype", wsc::tf::DT_FLOAT)};
    wsc::tf::TensorProto splat = tfTensor(wsc::tf::DT_FLOAT, shape);
    splat.add_float_val(start);
    b.node("VariableV2", name, {}, attributes);
    b.add(tfNode("Const", name + "/initial", {}, {tfValue(splat)}));
    b.node("Assign", name + "/Assign", {name, name + "/initial"});
    b.node("Identity", name + "/read", {name});
    b.node("VariableV2", name + "/Momentum", {}, attributes);
    b.ints(name + "/shape", std::vector<int32_t>(shape.begin(), shape.end()));
    b.node("Fill", name + "/zeros", {name + "/shape", "zero"});
    b.node("Assign", name + "/Momentum/Assign", {name + "/Momentum", name + "/zeros"});
    variables_.push_back(name);
    return name + "/read";
  }

  /// A moving mean of what normalisation finds: moved - (moved - found) · 0.01.
  void moving(const std::string &name, const std::string &shape, const std::string &start, const std::string &found,
              int64_t channels) {
    b.node("VariableV2", name, {}, {TfAttr::shape("shape", {channels}), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
    b.node("Fill", name + "/initial", {shape, start});
    b.node("Assign", name + "/Assign", {name, name + "/initial"});
    b.node("Sub", name + "/difference", {name, found});
    b.node("Mul", name + "/part", {name + "/difference", "moving"});
    updates_.push_back(b.node("AssignSub", name + "/update", {name, name + "/part"}));
  }

  /// What is told beside the loss: the accuracy, probabilities and the size of the weights.
  void measure() {
    b.node("ArgMax", "prediction", {"logits", b.integer("classes/axis", 1)},
           {TfAttr::type("output_type", wsc::tf::DT_INT32)});
    b.node("Equal", "hits", {"prediction", "labels"});
    b.node("Cast", "hits/float", {"hits"}, {TfAttr::type("DstT", wsc::tf::DT_FLOAT)});
    b.node("Mean", "accuracy", {"hits/float", "all"});
    b.node("Softmax", "probabilities", {"logits"});
    b.node("L2Loss", "size", {"dense/w/read"});
    b.node("Square", "size/squares", {"dense/b/read"});
    b.node("Sum", "size/sum", {"size/squares", "all"});
    b.node("Sqrt", "size/root", {"size/sum"});
  }

  /// The rate falls to a tenth behind step 30,000.
  void schedule() {
    b.node("VariableV2", "step", {}, {TfAttr::shape("shape", {}), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
    b.node("Assign", "step/Assign", {"step", "zero"});
    b.node("Identity", "step/read", {"step"});
    b.node("Less", "early", {"step/read", b.number("border", 30000)});
    b.node("Mul", "rate/late", {"rate", b.number("tenth", 0.1f)});
    b.node("Select", "rate/now", {"early", "rate", "rate/late"});
    updates_.push_back(b.node("AssignAdd", "step/update", {"step", "one"}));
  }

  /// Convolution, normalisation and ReLU; the backward nodes are added when `backward_` is run, in reverse.
  struct Layer {
    std::string output;
    int64_t channels;
  };
  using Backward = std::function<void()>;

  Layer conv(const std::string &name, const Layer &x, int64_t kernel, int64_t channels, int64_t stride, bool relu) {
    const std::string filter = variable(name + "/w", {kernel, kernel, x.channels, channels}, 0.01f),
                      scale = variable(name + "/gamma", {channels}, 1),
                      offset = variable(name + "/beta", {channels}, 0);
    const std::vector<TfAttr> window{TfAttr::s("padding", "SAME"), TfAttr::ints("strides", {1, stride, stride, 1})};
    b.floats(name + "/empty", {0}, {});
    b.node("Conv2D", name + "/conv", {x.output, filter}, window);
    b.node("FusedBatchNormV3", name + "/norm", {name + "/conv", scale, offset, name + "/empty", name + "/empty"});
    moving(name + "/mean", name + "/beta/shape", "zero", name + "/norm:1", channels);
    moving(name + "/variance", name + "/beta/shape", "one", name + "/norm:2", channels);
    if (relu)
      b.node("Relu", name + "/relu", {name + "/norm"});
    backward_.push_back([=, this] {
      std::string d = gradientOf(relu ? name + "/relu" : name + "/norm");
      if (relu)
        d = b.node("ReluGrad", name + "/d_relu", {d, name + "/relu"});
      b.node("FusedBatchNormGradV3", name + "/d_norm",
             {d, name + "/conv", scale, name + "/norm:3", name + "/norm:4", name + "/norm:5"});
      b.node("Identity", name + "/gamma/d", {name + "/d_norm:1"});
      b.node("Identity", name + "/beta/d", {name + "/d_norm:2"});
      b.node("Shape", name + "/w/sizes", {filter});
      b.node("Conv2DBackpropFilter", name + "/w/d", {x.output, name + "/w/sizes", name + "/d_norm"}, window);
      if (x.output == "images")
        return;
      b.node("Shape", name + "/sizes", {x.output});
      addGradient(x.output, b.node("Conv2DBackpropInput", name + "/d_input",
                                   {name + "/sizes", filter, name + "/d_norm"}, window));
    });
    return {relu ? name + "/relu" : name + "/norm", channels};
  }

  Layer block(const std::string &name, const Layer &x, int64_t width, int64_t stride) {
    Layer shortcut = x;
    if (x.channels != 4 * width)
      shortcut = conv(name + "/short", x, 1, 4 * width, stride, false);
    Layer y = conv(name + "/1", x, 1, width, 1, true);
    y = conv(name + "/2", y, 3, width, stride, true);
    y = conv(name + "/3", y, 1, 4 * width, 1, false);
    b.node("Add", name + "/sum", {y.output, shortcut.output});
    b.node("Relu", name + "/relu", {name + "/sum"});
    backward_.push_back([=, this] {
      b.node("ReluGrad", name + "/d_sum", {gradientOf(name + "/relu"), name + "/relu"});
      addGradient(y.output, name + "/d_sum");
      addGradient(shortcut.output, name + "/d_sum");
    });
    return {name + "/relu", 4 * width};
  }

  void build(int64_t classes) {
    const std::vector<TfAttr> pool{TfAttr::s("padding", "SAME"), TfAttr::ints("ksize", {1, 3, 3, 1}),
                                   TfAttr::ints("strides", {1, 2, 2, 1})};
    Layer x = conv("stem", {"images", 3}, 7, 64, 2, true);
    b.node("MaxPool", "pool", {x.output}, pool);
    backward_.push_back([=, this] {
      addGradient(x.output, b.node("MaxPoolGrad", "d_pool", {x.output, "pool", gradientOf("pool")}, pool));
    });
    x = {"pool", 64};
    const int64_t widths[] = {64, 128, 256, 512};
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage)
      for (int i = 0; i < blocks[stage]; ++i)
        x = block("stage" + std::to_string(stage) + "/" + std::to_string(i), x, widths[stage], stage && !i ? 2 : 1);
    const Layer last = x;
    const std::string weight = variable("dense/w", {2048, classes}, 0.01f), bias = variable("dense/b", {classes}, 0);
    b.node("Mean", "features", {last.output, b.ints("spatial", {1, 2})});
    b.node("MatMul", "product", {"features", weight});
    b.node("BiasAdd", "logits", {"product", bias});
    b.node("SparseSoftmaxCrossEntropyWithLogits", "xent", {"logits", "labels"});
    b.node("Mean", "loss", {"xent", b.ints("all", {0})});
    b.number("share", 1.0f / static_cast<float>(batch_));
    b.node("Mul", "d_logits", {"xent:1", "share"});
    b.node("BiasAddGrad", "dense/b/d", {"d_logits"});
    b.node("MatMul", "dense/w/d", {"features", "d_logits"}, {TfAttr::b("transpose_a", true)});
    b.node("MatMul", "d_features", {"d_logits", weight}, {TfAttr::b("transpose_b", true)});
    // The mean's gradient, as TensorFlow writes it.
    b.node("Shape", "last/shape", {last.output});
    b.ints("last/ones", {static_cast<int32_t>(batch_), 1, 1, 2048});
    b.node("Reshape", "d_mean", {"d_features", "last/ones"});
    b.node("Shape", "features/shape", {"features"});
    b.node("Prod", "last/size", {"last/shape", "first"});
    b.ints("first", {0});
    b.node("Prod", "features/size", {"features/shape", "first"});
    b.node("FloorDiv", "count", {"last/size", "features/size"});
    b.node("Cast", "count/float", {"count"}, {TfAttr::type("DstT", wsc::tf::DT_FLOAT)});
    b.node("BroadcastTo", "d_tiled", {"d_mean", "last/shape"});
    addGradient(last.output, b.node("RealDiv", "d_last", {"d_tiled", "count/float"}));
    for (size_t i = backward_.size(); i-- > 0;)
      backward_[i]();
  }

  void addGradient(const std::string &of, const std::string &gradient) { gradients_[of].push_back(gradient); }
  std::string gradientOf(const std::string &of) {
    const std::vector<std::string> &parts = gradients_[of];
    return parts.size() == 1 ? parts[0] : b.node("AddN", of + "/d_all", parts);
  }

  int64_t batch_;
  std::vector<std::string> variables_, updates_;
  std::vector<Backward> backward_;
  std::map<std::string, std::vector<std::string>> gradients_;
};

} // namespace wsc::test
