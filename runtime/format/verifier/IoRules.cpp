// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries and the words that cross the edge of the wafer: steps in an order that exists, bindings on edge ports of the
// named side, host elements inside their tensor, and every element of an output written exactly once by the runs of an
// entry. A padded binding may leave its tensor; what it moves there counts for nothing. Steps run their configuration
// at least once, and those with bindings once.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>

namespace wsc::format::verifier {

namespace {

int64_t elementsOf(const TensorType &tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements = multiply(elements, extent);
  return elements;
}

// A binding as an empty-or-not iteration space, so that `exceeds` can be asked about it.
Instruction spaceOf(const IoBinding &binding) {
  Instruction space;
  space.extent = binding.extent;
  return space;
}

class EntryRules {
public:
  EntryRules(const Executable &executable, const Entry &entry, Report &report)
      : executable(executable), entry(entry), report(report) {}

  void run() {
    checkSteps();
    std::vector<std::vector<bool>> written;
    for (const TensorType &output : entry.outputs)
      written.emplace_back(elementsOf(output) <= kMostMarked ? elementsOf(output) : 0);
    std::vector<int64_t> counts(entry.outputs.size());
    for (const Step &step : entry.steps) {
      if (step.kind != StepKind::Run)
        continue;
      const auto &io = executable.configurations[step.configuration].io;
      for (size_t b = 0; b < io.size() && report.spend(1); ++b) {
        where = text("entry ", entry.name, ", configuration ", executable.configurations[step.configuration].name,
                     ", I/O binding #", b);
        if (checkBinding(io[b]) && io[b].output)
          count(io[b], counts[io[b].tensor], written[io[b].tensor]);
      }
    }
    for (size_t o = 0; o < entry.outputs.size(); ++o)
      if (int64_t elements = elementsOf(entry.outputs[o]); counts[o] != elements)
        report.add("io-output", text(entry.name, "/", o),
                   text("entry ", entry.name, ": output ", entry.outputs[o].name, " has ", elements, " elements, but ",
                        counts[o], " are written per sample; each must be written exactly once"));
  }

private:
  static constexpr int64_t kMostMarked = int64_t(1) << 28; // elements of an output that are marked one by one

  void refuse(const char *rule, const std::string &what) { report.add(rule, where + what, text(where, ": ", what)); }

  void checkSteps() {
    for (size_t s = 0; s < entry.steps.size(); ++s)
      checkCount(s, entry.steps[s]);
    // A step waits for earlier ones only, so the listed order is an order of execution.
    for (size_t s = 0; s < entry.steps.size(); ++s)
      for (int32_t after : entry.steps[s].after)
        if (after >= int32_t(s))
          report.add("entry", text(entry.name, s),
                     text("entry ", entry.name, ": step ", s, " waits for step ", after,
                          "; steps may wait for earlier ones only"));
    checkOrder();
  }

  // A wafer holds one configuration at a time: steps follow one another, and what runs was configured last. Entries
  // that configure nothing run what is in place by itself.
  void checkOrder() {
    const auto configures = [](const Step &step) { return step.kind == StepKind::Configure; };
    if (std::none_of(entry.steps.begin(), entry.steps.end(), configures))
      return;
    int32_t inPlace = -1;
    for (size_t s = 0; s < entry.steps.size(); ++s) {
      const Step &step = entry.steps[s];
      const auto wrong = [&](const std::string &why) {
        report.add("step-order", text(entry.name, s), text("entry ", entry.name, ": step ", s, " ", why));
      };
      if (s > 0 && std::find(step.after.begin(), step.after.end(), int32_t(s) - 1) == step.after.end())
        wrong(text("does not wait for step ", s - 1, "; the wafer does one step after another"));
      if (configures(step))
        inPlace = step.configuration;
      else if (step.configuration != inPlace)
        wrong(text("runs configuration ", executable.configurations[step.configuration].name, ", but ",
                   inPlace < 0 ? "none" : executable.configurations[inPlace].name, " is in place; configure it first"));
    }
  }

  void checkCount(size_t s, const Step &step) {
    const Configuration &configuration = executable.configurations[step.configuration];
    auto wrong = [&](const std::string &why) {
      report.add("step-count", text(entry.name, s),
                 text("entry ", entry.name, ": step ", s, " has the count ", step.count, "; ", why));
    };
    if (step.first < 0 || (step.first > 0 && step.kind != StepKind::Run))
      report.add("step-first", text(entry.name, s),
                 text("entry ", entry.name, ": step ", s, " begins with iteration ", step.first,
                      "; runs begin with one from 0, and only they have iterations"));
    if (step.count < 1)
      wrong("legal are counts from 1");
    else if (step.count > 1 && step.kind != StepKind::Run)
      wrong("a configuration is put in place once, only its runs are repeated");
    else if (step.count > 1 && !configuration.io.empty())
      wrong(text("configuration ", configuration.name,
                 " has I/O bindings, whose words would be the same in every iteration; run it once, or keep its "
                 "tensors resident"));
  }

  bool checkBinding(const IoBinding &binding) {
    const auto &tensors = binding.output ? entry.outputs : entry.inputs;
    if (binding.tensor < 0 || size_t(binding.tensor) >= tensors.size()) {
      refuse("io-tensor",
             text("names ", binding.output ? "output " : "input ", binding.tensor, ", the entry has ", tensors.size()));
      return false;
    }
    const TensorType &tensor = tensors[binding.tensor];
    bool sound = checkSide(binding);
    if (!sound)
      return false; // the ports may be without number
    for (int d = 0; d < kMaxDims; ++d) {
      Extreme low = minimum(binding.extent[d], binding.ports), high = maximum(binding.extent[d], binding.ports);
      if (low.value >= 0 && high.value <= kMostExtent)
        continue;
      const Extreme &bad = low.value < 0 ? low : high;
      refuse("io-extent", text("extent ", d, " at the port of ", coreName(binding.ports, bad.index), " is ",
                               number(bad.value), ", legal are 0 to ", kMostExtent));
      return false;
    }
    Form low(binding.hostOffset), high(binding.hostOffset);
    for (int d = 0; d < kMaxDims; ++d)
      (binding.stride[d] < 0 ? low : high) += (Form(binding.extent[d]) - Form(1)) * binding.stride[d];
    Instruction space = spaceOf(binding);
    const Wide least = binding.padded ? -kMostCoefficient : 0;
    const Wide most = binding.padded ? kMostCoefficient : elementsOf(tensor) - 1;
    auto point = exceeds(low * -1, -least, space, {}, binding.ports, report);
    if (!point)
      point = exceeds(high, most, space, {}, binding.ports, report);
    if (point && binding.padded) {
      refuse("io-bounds", text("the port of ", coreName(binding.ports, point->index), " moves elements ",
                               number(low.at(point->index)), " to ", number(high.at(point->index)),
                               "; padding reaches ", kMostCoefficient, " elements from the first at most"));
      sound = false;
    } else if (point) {
      refuse("io-bounds", text("the port of ", coreName(binding.ports, point->index), " moves elements ",
                               number(low.at(point->index)), " to ", number(high.at(point->index)), " of tensor ",
                               tensor.name, ", which has ", elementsOf(tensor)));
      sound = false;
    }
    return sound;
  }

  bool checkSide(const IoBinding &binding) {
    const target::Target &target = executable.target;
    Form row{Wide(binding.ports.row)}, col{Wide(binding.ports.col)};
    for (int d = 0; d < kMaxDims; ++d) {
      row.perDim[d] = binding.ports.dims[d].rowStep;
      col.perDim[d] = binding.ports.dims[d].colStep;
    }
    Wide size = 1;
    for (const Lattice::Dim &dim : binding.ports.dims)
      size = std::min<Wide>(size * dim.count, kMost);
    if (size > std::max(target.rows, target.cols)) {
      refuse("io-port", text("has ", number(size), " ports, more than any edge of the mesh"));
      return false;
    }
    if (binding.side == Port::Ramp) {
      refuse("io-port", "side RAMP is no edge of the wafer; use NORTH, SOUTH, EAST or WEST");
      return false;
    }
    bool vertical = binding.side == Port::North || binding.side == Port::South;
    const Form &across = vertical ? row : col;
    int32_t edge = binding.side == Port::South ? target.rows - 1 : binding.side == Port::East ? target.cols - 1 : 0;
    for (const Extreme &extreme : {minimum(across, binding.ports), maximum(across, binding.ports)})
      if (extreme.value != edge) {
        refuse("io-port", text(coreName(binding.ports, extreme.index), " is not on the ", portName(binding.side),
                               " edge of the mesh (", vertical ? "row " : "column ", edge, ")"));
        return false;
      }
    return true;
  }

  void count(const IoBinding &binding, int64_t &total, std::vector<bool> &written) {
    Instruction space = spaceOf(binding);
    forEachIndex(binding.ports, (1u << kMaxDims) - 1, [&](const LatticeIndex &port) {
      const int64_t walked = elementsAt(space, {}, port);
      const std::optional<int64_t> elements = binding.padded ? elementsInside(binding, port, walked) : walked;
      if (!elements)
        return false;
      total = add(total, *elements);
      bool marks = *elements > 0 && total <= int64_t(written.size());
      if (!report.spend(1 + (marks ? walked : 0)))
        return false;
      if (marks)
        mark(binding, port, written);
      return true;
    });
  }

  // Of the `walked` elements of a padded lane, those inside of the tensor: along the innermost dimension by division.
  // Nullopt when the other dimensions take too long.
  std::optional<int64_t> elementsInside(const IoBinding &binding, const LatticeIndex &port, int64_t walked) {
    if (walked == 0)
      return 0;
    const Wide last = elementsOf(entry.outputs[binding.tensor]) - 1;
    std::array<int64_t, kMaxDims> extent;
    for (int d = 0; d < kMaxDims; ++d)
      extent[d] = int64_t(Form(binding.extent[d]).at(port));
    const int64_t innermost = extent[kMaxDims - 1], step = binding.stride[kMaxDims - 1];
    constexpr int64_t divisions = 16; // what a row's cost in points
    if (!report.spend(multiply(walked / innermost, divisions)))
      return std::nullopt;
    auto floorDivide = [](Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
    Wide inside = 0;
    const Wide base = Form(binding.hostOffset).at(port);
    for (int64_t i = 0; i < extent[0]; ++i)
      for (int64_t j = 0; j < extent[1]; ++j)
        for (int64_t k = 0; k < extent[2]; ++k) {
          // first + n·step in [0, last] for n from `low` to `high`.
          const Wide first =
              base + Wide(i) * binding.stride[0] + Wide(j) * binding.stride[1] + Wide(k) * binding.stride[2];
          Wide low = 0, high = innermost - 1;
          if (step == 0) {
            high = first >= 0 && first <= last ? high : -1;
          } else {
            const Wide a = step > 0 ? -first : last - first, b = step > 0 ? last - first : -first;
            low = std::max(low, -floorDivide(-a, step)); // rounded up
            high = std::min(high, floorDivide(b, step));
          }
          inside += std::max<Wide>(0, high - low + 1);
        }
    return int64_t(std::min<Wide>(inside, kMost));
  }

  void mark(const IoBinding &binding, const LatticeIndex &port, std::vector<bool> &written) {
    std::array<int64_t, kMaxDims> extent;
    for (int d = 0; d < kMaxDims; ++d)
      extent[d] = int64_t(Form(binding.extent[d]).at(port));
    int64_t base = int64_t(Form(binding.hostOffset).at(port));
    std::array<int64_t, kMaxDims> i{};
    for (i[0] = 0; i[0] < extent[0]; ++i[0])
      for (i[1] = 0; i[1] < extent[1]; ++i[1])
        for (i[2] = 0; i[2] < extent[2]; ++i[2]) {
          int64_t element = base + i[0] * binding.stride[0] + i[1] * binding.stride[1] + i[2] * binding.stride[2];
          for (i[3] = 0; i[3] < extent[3]; ++i[3], element += binding.stride[3]) {
            if (binding.padded && (element < 0 || element >= int64_t(written.size())))
              continue;
            if (written[element])
              return refuse("io-output", text("element ", element, " of output ", entry.outputs[binding.tensor].name,
                                              " is written twice"));
            written[element] = true;
          }
        }
  }

  const Executable &executable;
  const Entry &entry;
  Report &report;
  std::string where;
};

} // namespace

void checkEntries(const Executable &executable, Report &report) {
  std::vector<bool> runs(executable.configurations.size());
  for (const Entry &entry : executable.entries) {
    EntryRules(executable, entry, report).run();
    for (const Step &step : entry.steps)
      if (step.kind == StepKind::Run)
        runs[step.configuration] = true;
  }
  // Without a run, bindings have no tensors.
  for (size_t c = 0; c < runs.size(); ++c)
    if (!runs[c] && !executable.configurations[c].io.empty())
      report.add("entry", text("configuration ", c),
                 text("configuration ", executable.configurations[c].name, " has I/O bindings, but no entry runs it"));
}

} // namespace wsc::format::verifier
