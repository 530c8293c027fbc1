// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, kernels and constants are numbered as they are met, which starts at the kernel itself: an index says which
// are the same, not which they are. Structures are taken apart by structured bindings, so that a new member does not
// compile until somebody says whether it matters.
#include "compiler/kernels/sizing/Surroundings.h"

#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/sizing/MappingScore.h"

#include <bit>
#include <map>
#include <tuple>

namespace wsc::kernels {

std::vector<int32_t> streamsAt(const NetworkPlan &network, const KernelPlan &plan) {
  std::vector<int32_t> streams = streamsTaken(network, plan);
  streams.push_back(plan.spec.outStream);
  if (plan.coLocated >= 0)
    streams.push_back(network.kernels[size_t(plan.coLocated)].spec.outStream);
  return streams;
}

namespace {

class Writer {
public:
  explicit Writer(const NetworkPlan &network) : network(network) {}

  void add(int64_t number) { numbers.push_back(number); }
  void add(double number) { add(std::bit_cast<int64_t>(number)); }
  template <typename... Numbers> void addAll(Numbers... each) { (add(each), ...); }
  template <typename List> void addList(const List &list) {
    add(int64_t(list.size()));
    for (const auto &each : list)
      add(each);
  }

  void add(const Plane &plane) {
    const auto &[channels, rows, width] = plane;
    addAll(channels, rows, width);
  }
  void add(const ConstantView &constant) {
    const auto &[path, sourceOffset, sourceBytes, inlineBytes, offset] = constant;
    add(numberOf(constants, std::tuple(path, sourceOffset, inlineBytes.get(), offset)));
  }
  void add(const std::optional<ConstantView> &constant) {
    add(int64_t(constant.has_value()));
    if (constant)
      add(*constant);
  }
  void add(const Contraction &c) {
    const auto &[kernelH, kernelW, strideH, strideW, dilationH, dilationW, padTop, padLeft, weights, strideOut,
                 strideIn, strideOfH, strideOfW, bias, matrixProduct] = c;
    addAll(kernelH, kernelW, strideH, strideW, dilationH, dilationW, padTop, padLeft, strideOut, strideIn, strideOfH,
           strideOfW, int64_t(matrixProduct));
    add(weights);
    add(bias);
  }
  void add(const Window &w) {
    const auto &[kind, kernelH, kernelW, strideH, strideW, dilationH, dilationW, padTop, padLeft, padValue,
                 firstChannel, groupIn, groupOut, weights, strideOut, strideIn, strideOfH, strideOfW, bias] = w;
    addAll(int64_t(kind), kernelH, kernelW, strideH, strideW, dilationH, dilationW, padTop, padLeft, firstChannel,
           groupIn, groupOut, strideOut, strideIn, strideOfH, strideOfW);
    add(padValue);
    add(weights);
    add(bias);
  }
  void add(const TileOperand &operand) {
    const auto &[kind, value, constant, scalar] = operand;
    addAll(int64_t(kind), int64_t(value));
    add(constant);
    add(scalar);
  }
  void add(const TileOp &op) {
    const auto &[opcode, operands] = op;
    add(int64_t(opcode));
    addList(operands);
  }
  void add(const KernelInput &input) {
    const auto &[streams, alongWidth] = input;
    add(int64_t(streams.size()));
    for (int32_t s : streams)
      stream(s);
    add(int64_t(alongWidth));
  }
  void add(const KernelSpec &spec) {
    const auto &[name, layers, macs, kind, inputs, out, contraction, window, softmax, inputOps, tileOps, state,
                 outStream] = spec;
    addAll(int64_t(kind), int64_t(softmax.logarithm), int64_t(state.has_value()));
    add(out);
    if (kind == KernelKind::Contraction)
      add(contraction);
    if (kind == KernelKind::Window)
      add(window);
    addList(inputs);
    addList(inputOps);
    addList(tileOps);
    stream(outStream);
  }
  void add(const Mapping &mapping) {
    const auto &[channelsPerSlice, slices, channelsPerColumn, columns, feederChannels, bands, fifoSamples, streamed,
                 exitsNear] = mapping;
    addAll(channelsPerSlice, slices, channelsPerColumn, columns, feederChannels, bands, int64_t(streamed),
           int64_t(exitsNear));
    addList(fifoSamples);
  }
  void add(const StreamLayout &layout) {
    const auto &[plane, tileRows, blockBegin, wantedBlocks, mostBlocks, wordsPassing, laneRows, exitSlices,
                 orderModulus, deadFrom, silent] = layout;
    add(plane);
    addAll(tileRows, wantedBlocks, mostBlocks, wordsPassing, orderModulus, deadFrom, int64_t(silent));
    addList(blockBegin);
    addList(exitSlices);
    add(int64_t(laneRows.size()));
    for (size_t lane = 0; lane < laneRows.size(); lane += 2) // two of 32 bits at a time
      add(int64_t(laneRows[lane]) << 32 | (lane + 1 < laneRows.size() ? laneRows[lane + 1] : 0));
  }
  // A kernel, by its number from the second time on.
  void kernel(int32_t k) {
    const size_t known = kernels.size();
    add(k < 0 ? -1 : numberOf(kernels, k));
    if (kernels.size() == known)
      return;
    const KernelPlan &plan = network.kernels[size_t(k)];
    add(plan.spec);
    add(plan.mapping);
    add(plan.pinnedColumns.value_or(-1));
  }
  void stream(int32_t s) {
    const size_t known = streams.size();
    add(numberOf(streams, s));
    if (streams.size() == known)
      return;
    const StreamPlan &plan = network.streams[size_t(s)];
    add(plan.layout.plane);
    addAll(plan.layout.tileRows, plan.layout.deadFrom, int64_t(plan.producer >= 0), int64_t(plan.outputs.size()));
  }
  // A stream of the kernel's own: all of its layout, and the kernels at it.
  void ownStream(int32_t s) {
    const StreamPlan &plan = network.streams[size_t(s)];
    stream(s);
    add(plan.layout);
    kernel(plan.producer);
    add(int64_t(plan.consumers.size()));
    for (int32_t consumer : plan.consumers)
      kernel(consumer);
  }
  // How far apart tiles lie, and how far below those of stream `from`.
  void tilesOf(int32_t s, int32_t from) {
    const auto tiles = [&](int32_t of) { return network.streams[size_t(of)].layout.numTiles(); };
    const auto &[groups, per] = network.grid.pitch(tiles(s));
    addAll(groups, per, network.grid.offset(tiles(s)) - network.grid.offset(tiles(from)));
  }

  std::vector<int64_t> take() { return std::move(numbers); }

private:
  template <typename Key> static int64_t numberOf(std::map<Key, int64_t> &numbered, const Key &key) {
    return numbered.try_emplace(key, int64_t(numbered.size())).first->second;
  }

  const NetworkPlan &network;
  std::vector<int64_t> numbers;
  std::map<int32_t, int64_t> streams, kernels;
  std::map<std::tuple<std::string, int64_t, const std::vector<std::byte> *, int64_t>, int64_t> constants;
};

} // namespace

std::vector<int64_t> surroundingsOf(const target::Target &target, const NetworkPlan &network, int32_t index,
                                    const Wanted &wanted) {
  const KernelPlan &plan = network.kernels[size_t(index)];
  Writer writer(network);
  const auto &[feedersCompute, evenShares, mostCycles] = wanted;
  writer.addAll(int64_t(feedersCompute), int64_t(evenShares), mostCycles, network.bounds.sizing,
                ioCycles(target, network));
  writer.add(network.grid.rowsUsed);
  writer.kernel(index);
  writer.kernel(plan.host);
  writer.kernel(plan.coLocated);
  for (int32_t s : streamsAt(network, plan)) {
    writer.ownStream(s);
    writer.tilesOf(s, plan.spec.outStream);
  }
  return writer.take();
}

} // namespace wsc::kernels
