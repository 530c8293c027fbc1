// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of one kernel, row by row.
//
// Common to all kernels: each core of column 0 has one *ingest* thread per stream it needs, which takes its part of the lanes into a FIFO (and drops the rest of the lane's
// words); a *main* thread that works on one tile at a time; and a *send* thread that moves finished elements from a FIFO onto the kernel's lane. FIFOs decouple samples, so a core
// works on one sample while it receives the next and sends the one before.
//
// Contraction (convolution as implicit GEMM, weights resident): rows are (tile, channel slice), columns are slices of output channels. Column 0
// only feeds: it multicasts its slice of the input along the row. A compute core keeps weights[ci][kh][kw][co] and accumulates acc[co][h][w] with one multiply-add instruction per tap over
// co × h × w elements; partial sums travel along the column from both ends towards the slice where the column's channel block ends (`endSlice`), each core adding its own
// word by word; the core there applies the elementwise epilogue and gathers along its row onto the lane.
//   cycles per core and sample ≈ ci·kh·kw·(setup + co·h·w/rate) + |x| + 2·co·h·w;  reduce latency ≈ slices · relay.
//
// Window (pooling, depthwise convolution), elementwise and softmax kernels are one column wide: rows are (tile, channel slice), each core computes its own elements.
#pragma once

#include "compiler/kernels/RoleBuilder.h"
#include "compiler/kernels/Spec.h"

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

// The part of one concatenated stream that a row needs.
struct ComponentParts {
  int32_t input = 0, component = 0; // of KernelSpec::inputs
  int32_t ordinal = 0;              // counted over all inputs
  int32_t stream = 0;
  int64_t channelOffset = 0;        // of the stream inside the concatenation
  std::vector<LanePart> parts;      // regions in the stream's own coordinates
  int64_t lines() const;            // channels × rows of all parts; times the plane's width: words per sample
};

// Where row (group, slice) of a kernel lies and what it needs.
struct KernelRow {
  int64_t group = 0, slice = 0;
  int32_t row = 0;
  Region out;                               // output channels are meaningful for column kernels only
  std::vector<Region> needed;               // per input, clipped to the plane, in the concatenation's coordinates
  std::vector<ComponentParts> components;
};

class KernelRows {
public:
  KernelRows(const target::Target &target, const NetworkPlan &network, int32_t kernelIndex);

  int64_t numGroups() const;
  int64_t slices() const { return plan.mapping.slices; }
  int64_t tileRows() const;

  KernelRow row(int64_t group, int64_t slice) const;
  // Appends the roles of one row. `sections` receives the constants they view.
  absl::Status roles(const KernelRow &row, SectionTable &sections, std::vector<format::Role> &out) const;

private:
  Region neededRows(const Region &out, int64_t inputRows) const;
  absl::Status contractionRoles(const KernelRow &row, SectionTable &sections, std::vector<format::Role> &out) const;
  // All that happens on the variable's core in this row, by this and other kernels of the network.
  absl::Status stateRoles(const KernelRow &row, SectionTable &sections, std::vector<format::Role> &out) const;
  absl::Status columnRoles(const KernelRow &row, SectionTable &sections, std::vector<format::Role> &out) const;

  const target::Target &target;
  const NetworkPlan &network;
  const KernelPlan &plan;
  int32_t kernelIndex;
};

// Plane of input `input` after concatenation.
Plane inputPlane(const NetworkPlan &network, const KernelSpec &spec, size_t input);

} // namespace wsc::kernels
