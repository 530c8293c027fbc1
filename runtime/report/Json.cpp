// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as JSON; docs/Report.md says what each field means. Tables that thousands of roles and routers share are
// arrays of numbers with the names of their columns beside them.
#include "runtime/format/Ports.h"
#include "runtime/report/JsonWriter.h"
#include "runtime/report/Report.h"

#include <map>
#include <utility>

namespace wsc::report {

using namespace format;

namespace {

class Printer {
public:
  explicit Printer(const Report &report) : report(report) {}

  std::string print() {
    out.object();
    out.line().field("report_version", kReportVersion);
    out.line().field("model", report.model);
    out.field("target", report.target.name);
    out.field("format_version", kFormatVersion);
    out.field("execution", report.execution);
    machine();
    totals();
    conclusions();
    out.line().key("entries").array();
    for (const Entry &entry : report.entries)
      print(entry);
    out.close();
    out.line().key("states").array();
    for (const StateVariable &state : report.states)
      print(state.tensor);
    out.close();
    out.line().field("entry", report.entry);
    phases();
    kernels();
    if (report.emulation)
      emulation(*report.emulation);
    if (report.compilation)
      compilation(*report.compilation);
    configurations();
    residents();
    shared();
    out.line().close();
    return out.take();
  }

private:
  void machine() {
    const target::Target &target = report.target;
    out.line().key("machine").object();
    out.field("rows", target.rows).field("cols", target.cols);
    out.field("clock_ghz", target.clockGHz);
    out.field("sram_bytes", target.sramBytes);
    out.field("fma_per_cycle", target.fmaPerCycleF32);
    out.field("io_words_per_cycle", target.ioWordsPerCycle());
    out.field("sram_bytes_per_cycle", (target.sramReadsPerCycle + target.sramWritesPerCycle) * target.sramAccessBytes);
    out.key("dead_cores").array();
    for (const target::DeadCore &core : target.deadCores)
      out.array().value(core.row).value(core.col).close();
    out.close();
    out.key("dead_links").array();
    for (const target::DeadLink &link : target.deadLinks)
      out.array().value(link.row).value(link.col).value(int(link.side)).close();
    out.close().close();
  }

  void totals() {
    out.line().field("cores_total", report.coresTotal).field("cores_used", report.coresUsed);
    out.field("cores_fma", report.coresFma).field("sram_worst_bytes", report.sramWorstBytes);
    out.field("macs", report.macs).field("metadata_bytes", report.metadataBytes);
    out.field("weight_bytes", report.weightBytes).field("host_steps", report.hostSteps);
    out.line().field("predicted_interval_cycles", report.predictedIntervalCycles);
    out.field("interval_cycles", report.intervalCycles());
    out.field("samples_per_second", report.samplesPerSecond).field("utilisation", report.utilisation);
    out.field("bottleneck", report.bottleneck);
  }

  void conclusions() {
    const StepSplit &split = report.split;
    out.line().field("bound", report.bound);
    out.line().key("advice").array();
    for (const Advice &advice : report.advice)
      out.line().object().field("title", advice.title).field("text", advice.text).close();
    out.close();
    out.line().key("limits").array();
    for (const Limit &limit : report.limits)
      out.line().object().field("name", limit.name).field("detail", limit.detail).field("cycles", limit.cycles).close();
    out.close();
    out.line().key("step").object();
    out.field("compute_cycles", split.compute).field("memory_cycles", split.memory);
    out.field("network_cycles", split.network).field("setup_cycles", split.setup).field("input_cycles", split.input);
    out.field("configuration_cycles", split.configuration).field("waiting_cycles", split.waiting).close();
  }

  void print(const TensorType &type) {
    out.object().field("name", type.name).field("type", elementTypeName(type.type)).key("shape").array();
    for (int64_t extent : type.shape)
      out.value(extent);
    out.close().close();
  }

  void print(const Entry &entry) {
    out.line().object().field("name", entry.name);
    for (const auto &[name, tensors] : {std::pair("inputs", &entry.inputs), std::pair("outputs", &entry.outputs)}) {
      out.key(name).array();
      for (const TensorType &type : *tensors)
        print(type);
      out.close();
    }
    out.key("steps").array();
    for (const Step &step : entry.steps)
      out.object()
          .field("kind", step.kind == StepKind::Run ? "run" : "configure")
          .field("configuration", step.configuration)
          .field("count", step.count)
          .field("first", step.first)
          .close();
    out.close().close();
  }

  void phases() {
    out.line().key("phases").array();
    for (const PartFacts &part : report.parts) {
      out.line().object().field("name", part.name).field("kind", part.run ? "run" : "configure");
      out.field("configuration", part.configuration).field("count", part.count);
      out.field("predicted_cycles", part.predictedCycles);
      if (part.emulatedCycles >= 0)
        out.field("cycles", part.emulatedCycles);
      out.close();
    }
    out.close();
  }

  void fields(const Work &work) {
    out.field("compute_cycles", work.computeCycles).field("memory_cycles", work.memoryCycles);
    out.field("network_cycles", work.networkCycles).field("setup_cycles", work.setupCycles);
  }

  void kernels() {
    out.line().key("kernels").array();
    for (const KernelFacts &kernel : report.kernels) {
      out.line().object().field("name", kernel.name).key("layers").array();
      for (const std::string &layer : kernel.layers)
        out.value(layer);
      out.close().field("configuration", kernel.configuration);
      out.key("rectangle").object().field("row", kernel.row).field("col", kernel.col);
      out.field("rows", kernel.rows).field("cols", kernel.cols).close();
      out.field("cores", kernel.cores).field("macs", kernel.macs);
      out.field("predicted_interval_cycles", kernel.predictedIntervalCycles).field("sram_bytes", kernel.sramBytes);
      out.key("busiest_core").object();
      fields(kernel.busiest);
      out.field("fma", kernel.busiest.fma).close();
      out.field("fma", kernel.fma).field("words_in", kernel.wordsIn).field("words_out", kernel.wordsOut);
      out.field("sram_traffic_bytes", kernel.sramTraffic);
      if (kernel.emulated) {
        const EmulatedKernel &e = *kernel.emulated;
        out.key("emulated").object().field("busy_cycles", e.busyCycles).field("interval_cycles", e.intervalCycles);
        out.field("fma_cycles", e.fmaCycles).field("wait_words_cycles", e.waitWordsCycles);
        out.field("wait_room_cycles", e.waitRoomCycles).key("done_cycles").array();
        for (int64_t cycle : e.done)
          out.value(cycle);
        out.close().close();
      }
      out.close();
    }
    out.close();
  }

  void emulation(const Emulation &e) {
    out.line().key("emulation").object().field("engine", e.engine).field("unknown", e.unknown);
    out.field("threads", e.threads).field("samples", e.samples);
    out.field("latency_cycles", e.latencyCycles).field("interval_cycles", e.intervalCycles);
    out.field("interval_settled", e.intervalSettled).field("interval_low", e.intervalLow);
    out.field("interval_high", e.intervalHigh);
    out.key("sample_done_cycles").array();
    for (int64_t cycle : e.sampleDone)
      out.value(cycle);
    out.close().field("utilisation", e.utilisation).field("bottleneck", e.bottleneck);
    out.key("links").object().field("max_words", e.maxLinkWords).field("max_name", e.maxLink);
    out.field("word_hops", e.wordHops).close();
    out.field("macs", e.macs).field("cores_fma", e.coresFma).field("load_seconds", e.loadSeconds);
    if (e.secondsPerSample >= 0)
      out.field("wall_seconds_per_sample", e.secondsPerSample);
    out.field("peak_rss_bytes", e.peakRssBytes);
    if (!e.busy.runs.empty()) {
      out.key("stalls").object();
      raster("busy_cycles", e.busy);
      raster("wait_words_cycles", e.waitWords);
      raster("wait_room_cycles", e.waitRoom);
      out.close();
    }
    out.key("spans").object().key("columns").array();
    for (const char *column : {"kernel", "sample", "begin", "end"})
      out.value(column);
    out.close().key("rows").array();
    for (const Span &span : e.spans)
      out.array().value(span.kernel).value(span.sample).value(span.begin).value(span.end).close();
    out.close().close().close();
  }

  void compilation(const Compilation &c) {
    out.line().key("compilation").object().key("phases").array();
    for (const CompilePhase &phase : c.phases)
      out.object()
          .field("phase", phase.name)
          .field("seconds", phase.seconds)
          .field("peak_rss_bytes", phase.peakRssBytes)
          .close();
    out.close().field("output_bytes", c.outputBytes).field("candidates_optimum_cycles", c.optimumCycles);
    out.field("bound_multiply_add_cycles", c.boundMultiplyAddCycles).field("bound_io_cycles", c.boundIoCycles);
    out.field("candidates_slowest_kernel_cycles", c.slowestKernelCycles);
    out.field("link_words", c.linkWords).field("word_hops", c.wordHops);
    if (c.precision)
      precision(*c.precision);
    out.close();
  }

  void precision(const PrecisionFacts &p) {
    out.key("precision").object().field("name", p.name).field("operands", p.operands).field("sums", p.sums);
    out.field("samples", p.samples).field("seed", p.seed).field("unknown", p.unknown);
    out.field("text", precisionText(p)).key("outputs").array();
    for (const OutputError &error : p.outputs)
      out.object()
          .field("name", error.name)
          .field("max_error", error.largest)
          .field("max_value", error.largestValue)
          .field("l2_error", error.relativeL2)
          .field("rows", error.rows)
          .field("same_top", error.sameTop)
          .field("clear_rows", error.clearRows)
          .field("clear_same_top", error.clearSameTop)
          .close();
    out.close().close();
  }

  void lattice(const Lattice &lattice) {
    out.array().value(lattice.row).value(lattice.col);
    for (const Lattice::Dim &dim : lattice.dims)
      if (dim.count != 1)
        out.value(dim.count).value(dim.rowStep).value(dim.colStep);
    out.close();
  }

  void raster(const char *name, const Raster &raster) {
    out.line()
        .key(name)
        .object()
        .field("step", raster.step)
        .field("order", raster.byRows ? "rows" : "columns")
        .field("largest", raster.largest)
        .key("runs")
        .array();
    for (int64_t number : raster.runs)
      out.value(number);
    out.close().close();
  }

  // A column of a table: one value of each row.
  template <typename Rows, typename Print> void column(const char *name, const Rows &rows, Print print) {
    out.line().key(name).array();
    for (const auto &row : rows)
      print(row);
    out.close();
  }

  int32_t stringNumber(const std::string &string) {
    return strings.emplace(string, int32_t(strings.size())).first->second;
  }

  void configurations() {
    out.line().key("configurations").array();
    for (const ConfigurationFacts &c : report.configurations) {
      out.line().object().field("name", c.name).field("first_kernel", c.firstKernel).field("kernels", c.numKernels);
      out.field("input_words", c.inputWords).field("output_words", c.outputWords);
      out.field("change_cycles", c.changeCycles).field("max_link_words", c.maxLinkWords).field("max_link", c.maxLink);
      out.field("link_words_unknown", c.linkWordsUnknown);
      out.line().key("roles").object();
      column("name", c.roles, [&](const RoleFacts &role) { out.value(role.name); });
      column("kernel", c.roles, [&](const RoleFacts &role) { out.value(role.kernel); });
      column("cores", c.roles, [&](const RoleFacts &role) { lattice(role.cores); });
      column("memory", c.roles, [&](const RoleFacts &role) { out.value(role.memory); });
      column("work", c.roles, [&](const RoleFacts &role) { out.value(role.work); });
      out.close();
      out.line().key("routers").object();
      column("cores", c.routers, [&](const RouterFacts &router) { lattice(router.routers); });
      column("colour", c.routers, [&](const RouterFacts &router) { out.value(int(router.colour)); });
      column("net", c.routers, [&](const RouterFacts &router) { out.value(router.net); });
      column("positions", c.routers, [&](const RouterFacts &router) { out.value(router.positions); });
      out.close();
      out.line().key("nets").object();
      column("name", c.nets, [&](const NetFacts &net) { out.value(net.name); });
      column("words", c.nets, [&](const NetFacts &net) { out.value(net.words); });
      out.close();
      if (c.linkWordsUnknown.empty()) {
        out.line().key("link_words").object();
        for (size_t side = 0; side < 4; ++side)
          raster(format::kSideNames[side], c.linkWords[side]);
        out.close();
      }
      out.close();
    }
    out.close();
  }

  void residents() {
    const std::vector<ResidentFacts> &all = report.residents;
    out.line().key("residents").object();
    column("name", all, [&](const ResidentFacts &resident) { out.value(resident.name); });
    column("kind", all, [&](const ResidentFacts &resident) { out.value(resident.kind); });
    column("type", all, [&](const ResidentFacts &resident) { out.value(resident.type); });
    column("cores", all, [&](const ResidentFacts &resident) { lattice(resident.cores); });
    column("address", all, [&](const ResidentFacts &resident) { out.value(resident.address); });
    column("bytes", all, [&](const ResidentFacts &resident) { out.value(resident.bytes); });
    out.close();
  }

  // What roles and routers refer to by number.
  void shared() {
    out.line().key("works").object().key("columns").array();
    for (const char *name : {"compute_cycles", "memory_cycles", "network_cycles", "setup_cycles", "fma", "words_in",
                             "words_out", "sram_bytes"})
      out.value(name);
    out.close().line().key("rows").array();
    for (const Work &work : report.works) {
      out.array().value(work.computeCycles).value(work.memoryCycles).value(work.networkCycles).value(work.setupCycles);
      out.value(work.fma).value(work.wordsIn).value(work.wordsOut).value(work.sramBytes).close();
    }
    out.close().close();
    out.line().key("memories").object().key("columns").array();
    for (const char *name : {"address", "bytes", "name", "kind", "type"})
      out.value(name);
    out.close().line().key("rows").array();
    for (const std::vector<MemoryPart> &memory : report.memories) {
      out.array();
      for (const MemoryPart &part : memory)
        out.value(part.address)
            .value(part.bytes)
            .value(stringNumber(part.name))
            .value(stringNumber(part.kind))
            .value(stringNumber(part.type));
      out.close();
    }
    out.close().close();
    out.line().key("positions").array();
    for (const std::vector<SwitchPosition> &positions : report.positions) {
      out.array();
      for (const SwitchPosition &position : positions)
        out.value(int(position.input)).value(int(position.outputs));
      out.close();
    }
    out.close();
    std::vector<const std::string *> ordered(strings.size());
    for (const auto &[string, number] : strings)
      ordered[size_t(number)] = &string;
    out.line().key("strings").array();
    for (const std::string *string : ordered)
      out.value(*string);
    out.close();
  }

  const Report &report;
  JsonWriter out;
  std::map<std::string, int32_t> strings;
};

} // namespace

std::string toJson(const Report &report) { return Printer(report).print(); }

} // namespace wsc::report
