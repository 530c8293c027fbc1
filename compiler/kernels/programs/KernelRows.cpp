// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Geometry of a kernel's rows: which output tile and channel slice a row makes and which parts of which lanes it needs
// for that.
#include "compiler/kernels/programs/KernelRows.h"

namespace wsc::kernels {

int64_t ComponentParts::lines() const {
  int64_t total = 0;
  for (const LanePart &part : parts)
    total += part.region.channels() * part.region.rows();
  return total;
}

int64_t ComponentParts::firstChannel() const {
  int64_t first = parts.front().region.channelBegin;
  for (const LanePart &part : parts)
    first = std::min(first, part.region.channelBegin);
  return channelOffset + first;
}

Plane inputPlane(const NetworkPlan &network, const KernelSpec &spec, size_t input) {
  Plane plane;
  const bool alongWidth = spec.inputs[input].alongWidth;
  plane.channels = plane.width = 0;
  for (int32_t stream : spec.inputs[input].streams) {
    const Plane &part = network.streams[stream].layout.plane;
    plane.channels = alongWidth ? part.channels : plane.channels + part.channels;
    plane.rows = part.rows;
    plane.width = alongWidth ? plane.width + part.width : part.width;
  }
  return plane;
}

Columns takenColumns(const KernelSpec &spec, const Plane &plane) {
  constexpr int64_t kWorthLeavingOut = 4; // one of so many columns
  const Contraction &c = spec.contraction;
  if (spec.kind != KernelKind::Contraction)
    return {0, plane.width};
  Columns taken;
  taken.begin = std::clamp<int64_t>(-c.padLeft, 0, plane.width);
  taken.end = std::clamp((spec.out.width - 1) * c.strideW - c.padLeft + (c.kernelW - 1) * c.dilationW + 1, taken.begin,
                         plane.width);
  return (plane.width - taken.count()) * kWorthLeavingOut < plane.width ? Columns{0, plane.width} : taken;
}

Columns columnsOffLanes(const KernelSpec &spec, const Plane &plane) {
  constexpr int64_t kFew = 24; // columns: two moves more for each line take about as long
  const Columns taken = takenColumns(spec, plane);
  return plane.width - taken.count() < kFew ? Columns{0, plane.width} : taken;
}

KernelRows::KernelRows(const target::Target &target, const NetworkPlan &network, int32_t kernelIndex)
    : target(target), network(network), plan(network.kernels[kernelIndex]), kernelIndex(kernelIndex) {
  // A host takes what its co-located kernel joins.
  const int32_t taker = plan.coLocated < 0 ? kernelIndex : plan.coLocated;
  const std::vector<KernelInput> &inputs = network.kernels[size_t(taker)].spec.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    planes.push_back(kernels::inputPlane(network, network.kernels[size_t(taker)].spec, i));
    const Columns taken = columnsOffLanes(plan.spec, planes.back());
    int64_t channels = 0, columns = 0; // of the streams before
    for (size_t c = 0; c < inputs[i].streams.size(); ++c) {
      const Plane &plane = network.streams[inputs[i].streams[c]].layout.plane;
      const Columns own{std::clamp<int64_t>(taken.begin - columns, 0, plane.width),
                        std::clamp<int64_t>(taken.end - columns, 0, plane.width)};
      sourceList.push_back(
          {int32_t(i), int32_t(c), int32_t(sourceList.size()), taker, inputs[i].streams[c], channels, columns, own});
      (inputs[i].alongWidth ? columns : channels) += inputs[i].alongWidth ? plane.width : plane.channels;
    }
  }
  if (isContraction())
    findLeaving();
}

const KernelPlan *KernelRows::coLocatedPlan() const {
  const KernelPlan *coLocated = plan.coLocated < 0 ? nullptr : &network.kernels[size_t(plan.coLocated)];
  return coLocated && !network.streams[size_t(coLocated->spec.outStream)].layout.silent ? coLocated : nullptr;
}

Region KernelRows::outRows(int64_t group) const {
  return {0, 0, outLayout().tileBegin(group), outLayout().tileEnd(group)};
}

Region KernelRows::outChannels(int64_t slice, int64_t share) const {
  const Mapping &m = plan.mapping;
  int64_t column = share * m.channelsPerColumn, begin = column + slice * m.channelsPerSlice;
  int64_t end = std::min(column + m.channelsPerColumn, plan.spec.out.channels);
  return {std::min(begin, end), std::min(begin + m.channelsPerSlice, end), 0, 0};
}

int64_t KernelRows::tileAnchor(size_t input, int64_t group) const {
  int64_t outBegin = outLayout().tileBegin(group);
  if (plan.spec.kind == KernelKind::Contraction)
    return outBegin * plan.spec.contraction.strideH - plan.spec.contraction.padTop;
  if (plan.spec.kind == KernelKind::Window)
    return outBegin * plan.spec.window.strideH - plan.spec.window.padTop;
  return neededRows(input, group).rowBegin;
}

int64_t KernelRows::tileHeight(size_t input, int64_t group) const {
  auto window = [&](const auto &w) {
    return (outRows(group).rows() - 1) * w.strideH + (w.kernelH - 1) * w.dilationH + 1;
  };
  if (plan.spec.kind == KernelKind::Contraction)
    return window(plan.spec.contraction);
  return plan.spec.kind == KernelKind::Window ? window(plan.spec.window) : neededRows(input, group).rows();
}

Region KernelRows::neededRows(size_t input, int64_t group) const {
  int64_t inputRows = planes[input].rows;
  Region out = outRows(group), rows;
  auto window = [&](int64_t strideH, int64_t padTop, int64_t kernelH, int64_t dilationH) {
    rows.rowBegin = std::clamp<int64_t>(out.rowBegin * strideH - padTop, 0, inputRows);
    rows.rowEnd =
        std::clamp((out.rowEnd - 1) * strideH - padTop + (kernelH - 1) * dilationH + 1, rows.rowBegin, inputRows);
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

Region KernelRows::neededChannels(size_t input, int64_t slice, int64_t share) const {
  if (plan.spec.kind == KernelKind::Window) { // whole groups
    const Region out = outChannels(slice, share);
    const Window &w = plan.spec.window;
    return {w.firstChannel + out.channelBegin / w.groupOut * w.groupIn,
            w.firstChannel + ceilDiv(out.channelEnd, w.groupOut) * w.groupIn, 0, 0};
  }
  if (plan.spec.kind != KernelKind::Contraction)
    return planes[input].channels == 1 ? Region{0, 1, 0, 0} : outChannels(slice, share); // one channel: broadcast
  int64_t begin = slice * plan.mapping.channelsPerSlice, total = planes[input].channels;
  return {std::min(begin, total), std::min(begin + plan.mapping.channelsPerSlice, total), 0, 0};
}

std::vector<TileRows> KernelRows::tiles(const Source &source, int64_t group) const {
  Region rows = neededRows(source.input, group);
  return tilesOf(network.streams[source.stream].layout, rows.rowBegin, rows.rowEnd);
}

std::vector<BlockChannels> KernelRows::blocks(const Source &source, int64_t slice, int64_t share) const {
  std::vector<BlockChannels> blocks;
  forEachBlock(source, slice, share, [&](const BlockChannels &channels) { blocks.push_back(channels); });
  return blocks;
}

KernelRow KernelRows::row(int64_t group, int64_t slice, int64_t share) const {
  KernelRow row;
  row.group = group;
  row.slice = slice;
  row.share = share;
  row.row = int32_t(groupBegin(group) + rowOfShare(share) + slice);
  row.out = outRows(group);
  if (plan.spec.kind != KernelKind::Contraction) {
    Region channels = outChannels(slice, share);
    row.out.channelBegin = channels.channelBegin;
    row.out.channelEnd = channels.channelEnd;
  }
  for (size_t i = 0; i < planes.size(); ++i) {
    Region needed = neededRows(i, group), channels = neededChannels(i, slice, share);
    needed.channelBegin = channels.channelBegin;
    needed.channelEnd = channels.channelEnd;
    row.needed.push_back(needed);
  }
  for (const Source &source : sourceList) {
    ComponentParts component{source};
    std::vector<BlockChannels> channels = blocks(source, slice, share);
    if (channels.empty())
      continue;
    for (const TileRows &rows : tiles(source, group))
      for (const BlockChannels &block : channels)
        component.parts.push_back(
            {rows.tile, block.block, {block.channelBegin, block.channelEnd, rows.rowBegin, rows.rowEnd}});
    if (!component.parts.empty())
      row.components.push_back(std::move(component));
  }
  return row;
}

BlockSite blockSite(const KernelPlan &plan, const StreamLayout &layout, int64_t block) {
  const Mapping &m = plan.mapping;
  int64_t bandChannels = m.bandChannels(), band = layout.blockBegin[block] / bandChannels;
  int64_t begin = band * bandChannels, first = block, end = block + 1; // blocks of the band
  while (first > 0 && layout.blockBegin[first - 1] >= begin)
    --first;
  while (end < layout.numBlocks() && layout.blockBegin[end] < begin + bandChannels)
    ++end;
  return {band, m.columnOf(layout.blockBegin[block] - begin), m.columnOf(layout.blockBegin[block + 1] - begin - 1) + 1,
          endSlice(block - first, end - first, m.slices)};
}

// The cores of one row of a column kernel; the last column may have fewer slices.
std::vector<RowPart> KernelRows::columnParts(int64_t slice) const {
  std::vector<RowPart> parts;
  for (int64_t column = 0; column < plan.mapping.columns; ++column) {
    RowPart part;
    part.share = part.begin = column;
    part.end = column + 1;
    part.channels = outChannels(slice, column).channels();
    part.channelBegin = outChannels(slice, column).channelBegin;
    if (part.channels > 0 || plan.mapping.columns == 1)
      parts.push_back(part);
  }
  return parts;
}

// Appends the compute columns of a block.
void KernelRows::addComputeParts(int64_t slice, int64_t block, std::vector<RowPart> &parts) const {
  const Mapping &m = plan.mapping;
  BlockSite site = blockSite(plan, outLayout(), block);
  RowPart part;
  part.share = site.band;
  part.kind = slice == site.slice ? RowPart::Kind::End : RowPart::Kind::Chain;
  if (part.kind == RowPart::Kind::Chain) { // down on chain[slice mod 2], up on the other
    part.first = slice == (slice < site.slice ? 0 : slices() - 1);
    part.sendsOn = int32_t((slice < site.slice ? slice : slice + 1) % 2);
  }
  for (int64_t column = site.firstColumn; column < site.endColumn; ++column) {
    part.begin = column;
    part.end = column + 1;
    part.feeds = m.feederComputes() && column == 0;
    part.channelBegin = site.band * m.bandChannels() + m.columnBegin(column);
    part.channels =
        std::min(m.columnBegin(column + 1) - m.columnBegin(column), plan.spec.out.channels - part.channelBegin);
    if (part.kind == RowPart::Kind::End) {
      part.block = block;
      part.atBlockEdge = column == site.firstColumn || column + 1 == site.endColumn;
      part.aloneInBlock = site.firstColumn + 1 == site.endColumn;
    }
    // Neighbours with the same program are one part; so are those of blocks whose sums flow the same way.
    RowPart longer = parts.empty() ? RowPart() : parts.back();
    longer.begin = part.begin;
    longer.end = part.end;
    longer.channelBegin = part.channelBegin;
    if (longer == part && !part.atBlockEdge)
      parts.back().end = part.end;
    else
      parts.push_back(part);
  }
}

std::vector<RowPart> KernelRows::parts(int64_t slice) const {
  if (!isContraction())
    return columnParts(slice);
  std::vector<RowPart> parts;
  for (int64_t block = 0; block < outLayout().numBlocks(); ++block) {
    int64_t band = blockSite(plan, outLayout(), block).band;
    if (!plan.mapping.feederComputes() && (parts.empty() || parts.back().share != band)) {
      RowPart feeder;
      feeder.kind = RowPart::Kind::Feeder;
      feeder.share = band;
      parts.push_back(feeder);
    }
    addComputeParts(slice, block, parts);
  }
  return parts;
}

absl::StatusOr<format::Role> KernelRows::role(const KernelRow &row, const RowPart &part, SectionTable &sections) const {
  if (plan.spec.state)
    return stateRole(row, sections);
  if (part.kind == RowPart::Kind::Column)
    return columnRole(row, sections);
  return part.kind == RowPart::Kind::Feeder ? feederRole(row, sections) : computeRole(row, part, sections);
}

absl::Status KernelRows::roles(int64_t group, int64_t slice, SectionTable &sections,
                               std::vector<format::Role> &out) const {
  for (const RowPart &part : parts(slice)) {
    auto made = role(row(group, slice, part.share), part, sections);
    if (!made.ok())
      return made.status();
    out.push_back(*std::move(made));
  }
  return absl::OkStatus();
}

} // namespace wsc::kernels
