// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Geometry of a kernel's rows: which output tile and channel slice a row makes and which parts of which lanes it needs for that.
#include "compiler/kernels/KernelRows.h"

namespace wsc::kernels {

int64_t ComponentParts::lines() const {
  int64_t total = 0;
  for (const LanePart &part : parts)
    total += part.region.channels() * part.region.rows();
  return total;
}

Plane inputPlane(const NetworkPlan &network, const KernelSpec &spec, size_t input) {
  Plane plane;
  plane.channels = 0;
  for (int32_t stream : spec.inputs[input].streams) {
    const Plane &part = network.streams[stream].layout.plane;
    plane.channels += part.channels;
    plane.rows = part.rows;
    plane.width = part.width;
  }
  return plane;
}

KernelRows::KernelRows(const target::Target &target, const NetworkPlan &network, int32_t kernelIndex)
    : target(target), network(network), plan(network.kernels[kernelIndex]), kernelIndex(kernelIndex) {}

int64_t KernelRows::tileRows() const { return network.streams[plan.spec.outStream].layout.tileRows; }
int64_t KernelRows::numGroups() const { return network.streams[plan.spec.outStream].layout.numTiles(); }

Region KernelRows::neededRows(const Region &out, int64_t inputRows) const {
  Region rows;
  auto window = [&](int64_t strideH, int64_t padTop, int64_t kernelH, int64_t dilationH) {
    rows.rowBegin = std::max<int64_t>(0, out.rowBegin * strideH - padTop);
    rows.rowEnd = std::min(inputRows, (out.rowEnd - 1) * strideH - padTop + (kernelH - 1) * dilationH + 1);
  };
  if (plan.spec.kind == KernelKind::Contraction) {
    const Contraction &c = plan.spec.contraction;
    window(c.strideH, c.padTop, c.kernelH, c.dilationH);
  } else if (plan.spec.kind == KernelKind::Window) {
    const Window &w = plan.spec.window;
    window(w.strideH, w.padTop, w.kernelH, w.dilationH);
  } else {
    rows.rowBegin = inputRows == 1 ? 0 : out.rowBegin;
    rows.rowEnd = inputRows == 1 ? 1 : out.rowEnd;
  }
  return rows;
}

KernelRow KernelRows::row(int64_t group, int64_t slice) const {
  const StreamLayout &layout = network.streams[plan.spec.outStream].layout;
  KernelRow row;
  row.group = group;
  row.slice = slice;
  row.row = int32_t(network.grid.groupBegin(group, numGroups()) + slice);
  row.out.rowBegin = layout.tileBegin(group);
  row.out.rowEnd = layout.tileEnd(group);
  if (plan.spec.inputs.empty()) { // only reads a variable
    row.out.channelBegin = std::min(slice * plan.mapping.channelsPerSlice, plan.spec.out.channels);
    row.out.channelEnd = std::min(row.out.channelBegin + plan.mapping.channelsPerSlice, plan.spec.out.channels);
  }
  int32_t ordinal = 0;
  for (size_t i = 0; i < plan.spec.inputs.size(); ++i) {
    Plane plane = inputPlane(network, plan.spec, i);
    Region needed = neededRows(row.out, plane.rows);
    int64_t begin = slice * plan.mapping.channelsPerSlice;
    bool contraction = plan.spec.kind == KernelKind::Contraction;
    int64_t total = contraction ? plane.channels : plan.spec.out.channels;
    needed.channelBegin = std::min(begin, total);
    needed.channelEnd = std::min(begin + plan.mapping.channelsPerSlice, total);
    if (!contraction) {
      row.out.channelBegin = needed.channelBegin;
      row.out.channelEnd = needed.channelEnd;
      if (plane.channels == 1) { // broadcast over channels (or a plane of one channel)
        needed.channelBegin = 0;
        needed.channelEnd = 1;
      }
    }
    row.needed.push_back(needed);
    int64_t offset = 0;
    for (size_t c = 0; c < plan.spec.inputs[i].streams.size(); ++c, ++ordinal) {
      int32_t stream = plan.spec.inputs[i].streams[c];
      const StreamLayout &in = network.streams[stream].layout;
      Region part{std::max<int64_t>(0, needed.channelBegin - offset),
                  std::min(in.plane.channels, needed.channelEnd - offset), needed.rowBegin, needed.rowEnd};
      ComponentParts component{int32_t(i), int32_t(c), ordinal, stream, offset, partsOf(in, part)};
      if (!component.parts.empty())
        row.components.push_back(std::move(component));
      offset += in.plane.channels;
    }
  }
  return row;
}

absl::Status KernelRows::roles(const KernelRow &row, SectionTable &sections, std::vector<format::Role> &out) const {
  if (plan.spec.state)
    return stateRoles(row, sections, out);
  return plan.spec.kind == KernelKind::Contraction ? contractionRoles(row, sections, out)
                                                   : columnRoles(row, sections, out);
}

} // namespace wsc::kernels
