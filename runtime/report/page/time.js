// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a step's time goes: how long it keeps each resource busy, and what the busiest cores do meanwhile.
import * as Plot from "@observablehq/plot";
import {count, percent} from "./dom.js";
import {slotKinds} from "./palette.js";
import {cyclesAxis, ink, kindColours, muted, tipStyle} from "./plots.js";

// Cycles that a step keeps each resource busy.
export function limits(model, width) {
  const {report} = model;
  if (!report.limits.length) return null;
  const step = model.stepCycles;
  const data = report.limits.map((limit) => ({...limit, share: limit.cycles / step}));
  return Plot.plot({
    width,
    height: 34 * data.length + 44,
    marginLeft: 150,
    marginRight: 96,
    marginTop: 18,
    ariaLabel: "Cycles that a step keeps each resource busy",
    x: {...cyclesAxis, label: "cycles →", domain: [0, Math.max(step, data[0].cycles)]},
    y: {label: null, domain: data.map(({name}) => name)},
    marks: [
      Plot.axisY({tickSize: 0, label: null, fontSize: 12.5}),
      Plot.barX(data, {
        x: "cycles",
        y: "name",
        fill: (limit) => (limit.share >= 0.95 ? "var(--input)" : "var(--compute)"),
        inset: 5,
        rx: 2,
        title: (limit) => `${limit.name}: ${count(limit.cycles)} cycles\n${limit.detail}`,
        tip: tipStyle,
      }),
      Plot.text(data, {
        y: "name",
        frameAnchor: "right",
        text: (limit) => `${count(limit.cycles)}  (${percent(limit.share)})`,
        textAnchor: "end",
        dx: 92,
        fill: muted,
      }),
      Plot.ruleX([step], {stroke: ink, strokeWidth: 1.5}),
      Plot.text([step], {x: step, frameAnchor: "top", dy: -14, text: () => `a step: ${count(step)}`, fill: ink}),
    ],
  });
}

// One bar: the whole step by what its time is spent on.
export function split(model, width) {
  const {step} = model.report;
  const data = slotKinds
    .map(([key, name]) => ({name, cycles: step[`${key}_cycles`]}))
    .filter(({cycles}) => cycles > 0);
  const all = data.reduce((sum, {cycles}) => sum + cycles, 0);
  if (all === 0) return null;
  return Plot.plot({
    width,
    height: 84,
    marginLeft: 8,
    marginRight: 24,
    marginTop: 22,
    ariaLabel: "A step's time by what it is spent on",
    x: {...cyclesAxis, grid: false, nice: false, ticks: Math.max(2, width / 110), label: "cycles →"},
    color: kindColours,
    marks: [
      Plot.barX(
        data,
        Plot.stackX({
          x: "cycles",
          fill: "name",
          order: kindColours.domain,
          insetLeft: 0.5,
          insetRight: 0.5,
          title: ({name, cycles}) => `${name}: ${count(cycles)} cycles (${percent(cycles / all)})`,
          tip: tipStyle,
        }),
      ),
      Plot.text(
        data,
        Plot.stackX({
          x: "cycles",
          order: null,
          dy: -28,
          fill: ink,
          text: ({name, cycles}) =>
            (cycles / all) * width > 8 * name.length + 30 ? `${name} ${percent(cycles / all)}` : "",
        }),
      ),
    ],
  });
}

// The same for every kernel, or phase: its busiest core's slots and what is left of the step.
export function splits(model, width) {
  const rows = model.phased ? phaseSplits(model) : kernelSplits(model);
  if (!rows.length) return null;
  const names = [...new Set(rows.map(({key}) => key))];
  const step = model.phased ? null : model.stepCycles;
  const longest = Math.max(...rows.map(({label}) => label.length));
  const few = names.length * (7 * longest + 10) < width;
  const below = few ? 30 : Math.min(110, 22 + 5.6 * longest);
  return Plot.plot({
    width,
    height: 230 + below,
    marginTop: 30,
    marginBottom: below,
    marginLeft: 56,
    ariaLabel: "Cycles of each kernel's or phase's busiest core by what they are spent on",
    x: {domain: names, label: null, padding: names.length > 60 ? 0.1 : 0.2},
    y: {...cyclesAxis, label: "↑ cycles"},
    color: kindColours,
    marks: [
      Plot.axisX({
        tickRotate: few ? 0 : -60,
        tickSize: 0,
        label: null,
        fontSize: names.length > 60 ? 9.5 : 11,
        tickFormat: (key) => {
          const {kind, label} = rows.find((row) => row.key === key);
          return kind === "configuration" && names.length > 30 ? "" : label;
        },
      }),
      Plot.barY(rows, {
        x: "key",
        y: "cycles",
        fill: "kind",
        order: kindColours.domain,
        title: (row) => `${row.label}, ${row.kind}: ${count(row.cycles)} cycles (${percent(row.cycles / row.all)})`,
        tip: tipStyle,
      }),
      step ? Plot.ruleY([step], {stroke: ink, strokeWidth: 1.5}) : null,
      step
        ? Plot.text([step], {
            y: step,
            frameAnchor: "top-right",
            dy: -8,
            text: () => `a step: ${count(step)} cycles`,
            fill: ink,
            lineAnchor: "bottom",
            textAnchor: "end",
          })
        : null,
    ],
  });
}

function slotRows(key, label, work, times, all) {
  return slotKinds
    .slice(0, 4)
    .map(([kind, name]) => ({key, label, kind: name, cycles: work[`${kind}_cycles`] * times, all}));
}

function kernelSplits(model) {
  const step = model.stepCycles;
  return model.kernels
    .filter(({configuration}) => configuration === model.mainConfiguration)
    .flatMap((kernel) => {
      const rest = Math.max(0, step - kernel.busy);
      return [
        ...slotRows(kernel.index, kernel.name, kernel.busiest_core, 1, step),
        {key: kernel.index, label: kernel.name, kind: "waiting", cycles: rest, all: step},
      ];
    });
}

function phaseSplits(model) {
  return model.report.phases.flatMap((part, at) => {
    const cycles = part.cycles ?? part.predicted_cycles;
    if (part.kind === "configure")
      return [{key: at, label: `to ${part.name}`, kind: "configuration", cycles, all: cycles}];
    const kernels = model.kernels.filter(({configuration}) => configuration === part.configuration);
    const most = kernels.reduce((a, b) => (b.busy > (a?.busy ?? -1) ? b : a), null);
    const label = part.count > 1 ? `${part.name} × ${part.count}` : part.name;
    const all = Math.max(cycles, (most?.busy ?? 0) * part.count);
    const slots = most ? slotRows(at, label, most.busiest_core, part.count, all) : [];
    const {input_words, output_words} = model.report.configurations[part.configuration];
    const rest = all - (most?.busy ?? 0) * part.count;
    const input = Math.min(rest, (part.count * (input_words + output_words)) / model.machine.io_words_per_cycle);
    return [
      ...slots,
      {key: at, label, kind: "input", cycles: input, all},
      {key: at, label, kind: "waiting", cycles: rest - input, all},
    ];
  });
}
