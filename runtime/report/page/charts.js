// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The charts, drawn by Observable Plot. Each function takes the model and a width in pixels and returns an element, or
// null where the report does not hold what it shows.
import * as Plot from "@observablehq/plot";
import {count, percent, short} from "./dom.js";
import {sumSlots} from "./model.js";
import {kernelColour, slotKinds} from "./palette.js";

const ink = "var(--ink)", muted = "var(--muted)", line = "var(--line)";
const cyclesAxis = {tickFormat: short, grid: true, nice: true};
const tipStyle = {fill: "var(--surface)", stroke: line, lineHeight: 1.35};

const kindColours = {domain: slotKinds.map(([, name]) => name), range: slotKinds.map(([key]) => `var(--${key})`)};

// Cycles that a step keeps each resource busy.
export function limits(model, width) {
  const {report} = model;
  if (!report.limits.length)
    return null;
  const step = stepCycles(model);
  const data = report.limits.map((limit) => ({...limit, share: limit.cycles / step}));
  return Plot.plot({
    width, height: 34 * data.length + 44, marginLeft: 150, marginRight: 96, marginTop: 18,
    ariaLabel: "Cycles that a step keeps each resource busy",
    x: {...cyclesAxis, label: "cycles →", domain: [0, Math.max(step, data[0].cycles)]}, y: {label: null, domain: data.map(({name}) => name)},
    marks: [
      Plot.axisY({tickSize: 0, label: null, fontSize: 12.5}),
      Plot.barX(data, {x: "cycles", y: "name", fill: (limit) => limit.share >= 0.95 ? "var(--input)" : "var(--compute)", inset: 5, rx: 2,
        title: (limit) => `${limit.name}: ${count(limit.cycles)} cycles\n${limit.detail}`, tip: tipStyle}),
      Plot.text(data, {y: "name", frameAnchor: "right", text: (limit) => `${count(limit.cycles)}  (${percent(limit.share)})`, textAnchor: "end", dx: 92, fill: muted}),
      Plot.ruleX([step], {stroke: ink, strokeWidth: 1.5}),
      Plot.text([step], {x: step, frameAnchor: "top", dy: -14, text: () => `a step: ${count(step)}`, fill: ink}),
    ],
  });
}

export const stepCycles = (model) => model.phased && model.emulated ? model.emulated.latency_cycles : model.report.interval_cycles;

// One bar: the whole step by what its time is spent on.
export function split(model, width) {
  const {step} = model.report;
  const data = slotKinds.map(([key, name]) => ({name, cycles: step[`${key}_cycles`]})).filter(({cycles}) => cycles > 0);
  const all = data.reduce((sum, {cycles}) => sum + cycles, 0);
  if (all === 0)
    return null;
  return Plot.plot({
    width, height: 84, marginLeft: 8, marginRight: 24, marginTop: 22, ariaLabel: "A step's time by what it is spent on",
    x: {...cyclesAxis, grid: false, nice: false, ticks: Math.max(2, width / 110), label: "cycles →"}, color: kindColours,
    marks: [
      Plot.barX(data, Plot.stackX({x: "cycles", fill: "name", order: kindColours.domain, insetLeft: 0.5, insetRight: 0.5,
        title: ({name, cycles}) => `${name}: ${count(cycles)} cycles (${percent(cycles / all)})`, tip: tipStyle})),
      Plot.text(data, Plot.stackX({x: "cycles", order: null, dy: -28, fill: ink,
        text: ({name, cycles}) => cycles / all * width > 8 * name.length + 30 ? `${name} ${percent(cycles / all)}` : ""})),
    ],
  });
}

// The same for every kernel, or phase: its busiest core's slots and what is left of the step.
export function splits(model, width) {
  const rows = model.phased ? phaseSplits(model) : kernelSplits(model);
  if (!rows.length)
    return null;
  const names = [...new Set(rows.map(({key}) => key))];
  const step = model.phased ? null : stepCycles(model);
  const longest = Math.max(...rows.map(({label}) => label.length));
  const few = names.length * (7 * longest + 10) < width;
  const below = few ? 30 : Math.min(110, 22 + 5.6 * longest);
  return Plot.plot({
    width, height: 230 + below, marginTop: 30, marginBottom: below, marginLeft: 56, ariaLabel: "Cycles of each kernel's or phase's busiest core by what they are spent on",
    x: {domain: names, label: null, padding: names.length > 60 ? 0.1 : 0.2}, y: {...cyclesAxis, label: "↑ cycles"}, color: kindColours,
    marks: [
      Plot.axisX({tickRotate: few ? 0 : -60, tickSize: 0, label: null, fontSize: names.length > 60 ? 9.5 : 11, tickFormat: (key) => rows.find((row) => row.key === key).label}),
      Plot.barY(rows, {x: "key", y: "cycles", fill: "kind", order: kindColours.domain,
        title: (row) => `${row.label}, ${row.kind}: ${count(row.cycles)} cycles (${percent(row.cycles / row.all)})`, tip: tipStyle}),
      step ? Plot.ruleY([step], {stroke: ink, strokeWidth: 1.5}) : null,
      step ? Plot.text([step], {y: step, frameAnchor: "top-right", dy: -8, text: () => `a step: ${count(step)} cycles`, fill: ink, lineAnchor: "bottom", textAnchor: "end"}) : null,
    ],
  });
}

function slotRows(key, label, work, times, all) {
  return slotKinds.slice(0, 4).map(([kind, name]) => ({key, label, kind: name, cycles: work[`${kind}_cycles`] * times, all}));
}

function kernelSplits(model) {
  const step = stepCycles(model);
  return model.kernels.filter(({configuration}) => configuration === runConfiguration(model)).flatMap((kernel) => {
    const rest = Math.max(0, step - kernel.busy);
    return [...slotRows(kernel.index, kernel.name, kernel.busiest_core, 1, step), {key: kernel.index, label: kernel.name, kind: "waiting", cycles: rest, all: step}];
  });
}

// The configuration to look at first: the one that takes longest.
export function runConfiguration(model) {
  const parts = model.report.phases.filter(({kind}) => kind === "run").map((part) => ({...part, time: part.cycles ?? part.predicted_cycles}));
  if (parts.length)
    return parts.reduce((a, b) => (b.time > a.time ? b : a)).configuration;
  const steps = model.report.entries[model.report.entry]?.steps ?? [];
  return steps.find(({kind}) => kind === "run")?.configuration ?? 0;
}

function phaseSplits(model) {
  return model.report.phases.flatMap((part, at) => {
    const cycles = part.cycles ?? part.predicted_cycles;
    if (part.kind === "configure")
      return [{key: at, label: `to ${part.name}`, kind: "configuration", cycles, all: cycles}];
    const kernels = model.kernels.filter(({configuration}) => configuration === part.configuration);
    const most = kernels.reduce((a, b) => (b.busy > (a?.busy ?? -1) ? b : a), null);
    const label = part.count > 1 ? `${part.name} × ${part.count}` : part.name;
    const slots = most ? slotRows(at, label, most.busiest_core, part.count, cycles) : [];
    const {input_words, output_words} = model.report.configurations[part.configuration];
    let rest = Math.max(0, cycles - slots.reduce((sum, row) => sum + row.cycles, 0));
    const input = Math.min(rest, part.count * (input_words + output_words) / model.machine.io_words_per_cycle);
    return [...slots, {key: at, label, kind: "input", cycles: input, all: cycles}, {key: at, label, kind: "waiting", cycles: rest - input, all: cycles}];
  });
}

// Multiply-adds per cycle and core against multiply-adds per word over the router, or per byte of SRAM.
export function roofline(model, width, against) {
  const {machine} = model;
  const perCycle = against === "words" ? 1 : machine.sram_bytes_per_cycle;
  const traffic = (kernel) => against === "words" ? kernel.words_in : kernel.sram_traffic_bytes;
  const data = model.kernels.filter((kernel) => kernel.fma > 0 && traffic(kernel) > 0 && model.kernelCycles(kernel) > 0)
    .map((kernel) => ({kernel, name: kernel.name, cores: kernel.cores, x: kernel.fma / traffic(kernel),
      y: kernel.fma / kernel.cores / model.kernelCycles(kernel)}));
  if (!data.length)
    return null;
  const peak = machine.fma_per_cycle, ridge = peak / perCycle;
  const x1 = Math.min(ridge / 4, ...data.map(({x}) => x)) / 1.6, x2 = Math.max(ridge * 4, ...data.map(({x}) => x)) * 1.6;
  const y1 = Math.min(peak / 4, ...data.map(({y}) => y)) / 2;
  const roof = [{x: x1, y: x1 * perCycle}, {x: ridge, y: peak}, {x: x2, y: peak}].map((point) => ({...point, y: Math.max(point.y, y1)}));
  const unit = against === "words" ? "word received" : "byte of SRAM traffic";
  const labelled = spread([...data].sort((a, b) => b.cores - a.cores));
  return Plot.plot({
    width, height: Math.min(420, Math.max(300, width * 0.6)), marginLeft: 56, marginBottom: 40, marginRight: 20, ariaLabel: `Roofline: multiply-adds per cycle and core against multiply-adds per ${unit}`,
    x: {type: "log", domain: [x1, x2], label: `multiply-adds per ${unit} →`, tickFormat: logTick, ticks: 6, grid: true},
    y: {type: "log", domain: [y1, peak * 1.6], label: "↑ multiply-adds per cycle and core", tickFormat: logTick, ticks: 5, grid: true},
    r: {range: [2.5, 11]},
    marks: [
      Plot.areaY(roof, {x: "x", y1: peak * 1.6, y2: "y", fill: "var(--sunk)"}),
      Plot.line(roof, {x: "x", y: "y", stroke: ink, strokeWidth: 1.5}),
      Plot.text([roof[2]], {x: "x", y: "y", text: () => `${peak} multiply-add${peak === 1 ? "" : "s"} a cycle`, textAnchor: "end", dy: -8, fill: muted}),
      Plot.text([Math.sqrt(Math.max(x1, y1 / perCycle) * ridge)], {x: (x) => x, y: (x) => x * perCycle, text: () => `${perCycle} ${against === "words" ? "word" : "bytes"} a cycle`, textAnchor: "start", dx: 10, dy: 8, fill: muted}),
      Plot.dot(data, {x: "x", y: "y", r: "cores", fill: ({kernel}) => kernelColour(kernel.index), fillOpacity: 0.85, stroke: "var(--surface)", strokeWidth: 1,
        title: ({name, x, y, cores}) => `${name}\n${y.toPrecision(3)} multiply-adds per cycle and core (${percent(y / Math.min(peak, x * perCycle))} of the roof)\n${x.toPrecision(3)} per ${unit}\n${count(cores)} cores`, tip: tipStyle}),
      Plot.text(labelled, {x: "x", y: "y", text: "name", dy: -13, fill: ink, stroke: "var(--surface)", strokeWidth: 3, fontSize: 11}),
    ],
  });
}

const logTick = (value) => value >= 1000 || value < 0.01 ? (value >= 1000 ? short(value) : value.toExponential(0)) : String(+value.toPrecision(2));

// The dots that may bear names: the first ones, as long as they are far enough from one another on logarithmic scales.
function spread(dots) {
  const kept = [];
  for (const dot of dots) {
    const near = kept.some((other) => Math.abs(Math.log(dot.x / other.x)) < 0.45 && Math.abs(Math.log(dot.y / other.y)) < 0.22);
    if (!near && kept.length < 12)
      kept.push(dot);
  }
  return kept;
}

// Predicted against emulated cycles, of kernels or of phases.
export function agreement(model, width) {
  if (!model.emulated)
    return null;
  const data = model.phased
    ? model.report.phases.filter(({kind, cycles}) => kind === "run" && cycles !== undefined)
        .map((part) => ({name: part.name, x: part.predicted_cycles, y: part.cycles, colour: "var(--compute)", r: 5}))
    : model.kernels.filter((kernel) => kernel.emulated && kernel.predicted_interval_cycles > 0)
        .map((kernel) => ({name: kernel.name, x: kernel.predicted_interval_cycles, y: model.kernelCycles(kernel), colour: kernelColour(kernel.index), r: 4}));
  if (model.emulated.interval_cycles > 0)
    data.push({name: "whole network", x: model.report.predicted_interval_cycles, y: stepCycles(model), colour: ink, r: 6, symbol: true});
  const shown = data.filter(({x, y}) => x > 0 && y > 0);
  if (!shown.length)
    return null;
  const least = Math.min(...shown.flatMap(({x, y}) => [x, y])) / 1.4, most = Math.max(...shown.flatMap(({x, y}) => [x, y])) * 1.4;
  const band = [least, most].map((x) => ({x, low: x / 1.1, high: x * 1.1}));
  const named = spread(shown.filter(({x, y, symbol}) => shown.length <= 8 || symbol || y / x > 1.2 || y / x < 1 / 1.2).reverse());
  return Plot.plot({
    width, height: Math.min(420, Math.max(300, width * 0.6)), marginLeft: 56, marginBottom: 40, marginRight: 20, ariaLabel: "Emulated cycles against predicted cycles",
    x: {type: "log", domain: [least, most], label: "predicted cycles →", tickFormat: short, ticks: 6, grid: true},
    y: {type: "log", domain: [least, most], label: "↑ emulated cycles", tickFormat: short, ticks: 6, grid: true},
    marks: [
      Plot.areaY(band, {x: "x", y1: "low", y2: "high", fill: "var(--sunk)", clip: true}),
      Plot.line(band, {x: "x", y: "x", stroke: muted, strokeDasharray: "4 3"}),
      Plot.dot(shown, {x: "x", y: "y", r: "r", fill: "colour", stroke: "var(--surface)", symbol: ({symbol}) => symbol ? "diamond" : "circle",
        title: ({name, x, y}) => `${name}\npredicted ${count(x)}, emulated ${count(y)} cycles (${(y / x).toFixed(2)} ×)`, tip: tipStyle}),
      Plot.text(named, {x: "x", y: "y", text: "name", dy: -12, fill: ink, stroke: "var(--surface)", strokeWidth: 3, fontSize: 11}),
    ],
    r: {type: "identity"}, color: {type: "identity"}, symbol: {type: "identity"},
  });
}

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
  if (!now)
    return null;
  const rows = [...new Set(data.map(({row}) => row))];
  const ticks = data.filter(({kind, count: runs}) => kind === "run" && runs > 1 && runs <= 200)
    .flatMap((part) => Array.from({length: part.count - 1}, (_, i) => ({row: part.row, x: part.begin + (i + 1) * (part.end - part.begin) / part.count})));
  return Plot.plot({
    width, height: Math.max(90, 26 * rows.length + 58), marginLeft: Math.min(160, 24 + 7 * Math.max(...rows.map((row) => row.length))), marginRight: 20,
    ariaLabel: "Timeline of the phases", x: {...cyclesAxis, label: "cycles →", domain: [0, now]}, y: {domain: rows, label: null},
    color: {domain: ["run", "change"], range: ["var(--compute)", "var(--configuration)"]},
    marks: [
      Plot.axisY({tickSize: 0, label: null}),
      Plot.barX(data, {x1: "begin", x2: "end", y: "row", fill: "kindName", insetTop: 3, insetBottom: 3, insetRight: Math.min(0.5, width / now),
        title: (part) => `${part.kind === "run" ? "phase" : "change to"} ${part.name}: ${count(part.cycles)} cycles (${percent(part.cycles / now)})` +
          (part.count > 1 ? `\n${part.count} runs of ${count(part.cycles / part.count)}` : "") + `\nfrom ${count(part.begin)}`, tip: tipStyle}),
      Plot.tickX(ticks, {x: "x", y: "row", stroke: "var(--surface)", insetTop: 3, insetBottom: 3}),
    ],
  });
}

function stripTimeline(model, width) {
  const spans = stripSpans(model);
  if (!spans?.length)
    return null;
  const kernels = [...new Set(spans.map(({kernel}) => kernel))].sort((a, b) => a - b);
  const names = new Map(model.kernels.map(({index, name}) => [index, name]));
  const samples = [...new Set(spans.map(({sample}) => sample))];
  const height = Math.max(120, Math.min(22, Math.max(9, 620 / kernels.length)) * kernels.length + 54);
  return Plot.plot({
    width, height, marginLeft: Math.min(170, 16 + (kernels.length > 45 ? 5.2 : 6.4) * Math.max(...kernels.map((kernel) => names.get(kernel).length))),
    marginRight: 24, ariaLabel: "Timeline of the samples through the kernels",
    x: {...cyclesAxis, label: "cycles →"}, y: {domain: kernels, label: null, padding: 0.15},
    color: {domain: samples, range: samples.map((sample) => ["var(--compute)", "var(--memory)", "var(--network)", "var(--setup)"][sample % 4])},
    marks: [
      Plot.axisY({tickSize: 0, label: null, tickFormat: (kernel) => names.get(kernel), fontSize: kernels.length > 45 ? 9 : 11}),
      Plot.barX(spans, {x1: "begin", x2: "end", y: "kernel", fill: "sample", fillOpacity: 0.85, insetLeft: 0.5, insetRight: 0.5,
        title: (span) => `${names.get(span.kernel)}, sample ${span.sample}\n${count(span.begin)} to ${count(span.end)} (${count(span.end - span.begin)} cycles)`, tip: tipStyle}),
    ],
  });
}

function stripSpans(model) {
  if (!model.emulated)
    return null;
  if (model.emulated.spans.rows.length)
    return model.emulated.spans.rows.map(([kernel, sample, begin, end]) => ({kernel, sample, begin, end}));
  return model.kernels.filter(({emulated}) => emulated?.done_cycles.length).flatMap(({index, emulated}) =>
    emulated.done_cycles.slice(0, 4).map((end, sample) => ({kernel: index, sample, end,
      begin: Math.max(0, end - emulated.interval_cycles, sample > 0 ? emulated.done_cycles[sample - 1] : 0)})));
}

// Seconds of each phase of the compiler.
export function compilation(model, width) {
  const data = model.report.compilation?.phases ?? [];
  if (!data.length)
    return null;
  return Plot.plot({
    width, height: 24 * data.length + 46, marginLeft: 70, marginRight: 130, ariaLabel: "Seconds of each phase of the compilation",
    x: {label: "seconds →", grid: true, nice: true}, y: {domain: data.map(({phase}) => phase), label: null},
    marks: [
      Plot.axisY({tickSize: 0, label: null}),
      Plot.barX(data, {x: "seconds", y: "phase", fill: "var(--compute)", inset: 4, rx: 2}),
      Plot.text(data, {x: "seconds", y: "phase", text: (phase) => `${phase.seconds.toPrecision(2)} s, ${Math.round(phase.peak_rss_bytes / 2 ** 20)} MiB`, textAnchor: "start", dx: 6, fill: muted}),
    ],
  });
}

export {sumSlots};
