// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sections around the floor plan.
import {el, bytes, count, counted, percent, seconds, short} from "./dom.js";
import {slotKinds} from "./palette.js";
import {chart, choice, keys, redrawCharts, section} from "./parts.js";
import {agreement, roofline} from "./rooflines.js";
import {limits, split, splits} from "./time.js";
import {compilation as compilationTimes, timeline} from "./timeline.js";

export function figures(model) {
  const {report, machine} = model;
  const {emulated} = model;
  const hertz = machine.clock_ghz * 1e9;
  const figure = (name, value, unit, under) =>
    el(
      "div",
      {},
      el("dt", {}, name),
      el("dd", {}, value, unit ? el("small", {}, ` ${unit}`) : null),
      el("div", {class: "under"}, under),
    );
  const step = model.sampleCycles;
  const predicted = `predicted ${count(report.predicted_interval_cycles)}`;
  const latency = emulated?.latency_cycles;
  const engine = emulated?.engine === "cycle" ? "cycle engine" : "analytic";
  const certainty =
    model.phased || !emulated?.interval_high
      ? ""
      : emulated.interval_settled
        ? ", settled"
        : `, not settled: ${count(emulated.interval_low)} to ${count(emulated.interval_high)}`;
  document
    .querySelector("main")
    .append(
      el(
        "section",
        {class: "figures", id: "figures", "aria-label": "Key figures"},
        el(
          "dl",
          {},
          figure(
            model.phased ? "Time of a sample" : "Between samples",
            count(step),
            "cycles",
            step
              ? `${seconds(step / hertz)} at ${machine.clock_ghz} GHz, ` +
                  (emulated ? `${engine}${certainty} (${predicted})` : "predicted")
              : "not known",
          ),
          !model.phased && latency
            ? figure("Latency", count(latency), "cycles", `${seconds(latency / hertz)}, first sample`)
            : null,
          figure(
            "Rate",
            short(report.samples_per_second),
            "samples/s",
            model.phased ? "samples do not overlap" : "samples overlap",
          ),
          figure("Multiply-adds", percent(report.utilisation), "of peak", `${short(report.macs)} per sample`),
          figure(
            "Cores",
            percent(report.cores_used / report.cores_total),
            "used",
            `${count(report.cores_used)} of ${count(report.cores_total)}, ${count(report.cores_fma)} multiply`,
          ),
          figure(
            "Fullest SRAM",
            percent(report.sram_worst_bytes / machine.sram_bytes),
            null,
            `${count(report.sram_worst_bytes)} of ${count(machine.sram_bytes)} bytes`,
          ),
        ),
      ),
    );
}

export function bound(model) {
  const {report} = model;
  section(
    "bound",
    "What bounds it",
    null,
    el(
      "div",
      {class: "columns"},
      el(
        "div",
        {},
        el("p", {class: "bound"}, report.bound),
        el(
          "ul",
          {class: "advice"},
          report.advice.map(({title, text}) => el("li", {}, el("b", {}, title), el("span", {}, text))),
        ),
      ),
      el(
        "div",
        {},
        el("h3", {}, "Cycles that a step keeps each resource busy"),
        chart((width) => limits(model, width), "No limits are known."),
      ),
    ),
  );
}

function rooflines(model) {
  let against = "words";
  const place = chart((width) => roofline(model, width, against), "No kernel multiplies and receives words.");
  const traffic = [
    ["words", "words received"],
    ["bytes", "SRAM bytes"],
  ];
  const change = (value) => {
    against = value;
    redrawCharts();
  };
  return el(
    "div",
    {},
    el("h3", {}, "Roofline"),
    el(
      "p",
      {class: "note"},
      "Each dot is a kernel, its size the number of its cores. Under the slope traffic bounds it, under the flat " +
        "roof arithmetic.",
    ),
    el("div", {class: "bar"}, choice("Traffic", "against", traffic, change)),
    place,
  );
}

export function analysis(model) {
  const {emulated, report} = model;
  section(
    "time",
    "Where a step's time goes",
    model.phased
      ? "The busiest core of each phase, one phase after the other. Input: time of the wafer's ports; waiting: for " +
          "words of other cores."
      : "The busiest core in one step, then that of every kernel in dataflow order.",
    chart((width) => split(model, width), "The time of a step is not known."),
    keys(slotKinds.map(([key]) => key).filter((key) => report.step[`${key}_cycles`] > 0 || key === "waiting")),
    chart((width) => splits(model, width), "No kernels."),
  );
  section(
    "limits",
    "Rooflines and predictions",
    null,
    el(
      "div",
      {class: "columns"},
      rooflines(model),
      el(
        "div",
        {},
        el("h3", {}, "Predicted against emulated"),
        el(
          "p",
          {class: "note"},
          emulated
            ? "On the dashed line both agree; the band is ± 10 %."
            : "wsc-run MODEL.wse --report adds what is emulated.",
        ),
        chart((width) => agreement(model, width), ""),
      ),
    ),
  );
  const source = model.phased
    ? `Phases one after the other, ${emulated ? "emulated" : "predicted"}; grey: changes of configuration.`
    : !emulated
      ? "wsc-run MODEL.wse --report adds the samples' way through the kernels."
      : emulated.spans.rows.length
        ? "From the first to the last slot of a kernel's cores for a sample, cycle engine. A colour for each sample."
        : "When each kernel is done with a sample, preceded by the cycles it needs alone. A colour for each sample.";
  section(
    "timeline",
    "Timeline",
    source,
    chart((width) => timeline(model, width), ""),
  );
}

export function origin(model) {
  const {report, machine} = model;
  const {emulation, compilation} = report;
  const facts = [
    ["Model", report.model],
    ["Target", `${report.target}, ${machine.rows} × ${machine.cols} cores at ${machine.clock_ghz} GHz`],
    ["Execution", report.execution],
    ["Wafer's ports", `${machine.io_words_per_cycle.toPrecision(4)} words a cycle`],
    report.weight_bytes ? ["Weights", bytes(report.weight_bytes)] : null,
    report.metadata_bytes ? ["Metadata", bytes(report.metadata_bytes)] : null,
    compilation ? ["File", bytes(compilation.output_bytes)] : null,
    compilation?.precision ? ["Precision", compilation.precision.text] : null,
    emulation
      ? [
          "Emulated with",
          `engine ${emulation.engine}, ${counted(emulation.samples, "sample")}, ` +
            counted(emulation.threads, "thread"),
        ]
      : null,
    emulation?.wall_seconds_per_sample !== undefined
      ? ["Host time", `${seconds(emulation.wall_seconds_per_sample)} per sample`]
      : null,
    [
      "Inputs",
      report.entries[report.entry]?.inputs.map(({name, type, shape}) => `${name}: ${type}[${shape}]`).join(", "),
    ],
    [
      "Outputs",
      report.entries[report.entry]?.outputs.map(({name, type, shape}) => `${name}: ${type}[${shape}]`).join(", "),
    ],
  ].filter((fact) => fact?.[1]);
  section(
    "origin",
    "Origin",
    null,
    el(
      "div",
      {class: "columns"},
      el(
        "div",
        {class: "core"},
        el(
          "dl",
          {},
          facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
        ),
      ),
      compilation
        ? el(
            "div",
            {},
            el("h3", {}, "Compilation"),
            chart((width) => compilationTimes(model, width), ""),
          )
        : null,
    ),
  );
}
