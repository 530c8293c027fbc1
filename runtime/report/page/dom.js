// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements, and numbers as people read them.

// el("button", {class: "a", onclick: f, "aria-label": "…"}, child, …). Children: nodes, texts, arrays; null is left
// out.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const whole = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});
export const count = (number) => whole.format(number);

// At most 3 significant digits with k, M, G, T.
export function short(number) {
  const steps = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [size, unit] = steps.find(([least]) => Math.abs(number) >= least) ?? [1, ""];
  const digits = number / size;
  return (Math.abs(digits) >= 100 ? whole.format(digits) : Number(digits.toPrecision(3))) + unit;
}

// A share as percent; small ones keep a digit that tells them from 0.
export function percent(share) {
  const value = 100 * share;
  if (!Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) < 0.01) return "< 0.01 %";
  return `${value.toFixed(Math.abs(value) >= 10 || value === 0 ? 0 : Math.abs(value) >= 1 ? 1 : 2)} %`;
}

export function bytes(number) {
  const [size, unit] =
    number >= 2 ** 30
      ? [2 ** 30, "GiB"]
      : number >= 2 ** 20
        ? [2 ** 20, "MiB"]
        : number >= 10240
          ? [1024, "KiB"]
          : [1, "B"];
  return `${size === 1 ? whole.format(number) : (number / size).toPrecision(3)} ${unit}`;
}

export function seconds(time) {
  const [size, unit] =
    time >= 1 ? [1, "s"] : time >= 1e-3 ? [1e-3, "ms"] : time >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"];
  return `${(time / size).toPrecision(3)} ${unit}`;
}

// "1 core", "2 cores".
export const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

// "a, b, c and 4 more" in at most `most` items.
export function listed(items, most = 4) {
  return items.length <= most
    ? items.join(", ")
    : `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
}
