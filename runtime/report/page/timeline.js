// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who works when on the wafer, and how long the compiler took.
import * as Plot from "@observablehq/plot";
import {count, percent} from "./dom.js";
import {cyclesAxis, muted, surface, tipStyle} from "./plots.js";

// Who works when: phases one after the other, or samples on their way through the strips.
export function timeline(model, width) {
  return model.phased ? phaseTimeline(model, width) : stripTimeline(model, width);
}

function phaseTimeline(model, width) {
  let now = 0;
  const data = model.report.phases.map((part) => {
    const cycles = part.cycles ?? part.predicted_cycles;
    const begin = now;
    now += cycles;
    return {...part, row: part.name, kindName: part.kind === "run" ? "run" : "change", begin, end: now, cycles};
  });
  if (!now) return null;
  const rows = [...new Set(data.map(({row}) => row))];
  const ticks = data
    .filter(({kind, count: runs}) => kind === "run" && runs > 1 && runs <= 200)
    .flatMap((part) =>
      Array.from({length: part.count - 1}, (_, i) => ({
        row: part.row,
        x: part.begin + ((i + 1) * (part.end - part.begin)) / part.count,
      })),
    );
  return Plot.plot({
    width,
    height: Math.max(90, 26 * rows.length + 58),
    marginLeft: Math.min(160, 24 + 7 * Math.max(...rows.map((row) => row.length))),
    marginRight: 20,
    ariaLabel: "Timeline of the phases",
    x: {...cyclesAxis, label: "cycles →", domain: [0, now]},
    y: {domain: rows, label: null},
    color: {domain: ["run", "change"], range: ["var(--compute)", "var(--configuration)"]},
    marks: [
      Plot.axisY({tickSize: 0, label: null}),
      Plot.barX(data, {
        x1: "begin",
        x2: "end",
        y: "row",
        fill: "kindName",
        insetTop: 3,
        insetBottom: 3,
        insetRight: Math.min(0.5, width / now),
        title: (part) =>
          `${part.kind === "run" ? "phase" : "change to"} ${part.name}: ` +
          `${count(part.cycles)} cycles (${percent(part.cycles / now)})` +
          (part.count > 1 ? `\n${part.count} runs of ${count(part.cycles / part.count)}` : "") +
          `\nfrom ${count(part.begin)}`,
        tip: tipStyle,
      }),
      Plot.tickX(ticks, {x: "x", y: "row", stroke: surface, insetTop: 3, insetBottom: 3}),
    ],
  });
}

function stripTimeline(model, width) {
  const spans = stripSpans(model);
  if (!spans?.length) return null;
  const kernels = [...new Set(spans.map(({kernel}) => kernel))].sort((a, b) => a - b);
  const names = new Map(model.kernels.map(({index, name}) => [index, name]));
  const samples = [...new Set(spans.map(({sample}) => sample))];
  const height = Math.max(120, Math.min(22, Math.max(9, 620 / kernels.length)) * kernels.length + 54);
  return Plot.plot({
    width,
    height,
    marginLeft: Math.min(
      170,
      16 + (kernels.length > 45 ? 5.2 : 6.4) * Math.max(...kernels.map((kernel) => names.get(kernel).length)),
    ),
    marginRight: 24,
    ariaLabel: "Timeline of the samples through the kernels",
    x: {...cyclesAxis, label: "cycles →"},
    y: {domain: kernels, label: null, padding: 0.15},
    color: {
      domain: samples,
      range: samples.map(
        (sample) => ["var(--compute)", "var(--memory)", "var(--network)", "var(--setup)"][sample % 4],
      ),
    },
    marks: [
      Plot.axisY({
        tickSize: 0,
        label: null,
        tickFormat: (kernel) => names.get(kernel),
        fontSize: kernels.length > 45 ? 9 : 11,
      }),
      Plot.barX(spans, {
        x1: "begin",
        x2: "end",
        y: "kernel",
        fill: "sample",
        fillOpacity: 0.85,
        insetLeft: 0.5,
        insetRight: 0.5,
        title: (span) =>
          `${names.get(span.kernel)}, sample ${span.sample}\n` +
          `${count(span.begin)} to ${count(span.end)} (${count(span.end - span.begin)} cycles)`,
        tip: tipStyle,
      }),
    ],
  });
}

function stripSpans(model) {
  if (!model.emulated) return null;
  if (model.emulated.spans.rows.length)
    return model.emulated.spans.rows.map(([kernel, sample, begin, end]) => ({kernel, sample, begin, end}));
  return model.kernels
    .filter(({emulated}) => emulated?.done_cycles.length)
    .flatMap(({index, emulated}) =>
      emulated.done_cycles.slice(0, 4).map((end, sample) => ({
        kernel: index,
        sample,
        end,
        begin: Math.max(0, end - emulated.interval_cycles, sample > 0 ? emulated.done_cycles[sample - 1] : 0),
      })),
    );
}

// Seconds of each phase of the compiler.
export function compilation(model, width) {
  const data = model.report.compilation?.phases ?? [];
  if (!data.length) return null;
  return Plot.plot({
    width,
    height: 24 * data.length + 46,
    marginLeft: 70,
    marginRight: 130,
    ariaLabel: "Seconds of each phase of the compilation",
    x: {label: "seconds →", grid: true, nice: true},
    y: {domain: data.map(({phase}) => phase), label: null},
    marks: [
      Plot.axisY({tickSize: 0, label: null}),
      Plot.barX(data, {x: "seconds", y: "phase", fill: "var(--compute)", inset: 4, rx: 2}),
      Plot.text(data, {
        x: "seconds",
        y: "phase",
        text: (phase) => `${phase.seconds.toPrecision(2)} s, ${Math.round(phase.peak_rss_bytes / 2 ** 20)} MiB`,
        textAnchor: "start",
        dx: 6,
        fill: muted,
      }),
    ],
  });
}
