// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours of data. Kernels: hues that people who see no red or no green tell apart (after Okabe and Ito), in an order
// in which neighbours differ in lightness as well. Shares: viridis, which grows in lightness evenly.
import {interpolateViridis} from "d3-scale-chromatic";

const hues = {
  light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a8c1f", "#8d6bb8"],
  dark: ["#4ea3d8", "#e6b23c", "#2fc79a", "#e39bc2", "#8fd0f5", "#f0854a", "#b3c455", "#b79be0"],
};

export const isDark = () => document.documentElement.dataset.theme === "dark";

export function kernelColour(index) {
  const list = hues[isDark() ? "dark" : "light"];
  return list[index % list.length];
}

export const shareColour = (share) => interpolateViridis(Math.max(0, Math.min(1, share)));

export const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// "#rrggbb" or "rgb(…)" as [r, g, b].
export function channels(colour) {
  const hex = colour.match(/^#(..)(..)(..)$/);
  return hex
    ? hex.slice(1).map((digits) => parseInt(digits, 16))
    : colour
        .match(/\d+(\.\d+)?/g)
        .slice(0, 3)
        .map(Number);
}

// Kinds of slots and of memory, in the order in which they are stacked.
export const slotKinds = [
  ["compute", "compute"],
  ["memory", "memory"],
  ["network", "network"],
  ["setup", "set-up"],
  ["input", "input"],
  ["configuration", "configuration"],
  ["waiting", "waiting"],
];
export const memoryColours = {
  runtime: "--configuration",
  stack: "--configuration",
  code: "--setup",
  constant: "--compute",
  state: "--input",
  resident: "--network",
  fifo: "--network",
  scratch: "--memory",
  free: "--sunk",
};
