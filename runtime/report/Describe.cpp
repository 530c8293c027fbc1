// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a report that the executable alone determines. Cores are counted with bit maps of the mesh; memory maps,
// work and switch positions that many roles share are held once.
#include "runtime/emulator/EntryOrder.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/Network.h"
#include "runtime/emulator/timing/Links.h"
#include "runtime/format/Disassembly.h"
#include "runtime/format/MemoryMap.h"
#include "runtime/format/Ports.h"
#include "runtime/report/Report.h"
#include "runtime/timing/Cost.h"
#include "runtime/timing/Phases.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wsc::report {

using namespace format;

namespace {

template <typename Value, typename Key> class Shared {
public:
  explicit Shared(std::vector<Value> &values) : values(values) {}
  int32_t find(Key key, const Value &value) {
    auto [place, isNew] = known.emplace(std::move(key), int32_t(values.size()));
    if (isNew)
      values.push_back(value);
    return place->second;
  }

private:
  std::vector<Value> &values;
  std::map<Key, int32_t> known;
};

std::string keyOf(const std::vector<MemoryPart> &parts) {
  std::string key;
  for (const MemoryPart &part : parts)
    absl::StrAppend(&key, part.address, ",", part.bytes, ",", part.name, ",", part.kind, ",", part.type, ";");
  return key;
}

std::string keyOf(const Work &work) {
  return absl::StrCat(work.computeCycles, ",", work.memoryCycles, ",", work.networkCycles, ",", work.setupCycles, ",",
                      work.fma, ",", work.wordsIn, ",", work.wordsOut, ",", work.sramBytes);
}

std::string keyOf(const std::vector<SwitchPosition> &positions) {
  std::string key;
  for (const SwitchPosition &position : positions)
    absl::StrAppend(&key, int(position.input), ",", int(position.outputs), ";");
  return key;
}

std::vector<MemoryPart> memoryOf(const Executable &executable, const Role &role) {
  std::vector<MemoryPart> parts;
  for (const MemoryRegion &region : memoryMap(executable.target, role).regions) {
    MemoryPart part{region.address, region.bytes, region.name, region.name, ""};
    if (region.buffer >= 0) {
      const Buffer &buffer = role.buffers[size_t(region.buffer)];
      part.kind = std::string(bufferKindName(buffer.kind));
      part.type = std::string(elementTypeName(buffer.type));
      if (buffer.kind == BufferKind::Resident && executable.residents[size_t(buffer.resident)].section >= 0)
        part.kind = "constant";
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

class Describer {
public:
  Describer(const Executable &executable, Report &report)
      : executable(executable), target(executable.target), report(report), memories(report.memories),
        works(report.works), positions(report.positions), used(size_t(target.numCores())), fma(used) {}

  void run() {
    report.coresTotal = target.numCores();
    for (size_t c = 0; c < executable.configurations.size(); ++c)
      describe(int32_t(c));
    report.coresUsed = std::count(used.begin(), used.end(), true);
    report.coresFma = std::count(fma.begin(), fma.end(), true);
    describeEntry();
  }

private:
  void describe(int32_t c) {
    const Configuration &configuration = executable.configurations[size_t(c)];
    ConfigurationFacts &facts = report.configurations.emplace_back();
    facts.name = configuration.name;
    facts.firstKernel = int32_t(report.kernels.size());
    facts.numKernels = int32_t(configuration.kernels.size());
    facts.changeCycles = timing::configurationCycles(target, timing::configurationWords(target, configuration));
    for (const Kernel &kernel : configuration.kernels) {
      KernelFacts &k = report.kernels.emplace_back();
      k.name = kernel.name;
      k.layers = kernel.layers;
      k.configuration = c;
      std::tie(k.row, k.col, k.rows, k.cols) = std::tie(kernel.row, kernel.col, kernel.rows, kernel.cols);
      k.macs = kernel.macs;
      k.predictedIntervalCycles = kernel.predictedIntervalCycles;
      facts.macs += kernel.macs;
    }
    for (const Role &role : configuration.roles)
      describe(role, facts);
    for (const RouterRole &router : configuration.routers)
      facts.routers.push_back(
          {router.routers, router.colour, router.net, positions.find(keyOf(router.positions), router.positions)});
    for (const Net &net : configuration.nets)
      facts.nets.push_back({net.name, net.wordsPerSample});
    countPortWords(c, facts);
    countLinkWords(c, facts);
  }

  void describe(const Role &role, ConfigurationFacts &facts) {
    const std::vector<MemoryPart> parts = memoryOf(executable, role);
    const int64_t bytes = memoryMap(target, role).usedBytes;
    report.sramWorstBytes = std::max(report.sramWorstBytes, bytes);
    const RoleWork work = workOf(target, role);
    RoleFacts &r = facts.roles.emplace_back();
    r.name = role.name;
    r.cores = role.cores;
    r.memory = memories.find(keyOf(parts), parts);
    r.work = works.find(keyOf(work.busiest), work.busiest);
    if (role.kernel >= 0) {
      r.kernel = facts.firstKernel + role.kernel;
      KernelFacts &kernel = report.kernels[size_t(r.kernel)];
      const int64_t cores = role.cores.size();
      kernel.cores += cores;
      kernel.sramBytes = std::max(kernel.sramBytes, bytes);
      if (work.busiest.slots() > kernel.busiest.slots())
        kernel.busiest = work.busiest;
      kernel.fma += work.mean.fma * cores;
      kernel.wordsIn += work.mean.wordsIn * cores;
      kernel.wordsOut += work.mean.wordsOut * cores;
      kernel.sramTraffic += work.mean.sramBytes * cores;
    }
    const bool runs =
        std::any_of(role.threads.begin(), role.threads.end(), [](const Thread &thread) { return !thread.empty(); });
    emulator::forEachPoint(role.cores, [&](const LatticeIndex &, int32_t row, int32_t col) {
      if (row >= 0 && row < target.rows && col >= 0 && col < target.cols) {
        const size_t place = size_t(row) * size_t(target.cols) + size_t(col);
        used[place] = used[place] || runs;
        fma[place] = fma[place] || work.busiest.fma > 0;
      }
      return true;
    });
  }

  // Words that enter and leave over the wafer's ports in one run.
  void countPortWords(int32_t c, ConfigurationFacts &facts) {
    const std::vector<ElementType> types = emulator::bindingTypes(executable, c);
    const Configuration &configuration = executable.configurations[size_t(c)];
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      int64_t elements = 0;
      emulator::forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t, int32_t) {
        int64_t product = 1;
        for (const Affine &extent : binding.extent)
          product *= std::max<int64_t>(0, extent.at(index));
        elements += product;
        return true;
      });
      const ElementType type = b < types.size() ? types[b] : ElementType::F32;
      (binding.output ? facts.outputWords : facts.inputWords) += timing::fabricWords(type, elements);
    }
  }

  void countLinkWords(int32_t c, ConfigurationFacts &facts) {
    const Configuration &configuration = executable.configurations[size_t(c)];
    const auto networks = emulator::resolveNetworks(target, configuration, emulator::bindingTypes(executable, c));
    if (!networks.ok()) {
      facts.linkWordsUnknown = std::string(networks.status().message());
      return;
    }
    const std::vector<int64_t> words = emulator::timing::linkWords(target, configuration, *networks);
    const auto most = std::max_element(words.begin(), words.end());
    if (most != words.end() && *most > 0) {
      const int64_t link = most - words.begin(), router = link / 4;
      facts.maxLinkWords = *most;
      facts.maxLink = absl::StrCat("row ", router / target.cols, ", col ", router % target.cols, ", ",
                                   format::kSideNames[link % 4]);
    }
    std::vector<int64_t> ofSide(words.size() / 4);
    for (size_t side = 0; side < 4; ++side) {
      for (size_t router = 0; router < ofSide.size(); ++router)
        ofSide[router] = words[router * 4 + side];
      facts.linkWords[side] = makeRaster(ofSide, target.rows, target.cols);
    }
  }

  // Steps of a phased entry, and what is predicted for the whole.
  void describeEntry() {
    if (report.entry >= int32_t(executable.entries.size()))
      return;
    const Entry &entry = executable.entries[size_t(report.entry)];
    const auto order = emulator::orderedSteps(entry);
    int32_t inPlace = -1;
    if (order.ok())
      for (int32_t s : *order) {
        const Step &step = entry.steps[size_t(s)];
        const ConfigurationFacts &facts = report.configurations[size_t(step.configuration)];
        if (step.configuration != inPlace && report.phased())
          report.parts.push_back({facts.name, false, step.configuration, 1, facts.changeCycles});
        inPlace = step.configuration;
        if (step.kind != StepKind::Run)
          continue;
        report.macs += facts.macs * step.count;
        int64_t sum = 0, most = 0;
        for (int32_t k = facts.firstKernel; k < facts.firstKernel + facts.numKernels; ++k) {
          sum += report.kernels[size_t(k)].predictedIntervalCycles;
          if (report.kernels[size_t(k)].predictedIntervalCycles > most) {
            most = report.kernels[size_t(k)].predictedIntervalCycles;
            report.bottleneck = report.kernels[size_t(k)].name;
          }
        }
        if (report.phased())
          report.parts.push_back({facts.name, true, step.configuration, step.count, sum * step.count});
        else
          predictStrips(facts, most);
      }
    for (const PartFacts &part : report.parts)
      report.predictedIntervalCycles += part.predictedCycles;
    if (report.phased()) {
      const auto longest =
          std::max_element(report.parts.begin(), report.parts.end(), [](const PartFacts &a, const PartFacts &b) {
            return a.predictedCycles < b.predictedCycles;
          });
      report.bottleneck = longest == report.parts.end() ? "" : (longest->run ? "phase " : "change to ") + longest->name;
    }
  }

  // Strips work side by side: the slowest kernel, link or the ports set the pace.
  void predictStrips(const ConfigurationFacts &facts, int64_t slowestKernel) {
    const auto ports = int64_t(double(facts.inputWords + facts.outputWords) / target.ioWordsPerCycle());
    report.predictedIntervalCycles = std::max({slowestKernel, ports, facts.maxLinkWords});
    if (report.predictedIntervalCycles > slowestKernel)
      report.bottleneck = ports >= facts.maxLinkWords ? "input and output words of the wafer's ports"
                                                      : absl::StrCat("link ", facts.maxLink);
  }

  const Executable &executable;
  const target::Target &target;
  Report &report;
  Shared<std::vector<MemoryPart>, std::string> memories;
  Shared<Work, std::string> works;
  Shared<std::vector<SwitchPosition>, std::string> positions;
  std::vector<bool> used, fma;
};

} // namespace

Report describe(const Executable &executable, const std::string &model, int entry) {
  Report report;
  report.model = model;
  report.target = executable.target;
  report.execution = executable.execution;
  report.metadataBytes = executable.metadataBytes;
  report.weightBytes = executable.weightBytes;
  report.entries = executable.entries;
  report.states = executable.states;
  report.entry = entry;
  for (const Entry &e : executable.entries)
    for (const Step &step : e.steps)
      report.hostSteps += step.kind != StepKind::Configure && step.kind != StepKind::Run;
  for (const Resident &resident : executable.residents)
    if (resident.section >= 0 || resident.state >= 0)
      report.residents.push_back({resident.name, resident.section >= 0 ? "constant" : "state",
                                  std::string(elementTypeName(resident.type)), resident.cores, resident.address,
                                  resident.bytes});
  Describer(executable, report).run();
  if (report.predictedIntervalCycles > 0) {
    report.samplesPerSecond = report.target.clockGHz * 1e9 / double(report.predictedIntervalCycles);
    report.utilisation = double(report.macs) / (double(report.coresTotal) * double(report.predictedIntervalCycles) *
                                                report.target.fmaPerCycleF32);
  }
  return report;
}

int64_t Report::intervalCycles() const {
  return emulation && emulation->intervalCycles > 0 ? emulation->intervalCycles : predictedIntervalCycles;
}

} // namespace wsc::report
