// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of kernels: sorted by any column, filtered by words, in step with the map's selection.
import {el, count, listed, percent, short} from "./dom.js";
import {kernelColour} from "./palette.js";

const ratio = (kernel) =>
  kernel.emulated && kernel.predicted_interval_cycles > 0 ? kernel.cycles / kernel.predicted_interval_cycles : NaN;

function columnsOf(model) {
  const columns = [
    {name: "kernel", value: (kernel) => kernel.index, text: (kernel) => kernel.name, sort: 1},
    {
      name: "place",
      value: (kernel) => kernel.rectangle.col * 1e5 + kernel.rectangle.row,
      sort: 1,
      text: ({rectangle: {row, col, rows, cols}}) => `${rows} × ${cols} at (${row}, ${col})`,
    },
    {name: "cores", value: (kernel) => kernel.cores},
    {name: "multiply-adds", value: (kernel) => kernel.macs, text: (kernel) => short(kernel.macs)},
    {name: "predicted cycles", value: (kernel) => kernel.predicted_interval_cycles},
    {name: "emulated cycles", value: (kernel) => (kernel.emulated ? kernel.cycles : NaN), needs: "emulated"},
    {
      name: "ratio",
      title: "emulated / predicted cycles",
      value: ratio,
      text: (kernel) => (Number.isNaN(ratio(kernel)) ? "–" : ratio(kernel).toFixed(2)),
      needs: "emulated",
    },
    {
      name: "busy",
      value: (kernel) => kernel.busyShare,
      text: (kernel) => percent(kernel.busyShare),
      meter: true,
      title: "issue slots of its busiest core in a step's cycles",
    },
    {name: "wait for words", value: (kernel) => kernel.emulated?.wait_words_cycles ?? NaN, needs: "emulated"},
    {name: "wait for space", value: (kernel) => kernel.emulated?.wait_room_cycles ?? NaN, needs: "emulated"},
    {
      name: "SRAM",
      value: (kernel) => kernel.sram_bytes / model.machine.sram_bytes,
      text: (kernel) => percent(kernel.sram_bytes / model.machine.sram_bytes),
      meter: true,
      title: "of its fullest core",
    },
    {
      name: "layers",
      value: (kernel) => kernel.layers.join(", "),
      text: (kernel) => listed(kernel.layers),
      wide: true,
      sort: 1,
    },
  ];
  return columns.filter(({needs}) => needs !== "emulated" || model.emulated);
}

export class KernelTable {
  // `on`: functions kernel(index), hover(index).
  constructor(model, on) {
    this.model = model;
    this.on = on;
    this.columns = columnsOf(model);
    this.kernels = model.kernels.map((kernel) => {
      const cycles = model.cyclesOf(kernel.configuration);
      return {...kernel, cycles: model.kernelCycles(kernel), busyShare: cycles > 0 ? kernel.busy / cycles : NaN};
    });
    this.sorted = {column: this.columns[0], down: false};
    this.words = "";
    this.head = el("tr", {});
    this.body = el("tbody", {});
    this.found = el("span", {class: "note", style: "margin:0", role: "status"});
    this.element = el(
      "div",
      {},
      el(
        "div",
        {class: "bar"},
        el(
          "label",
          {},
          "Filter",
          el("input", {
            type: "search",
            id: "filter",
            placeholder: "name or layer",
            oninput: (event) => {
              this.words = event.target.value.toLowerCase();
              this.fill();
            },
          }),
        ),
        this.found,
      ),
      el(
        "div",
        {class: "kernels", tabindex: 0, role: "region", "aria-label": "Kernels"},
        el("table", {}, el("thead", {}, this.head), this.body),
      ),
    );
    this.fill();
  }

  fill() {
    this.head.replaceChildren(
      ...this.columns.map((column) => {
        const here = column === this.sorted.column;
        return el(
          "th",
          {
            scope: "col",
            class: column.sort ? "" : "number",
            title: column.title,
            "aria-sort": here ? (this.sorted.down ? "descending" : "ascending") : null,
          },
          el(
            "button",
            {type: "button", onclick: () => this.sort(column)},
            column.name,
            here ? (this.sorted.down ? " ↓" : " ↑") : "",
          ),
        );
      }),
    );
    const {column, down} = this.sorted;
    const shown = this.kernels.filter((kernel) =>
      `${kernel.name} ${kernel.layers.join(" ")}`.toLowerCase().includes(this.words),
    );
    const compare = (a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.index - b.index;
      return ((x > y) - (x < y)) * (down ? -1 : 1) || a.index - b.index;
    };
    this.rows = new Map();
    this.body.replaceChildren(...shown.sort(compare).map((kernel) => this.row(kernel)));
    this.found.textContent =
      shown.length === this.kernels.length
        ? `${shown.length} kernels`
        : `${shown.length} of ${this.kernels.length} kernels`;
    this.mark(this.marked ?? -1, false);
  }

  row(kernel) {
    const row = el(
      "tr",
      {
        onclick: () => this.on.kernel(kernel.index),
        onpointerenter: () => this.on.hover(kernel.index),
        onpointerleave: () => this.on.hover(-1),
      },
      this.columns.map((column, at) => {
        const value = column.value(kernel);
        const text = column.text ? column.text(kernel) : Number.isNaN(value) ? "–" : count(value);
        if (at === 0)
          return el(
            "td",
            {},
            el("span", {class: "swatch", style: `background:${kernelColour(kernel.index)}`}),
            el("button", {type: "button", class: "name"}, text),
          );
        const meter =
          column.meter && !Number.isNaN(value)
            ? el(
                "span",
                {class: "meter", "aria-hidden": "true"},
                el("i", {style: `width:${Math.min(100, 100 * value)}%`}),
              )
            : null;
        return el(
          "td",
          {
            class: column.wide ? "wide" : column.sort ? "" : "number",
            title: column.wide ? kernel.layers.join(", ") : null,
          },
          text,
          meter,
        );
      }),
    );
    this.rows.set(kernel.index, row);
    return row;
  }

  sort(column) {
    const here = column === this.sorted.column;
    this.sorted = {column, down: here ? !this.sorted.down : !column.sort};
    this.fill();
    this.head.querySelectorAll("button")[this.columns.indexOf(column)].focus();
  }

  // Shows kernel `index` as selected; none for -1.
  mark(index, scroll = true) {
    this.marked = index;
    this.rows.forEach((row, kernel) => row.setAttribute("aria-selected", kernel === index));
    const row = this.rows.get(index);
    if (row && scroll) {
      const box = row.closest(".kernels");
      if (row.offsetTop < box.scrollTop + 30 || row.offsetTop > box.scrollTop + box.clientHeight - 30)
        box.scrollTop = row.offsetTop - box.clientHeight / 2;
    }
  }
}
