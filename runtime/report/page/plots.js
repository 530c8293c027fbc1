// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the charts share: colours, axes, tips. Charts are drawn by Observable Plot; each function of time.js,
// rooflines.js and timeline.js takes the model and a width in pixels and returns an element, or null where the report
// does not hold what it shows.
import {short} from "./dom.js";
import {slotKinds} from "./palette.js";

export const ink = "var(--ink)";
export const muted = "var(--muted)";
export const surface = "var(--surface)";
export const cyclesAxis = {tickFormat: short, grid: true, nice: true};
export const tipStyle = {fill: surface, stroke: "var(--line)", lineHeight: 1.35};
export const kindColours = {
  domain: slotKinds.map(([, name]) => name),
  range: slotKinds.map(([key]) => `var(--${key})`),
};
