// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the page from the report's JSON and keeps its parts in step: one state (configuration, kernel, core, stream),
// which map, table and inspector show.
import * as charts from "./charts.js";
import {el, bytes, count, percent, seconds, short} from "./dom.js";
import {FloorPlan, views} from "./floorplan.js";
import {showCore} from "./inspector.js";
import {Model} from "./model.js";
import {isDark, shareColour, slotKinds} from "./palette.js";
import {KernelTable} from "./table.js";

const redraws = []; // charts, on a change of width or theme

function section(id, title, note, ...children) {
  const nav = document.getElementById("nav");
  nav.append(el("a", {href: `#${id}`}, title));
  const element = el("section", {id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title),
    note ? el("p", {class: "note"}, note) : null, ...children);
  document.querySelector("main").append(element);
  return element;
}

// A place for a chart that is drawn again when its width or the theme changes. `draw(width)` returns an element or null.
function chart(draw, otherwise) {
  const element = el("div", {class: "chart"});
  let width = 0;
  const redraw = () => {
    if (width < 40)
      return;
    const drawn = draw(width);
    drawn?.setAttribute("role", "img");
    element.replaceChildren(drawn ?? el("p", {class: "empty"}, otherwise));
  };
  new ResizeObserver(([{contentRect}]) => {
    if (Math.abs(contentRect.width - width) < 2)
      return;
    width = contentRect.width;
    redraw();
  }).observe(element);
  redraws.push(redraw);
  return element;
}

const keys = (names) => el("ul", {class: "keys"}, slotKinds.filter(([key]) => names.includes(key)).map(([key, name]) =>
  el("li", {}, el("span", {class: "swatch", style: `background:var(--${key})`}), name)));

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", isDark() ? "Switch to the light theme" : "Switch to the dark theme");
  button.title = button.getAttribute("aria-label");
}

function figures(model) {
  const {report, machine} = model;
  const {emulated} = model;
  const hertz = machine.clock_ghz * 1e9;
  const figure = (name, value, unit, under) => el("div", {}, el("dt", {}, name), el("dd", {}, value, unit ? el("small", {}, ` ${unit}`) : null),
    el("div", {class: "under"}, under));
  const step = charts.stepCycles(model);
  const latency = emulated?.latency_cycles;
  document.querySelector("main").append(el("section", {class: "figures", id: "figures", "aria-label": "Key figures"}, el("dl", {},
    figure(model.phased ? "Time of a sample" : "Between samples", count(step), "cycles",
      step ? `${seconds(step / hertz)} at ${machine.clock_ghz} GHz, ${emulated ? `emulated (predicted ${count(report.predicted_interval_cycles)})` : "predicted"}` : "not known"),
    !model.phased && latency ? figure("Latency", count(latency), "cycles", `${seconds(latency / hertz)}, first sample`) : null,
    figure("Rate", short(report.samples_per_second), "samples/s", model.phased ? "samples do not overlap" : "samples overlap"),
    figure("Multiply-adds", percent(report.utilisation), "of peak", `${short(report.macs)} per sample`),
    figure("Cores", percent(report.cores_used / report.cores_total), "used", `${count(report.cores_used)} of ${count(report.cores_total)}, ${count(report.cores_fma)} multiply`),
    figure("Fullest SRAM", percent(report.sram_worst_bytes / machine.sram_bytes), null, `${count(report.sram_worst_bytes)} of ${count(machine.sram_bytes)} bytes`))));
}

function bound(model) {
  const {report} = model;
  section("bound", "What bounds it", null, el("div", {class: "columns"},
    el("div", {}, el("p", {class: "bound"}, report.bound),
      el("ul", {class: "advice"}, report.advice.map(({title, text}) => el("li", {}, el("b", {}, title), el("span", {}, text))))),
    el("div", {}, el("h3", {}, "Cycles that a step keeps each resource busy"),
      chart((width) => charts.limits(model, width), "No limits are known."))));
}

class Explorer {
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
    this.state = {view: "kernel", configuration: charts.runConfiguration(model), kernel: -1, core: null, net: -1};
    this.plan = new FloorPlan(model, on);
    this.table = new KernelTable(model, on);
    this.inspector = el("div", {class: "core", "aria-label": "Selected core", role: "region"});
    this.legend = el("div", {class: "legend"});
    this.nets = el("select", {id: "net", onchange: (event) => this.set({net: Number(event.target.value)})});
    this.phases = el("select", {id: "phase", onchange: (event) => this.set({configuration: Number(event.target.value)})},
      model.report.configurations.map(({name}, index) => el("option", {value: index, selected: index === this.state.configuration}, name)));
    this.fillNets();
    section("floorplan", "Floor plan", this.note(), this.controls(), el("div", {class: "plan"}, el("div", {}, this.plan.element, this.legend), this.inspector));
    section("kernels", "Kernels", `Rows and map show the same selection. Cycles are those of one ${model.phased ? "run of a phase" : "step"}.`, this.table.element);
    this.set({});
  }

  note() {
    const {report, machine} = this.model;
    const dead = machine.dead_cores.length, links = machine.dead_links.length;
    return `${machine.rows} × ${machine.cols} cores of ${report.target}, north at the top.` +
      (dead || links ? ` Crosses: ${dead} dead core${dead === 1 ? "" : "s"}${links ? ` and ${links} dead link${links === 1 ? "" : "s"}` : ""}.` : "");
  }

  controls() {
    const choice = el("fieldset", {class: "choice"}, el("legend", {class: "hidden"}, "Colour by"), views.map(({key, name}) =>
      el("label", {}, el("input", {type: "radio", name: "view", value: key, checked: key === "kernel", onchange: () => this.set({view: key})}), name)));
    const zoom = (name, label, act) => el("button", {type: "button", "aria-label": label, title: label, onclick: act}, name);
    return el("div", {class: "bar"}, choice,
      this.model.report.configurations.length > 1 ? el("label", {}, this.model.phased ? "Phase" : "Configuration", this.phases) : null,
      el("label", {}, "Stream", this.nets),
      el("div", {class: "group"}, zoom("+", "Zoom in", () => this.plan.zoom(1.6)), zoom("−", "Zoom out", () => this.plan.zoom(1 / 1.6)),
        zoom("wafer", "Show the whole wafer", () => this.plan.fit()), zoom("used", "Show the cores in use", () => this.plan.fit(this.model.usedBox()))));
  }

  fillNets() {
    const {nets} = this.model.report.configurations[this.state.configuration];
    this.nets.replaceChildren(el("option", {value: -1}, "none"), ...nets.name.map((name, index) =>
      el("option", {value: index}, nets.words[index] ? `${name} (${short(nets.words[index])} words)` : name)));
  }

  set(changes) {
    const before = this.state;
    this.state = {...before, ...changes};
    const {state, model} = this;
    if (changes.kernel >= 0)
      state.configuration = model.kernels[changes.kernel].configuration;
    if (state.configuration !== before.configuration) {
      state.net = changes.net ?? -1;
      this.fillNets();
      this.phases.value = state.configuration;
    }
    if (changes.net >= 0 && changes.kernel === undefined)
      state.kernel = -1;
    this.nets.value = state.net;
    this.plan.set({...state, colours: changes.colours});
    this.table.mark(state.kernel, changes.kernel !== undefined);
    showCore(this.inspector, model, state.configuration, state.core, this.on);
    this.showLegend();
  }

  showLegend() {
    const {model, state} = this;
    const key = (colour, text) => el("span", {}, el("i", {style: `background:${colour}`}), text);
    const extra = state.net >= 0 ? [key("var(--input)", "sends"), key("var(--network)", "receives"), key("var(--accent)", "passes")] : [];
    const idle = key("var(--idle)", "no program");
    if (state.view === "kernel") {
      this.legend.replaceChildren("A colour for each kernel, named in the table", idle, ...extra);
      return;
    }
    const view = views.find(({key: name}) => name === state.view);
    const known = model.shares(state.view, state.configuration);
    if (!known) {
      this.legend.replaceChildren(`Not known: ${model.report.configurations[state.configuration].link_words_unknown}`);
      return;
    }
    const scale = el("canvas", {width: 200, height: 10, role: "img", "aria-label": `Colours from 0 to ${percent(this.plan.end ?? 1)}`});
    const context = scale.getContext("2d");
    for (let x = 0; x < 200; ++x) {
      context.fillStyle = shareColour(x / 199);
      context.fillRect(x, 0, 1, 10);
    }
    this.legend.replaceChildren("0", scale, `${percent(this.plan.scaleEnd())} ${state.view === "stalls" ? model.stallSource : view.unit}`,
      key("var(--idle)", state.view === "links" ? "no words" : "no program"), ...extra);
  }
}

function roofline(model) {
  let against = "words";
  const place = chart((width) => charts.roofline(model, width, against), "No kernel multiplies and receives words.");
  const choice = el("fieldset", {class: "choice"}, el("legend", {class: "hidden"}, "Traffic"), [["words", "words received"], ["bytes", "SRAM bytes"]].map(([key, name]) =>
    el("label", {}, el("input", {type: "radio", name: "against", value: key, checked: key === against, onchange: () => {
      against = key;
      redraws.forEach((redraw) => redraw());
    }}), name)));
  return el("div", {}, el("h3", {}, "Roofline"), el("p", {class: "note"}, "Each dot is a kernel, its size the number of its cores. Under the slope traffic bounds it, under the flat roof arithmetic."),
    el("div", {class: "bar"}, choice), place);
}

function analysis(model) {
  const {emulated, report} = model;
  section("time", "Where a step's time goes", model.phased
    ? "The busiest core of each phase, phase after phase. Input: time of the wafer's ports; waiting: for words of other cores."
    : `The busiest core of ${report.bottleneck ? "the busiest kernel" : "a kernel"} in one step, then that of every kernel in dataflow order.`,
    chart((width) => charts.split(model, width), "The time of a step is not known."),
    keys(slotKinds.map(([key]) => key).filter((key) => report.step[`${key}_cycles`] > 0 || key === "waiting")),
    chart((width) => charts.splits(model, width), "No kernels."));
  section("limits", "Rooflines and predictions", null, el("div", {class: "columns"}, roofline(model),
    el("div", {}, el("h3", {}, "Predicted against emulated"), el("p", {class: "note"}, emulated
      ? "On the dashed line both agree; the band is ± 10 %." : "wsc-run MODEL.wse --report adds what is emulated."),
      chart((width) => charts.agreement(model, width), "Nothing was emulated."))));
  const source = model.phased ? `Phases one after the other, ${emulated ? "emulated" : "predicted"}; grey: changes of configuration.`
    : !emulated ? "wsc-run MODEL.wse --report adds the samples' way through the kernels."
    : emulated.spans.rows.length ? "From the first to the last slot that a kernel's cores issue for a sample, cycle engine. A colour for each sample."
    : "When each kernel is done with a sample, preceded by the cycles it needs alone. A colour for each sample.";
  section("timeline", "Timeline", source, chart((width) => charts.timeline(model, width), "No times are known."));
}

function origin(model) {
  const {report, machine} = model;
  const {emulation, compilation} = report;
  const facts = [
    ["Model", report.model], ["Target", `${report.target}, ${machine.rows} × ${machine.cols} cores at ${machine.clock_ghz} GHz`],
    ["Execution", report.execution], ["Wafer's ports", `${machine.io_words_per_cycle.toPrecision(4)} words a cycle`],
    report.weight_bytes ? ["Weights", bytes(report.weight_bytes)] : null, report.metadata_bytes ? ["Metadata", bytes(report.metadata_bytes)] : null,
    compilation ? ["File", bytes(compilation.output_bytes)] : null,
    emulation ? ["Emulated with", `engine ${emulation.engine}, ${emulation.samples} sample${emulation.samples === 1 ? "" : "s"}, ${emulation.threads} threads`] : null,
    emulation?.wall_seconds_per_sample !== undefined ? ["Host time", `${seconds(emulation.wall_seconds_per_sample)} per sample`] : null,
    ["Inputs", report.entries[report.entry]?.inputs.map(({name, type, shape}) => `${name}: ${type}[${shape}]`).join(", ")],
    ["Outputs", report.entries[report.entry]?.outputs.map(({name, type, shape}) => `${name}: ${type}[${shape}]`).join(", ")],
  ].filter((fact) => fact?.[1]);
  section("origin", "Origin", null, el("div", {class: "columns"},
    el("div", {class: "core"}, el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))),
    compilation ? el("div", {}, el("h3", {}, "Compilation"), chart((width) => charts.compilation(model, width), "")) : null));
}

function begin() {
  const report = JSON.parse(document.getElementById("data").textContent);
  const model = new Model(report);
  const name = report.model.split("/").pop();
  document.title = `${name} on ${report.target} – wsc report`;
  document.getElementById("title").replaceChildren(name, el("small", {}, `${report.target}, ${report.execution}`));
  figures(model);
  bound(model);
  const explorer = new Explorer(model);
  analysis(model);
  origin(model);
  const repaint = () => {
    explorer.table.fill();
    explorer.set({colours: true});
    redraws.forEach((redraw) => redraw());
  };
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(isDark() ? "light" : "dark");
    repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
    setTheme(event.matches ? "dark" : "light");
    repaint();
  });
}

setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
try {
  begin();
} catch (error) {
  document.querySelector("main").replaceChildren(el("p", {class: "problem", role: "alert"},
    `This report cannot be shown: its data is incomplete or of another version (${error.message}). Write it again with wsc-compile or wsc-run --report.`));
}
