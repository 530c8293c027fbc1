// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wafer-size, wafer-place, wafer-route: read the network, let a solver decide, write the decision back.
#include "compiler/kernels/mapping/Embed.h"
#include "compiler/kernels/mapping/Generate.h"
#include "compiler/kernels/mapping/MapNetwork.h"
#include "compiler/kernels/mapping/PlaceNetwork.h"
#include "compiler/kernels/network/StateLayout.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "passes/wafer/NetworkIR.h"
#include "passes/wafer/Passes.h"
#include "passes/wafer/SplitKernels.h"

#include "llvm/Support/Debug.h"

#include <set>

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_SIZEKERNELS
#define GEN_PASS_DEF_PLACEKERNELS
#define GEN_PASS_DEF_ROUTESTREAMS
#include "passes/wafer/Passes.h.inc"

namespace {

/// Loads the target and reads the network, then runs `decide` on the mesh of sound rows and columns; false after a
/// diagnostic.
bool decideOn(func::FuncOp func, const std::string &targetName, const std::string &defects, Phase phase,
              llvm::function_ref<absl::Status(const target::Target &, NetworkIR &)> decide) {
  auto mesh = kernels::loadUsableMesh(targetName, defects);
  if (!mesh.ok()) {
    func.emitError(std::string(mesh.status().message()));
    return false;
  }
  auto network = readNetwork(func, phase);
  if (failed(network) || failed(requirePlaces(func, network->plan)))
    return false;
  if (absl::Status status = decide(mesh->target, *network); !status.ok()) {
    func.emitError(std::string(status.message()));
    return false;
  }
  return true;
}

/// Notes the busiest link of a placed network and the length of its wires for reports.
void noteLinks(func::FuncOp func, const target::Target &machine, const kernels::NetworkPlan &plan) {
  const kernels::NetworkLoads loads = kernels::networkLoads(machine, plan, kernels::laneRoutes(machine, plan));
  const kernels::LinkLoad link = kernels::busiestLink(loads);
  Builder builder(func.getContext());
  func->setAttr(WaferDialect::getLinkAttrName(), builder.getStringAttr(link.describe()));
  func->setAttr(WaferDialect::getLinkWordsAttrName(), builder.getI64IntegerAttr(link.words));
  func->setAttr(WaferDialect::getWordHopsAttrName(), builder.getI64IntegerAttr(kernels::wordHopsOf(loads)));
}

void tellPlaces(const kernels::NetworkPlan &plan) {
  for (const kernels::KernelPlan &kernel : plan.kernels)
    llvm::dbgs() << kernel.spec.name << " lies at column " << kernel.placement.col << "\n";
}

void tellRoutes(const kernels::NetworkPlan &plan) {
  std::set<int> colours;
  for (const kernels::StreamPlan &stream : plan.streams)
    colours.insert(stream.laneColours.begin(), stream.laneColours.end());
  llvm::dbgs() << "lanes take " << colours.size() << " colours\n";
  for (const kernels::KernelPlan &kernel : plan.kernels)
    for (const std::vector<int32_t> &turns : kernel.turns)
      if (llvm::any_of(turns, [](int32_t turn) { return turn != 0; }))
        llvm::dbgs() << "lanes of a stream turn beside the columns of " << kernel.spec.name << "\n";
}

struct SizeKernelsPass : impl::SizeKernelsBase<SizeKernelsPass> {
  using SizeKernelsBase::SizeKernelsBase;
  SizeKernelsPass(SizeKernelsOptions options, kernels::MappingTimer timer, std::function<bool()> cancelled)
      : SizeKernelsBase(std::move(options)), timer(std::move(timer)), cancelled(std::move(cancelled)) {}
  void runOnOperation() override {
    // Attempts may put kernels in that only pass words on; a network settles in a few. Kernels are cut once, and are
    // whole again if that brings too little.
    constexpr int kMostInsertions = 4;
    State state;
    state.mayCut = !equalColumns;
    int insertions = 0; // since kernels were cut or made whole
    for (;;) {
      switch (attempt(state, insertions < kMostInsertions)) {
      case Attempt::Failed:
        return signalPassFailure();
      case Attempt::Sized:
        return;
      case Attempt::Inserted:
        ++insertions;
        break;
      case Attempt::CutOrRestored:
        insertions = 0;
        break;
      }
    }
  }

private:
  // What sizing the network once came to.
  enum class Attempt {
    Failed,        // after a diagnostic
    Sized,         // the sizes are written
    Inserted,      // kernels that pass words on are in the network, which is to be sized again
    CutOrRestored, // so it is with kernels cut into parts, or whole again
  };

  struct State {
    kernels::CandidateCache cache;
    OwningOpRef<func::FuncOp> whole; // with no kernel cut, where some are
    int64_t ofWhole = 0;             // its cycles
    bool mayCut = true;
  };

  Attempt attempt(State &state, bool mayInsert) {
    Attempt result = Attempt::Failed;
    const auto size = [&](const target::Target &machine, NetworkIR &network) -> absl::Status {
      if (auto status = kernels::checkVariables(machine, network.plan.variables); !status.ok())
        return status;
      const kernels::Asking mayAsk{.passes = mayInsert, .splits = state.mayCut};
      auto report = kernels::sizeNetwork(machine, network.plan, mayAsk, equalColumns,
                                         {effort, seed, threads, timer, cancelled}, &state.cache);
      if (!report.ok())
        return report.status();
      if (!report->splits.empty()) {
        DEBUG_WITH_TYPE("wafer-size", llvm::dbgs() << "cuts " << report->splits.size() << " kernels; with these whole "
                                                   << "the network takes " << report->intervalCycles << " cycles\n");
        state.whole = getOperation().clone();
        state.ofWhole = report->intervalCycles;
        splitKernels(network, report->splits);
        state.mayCut = false;
        result = Attempt::CutOrRestored;
        return absl::OkStatus();
      }
      if (state.whole && report->intervalCycles > state.ofWhole - state.ofWhole / kernels::kWorthSplitting) {
        DEBUG_WITH_TYPE("wafer-size", llvm::dbgs() << "makes kernels whole again: cut, the network takes "
                                                   << report->intervalCycles << " cycles\n");
        getOperation().getBody().takeBody(state.whole->getBody());
        state.whole = {};
        result = Attempt::CutOrRestored;
        return absl::OkStatus();
      }
      if (mayInsert && !report->passes.empty()) {
        DEBUG_WITH_TYPE("wafer-size",
                        llvm::dbgs() << "inserts " << report->passes.size() << " kernels that only pass words on\n");
        insertPasses(network, report->passes);
        result = Attempt::Inserted;
        return absl::OkStatus();
      }
      DEBUG_WITH_TYPE("wafer-size", llvm::dbgs()
                                        << "sizes " << network.plan.kernels.size() << " kernels in " << report->columns
                                        << " columns: " << report->intervalCycles << " cycles predicted\n");
      writeSizes(getOperation(), network);
      if (const kernels::SearchOutcome &search = report->search; search.tried > 0)
        getOperation()->setAttr(
            kSearchAttrName,
            Builder(&getContext()).getDenseI64ArrayAttr({search.tried, search.isBetter, search.timedCycles}));
      result = Attempt::Sized;
      return dump(*report);
    };
    return decideOn(getOperation(), target, defects, Phase::Kernels, size) ? result : Attempt::Failed;
  }

  absl::Status dump(const kernels::SizingReport &report) {
    if (dumpProblems.empty())
      return absl::OkStatus();
    absl::Status status =
        kernels::writeProblem(dumpProblems, getOperation().getName().str(), {"sizing", printProblem(report.problem)});
    status.Update(kernels::writeProblem(dumpProblems, getOperation().getName().str(),
                                        {"sizing.solution", printSolution(report.problem, report.solution)}));
    return status;
  }

  kernels::MappingTimer timer;
  std::function<bool()> cancelled;
};

struct PlaceKernelsPass : impl::PlaceKernelsBase<PlaceKernelsPass> {
  using PlaceKernelsBase::PlaceKernelsBase;
  void runOnOperation() override {
    if (!decideOn(
            getOperation(), target, defects, Phase::Sized, [&](const target::Target &machine, NetworkIR &network) {
              for (auto [op, plan] : llvm::zip(network.kernelOps, network.plan.kernels))
                if (RectAttr rect = op.getRectAttr())
                  plan.placement.col = int32_t(rect.getCol());
              if (absl::Status status = kernels::placeNetwork(machine, network.plan, {effort, seed}); !status.ok())
                return status;
              DEBUG_WITH_TYPE("wafer-place", tellPlaces(network.plan));
              writePlaces(network);
              noteLinks(getOperation(), machine, network.plan);
              return dump(machine, network.plan);
            }))
      signalPassFailure();
  }

private:
  absl::Status dump(const target::Target &machine, const kernels::NetworkPlan &plan) {
    if (dumpProblems.empty())
      return absl::OkStatus();
    std::vector<int32_t> kernels;
    const solver::placement::Problem problem = kernels::placementProblem(machine, plan, kernels);
    solver::placement::Solution chosen;
    for (int32_t k : kernels)
      chosen.places.push_back({0, plan.kernels[k].placement.col});
    absl::Status status =
        kernels::writeProblem(dumpProblems, getOperation().getName().str(), {"placement", printProblem(problem)});
    status.Update(kernels::writeProblem(dumpProblems, getOperation().getName().str(),
                                        {"placement.solution", printSolution(problem, chosen)}));
    return status;
  }
};

struct RouteStreamsPass : impl::RouteStreamsBase<RouteStreamsPass> {
  using RouteStreamsBase::RouteStreamsBase;
  void runOnOperation() override {
    if (!decideOn(getOperation(), target, defects, Phase::Placed,
                  [&](const target::Target &machine, NetworkIR &network) {
                    std::vector<kernels::PosedProblem> posed;
                    absl::Status status =
                        kernels::routeNetwork(machine, network.plan, dumpProblems.empty() ? nullptr : &posed);
                    for (const kernels::PosedProblem &problem : posed)
                      status.Update(kernels::writeProblem(dumpProblems, getOperation().getName().str(), problem));
                    if (!status.ok())
                      return status;
                    DEBUG_WITH_TYPE("wafer-route", tellRoutes(network.plan));
                    writeRoutes(network);
                    noteLinks(getOperation(), machine, network.plan);
                    return absl::OkStatus();
                  }))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createSizeKernels(SizeKernelsOptions options, kernels::MappingTimer timer,
                                        std::function<bool()> cancelled) {
  return std::make_unique<SizeKernelsPass>(std::move(options), std::move(timer), std::move(cancelled));
}

} // namespace wsc::wafer
