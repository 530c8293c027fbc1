// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/CoLocation.h"

#include <algorithm>

namespace wsc::kernels {

// Whether a kernel only joins the channels of several streams.
static bool onlyJoins(const KernelSpec &spec) {
  return spec.kind == KernelKind::Elementwise && spec.tileOps.empty() && !spec.state && spec.inputs.size() == 1 &&
         spec.inputs.front().streams.size() > 1 && !spec.inputs.front().alongWidth;
}

bool isFree(const NetworkPlan &network, const KernelPlan &plan) {
  return !plan.pinnedColumns && plan.placement.col < 0 &&
         network.streams[size_t(plan.spec.outStream)].wantedTurns.empty();
}

// Whether a contraction takes every pixel of its one input for the same pixel of its result.
static bool ofSinglePixels(const KernelSpec &spec) {
  const Contraction &c = spec.contraction;
  return spec.kind == KernelKind::Contraction && c.kernelH == 1 && c.kernelW == 1 && c.strideH == 1 && c.strideW == 1 &&
         c.padTop == 0 && c.padLeft == 0 && spec.inputs.size() == 1 && spec.inputs.front().streams.size() == 1;
}

int32_t hostFor(const NetworkPlan &network, int32_t coLocated) {
  const KernelPlan &plan = network.kernels[size_t(coLocated)];
  const StreamPlan &out = network.streams[size_t(plan.spec.outStream)];
  if (!onlyJoins(plan.spec) || out.consumers.empty())
    return -1;
  const int32_t host = *std::min_element(out.consumers.begin(), out.consumers.end());
  const KernelPlan &taker = network.kernels[size_t(host)];
  auto sameTiles = [&](int32_t stream) {
    const StreamLayout &layout = network.streams[size_t(stream)].layout;
    return layout.plane.width == out.layout.plane.width && layout.plane.rows == out.layout.plane.rows &&
           layout.liveRows() == out.layout.liveRows() && layout.tileRows == out.layout.tileRows;
  };
  const std::vector<int32_t> &joined = plan.spec.inputs.front().streams;
  const bool fits = ofSinglePixels(taker.spec) && sameTiles(taker.spec.outStream) &&
                    std::all_of(joined.begin(), joined.end(), sameTiles);
  return fits ? host : -1;
}

void setHost(NetworkPlan &network, int32_t coLocated, int32_t host) {
  KernelPlan &plan = network.kernels[size_t(coLocated)];
  StreamPlan &out = network.streams[size_t(plan.spec.outStream)];
  if (plan.host >= 0) {
    network.kernels[size_t(plan.host)].coLocated = -1;
    out.layout.silent = false;
  }
  plan.host = host;
  if (host < 0)
    return;
  network.kernels[size_t(host)].coLocated = coLocated;
  // Nobody takes it over lanes.
  out.layout.silent = out.consumers.size() == 1 && out.outputs.empty();
}

void sliceCoLocated(NetworkPlan &network, const KernelPlan &host) {
  if (host.coLocated < 0)
    return;
  KernelPlan &coLocated = network.kernels[size_t(host.coLocated)];
  Mapping &m = coLocated.mapping;
  m.channelsPerSlice = host.mapping.channelsPerSlice;
  m.slices = host.mapping.slices;
  m.channelsPerColumn = coLocated.spec.out.channels;
  m.columns = 1;
  m.bands = 1;
  m.streamed = m.exitsNear = false;
}

void placeCoLocated(NetworkPlan &network) {
  for (KernelPlan &plan : network.kernels)
    if (plan.host >= 0)
      plan.placement.col = network.kernels[size_t(plan.host)].placement.col;
}

std::vector<int32_t> streamsTaken(const NetworkPlan &network, const KernelPlan &plan) {
  std::vector<int32_t> streams;
  if (plan.host >= 0)
    return streams;
  for (const KernelInput &input : (plan.coLocated < 0 ? plan : network.kernels[size_t(plan.coLocated)]).spec.inputs)
    for (int32_t stream : input.streams)
      if (std::find(streams.begin(), streams.end(), stream) == streams.end())
        streams.push_back(stream);
  return streams;
}

} // namespace wsc::kernels
