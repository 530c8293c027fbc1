// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels against the roofs of the machine, and predictions against what was emulated.
import * as Plot from "@observablehq/plot";
import {count, percent, short} from "./dom.js";
import {kernelColour} from "./palette.js";
import {ink, muted, surface, tipStyle} from "./plots.js";

const logTick = (value) =>
  value >= 1000 || value < 0.01
    ? value >= 1000
      ? short(value)
      : value.toExponential(0)
    : String(+value.toPrecision(2));

// Multiply-adds per cycle and core against multiply-adds per word over the router, or per byte of SRAM.
export function roofline(model, width, against) {
  const {machine} = model;
  const perCycle = against === "words" ? 1 : machine.sram_bytes_per_cycle;
  const traffic = (kernel) => (against === "words" ? kernel.words_in : kernel.sram_traffic_bytes);
  const data = model.kernels
    .filter((kernel) => kernel.fma > 0 && traffic(kernel) > 0 && model.kernelCycles(kernel) > 0)
    .map((kernel) => ({
      kernel,
      name: kernel.name,
      cores: kernel.cores,
      x: kernel.fma / traffic(kernel),
      y: kernel.fma / kernel.cores / model.kernelCycles(kernel),
    }));
  if (!data.length) return null;
  const peak = machine.fma_per_cycle,
    ridge = peak / perCycle;
  const x1 = Math.min(ridge / 4, ...data.map(({x}) => x)) / 1.6,
    x2 = Math.max(ridge * 4, ...data.map(({x}) => x)) * 1.6;
  const y1 = Math.min(peak / 4, ...data.map(({y}) => y)) / 2;
  const roof = [
    {x: x1, y: x1 * perCycle},
    {x: ridge, y: peak},
    {x: x2, y: peak},
  ].map((point) => ({...point, y: Math.max(point.y, y1)}));
  const unit = against === "words" ? "word received" : "byte of SRAM traffic";
  const labelled = spread([...data].sort((a, b) => b.cores - a.cores));
  return Plot.plot({
    width,
    height: Math.min(420, Math.max(300, width * 0.6)),
    marginLeft: 56,
    marginBottom: 40,
    marginRight: 20,
    ariaLabel: `Roofline: multiply-adds per cycle and core against multiply-adds per ${unit}`,
    x: {
      type: "log",
      domain: [x1, x2],
      label: `multiply-adds per ${unit} →`,
      tickFormat: logTick,
      ticks: 6,
      grid: true,
    },
    y: {
      type: "log",
      domain: [y1, peak * 1.6],
      label: "↑ multiply-adds per cycle and core",
      tickFormat: logTick,
      ticks: 5,
      grid: true,
    },
    r: {range: [2.5, 11]},
    marks: [
      Plot.areaY(roof, {x: "x", y1: peak * 1.6, y2: "y", fill: "var(--sunk)"}),
      Plot.line(roof, {x: "x", y: "y", stroke: ink, strokeWidth: 1.5}),
      Plot.text([roof[2]], {
        x: "x",
        y: "y",
        text: () => `${peak} multiply-add${peak === 1 ? "" : "s"} a cycle`,
        textAnchor: "end",
        dy: -8,
        fill: muted,
      }),
      Plot.text([Math.sqrt(Math.max(x1, y1 / perCycle) * ridge)], {
        x: (x) => x,
        y: (x) => x * perCycle,
        text: () => `${perCycle} ${against === "words" ? "word" : "bytes"} a cycle`,
        textAnchor: "start",
        dx: 10,
        dy: 8,
        fill: muted,
      }),
      Plot.dot(data, {
        x: "x",
        y: "y",
        r: "cores",
        fill: ({kernel}) => kernelColour(kernel.index),
        fillOpacity: 0.85,
        stroke: surface,
        strokeWidth: 1,
        title: ({name, x, y, cores}) =>
          `${name}\n${y.toPrecision(3)} multiply-adds per cycle and core ` +
          `(${percent(y / Math.min(peak, x * perCycle))} of the roof)\n` +
          `${x.toPrecision(3)} per ${unit}\n${count(cores)} cores`,
        tip: tipStyle,
      }),
      Plot.text(labelled, {
        x: "x",
        y: "y",
        text: "name",
        dy: -13,
        fill: ink,
        stroke: surface,
        strokeWidth: 3,
        fontSize: 11,
      }),
    ],
  });
}

// Predicted against emulated cycles, of kernels or of phases.
export function agreement(model, width) {
  if (!model.emulated) return null;
  const data = model.phased
    ? model.report.phases
        .filter(({kind, cycles}) => kind === "run" && cycles !== undefined)
        .map((part) => ({name: part.name, x: part.predicted_cycles, y: part.cycles, colour: "var(--compute)", r: 5}))
    : model.kernels
        .filter((kernel) => kernel.emulated && kernel.predicted_interval_cycles > 0)
        .map((kernel) => ({
          name: kernel.name,
          x: kernel.predicted_interval_cycles,
          y: model.kernelCycles(kernel),
          colour: kernelColour(kernel.index),
          r: 4,
        }));
  if (model.emulated.interval_cycles > 0)
    data.push({
      name: "whole network",
      x: model.report.predicted_interval_cycles,
      y: model.sampleCycles,
      colour: ink,
      r: 6,
      symbol: true,
    });
  const shown = data.filter(({x, y}) => x > 0 && y > 0);
  if (!shown.length) return null;
  const least = Math.min(...shown.flatMap(({x, y}) => [x, y])) / 1.4,
    most = Math.max(...shown.flatMap(({x, y}) => [x, y])) * 1.4;
  const band = [least, most].map((x) => ({x, low: x / 1.1, high: x * 1.1}));
  const named = spread(
    shown.filter(({x, y, symbol}) => shown.length <= 8 || symbol || y / x > 1.2 || y / x < 1 / 1.2).reverse(),
  );
  return Plot.plot({
    width,
    height: Math.min(420, Math.max(300, width * 0.6)),
    marginLeft: 56,
    marginBottom: 40,
    marginRight: 20,
    ariaLabel: "Emulated cycles against predicted cycles",
    x: {type: "log", domain: [least, most], label: "predicted cycles →", tickFormat: short, ticks: 6, grid: true},
    y: {type: "log", domain: [least, most], label: "↑ emulated cycles", tickFormat: short, ticks: 6, grid: true},
    marks: [
      Plot.areaY(band, {x: "x", y1: "low", y2: "high", fill: "var(--sunk)", clip: true}),
      Plot.line(band, {x: "x", y: "x", stroke: muted, strokeDasharray: "4 3"}),
      Plot.dot(shown, {
        x: "x",
        y: "y",
        r: "r",
        fill: "colour",
        stroke: surface,
        symbol: ({symbol}) => (symbol ? "diamond" : "circle"),
        title: ({name, x, y}) =>
          `${name}\npredicted ${count(x)}, emulated ${count(y)} cycles (${(y / x).toFixed(2)} ×)`,
        tip: tipStyle,
      }),
      Plot.text(named, {
        x: "x",
        y: "y",
        text: "name",
        dy: -12,
        fill: ink,
        stroke: surface,
        strokeWidth: 3,
        fontSize: 11,
      }),
    ],
    r: {type: "identity"},
    color: {type: "identity"},
    symbol: {type: "identity"},
  });
}

// The dots that may bear names: the first ones, as long as they are far enough from one another on logarithmic scales.
function spread(dots) {
  const kept = [];
  for (const dot of dots) {
    const near = kept.some(
      (other) => Math.abs(Math.log(dot.x / other.x)) < 0.45 && Math.abs(Math.log(dot.y / other.y)) < 0.22,
    );
    if (!near && kept.length < 12) kept.push(dot);
  }
  return kept;
}
