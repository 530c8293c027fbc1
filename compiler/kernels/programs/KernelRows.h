// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of one kernel, row by row.
//
// Common to all kernels: each core of column 0 has one *ingest* thread per stream it needs, which takes its part of the
// lanes into a FIFO (the rest of the lane's words is filtered out, Ingest.h); a *main* thread that works on one tile at
// a time; and a *send* thread that moves finished elements from a FIFO onto the kernel's lane. FIFOs decouple samples,
// so a core works on one sample while it receives the next and sends the one before.
//
// Contraction (convolution as implicit GEMM, weights resident): rows are (tile, channel slice), columns are slices of
// output channels. Column 0 only feeds: it applies elementwise operations on the input, if there are any
// (KernelSpec::inputOps), and multicasts its slice of the input along the row. A compute core keeps
// weights[ci][kh][kw][co] and accumulates acc[co][h][w] with one multiply-add instruction per tap over co × h × w
// elements; partial sums travel along the column from both ends towards the slice where the column's channel block ends
// (`endSlice`), each core adding its own word by word; the core there applies the elementwise epilogue and gathers
// along its row onto the lane. Where issue slots suffice, the feeder is a compute core as well, of fewer channels
// (Mapping::feederChannels): it keeps what it multicasts.
//   cycles per core and sample ≈ ci·kh·kw·(setup + co·h·w/rate) + |x| + 2·co·h·w;  reduce latency ≈ slices · relay.
//
// Window (pooling, depthwise convolution), elementwise and softmax kernels (*column kernels*): rows are (tile, channel
// slice), each core computes its own elements. Where one column is too slow they take several, each with a range of
// channels of its own (`channelsPerColumn`), cut into slices alike.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "compiler/kernels/programs/RoleBuilder.h"

#include "absl/status/statusor.h"

#include <map>
#include <vector>

namespace wsc::kernels {

// Raw sections of one executable, in order of first use.
class SectionTable {
public:
  int32_t add(emit::SectionRecipe recipe);
  const std::vector<emit::SectionRecipe> &recipes() const { return list; }
  std::vector<emit::SectionRecipe> take() { return std::move(list); }

private:
  std::vector<emit::SectionRecipe> list;
  std::map<std::string, int32_t> byName;
};

// A stream that a kernel takes, alone or as a part of a concatenation.
struct Source {
  int32_t input = 0, component = 0; // of KernelSpec::inputs
  int32_t ordinal = 0;              // counted over all inputs of `taker`
  int32_t taker = 0;                // the kernel, or its co-located kernel: whose FIFOs and turns these are
  int32_t stream = 0;
  int64_t channelOffset = 0, columnOffset = 0; // of the stream inside the concatenation
  Columns columns = {};                        // of the stream's, those that are taken off its lanes
};

// The part of one source that a row needs.
struct ComponentParts : Source {
  std::vector<LanePart> parts = {};                           // regions in the stream's own coordinates
  int64_t lines() const;                                      // channels × rows of all parts
  int64_t words() const { return lines() * columns.count(); } // per sample
  int64_t firstChannel() const;                               // of all parts, in the concatenation
  // Where its columns lie in the concatenation.
  Columns place() const { return {columnOffset + columns.begin, columnOffset + columns.end}; }
};

// What a contraction's feeder sends at a time: some channels of one of the parts.
struct StagedPart {
  size_t component = 0, part = 0; // of KernelRow::components, ComponentParts::parts
  Region region;                  // in the stream's own coordinates
  int64_t channelOffset = 0;      // of the stream inside the concatenation
};
struct InputStage {
  int64_t channelBegin = 0, channelEnd = 0; // in the concatenation
  std::vector<StagedPart> parts;
};

// Where row (group, slice) of a kernel lies and what it needs.
struct KernelRow {
  int64_t group = 0, slice = 0, share = 0;
  int32_t row = 0;
  Region out;                 // output channels are meaningful for column kernels only
  std::vector<Region> needed; // per input, clipped to the plane, in the concatenation's coordinates
  std::vector<ComponentParts> components;
};

// One of the programs of a row: that of its feeder, of a run of its compute columns, or of a one-column kernel's core.
// Which parts a row has depends on its slice alone.
struct RowPart {
  enum class Kind : uint8_t {
    Feeder,
    Chain,  // adds to partial sums and passes them on
    End,    // where they end, and results leave for the lane of `block`
    Column, // a core of a column kernel
  } kind = Kind::Column;
  int64_t share = 0;                              // see KernelRows
  int64_t begin = 0, end = 1, channels = 0;       // columns [begin, end), output channels of each; not Feeder
  int64_t channelBegin = 0;                       // first output channel of the first column; not Feeder
  bool first = false;                             // Chain: nothing comes in
  int32_t sendsOn = 0;                            // Chain: of KernelColours::chain; takes from the other
  int64_t block = -1;                             // End
  bool atBlockEdge = false, aloneInBlock = false; // End: the first or last column of its block; both
  bool feeds = false;                             // Chain, End: is the row's feeder, too
  bool operator==(const RowPart &) const = default;
};

// Plane of input `input` after concatenation.
Plane inputPlane(const NetworkPlan &network, const KernelSpec &spec, size_t input);
// The columns of an input's plane that a kernel works with: of a contraction those that its windows reach, unless they
// leave out so few that it costs less to hand on all. And those that it takes off lanes: where that leaves out few of a
// line, words come line by line, a set-up or two apart, and the lane's other receivers wait.
Columns takenColumns(const KernelSpec &spec, const Plane &plane);
Columns columnsOffLanes(const KernelSpec &spec, const Plane &plane);

// The lanes that leave on a row of a group: words of all, and of the longest; of the first group, by row.
struct RowLanes {
  int64_t lanes = 0, words = 0, longest = 0;
};
std::map<int64_t, RowLanes> lanesByRow(const NetworkPlan &network, const KernelPlan &plan);

// Where a contraction makes a channel block of its output: columns [firstColumn, endColumn) of a band; its sums end in
// `slice`.
struct BlockSite {
  int64_t band = 0, firstColumn = 0, endColumn = 0, slice = 0;
};
BlockSite blockSite(const KernelPlan &plan, const StreamLayout &layout, int64_t block);

// A kernel's output channels are divided into *shares*: the bands of a contraction, one below the other in a group's
// rows, and the columns of other kernels, side by side. Each share has the same slices.
class KernelRows {
public:
  KernelRows(const target::Target &target, const NetworkPlan &network, int32_t kernelIndex);

  const KernelPlan &kernel() const { return plan; }
  const StreamLayout &outLayout() const { return network.streams[plan.spec.outStream].layout; }
  int64_t numGroups() const { return outLayout().numTiles(); }
  int64_t slices() const { return plan.mapping.slices; }
  int32_t groupBegin(int64_t group) const { return int32_t(network.grid.groupBegin(group, numGroups())); }

  const std::vector<Source> &sources() const { return sourceList; }
  // Of input `input` after concatenation.
  const Plane &inputPlane(size_t input) const { return planes[input]; }
  // Of a contraction's input, those that its rows take.
  Columns takenColumns() const { return kernels::takenColumns(plan.spec, planes[0]); }
  // What a row needs of an input, clipped to its plane: rows by group, channels by slice (and share of a column
  // kernel). Fields of the other are 0.
  Region neededRows(size_t input, int64_t group) const;
  Region neededChannels(size_t input, int64_t slice, int64_t share) const;
  // What a row makes.
  Region outRows(int64_t group) const;
  Region outChannels(int64_t slice, int64_t share) const; // column kernels
  // The tiles of a source that a group takes, and the blocks that a slice takes.
  std::vector<TileRows> tiles(const Source &source, int64_t group) const;
  std::vector<BlockChannels> blocks(const Source &source, int64_t slice, int64_t share) const;
  // The same one by one, ascending.
  template <typename Visit> void forEachTile(const Source &source, int64_t group, Visit visit) const {
    const Region rows = neededRows(source.input, group);
    kernels::forEachTile(network.streams[source.stream].layout, rows.rowBegin, rows.rowEnd, visit);
  }
  template <typename Visit> void forEachBlock(const Source &source, int64_t slice, int64_t share, Visit visit) const {
    const StreamLayout &layout = network.streams[source.stream].layout;
    const Region needed = neededChannels(source.input, slice, share);
    kernels::forEachBlock(layout, std::max<int64_t>(0, needed.channelBegin - source.channelOffset),
                          std::min(layout.plane.channels, needed.channelEnd - source.channelOffset), visit);
  }
  // First row of the padded tile that a core works on, in the coordinates of the input's plane, and its rows.
  int64_t tileAnchor(size_t input, int64_t group) const;
  int64_t tileHeight(size_t input, int64_t group) const;

  // A contraction's input in the order in which its rows take it and compute with it (InputStages.cpp). Not streamed.
  std::vector<InputStage> inputStages(const KernelRow &row) const;
  std::vector<RowPart> parts(int64_t slice) const;
  // A feeder's threads: one that feeds, one that sends results if it makes any, one that sends for its co-located
  // kernel, if that has receivers, then those that take lanes in. By default as many before these as there can be.
  int firstIngestThread(bool sendsResults) const { return 1 + sendsResults + (coLocatedPlan() != nullptr); }
  int firstIngestThread() const { return firstIngestThread(isContraction() && plan.mapping.feederComputes()); }
  // The co-located kernel whose words the feeders send on; none: there is none, or nobody else takes them.
  const KernelPlan *coLocatedPlan() const;
  int64_t shares() const { return isContraction() ? plan.mapping.bands : plan.mapping.columns; }
  // Where a share takes its lanes: rows below its group's first, columns east of the kernel's first.
  int64_t rowOfShare(int64_t share) const { return isContraction() ? share * plan.mapping.slices : 0; }
  int64_t columnOfShare(int64_t share) const { return isContraction() ? 0 : share; }
  KernelRow row(int64_t group, int64_t slice, int64_t share = 0) const;
  // The program of one part of a row. `sections` receives the constants it views.
  absl::StatusOr<format::Role> role(const KernelRow &row, const RowPart &part, SectionTable &sections) const;
  // Appends the roles of all parts of a row.
  absl::Status roles(int64_t group, int64_t slice, SectionTable &sections, std::vector<format::Role> &out) const;

private:
  bool isContraction() const { return plan.spec.kind == KernelKind::Contraction; }
  void findLeaving();
  // Multiply-adds of a core with one channel, for so many rows of output.
  int64_t channelCycles(int64_t rows) const;
  std::vector<RowPart> columnParts(int64_t slice) const;
  void addComputeParts(int64_t slice, int64_t block, std::vector<RowPart> &parts) const;
  absl::StatusOr<format::Role> feederRole(const KernelRow &row, SectionTable &sections) const;
  absl::StatusOr<format::Role> computeRole(const KernelRow &row, const RowPart &part, SectionTable &sections) const;
  // All that happens on the variable's core in this row, by this and other kernels of the network.
  absl::StatusOr<format::Role> stateRole(const KernelRow &row, SectionTable &sections) const;
  absl::StatusOr<format::Role> columnRole(const KernelRow &row, SectionTable &sections) const;

  const target::Target &target;
  const NetworkPlan &network;
  const KernelPlan &plan;
  int32_t kernelIndex;
  std::vector<Plane> planes;
  std::vector<Source> sourceList;
  int64_t leaving = 0;    // words of results over the links of a row, at most; contractions
  bool sumsFirst = false; // adding up sums comes before sending: that takes less than half of the time they compute
};

// Derives lane rows from mappings and blocks; needed after these change. Of one stream, or of all.
void layOutLanes(NetworkPlan &network, int32_t stream);
void layOutLanes(NetworkPlan &network);

} // namespace wsc::kernels
