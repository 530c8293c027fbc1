// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sections of the page are made of.
import {el} from "./dom.js";
import {slotKinds} from "./palette.js";

const redraws = [];

export function section(id, title, note, ...children) {
  const nav = document.getElementById("nav");
  nav.append(el("a", {href: `#${id}`}, title));
  const element = el(
    "section",
    {id, "aria-labelledby": `${id}-title`},
    el("h2", {id: `${id}-title`}, title),
    note ? el("p", {class: "note"}, note) : null,
    ...children,
  );
  document.querySelector("main").append(element);
  return element;
}

// A place for a chart that is drawn again when its width or the theme changes. `draw(width)` returns an
// element, or null.
export function chart(draw, otherwise) {
  const element = el("div", {class: "chart"});
  let width = 0;
  const redraw = () => {
    if (width < 40) return;
    const drawn = draw(width);
    drawn?.setAttribute("role", "img");
    element.replaceChildren(drawn ?? el("p", {class: "empty"}, otherwise));
  };
  new ResizeObserver(([{contentRect}]) => {
    if (Math.abs(contentRect.width - width) < 2) return;
    width = contentRect.width;
    redraw();
  }).observe(element);
  redraws.push(redraw);
  return element;
}

export const redrawCharts = () => redraws.forEach((redraw) => redraw());

// Radio buttons side by side for [key, name] pairs; the first is checked.
export function choice(legend, group, options, onChoice) {
  return el(
    "fieldset",
    {class: "choice"},
    el("legend", {class: "hidden"}, legend),
    options.map(([value, name], at) =>
      el(
        "label",
        {},
        el("input", {type: "radio", name: group, value, checked: at === 0, onchange: () => onChoice(value)}),
        name,
      ),
    ),
  );
}

// What the colours of some kinds of cycles mean.
export const keys = (names) =>
  el(
    "ul",
    {class: "keys"},
    slotKinds
      .filter(([key]) => names.includes(key))
      .map(([key, name]) => el("li", {}, el("span", {class: "swatch", style: `background:var(--${key})`}), name)),
  );
