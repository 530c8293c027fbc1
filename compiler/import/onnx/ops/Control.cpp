// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If, Loop and Scan. Control is static: the branch of a condition that is known while importing is translated in place
// of the If, loops whose number of turns is known are unrolled. Both branches of an unknown condition are computed and
// one is selected.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {
namespace {

/// Loops are unrolled up to this many turns.
constexpr int64_t mostTurns = 10000;

/// The single element of a tensor that is known, as an integer.
std::optional<int64_t> knownNumber(NodeContext &node, const Tensor &tensor) {
  auto literal = node.layers.literal(tensor);
  if (!literal || literal->size() != 1)
    return std::nullopt;
  return literal->isFloat() ? static_cast<int64_t>(literal->floats[0]) : literal->ints[0];
}

void ifOf(NodeContext &node) {
  const auto *thenBranch = node.graphAttribute("then_branch"), *elseBranch = node.graphAttribute("else_branch");
  if (!thenBranch || !elseBranch)
    return node.fail("needs the attributes then_branch and else_branch");
  Expression condition = node.in(0);
  if (condition.size() != 1)
    return node.fail(absl::StrCat("the condition must be one element, found ", nn::formatShape(condition.shape())));
  if (auto known = knownNumber(node, condition)) {
    std::vector<Tensor> results = node.callGraph(*known ? *thenBranch : *elseBranch, {});
    for (size_t i = 0; i < results.size(); ++i)
      node.setResult(i, results[i]);
    return;
  }
  std::vector<Tensor> yes = node.callGraph(*thenBranch, {}), no = node.callGraph(*elseBranch, {});
  if (node.failed())
    return;
  for (size_t i = 0; i < yes.size() && i < no.size(); ++i) {
    if (yes[i].type != no[i].type)
      return node.failUnknown(absl::StrCat("the condition of branches whose output ", i, " is ",
                                           nn::formatShape(yes[i].shape()), " and ", nn::formatShape(no[i].shape())),
                              condition);
    node.setResult(i, node.layers.select(condition.reshape({}), yes[i], no[i]));
  }
}

/// The elements of a scan output, one after another along a new axis.
Tensor joined(NodeContext &node, const std::vector<Tensor> &turns, int64_t axis, bool backwards) {
  std::vector<Expression> parts;
  for (const Tensor &turn : turns)
    parts.push_back(Expression(node.layers, turn).unsqueeze(axis));
  if (backwards)
    std::reverse(parts.begin(), parts.end());
  return concat(parts, axis);
}

/// Turns are counted by M, ended by the condition, or both. The condition of each turn is known, or what it carries is
/// kept from the turn on where it no longer holds.
void loop(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  const auto *body = node.graphAttribute("body");
  if (!body)
    return node.fail("needs the attribute body");
  mlir::Type i64 = layers.builder().getI64Type(), i1 = layers.builder().getI1Type();
  int64_t turns = mostTurns;
  bool isCounted = node.hasInput(0);
  if (isCounted)
    turns = node.constantInt(0, "the number of turns");
  if (node.failed())
    return;
  if (isCounted && turns > mostTurns)
    return node.unsupported(absl::StrCat(turns, " turns are not supported; at most ", mostTurns, " are"));
  Expression holds = node.hasInput(1) ? node.in(1) : Expression(layers, layers.scalar(i1, 1));
  size_t carried = std::max<size_t>(node.inputCount(), 2) - 2;
  std::vector<Tensor> values;
  for (size_t i = 0; i < carried; ++i)
    values.push_back(node.input(2 + i));
  size_t scans = static_cast<size_t>(body->output_size()) - std::min<size_t>(carried + 1, body->output_size());
  std::vector<std::vector<Tensor>> collected(scans);
  for (int64_t turn = 0; turn < turns; ++turn) {
    auto known = knownNumber(node, holds);
    if (known && !*known)
      break;
    if (!known && (scans > 0 || !isCounted))
      return node.failUnknown("the condition of a loop", holds);
    if (!isCounted && turn + 1 == turns)
      return node.unsupported(absl::StrCat("a loop of ", mostTurns, " turns or more is not supported"));
    std::vector<Tensor> inputs{layers.scalar(i64, static_cast<double>(turn)), holds};
    inputs.insert(inputs.end(), values.begin(), values.end());
    std::vector<Tensor> outputs = node.callGraph(*body, inputs);
    if (node.failed())
      return;
    if (outputs.size() != 1 + carried + scans)
      return node.fail("the body has too few outputs");
    for (size_t i = 0; i < carried; ++i) {
      if (!known && outputs[1 + i].type != values[i].type)
        return node.failUnknown("the condition of a loop that changes shapes", holds);
      values[i] = known ? outputs[1 + i] : layers.select(holds.reshape({}), outputs[1 + i], values[i]);
    }
    for (size_t i = 0; i < scans; ++i)
      collected[i].push_back(outputs[1 + carried + i]);
    Expression next{layers, outputs[0]};
    holds = known ? next : holds.reshape({}) & next.reshape({});
  }
  for (size_t i = 0; i < carried; ++i)
    node.setResult(i, values[i]);
  for (size_t i = 0; i < scans; ++i) {
    if (collected[i].empty() && node.wantsOutput(carried + i))
      return node.unsupported("a loop without turns has no scan outputs");
    if (!collected[i].empty())
      node.setResult(carried + i, joined(node, collected[i], 0, false));
  }
}

/// What a Scan reads, writes and carries.
struct ScanForm {
  const wsc::onnx::GraphProto *body = nullptr;
  std::vector<int64_t> inputAxes, inputWays, outputAxes, outputWays; // ways: 1 is backwards
  int64_t states = 0;
};

/// A turn per element of the scan inputs along their axes: the states behind the last turn, then the scan outputs.
std::vector<Tensor> runScan(NodeContext &node, ScanForm form, std::vector<Tensor> values,
                            const std::vector<Expression> &scanned) {
  int64_t turns = -1;
  for (size_t i = 0; i < scanned.size(); ++i) {
    form.inputAxes[i] = node.normalizedAxis(form.inputAxes[i], scanned[i].rank());
    if (node.failed())
      return {};
    int64_t extent = scanned[i].shape()[form.inputAxes[i]];
    if (turns >= 0 && extent != turns)
      node.fail(absl::StrCat("scan inputs have ", turns, " and ", extent, " elements"));
    turns = extent;
  }
  if (turns < 1 || turns > mostTurns)
    node.unsupported(absl::StrCat(turns, " turns are not supported; 1 to ", mostTurns, " are"));
  std::vector<std::vector<Tensor>> collected(form.outputAxes.size());
  for (int64_t turn = 0; turn < turns && !node.failed(); ++turn) {
    std::vector<Tensor> inputs = values;
    for (size_t i = 0; i < scanned.size(); ++i) {
      int64_t at = form.inputWays[i] ? turns - 1 - turn : turn;
      inputs.push_back(scanned[i].slice(form.inputAxes[i], at, 1).squeeze(form.inputAxes[i]));
    }
    std::vector<Tensor> outputs = node.callGraph(*form.body, inputs);
    if (node.failed())
      return {};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = outputs[i];
    for (size_t i = 0; i < collected.size(); ++i)
      collected[i].push_back(outputs[values.size() + i]);
  }
  for (size_t i = 0; i < collected.size() && !node.failed(); ++i) {
    int64_t axis = node.normalizedAxis(form.outputAxes[i], collected[i].front().rank() + 1);
    if (!node.failed())
      values.push_back(joined(node, collected[i], axis, form.outputWays[i] != 0));
  }
  return values;
}

/// The body and how many scan inputs and outputs it has; `inputs` of the node are states and scan inputs.
std::optional<ScanForm> scanForm(NodeContext &node, int64_t inputs) {
  ScanForm form;
  form.body = node.graphAttribute("body");
  int64_t scanned = node.intAttribute("num_scan_inputs", 0);
  if (!form.body || node.failed()) {
    node.fail("needs the attribute body");
    return std::nullopt;
  }
  form.states = scanned < 1 || scanned > inputs ? -1 : inputs - scanned;
  int64_t scans = static_cast<int64_t>(form.body->output_size()) - form.states;
  if (form.states < 0 || scans < 0) {
    node.fail(absl::StrCat("num_scan_inputs ", scanned, " does not fit ", inputs, " inputs and ",
                           form.body->output_size(), " outputs of the body"));
    return std::nullopt;
  }
  for (std::vector<int64_t> *perInput : {&form.inputAxes, &form.inputWays})
    perInput->resize(static_cast<size_t>(scanned), 0);
  for (std::vector<int64_t> *perOutput : {&form.outputAxes, &form.outputWays})
    perOutput->resize(static_cast<size_t>(scans), 0);
  return form;
}

void scan(NodeContext &node) {
  std::optional<ScanForm> form = scanForm(node, static_cast<int64_t>(node.inputCount()));
  if (!form)
    return;
  auto read = [&](const char *name, std::vector<int64_t> &into) {
    std::vector<int64_t> given = node.intsAttribute(name);
    given.resize(into.size(), 0);
    into = given;
  };
  read("scan_input_axes", form->inputAxes);
  read("scan_output_axes", form->outputAxes);
  read("scan_input_directions", form->inputWays);
  read("scan_output_directions", form->outputWays);
  std::vector<Tensor> states;
  std::vector<Expression> scanned;
  for (size_t i = 0; i < node.inputCount(); ++i)
    if (static_cast<int64_t>(i) < form->states)
      states.push_back(node.input(i));
    else
      scanned.push_back(node.in(i));
  std::vector<Tensor> results = runScan(node, *form, std::move(states), scanned);
  for (size_t i = 0; i < results.size(); ++i)
    node.setResult(i, results[i]);
}

/// Scan of opset 8: states [batch, …], scan inputs and outputs [batch, sequence, …]; the body sees one of the batch.
void scanOfBatch(NodeContext &node) {
  std::optional<ScanForm> form = scanForm(node, std::max<int64_t>(static_cast<int64_t>(node.inputCount()) - 1, 0));
  if (!form)
    return;
  if (node.hasInput(0))
    return node.unsupported("sequence_lens is not supported; leave it out where all sequences are whole");
  std::vector<int64_t> ways = node.intsAttribute("directions");
  ways.resize(form->inputWays.size(), 0);
  form->inputWays = ways;
  const int64_t batch = node.in(1).rank() > 0 ? node.in(1).shape()[0] : 0;
  std::vector<llvm::SmallVector<Expression>> samples;
  for (int64_t b = 0; b < batch && !node.failed(); ++b) {
    std::vector<Tensor> states;
    std::vector<Expression> scanned;
    for (size_t i = 1; i < node.inputCount(); ++i) {
      Expression x = node.in(i);
      if (x.rank() < 1 || x.shape()[0] != batch)
        return node.fail(absl::StrCat("input ", i, " ", nn::formatShape(x.shape()), " has no batch of ", batch));
      Expression sample = x.slice(0, b, 1).squeeze(0);
      if (static_cast<int64_t>(i) <= form->states)
        states.push_back(sample);
      else
        scanned.push_back(sample);
    }
    std::vector<Tensor> results = runScan(node, *form, std::move(states), scanned);
    samples.resize(results.size());
    for (size_t i = 0; i < results.size(); ++i)
      samples[i].push_back(Expression(node.layers, results[i]).unsqueeze(0));
  }
  if (batch < 1)
    return node.unsupported("a batch of 0 is not supported");
  for (size_t i = 0; i < samples.size() && !node.failed(); ++i)
    node.setResult(i, concat(samples[i], 0));
}

} // namespace

static const Operator table[] = {
    {"If", 1, newestOpset, 1, 1, ifOf, "", "both branches are computed where the condition is not known"},
    {"Loop", 1, newestOpset, 0, anyInputs, loop, "",
     "the number of turns or the condition is known; at most 10000 turns"},
    {"Scan", 8, 8, 0, anyInputs, scanOfBatch, "", "1 to 10000 turns; without sequence_lens"},
    {"Scan", 9, newestOpset, 1, anyInputs, scan, "", "1 to 10000 turns"},
};
llvm::ArrayRef<Operator> controlOperators() { return table; }

} // namespace wsc::import
