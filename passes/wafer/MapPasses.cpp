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

struct SizeKernelsPass : impl::SizeKernelsBase<SizeKernelsPass> {
  using SizeKernelsBase::SizeKernelsBase;
  SizeKernelsPass(SizeKernelsOptions options, kernels::MappingTimer timer, std::function<bool()> cancelled)
      : SizeKernelsBase(std::move(options)), timer(std::move(timer)), cancelled(std::move(cancelled)) {}
  void runOnOperation() override {
    // Each round may put kernels in that only pass words on; a network settles in a few. Kernels are cut once, and are
    // whole again if that brings too little.
    constexpr int kMostRounds = 4;
    bool mayCut = !equalColumns;
    kernels::CandidateCache cache;
    OwningOpRef<func::FuncOp> whole;
    int64_t ofWhole = 0; // cycles
    for (int round = 0, open = 1; open; ++round) {
      bool ok = decideOn(getOperation(), target, defects, Phase::Kernels,
                         [&](const target::Target &machine, NetworkIR &network) -> absl::Status {
                           if (auto status = kernels::checkVariables(machine, network.plan.variables); !status.ok())
                             return status;
                           const kernels::Asking mayAsk{.passes = round < kMostRounds, .splits = mayCut};
                           auto report = kernels::sizeNetwork(machine, network.plan, mayAsk, equalColumns,
                                                              {effort, seed, threads, timer, cancelled}, &cache);
                           if (!report.ok())
                             return report.status();
                           if (!report->splits.empty()) {
                             whole = getOperation().clone();
                             ofWhole = report->intervalCycles;
                             splitKernels(network, report->splits);
                             mayCut = false;
                             round = -1;
                             return absl::OkStatus();
                           }
                           if (whole && report->intervalCycles > ofWhole - ofWhole / kernels::kWorthSplitting) {
                             getOperation().getBody().takeBody(whole->getBody());
                             whole = {};
                             round = -1;
                             return absl::OkStatus();
                           }
                           open = !report->passes.empty() && round < kMostRounds;
                           if (open) {
                             insertPasses(network, report->passes);
                             return absl::OkStatus();
                           }
                           writeSizes(getOperation(), network);
                           return dump(*report);
                         });
      if (!ok)
        return signalPassFailure();
    }
  }

private:
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
