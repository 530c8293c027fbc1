// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floor plan, table of kernels and selected core, kept in step by one state: what colours mean, configuration, kernel,
// core and stream.
import {el, counted, percent, short} from "./dom.js";
import {FloorPlan, views} from "./floorplan.js";
import {showCore} from "./inspector.js";
import {shareColour} from "./palette.js";
import {choice, section} from "./parts.js";
import {KernelTable} from "./table.js";

export class Explorer {
  constructor(model) {
    this.model = model;
    const on = {
      select: (row, col) => this.set({core: [row, col]}),
      kernel: (index) => this.set({kernel: index === this.state.kernel ? -1 : index}),
      hover: (index) => this.plan.set({hovered: index}),
      net: (index) => this.set({net: index}),
      clear: () => this.set({kernel: -1, core: null, net: -1}),
    };
    this.on = on;
    this.state = {view: "kernel", configuration: model.mainConfiguration, kernel: -1, core: null, net: -1};
    this.plan = new FloorPlan(model, on);
    this.table = new KernelTable(model, on);
    this.inspector = el("div", {class: "core", "aria-label": "Selected core", role: "region"});
    this.legend = el("div", {class: "legend"});
    this.nets = el("select", {id: "net", onchange: (event) => this.set({net: Number(event.target.value)})});
    this.phases = el(
      "select",
      {id: "phase", onchange: (event) => this.set({configuration: Number(event.target.value)})},
      model.report.configurations.map(({name}, index) =>
        el("option", {value: index, selected: index === this.state.configuration}, name),
      ),
    );
    this.fillNets();
    section(
      "floorplan",
      "Floor plan",
      this.note(),
      this.controls(),
      el("div", {class: "plan"}, el("div", {}, this.plan.element, this.legend), this.inspector),
    );
    section(
      "kernels",
      "Kernels",
      `Rows and map show the same selection. Cycles are those of one ${model.phased ? "run of a phase" : "step"}.`,
      this.table.element,
    );
    this.set({});
  }

  note() {
    const {report, machine} = this.model;
    const dead = machine.dead_cores.length;
    const links = machine.dead_links.length;
    return (
      `${machine.rows} × ${machine.cols} cores of ${report.target}, north at the top.` +
      (dead || links
        ? ` Crosses: ${counted(dead, "dead core")}${links ? ` and ${counted(links, "dead link")}` : ""}.`
        : "")
    );
  }

  controls() {
    const colourings = views.map(({key, name}) => [key, name]);
    const zoom = (name, label, act) =>
      el("button", {type: "button", "aria-label": label, title: label, onclick: act}, name);
    return el(
      "div",
      {class: "bar"},
      choice("Colour by", "view", colourings, (view) => this.set({view})),
      this.model.report.configurations.length > 1
        ? el("label", {}, this.model.phased ? "Phase" : "Configuration", this.phases)
        : null,
      el("label", {}, "Stream", this.nets),
      el(
        "label",
        {},
        "Core",
        el("input", {
          id: "place",
          size: 8,
          placeholder: "row, col",
          onchange: (event) => this.goTo(event.target),
        }),
      ),
      el(
        "div",
        {class: "group"},
        zoom("+", "Zoom in", () => this.plan.zoom(1.6)),
        zoom("−", "Zoom out", () => this.plan.zoom(1 / 1.6)),
        zoom("wafer", "Show the whole wafer", () => this.plan.fit()),
        zoom("used", "Show the cores in use", () => this.plan.fit(this.model.usedBox())),
      ),
    );
  }

  // Selects the core that an input names, and moves the view to it.
  goTo(input) {
    const place = input.value
      .match(/^\D*(\d+)\D+(\d+)\D*$/)
      ?.slice(1)
      .map(Number);
    const {rows, cols} = this.model;
    const known = place && place[0] < rows && place[1] < cols;
    input.setCustomValidity(known || !input.value ? "" : `row and column of a core: below ${rows}, ${cols}`);
    input.reportValidity();
    if (!known) return;
    this.set({core: place});
    this.plan.centre(place, Math.max(this.plan.cell, 8));
  }

  fillNets() {
    const {nets} = this.model.report.configurations[this.state.configuration];
    this.nets.replaceChildren(
      el("option", {value: -1}, "none"),
      ...nets.name.map((name, index) =>
        el("option", {value: index}, nets.words[index] ? `${name} (${short(nets.words[index])} words)` : name),
      ),
    );
  }

  set(changes) {
    const before = this.state;
    this.state = {...before, ...changes};
    const {state, model} = this;
    if (changes.kernel >= 0) state.configuration = model.kernels[changes.kernel].configuration;
    if (state.configuration !== before.configuration) {
      state.net = changes.net ?? -1;
      this.fillNets();
      this.phases.value = state.configuration;
    }
    if (changes.net >= 0 && changes.kernel === undefined) state.kernel = -1;
    this.nets.value = state.net;
    this.plan.set({...state, colours: changes.colours});
    this.table.mark(state.kernel, changes.kernel !== undefined);
    showCore(this.inspector, model, state.configuration, state.core, this.on);
    this.showLegend();
  }

  showLegend() {
    const {model, state} = this;
    const key = (colour, text) => el("span", {}, el("i", {style: `background:${colour}`}), text);
    const extra =
      state.net >= 0
        ? [key("var(--input)", "sends"), key("var(--network)", "receives"), key("var(--accent)", "passes")]
        : [];
    const idle = key("var(--idle)", "no program");
    if (state.view === "kernel") {
      this.legend.replaceChildren("A colour for each kernel, named in the table", idle, ...extra);
      return;
    }
    const view = views.find(({key: name}) => name === state.view);
    const known = model.shares(state.view, state.configuration);
    if (!known) {
      this.legend.replaceChildren(
        `Not known: ${model.report.configurations[state.configuration].link_words_unknown}`,
      );
      return;
    }
    const scale = el("canvas", {
      width: 200,
      height: 10,
      role: "img",
      "aria-label": `Colours from 0 to ${percent(this.plan.end ?? 1)}`,
    });
    const context = scale.getContext("2d");
    for (let x = 0; x < 200; ++x) {
      context.fillStyle = shareColour(x / 199);
      context.fillRect(x, 0, 1, 10);
    }
    this.legend.replaceChildren(
      "0",
      scale,
      `${percent(this.plan.scaleEnd())} ${state.view === "stalls" ? model.stallSource : view.unit}`,
      key("var(--idle)", state.view === "links" ? "no words" : "no program"),
      ...extra,
    );
  }
}
