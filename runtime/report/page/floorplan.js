// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floor plan: a canvas on which a core is a cell. One picture with a pixel per core is made when colours change and
// scaled when the view does; marks.js draws over it in the resolution of the screen, input.js listens.
import {el, count, percent} from "./dom.js";
import {eachPlace} from "./model.js";
import {listen} from "./input.js";
import {
  dim,
  drawAxes,
  drawCells,
  drawCursor,
  drawDead,
  drawKernels,
  drawMiniature,
  drawRoute,
  margin,
} from "./marks.js";
import {channels, kernelColour, shareColour, variable} from "./palette.js";

export const views = [
  {key: "kernel", name: "Kernel"},
  {key: "sram", name: "SRAM", unit: "of a core's SRAM", full: true},
  {key: "fma", name: "Compute", unit: "of a core's multiply-adds"},
  {key: "slots", name: "Issue slots", unit: "of the step's cycles", full: true},
  {key: "links", name: "Link load", unit: "of what the core's busiest link can carry"},
  {key: "stalls", name: "Stalls", unit: "of the step's cycles", full: true},
];

export class FloorPlan {
  // `on`: functions select(row, col), hover(kernel).
  constructor(model, on) {
    this.model = model;
    this.on = on;
    this.state = {view: "kernel", configuration: 0, kernel: -1, hovered: -1, net: -1, core: null};
    this.canvas = el("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": this.describe(),
      "aria-roledescription": "floor plan",
      "aria-keyshortcuts": "ArrowUp ArrowDown ArrowLeft ArrowRight + - 0 Enter Escape",
    });
    this.context = this.canvas.getContext("2d");
    this.tip = el("div", {class: "tip", hidden: true});
    this.said = el("div", {class: "hidden", "aria-live": "polite"});
    this.element = el("div", {class: "map"}, this.canvas, this.tip, this.said);
    this.image = document.createElement("canvas");
    this.image.width = model.cols;
    this.image.height = model.rows;
    this.route = null;
    listen(this);
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  describe() {
    const {rows, cols, report} = this.model;
    return (
      `Floor plan of ${rows} rows by ${cols} columns of cores, ${count(report.cores_used)} of them used. ` +
      "Arrow keys move a cursor from core to core."
    );
  }

  set(changes) {
    const before = {...this.state};
    Object.assign(this.state, changes);
    const {state} = this;
    if (state.configuration !== before.configuration || state.view !== before.view || changes.colours) this.paint();
    if (state.configuration !== before.configuration || state.net !== before.net) {
      this.findRoute();
      this.revealRoute();
    }
    this.draw();
  }

  // The number behind a core's colour, or NaN.
  shareAt(row, col) {
    const shares = this.state.view === "kernel" ? null : this.model.shares(this.state.view, this.state.configuration);
    return shares ? shares[row * this.model.cols + col] : NaN;
  }

  // Where the scale of colours ends.
  scaleEnd() {
    const view = views.find(({key}) => key === this.state.view);
    if (view.key === "kernel") return 1;
    const shares = this.model.shares(view.key, this.state.configuration);
    let most = 0;
    shares?.forEach((share) => {
      if (share > most) most = share;
    });
    if (view.full || most > 0.5 || most === 0) return 1;
    const step = 10 ** Math.floor(Math.log10(most));
    return Math.ceil(most / step) * step;
  }

  paint() {
    const {model, state} = this;
    const context = this.image.getContext("2d");
    const pixels = context.createImageData(model.cols, model.rows);
    const roles = model.roles(state.configuration);
    const {kernel} = model.report.configurations[state.configuration].roles;
    const idle = channels(variable("idle")),
      other = channels(variable("configuration"));
    const kernels = model.kernels.map(({index}) => channels(kernelColour(index)));
    const shares = state.view === "kernel" ? null : model.shares(state.view, state.configuration);
    this.end = this.scaleEnd();
    const scale = Array.from({length: 257}, (_, i) => channels(shareColour(i / 256)));
    for (let place = 0; place < roles.length; ++place) {
      let colour = idle;
      if (state.view === "kernel") {
        if (roles[place] >= 0) colour = kernels[kernel[roles[place]]] ?? other;
      } else if (shares && !Number.isNaN(shares[place])) {
        colour = scale[Math.min(256, Math.round((256 * shares[place]) / this.end))];
      }
      pixels.data.set(colour, 4 * place);
      pixels.data[4 * place + 3] = 255;
    }
    context.putImageData(pixels, 0, 0);
  }

  // Routers of the selected stream: [row, col, positions].
  findRoute() {
    const {model, state} = this;
    this.route = null;
    if (state.net < 0) return;
    const {routers} = model.report.configurations[state.configuration];
    this.route = [];
    const image = document.createElement("canvas");
    image.width = model.cols;
    image.height = model.rows;
    const context = image.getContext("2d");
    const pixels = context.createImageData(model.cols, model.rows);
    routers.cores.forEach((lattice, router) => {
      if (routers.net[router] !== state.net) return;
      const positions = model.report.positions[routers.positions[router]];
      eachPlace(lattice, (row, col) => {
        this.route.push([row, col, positions]);
        pixels.data.set(routeColour(positions), 4 * (row * model.cols + col));
      });
    });
    context.putImageData(pixels, 0, 0);
    this.routeImage = image;
  }

  // Moves the view to the selected stream where none of it is in sight.
  revealRoute() {
    if (!this.route?.length || this.width === undefined) return;
    if (this.route.some((place) => this.inSight(place))) return;
    const box = [this.model.rows, this.model.cols, 0, 0];
    for (const [row, col] of this.route) {
      box[0] = Math.min(box[0], row);
      box[1] = Math.min(box[1], col);
      box[2] = Math.max(box[2], row + 1);
      box[3] = Math.max(box[3], col + 1);
    }
    this.fit(box);
  }

  resize() {
    const width = this.element.clientWidth;
    if (width === 0 || width === this.width) return;
    const first = this.width === undefined;
    const whole = !first && this.cell <= this.least * 1.05;
    const {rows, cols} = this.model;
    this.width = width;
    this.height = Math.round(
      Math.min(
        Math.max(360, window.innerHeight * 0.78),
        margin.top + Math.max(260, ((width - margin.left) * rows) / cols) + 1,
      ),
    );
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    if (first) {
      this.paint();
      this.findRoute();
      const [north, west, south, east] = this.model.usedBox();
      if ((south - north) * (east - west) < 0.3 * rows * cols) this.fit([north, west, south, east]);
      else this.fit();
    } else if (whole) {
      this.fit();
    } else {
      this.clamp();
      this.draw();
    }
  }

  get least() {
    const {rows, cols} = this.model;
    return Math.min((this.width - margin.left - 1) / cols, (this.height - margin.top - 1) / rows);
  }

  // Shows a box of cores [north, west, south, east], by default all.
  fit([north, west, south, east] = [0, 0, this.model.rows, this.model.cols]) {
    const inner = [this.width - margin.left - 1, this.height - margin.top - 1];
    this.cell = Math.min(inner[0] / (east - west), inner[1] / (south - north), 72);
    this.left = (west + east) / 2 - inner[0] / this.cell / 2;
    this.top = (north + south) / 2 - inner[1] / this.cell / 2;
    this.clamp();
    this.draw();
  }

  clamp() {
    const {rows, cols} = this.model;
    this.cell = Math.max(this.least, Math.min(96, this.cell));
    const across = (this.width - margin.left) / this.cell,
      down = (this.height - margin.top) / this.cell;
    this.left = across >= cols ? 0 : Math.max(0, Math.min(cols - across, this.left));
    this.top = down >= rows ? 0 : Math.max(0, Math.min(rows - down, this.top));
  }

  // About a point of the canvas, by default the middle, into which the selected core moves where it is in sight.
  zoom(factor, ...point) {
    const {core} = this.state;
    if (!point.length && core && this.inSight(core)) {
      this.centre(core, this.cell * factor);
      return;
    }
    const [x, y] = point.length ? point : [this.width / 2, this.height / 2];
    const col = this.left + (x - margin.left) / this.cell;
    const row = this.top + (y - margin.top) / this.cell;
    this.cell = Math.max(this.least, Math.min(96, this.cell * factor));
    this.left = col - (x - margin.left) / this.cell;
    this.top = row - (y - margin.top) / this.cell;
    this.clamp();
    this.draw();
  }

  inSight([row, col]) {
    const [x, y] = [this.x(col + 0.5), this.y(row + 0.5)];
    return x < this.width && y < this.height && this.coreAt(x, y) !== null;
  }

  // Moves a core into the middle, with cells of so many pixels.
  centre([row, col], cell) {
    this.cell = Math.max(this.least, Math.min(96, cell));
    this.left = col + 0.5 - (this.width - margin.left) / this.cell / 2;
    this.top = row + 0.5 - (this.height - margin.top) / this.cell / 2;
    this.clamp();
    this.draw();
  }

  // [row, col] under a point of the canvas, or null.
  coreAt(x, y) {
    if (x < margin.left || y < margin.top) return null;
    const row = Math.floor(this.top + (y - margin.top) / this.cell),
      col = Math.floor(this.left + (x - margin.left) / this.cell);
    return row >= 0 && row < this.model.rows && col >= 0 && col < this.model.cols ? [row, col] : null;
  }

  kernelAt(row, col) {
    const {kernel} = this.model.report.configurations[this.state.configuration].roles;
    const role = this.model.roles(this.state.configuration)[row * this.model.cols + col];
    return role < 0 ? -1 : kernel[role];
  }

  draw() {
    if (this.width === undefined) return;
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    const {context, width, height} = this;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(margin.left, margin.top, width - margin.left, height - margin.top);
    context.clip();
    this.drawImage(this.image);
    if (this.state.kernel >= 0 || this.route) dim(this);
    if (this.route) drawRoute(this);
    drawCells(this);
    drawKernels(this);
    drawDead(this);
    drawCursor(this);
    context.restore();
    drawAxes(this);
    drawMiniature(this);
  }

  // Place of a core's north-west corner on the canvas.
  x(col) {
    return margin.left + (col - this.left) * this.cell;
  }
  y(row) {
    return margin.top + (row - this.top) * this.cell;
  }

  drawImage(image, smooth = this.cell < 1) {
    const {context, model} = this;
    context.imageSmoothingEnabled = smooth;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, this.x(0), this.y(0), model.cols * this.cell, model.rows * this.cell);
  }

  // What the tip, and a screen reader, say of a core.
  tell([row, col]) {
    const {model, state} = this;
    const core = model.core(state.configuration, row, col);
    const view = views.find(({key}) => key === state.view);
    const share = this.shareAt(row, col);
    const lines = [`row ${row}, col ${col}`];
    if (core.dead) lines.push("dead core");
    else lines.push(core.kernel >= 0 ? model.kernels[core.kernel].name : core.role ? "no kernel" : "no program");
    if (view.key !== "kernel" && !Number.isNaN(share)) lines.push(`${percent(share)} ${view.unit}`);
    if (core.memory) lines.push(`SRAM ${count(core.memory.used)} of ${count(model.machine.sram_bytes)} bytes`);
    return lines;
  }

  showTip(place, x, y) {
    this.tip.hidden = !place;
    if (!place) return;
    const [where, what, ...more] = this.tell(place);
    this.tip.replaceChildren(
      el("b", {}, what),
      el("br"),
      el("span", {}, where),
      more.map((line) => [el("br"), line]),
    );
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(x + 14, this.width - box.width)}px`;
    this.tip.style.top = `${y + box.height + 20 > this.height ? y - box.height - 8 : y + 16}px`;
  }

  // Moves the view so that a core is in it.
  reveal([row, col]) {
    const across = (this.width - margin.left) / this.cell,
      down = (this.height - margin.top) / this.cell;
    if (col < this.left || col + 1 > this.left + across) this.left = col - across / 2;
    if (row < this.top || row + 1 > this.top + down) this.top = row - down / 2;
    this.clamp();
    this.draw();
  }
}

// Senders, receivers and passers-by of a stream in the small picture.
function routeColour(positions) {
  const name = positions.some((port, at) => at % 2 === 0 && port === 4)
    ? "input"
    : positions.some((mask, at) => at % 2 === 1 && (mask >> 4) & 1)
      ? "network"
      : "accent";
  return [...channels(variable(name)), 255];
}
