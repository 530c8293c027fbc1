// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/roles/RoleClasses.h"

#include "compiler/kernels/programs/Send.h"
#include "compiler/kernels/roles/RowCover.h"

#include <map>
#include <string>

namespace wsc::kernels {

namespace {

// What matters of a group or slice: equal structure, and numbers that may be in progression.
struct Shape {
  std::string structure;
  std::vector<int64_t> numbers;

  void fix(std::initializer_list<int64_t> values) {
    structure.append(reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(int64_t));
  }
  // A count of words that is a number where there are any; without any, an instruction less.
  void vary(int64_t count) {
    fix({count == 0});
    numbers.push_back(count);
  }
};

// The lanes that meet at a core, by the slice's choice: blocks of each source, and the block that it sends.
struct LaneBlocks {
  std::vector<std::vector<int64_t>> taken; // by kernel and source
  std::vector<int64_t> sent;               // by kernel; -1: none
  int64_t sentForCoLocated = -1;           // -1: none
  auto operator<=>(const LaneBlocks &) const = default;
};

class Classifier {
public:
  Classifier(const NetworkPlan &network, const std::vector<KernelRows> &together)
      : network(network), kernels(together), rows(together.front()), coLocated(rows.coLocatedPlan()) {}

  std::vector<RoleClass> run() {
    struct SliceClass {
      RowPart part;
      LaneBlocks lanes;
      std::vector<RowPoint> slices;
    };
    std::vector<SliceClass> classes;
    std::map<std::string, size_t> byStructure;
    for (int64_t slice = 0; slice < rows.slices(); ++slice)
      for (const RowPart &part : rows.parts(slice)) {
        Shape shape = sliceShape(part, slice);
        LaneBlocks lanes = laneBlocks(part, slice);
        auto [it, isNew] = byStructure.try_emplace(shape.structure, classes.size());
        if (isNew)
          classes.push_back({part, std::move(lanes), {}});
        classes[it->second].slices.push_back({int32_t(slice), size_t(slice), std::move(shape.numbers)});
      }
    std::vector<RoleClass> result;
    for (SliceClass &sliceClass : classes) {
      const std::vector<RowLattice> &groups = groupLattices(workOf(sliceClass.part), sliceClass.lanes);
      for (const RowLattice &slices : coverRows(std::move(sliceClass.slices), 3 - usedLevels(groups)))
        for (const RowLattice &group : groups)
          result.push_back(product(sliceClass.part, group, slices));
    }
    return result;
  }

private:
  // Feeders take lanes and pass the words on; compute cores place them in their tile, whatever lanes they came on.
  struct Work {
    bool takes, places;
    auto operator<=>(const Work &) const = default;
  };
  static Work workOf(const RowPart &part) {
    return {part.kind == RowPart::Kind::Feeder || part.kind == RowPart::Kind::Column || part.feeds,
            part.kind != RowPart::Kind::Feeder};
  }

  static RoleClass product(const RowPart &part, const RowLattice &groups, const RowLattice &slices) {
    RoleClass result{part, int64_t(groups.first.item), int64_t(slices.first.item), {}};
    for (int level = 2; level >= 0; --level)
      if (const RowLattice::Level &step = groups.levels[level]; step.count > 1)
        result.steps.push_back({step.count, step.rowStep, step.slope.front(), 0});
    for (int level = 2; level >= 0; --level)
      if (const RowLattice::Level &step = slices.levels[level]; step.count > 1)
        result.steps.push_back({step.count, step.rowStep, 0, step.rowStep});
    return result;
  }

  static void fixSender(Shape &shape, const ColumnSender &sender, int64_t slice) {
    const int64_t towards = slice < sender.exitSlice ? 1 : slice > sender.exitSlice ? -1 : 0;
    shape.fix({sender.block, slice == sender.firstSlice, slice == sender.lastSlice, towards});
  }

  // Of the co-located kernel, in a slice.
  ColumnSender coLocatedSender(int64_t slice) const {
    return columnSender(*coLocated, network.streams[size_t(coLocated->spec.outStream)].layout,
                        rows.neededChannels(0, slice, 0).channelBegin);
  }
  bool sendsForCoLocated(const RowPart &part) const {
    return coLocated && (part.kind == RowPart::Kind::Feeder || part.feeds);
  }

  Shape sliceShape(const RowPart &part, int64_t slice) const {
    Shape shape;
    const int64_t share = part.share;
    shape.fix({int64_t(part.kind), share, part.begin, part.end, part.channels, part.feeds});
    if (part.kind == RowPart::Kind::Chain)
      shape.fix({part.first, part.sendsOn});
    if (part.kind == RowPart::Kind::End)
      shape.fix({part.block, slice % 2, slice == 0, slice + 1 == rows.slices()});
    if (sendsForCoLocated(part))
      fixSender(shape, coLocatedSender(slice), slice);
    for (const KernelRows &kernel : kernels) {
      if (part.kind == RowPart::Kind::Column) {
        Region out = kernel.outChannels(slice, share);
        shape.fix({out.channels()});
        shape.numbers.push_back(out.channelBegin);
        if (!kernel.outLayout().silent)
          fixSender(shape, columnSender(kernel.kernel(), kernel.outLayout(), out.channelBegin), slice);
      }
      for (const Source &source : kernel.sources()) {
        Region needed = kernel.neededChannels(source.input, slice, share);
        shape.fix({needed.channels()});
        const StreamLayout &layout = network.streams[source.stream].layout;
        std::vector<BlockChannels> blocks = kernel.blocks(source, slice, share);
        shape.fix({int64_t(blocks.size())});
        for (const BlockChannels &channels : blocks) {
          shape.fix({channels.channelEnd - channels.channelBegin});
          if (workOf(part).places)
            shape.numbers.push_back(source.channelOffset + channels.channelBegin - needed.channelBegin);
          if (!workOf(part).takes)
            continue;
          shape.fix({channels.block});
          const int64_t before = channels.channelBegin - layout.blockBegin[channels.block];
          const int64_t after = layout.blockBegin[channels.block + 1] - channels.channelEnd;
          shape.fix({before + after == 0});
          shape.vary(before);
          shape.vary(after);
        }
      }
    }
    return shape;
  }

  Shape groupShape(Work work, int64_t group) const {
    Shape shape;
    shape.numbers.push_back(group); // first: the step in groups is its slope
    for (const KernelRows &kernel : kernels) {
      shape.fix({kernel.outRows(group).rows()});
      for (const Source &source : kernel.sources()) {
        Region needed = kernel.neededRows(source.input, group);
        int64_t anchor = kernel.tileAnchor(source.input, group), total = 0;
        const StreamLayout &layout = network.streams[source.stream].layout;
        std::vector<TileRows> tiles = kernel.tiles(source, group);
        shape.fix({int64_t(tiles.size())});
        for (const TileRows &tile : tiles) {
          int64_t count = tile.rowEnd - tile.rowBegin, height = layout.tileEnd(tile.tile) - layout.tileBegin(tile.tile);
          total += count;
          if (kernel.kernel().mapping.streamed) // a FIFO for each tile, in the order of rows
            shape.fix({count, tile.rowBegin - anchor});
          shape.numbers.push_back(count);
          if (work.takes) {
            shape.fix({height, count == height});
            shape.vary(tile.rowBegin - layout.tileBegin(tile.tile));
            shape.vary(layout.tileEnd(tile.tile) - tile.rowEnd);
          }
          if (work.places)
            shape.numbers.push_back(tile.rowBegin - anchor);
        }
        shape.fix({total});
        if (work.places) {
          shape.vary(needed.rowBegin - anchor); // padding above and below
          shape.vary(anchor + kernel.tileHeight(source.input, group) - needed.rowEnd);
        }
      }
    }
    return shape;
  }

  LaneBlocks laneBlocks(const RowPart &part, int64_t slice) const {
    LaneBlocks lanes;
    if (part.kind == RowPart::Kind::End)
      lanes.sent.push_back(part.block);
    if (sendsForCoLocated(part))
      lanes.sentForCoLocated = coLocatedSender(slice).block;
    if (!workOf(part).takes)
      return lanes;
    for (const KernelRows &kernel : kernels) {
      for (const Source &source : kernel.sources()) {
        std::vector<int64_t> &blocks = lanes.taken.emplace_back();
        for (const BlockChannels &channels : kernel.blocks(source, slice, part.share))
          blocks.push_back(channels.block);
      }
      if (part.kind == RowPart::Kind::Column)
        lanes.sent.push_back(
            kernel.outLayout().silent
                ? -1
                : columnSender(kernel.kernel(), kernel.outLayout(), kernel.outChannels(slice, part.share).channelBegin)
                      .block);
    }
    return lanes;
  }

  void fixColour(Shape &shape, int32_t stream, int64_t tile, int64_t block) const {
    const StreamPlan &plan = network.streams[stream];
    if (!plan.laneColours.empty())
      shape.fix({plan.laneColours[tile * plan.layout.numBlocks() + block]});
  }

  void fixColours(Shape &shape, const LaneBlocks &lanes, int64_t group) const {
    size_t source = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (!lanes.taken.empty())
        for (const Source &taken : kernels[k].sources()) {
          const std::vector<int64_t> &blocks = lanes.taken[source++];
          for (const TileRows &tile : blocks.empty() ? std::vector<TileRows>() : kernels[k].tiles(taken, group))
            for (int64_t block : blocks)
              fixColour(shape, taken.stream, tile.tile, block);
        }
      if (k < lanes.sent.size() && lanes.sent[k] >= 0)
        fixColour(shape, kernels[k].kernel().spec.outStream, group, lanes.sent[k]);
    }
    if (lanes.sentForCoLocated >= 0)
      fixColour(shape, coLocated->spec.outStream, group, lanes.sentForCoLocated);
  }

  const std::vector<RowLattice> &groupLattices(Work work, const LaneBlocks &lanes) {
    auto [it, isNew] = latticesOf.try_emplace({work, lanes});
    if (!isNew)
      return it->second;
    std::vector<Shape> &shapes = groupShapes[work];
    for (int64_t group = int64_t(shapes.size()); group < rows.numGroups(); ++group)
      shapes.push_back(groupShape(work, group));
    std::vector<std::vector<RowPoint>> classes;
    std::map<std::string, size_t> byStructure;
    for (int64_t group = 0; group < rows.numGroups(); ++group) {
      Shape shape = shapes[group];
      fixColours(shape, lanes, group);
      auto [known, isNewClass] = byStructure.try_emplace(std::move(shape.structure), classes.size());
      if (isNewClass)
        classes.emplace_back();
      classes[known->second].push_back({rows.groupBegin(group), size_t(group), std::move(shape.numbers)});
    }
    for (std::vector<RowPoint> &points : classes)
      for (RowLattice &lattice : coverRows(std::move(points), 2))
        it->second.push_back(std::move(lattice));
    return it->second;
  }

  const NetworkPlan &network;
  const std::vector<KernelRows> &kernels;
  const KernelRows &rows;
  const KernelPlan *coLocated; // for which feeders send
  std::map<Work, std::vector<Shape>> groupShapes;
  std::map<std::pair<Work, LaneBlocks>, std::vector<RowLattice>> latticesOf;
};

} // namespace

std::vector<RoleClass> roleClasses(const NetworkPlan &network, const std::vector<KernelRows> &together) {
  return Classifier(network, together).run();
}

} // namespace wsc::kernels
