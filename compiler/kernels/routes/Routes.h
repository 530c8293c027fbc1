// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routes of a placed network.
//
// Inside a contraction's rectangle: one colour multicasts along rows, two alternate down the chain reduce. Between
// kernels each lane is a *comb*: a gather (along the row where a contraction's sums end, or along a column of another
// kernel), a trunk east on the lane's row, and at each consumer's column a vertical branch that delivers to the rows
// that need the lane. The branch may also leave the trunk some columns west or east of the consumer's
// (KernelPlan::turns); then each row that takes the lane brings it to the core on links of its own, and vertical links
// of several columns share a kernel's lanes. Consumers usually lie east; a state kernel, whose column is given, may
// also send west on a second arm of the trunk. A consumer east of another hangs on the same trunk, so a fork costs no
// extra words.
#pragma once

#include "compiler/kernels/programs/KernelRows.h"
#include "compiler/solver/Colouring.h"

#include <algorithm>

namespace wsc::kernels {

// One lane's way over the mesh.
struct LaneRoute {
  int32_t stream = 0, lane = 0;
  int32_t row = 0; // of the trunk
  int32_t trunkBegin = 0,
          trunkEnd = 0;  // columns the trunk covers, inclusive; trunkBegin is where words first flow east
  int32_t trunkWest = 0; // one-column kernel: how far the trunk also flows west; trunkBegin: not at all
  bool fromPort = false, toPort = false;         // enters at the west edge, leaves at the east edge
  int32_t gatherColBegin = 0, gatherColEnd = -1; // contraction: sending columns, inclusive; else the end is -1
  int32_t gatherRowBegin = 0, gatherRowEnd = 0;  // column kernel: sending rows, inclusive; `row` is among them
  // Rows [begin, end].
  struct Rows {
    int32_t begin = 0, end = 0;
  };
  struct Branch {
    int32_t col = 0;          // of the consumer
    int32_t via = 0;          // where it leaves the trunk
    std::vector<Rows> takers; // that take the lane, ascending, none touching the next
    int32_t westEnd() const { return std::min(col, via); }
    int32_t eastEnd() const { return std::max(col, via); }
    int32_t firstRow() const { return takers.front().begin; }
    int32_t lastRow() const { return takers.back().end; }
    bool takes(int32_t row) const;
  };
  std::vector<Branch> branches; // by column
  // Whether branch `index` needs no vertical link: only the trunk's row takes the lane.
  bool endsOnTrunk(size_t index) const;
  // The outermost columns in which branch `index` can leave the trunk: east of the senders and of the branch before it,
  // west of the one after it. Only the branch's own column on the western arm.
  int32_t leastVia(size_t index) const;
  int32_t mostVia(size_t index, int32_t meshCols) const;
};

// Every lane of every stream, in order of stream and lane; or of some streams, in the order given.
std::vector<LaneRoute> laneRoutes(const target::Target &target, const NetworkPlan &network);
std::vector<LaneRoute> laneRoutes(const target::Target &target, const NetworkPlan &network,
                                  const std::vector<int32_t> &streams);

// Adds the branches by which a share of a kernel takes the lanes of a source, whose first route `routes` points to. A
// block is taken by a run of slices, the same in every group, for slices take ascending channels.
void addBranches(const KernelRows &rows, const Source &source, int64_t share, const StreamLayout &layout,
                 LaneRoute *routes);
// Sorts a branch's takers and joins those that touch.
void tidy(LaneRoute::Branch &branch);

// The colouring problem of a placed network: first three items per contraction (row, chain even, chain odd), in kernel
// order, then one item per lane route.
solver::colouring::Problem colouringProblem(const target::Target &target, const NetworkPlan &network,
                                            const std::vector<LaneRoute> &lanes);
// Colours for the items of colouringProblem(). Lanes of a stream take the colours of a palette in turn where colours
// suffice for that: what a core takes and sends then recurs from group to group, so that groups share roles. Else each
// lane takes what is free, or with `allInTurn` none. Errors: those of the solver.
absl::StatusOr<solver::colouring::Solution> colourLanes(const NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                                                        const solver::colouring::Problem &problem,
                                                        bool allInTurn = false);
// Whether colourLanes() finds colours: OK, or its error. Where first fit finds some for each lane apart, which is the
// last that colourLanes() tries, it need not be asked.
absl::Status checkColours(const NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                          const solver::colouring::Problem &problem);
// Writes the colours of a solution into the plan.
void applyColours(NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                  const solver::colouring::Solution &solution);

// Router settings, I/O bindings and nets of a coloured network.
void emitRoutes(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &lanes,
                format::Configuration &configuration);

} // namespace wsc::kernels
