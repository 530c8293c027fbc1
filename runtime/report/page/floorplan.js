// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floor plan: a canvas on which a core is a cell. One picture with a pixel per core is made when colours change and
// scaled when the view does; frames, names, routes and marks are drawn over it in the resolution of the screen.
//
// Pointer: drag moves, Ctrl and wheel (or two fingers) zoom, wheel alone too once the map has the focus; a click selects
// a core. Keys: arrows move a cursor from core to core, + - 0 zoom, Enter selects the cursor's kernel, Escape nothing.
import {el, count, percent} from "./dom.js";
import {eachPlace} from "./model.js";
import {channels, isDark, kernelColour, shareColour, variable} from "./palette.js";

const margin = {left: 40, top: 20};
const leastCell = 9; // pixels of a core from which on single routes are drawn

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
    this.canvas = el("canvas", {tabindex: 0, role: "application", "aria-label": this.describe(),
      "aria-roledescription": "floor plan", "aria-keyshortcuts": "ArrowUp ArrowDown ArrowLeft ArrowRight + - 0 Enter Escape"});
    this.context = this.canvas.getContext("2d");
    this.tip = el("div", {class: "tip", hidden: true});
    this.said = el("div", {class: "hidden", "aria-live": "polite"});
    this.element = el("div", {class: "map"}, this.canvas, this.tip, this.said);
    this.image = document.createElement("canvas");
    this.image.width = model.cols;
    this.image.height = model.rows;
    this.route = null;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  describe() {
    const {rows, cols, report} = this.model;
    return `Floor plan of ${rows} rows by ${cols} columns of cores, ${count(report.cores_used)} of them used. ` +
      "Arrow keys move a cursor from core to core.";
  }

  set(changes) {
    const before = {...this.state};
    Object.assign(this.state, changes);
    const {state} = this;
    if (state.configuration !== before.configuration || state.view !== before.view || changes.colours)
      this.paint();
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
    if (view.key === "kernel")
      return 1;
    const shares = this.model.shares(view.key, this.state.configuration);
    let most = 0;
    shares?.forEach((share) => { if (share > most) most = share; });
    if (view.full || most > 0.5 || most === 0)
      return 1;
    const step = 10 ** Math.floor(Math.log10(most));
    return Math.ceil(most / step) * step;
  }

  paint() {
    const {model, state} = this;
    const context = this.image.getContext("2d");
    const pixels = context.createImageData(model.cols, model.rows);
    const roles = model.roles(state.configuration);
    const {kernel} = model.report.configurations[state.configuration].roles;
    const idle = channels(variable("idle")), other = channels(variable("configuration"));
    const kernels = model.kernels.map(({index}) => channels(kernelColour(index)));
    const shares = state.view === "kernel" ? null : model.shares(state.view, state.configuration);
    this.end = this.scaleEnd();
    const scale = Array.from({length: 257}, (_, i) => channels(shareColour(i / 256)));
    for (let place = 0; place < roles.length; ++place) {
      let colour = idle;
      if (state.view === "kernel") {
        if (roles[place] >= 0)
          colour = kernels[kernel[roles[place]]] ?? other;
      } else if (shares && !Number.isNaN(shares[place])) {
        colour = scale[Math.min(256, Math.round(256 * shares[place] / this.end))];
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
    if (state.net < 0)
      return;
    const {routers} = model.report.configurations[state.configuration];
    this.route = [];
    const image = document.createElement("canvas");
    image.width = model.cols;
    image.height = model.rows;
    const context = image.getContext("2d");
    const pixels = context.createImageData(model.cols, model.rows);
    routers.cores.forEach((lattice, router) => {
      if (routers.net[router] !== state.net)
        return;
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
    if (!this.route?.length || this.width === undefined)
      return;
    const inSight = ([row, col]) => this.coreAt(this.x(col + 0.5), this.y(row + 0.5)) && this.x(col) < this.width && this.y(row) < this.height;
    if (this.route.some(inSight))
      return;
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
    if (width === 0 || width === this.width)
      return;
    const first = this.width === undefined;
    const whole = !first && this.cell <= this.least * 1.05;
    const {rows, cols} = this.model;
    this.width = width;
    this.height = Math.round(Math.min(Math.max(360, window.innerHeight * 0.78),
      margin.top + Math.max(260, (width - margin.left) * rows / cols) + 1));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    if (first) {
      this.paint();
      this.findRoute();
      const [north, west, south, east] = this.model.usedBox();
      if ((south - north) * (east - west) < 0.3 * rows * cols)
        this.fit([north, west, south, east]);
      else
        this.fit();
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
    const across = (this.width - margin.left) / this.cell, down = (this.height - margin.top) / this.cell;
    this.left = across >= cols ? 0 : Math.max(0, Math.min(cols - across, this.left));
    this.top = down >= rows ? 0 : Math.max(0, Math.min(rows - down, this.top));
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const col = this.left + (x - margin.left) / this.cell, row = this.top + (y - margin.top) / this.cell;
    this.cell = Math.max(this.least, Math.min(96, this.cell * factor));
    this.left = col - (x - margin.left) / this.cell;
    this.top = row - (y - margin.top) / this.cell;
    this.clamp();
    this.draw();
  }

  // [row, col] under a point of the canvas, or null.
  coreAt(x, y) {
    if (x < margin.left || y < margin.top)
      return null;
    const row = Math.floor(this.top + (y - margin.top) / this.cell), col = Math.floor(this.left + (x - margin.left) / this.cell);
    return row >= 0 && row < this.model.rows && col >= 0 && col < this.model.cols ? [row, col] : null;
  }

  kernelAt(row, col) {
    const {kernel} = this.model.report.configurations[this.state.configuration].roles;
    const role = this.model.roles(this.state.configuration)[row * this.model.cols + col];
    return role < 0 ? -1 : kernel[role];
  }

  draw() {
    if (this.width === undefined)
      return;
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
    if (this.state.kernel >= 0 || this.route)
      this.dim();
    if (this.route)
      this.drawRoute();
    this.drawCells();
    this.drawKernels();
    this.drawDead();
    this.drawCursor();
    context.restore();
    this.drawAxes();
    this.drawMiniature();
  }

  // Place of a core's north-west corner on the canvas.
  x(col) { return margin.left + (col - this.left) * this.cell; }
  y(row) { return margin.top + (row - this.top) * this.cell; }

  drawImage(image, smooth = this.cell < 1) {
    const {context, model} = this;
    context.imageSmoothingEnabled = smooth;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, this.x(0), this.y(0), model.cols * this.cell, model.rows * this.cell);
  }

  // Everything but the selected kernel fades; all of it under a route.
  dim() {
    const {context, model} = this;
    const kernel = model.kernels[this.state.kernel];
    context.save();
    context.beginPath();
    context.rect(this.x(0), this.y(0), model.cols * this.cell, model.rows * this.cell);
    if (kernel && !this.route) {
      const {row, col, rows, cols} = kernel.rectangle;
      context.rect(this.x(col), this.y(row), cols * this.cell, rows * this.cell);
    }
    context.globalAlpha = this.route ? 0.7 : 0.62;
    context.fillStyle = variable("surface");
    context.fill("evenodd");
    context.restore();
  }

  drawRoute() {
    if (this.cell < leastCell) {
      this.drawImage(this.routeImage, false);
      return;
    }
    const {context, cell} = this;
    const half = cell / 2;
    const ends = [[half, 0], [half, cell], [cell, half], [0, half]];
    context.lineWidth = Math.max(1.5, cell / 10);
    context.lineCap = "round";
    const [path, out, into] = [variable("accent"), variable("input"), variable("network")];
    for (const [row, col, positions] of this.route) {
      const x = this.x(col), y = this.y(row);
      if (x < -cell || y < -cell || x > this.width || y > this.height)
        continue;
      for (let at = 0; at < positions.length; at += 2) {
        const [input, outputs] = [positions[at], positions[at + 1]];
        context.strokeStyle = path;
        context.beginPath();
        if (input < 4) {
          context.moveTo(x + ends[input][0], y + ends[input][1]);
          context.lineTo(x + half, y + half);
        }
        for (let side = 0; side < 4; ++side)
          if (outputs >> side & 1) {
            const [ex, ey] = ends[side], dx = Math.sign(ex - half), dy = Math.sign(ey - half), head = cell / 7;
            context.moveTo(x + half, y + half);
            context.lineTo(x + ex, y + ey);
            context.moveTo(x + ex - dx * head - dy * head, y + ey - dy * head - dx * head);
            context.lineTo(x + ex, y + ey);
            context.lineTo(x + ex - dx * head + dy * head, y + ey - dy * head + dx * head);
          }
        context.stroke();
        if (input === 4 || outputs >> 4 & 1) {
          context.fillStyle = input === 4 ? out : into;
          context.beginPath();
          context.arc(x + half, y + half, cell / (input === 4 ? 6 : 7.5), 0, 2 * Math.PI);
          context.fill();
        }
      }
    }
  }

  drawCells() {
    if (this.cell < 7)
      return;
    const {context, model} = this;
    context.strokeStyle = variable("surface");
    context.globalAlpha = Math.min(1, (this.cell - 6) / 8);
    context.lineWidth = 1;
    context.beginPath();
    for (let col = Math.max(0, Math.floor(this.left)); col <= model.cols && this.x(col) <= this.width; ++col) {
      context.moveTo(Math.round(this.x(col)) + 0.5, this.y(0));
      context.lineTo(Math.round(this.x(col)) + 0.5, this.y(model.rows));
    }
    for (let row = Math.max(0, Math.floor(this.top)); row <= model.rows && this.y(row) <= this.height; ++row) {
      context.moveTo(this.x(0), Math.round(this.y(row)) + 0.5);
      context.lineTo(this.x(model.cols), Math.round(this.y(row)) + 0.5);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  // Frames, and names where they fit.
  drawKernels() {
    const {context, model, state} = this;
    context.font = "600 12px system-ui, sans-serif";
    for (const kernel of model.kernels) {
      if (kernel.configuration !== state.configuration)
        continue;
      const {row, col, rows, cols} = kernel.rectangle;
      const [x, y, w, h] = [this.x(col), this.y(row), cols * this.cell, rows * this.cell];
      const marked = kernel.index === state.kernel || kernel.index === state.hovered;
      context.lineWidth = marked ? 2 : 1;
      context.strokeStyle = marked ? variable("ink") : variable("surface");
      if (marked || this.cell > 0.5)
        context.strokeRect(x, y, w, h);
      if (!this.route)
        this.nameKernel(kernel, x, y, w, h);
    }
  }

  nameKernel(kernel, x, y, w, h) {
    const {context} = this;
    const wide = context.measureText(kernel.name).width + 10;
    const left = Math.max(x, margin.left), right = Math.min(x + w, this.width);
    const top = Math.max(y, margin.top), bottom = Math.min(y + h, this.height);
    const upright = right - left < wide;
    if (upright ? right - left < 13 || bottom - top < wide : bottom - top < 16)
      return;
    context.save();
    context.translate((left + right) / 2, upright ? top + 8 + wide / 2 : Math.min(top + 14, (top + bottom) / 2));
    if (upright)
      context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = isDark() ? "rgb(16 19 21 / .8)" : "rgb(255 255 255 / .85)";
    context.strokeText(kernel.name, 0, 0);
    context.fillStyle = variable("ink");
    context.fillText(kernel.name, 0, 0);
    context.restore();
  }

  drawDead() {
    const {context, model} = this;
    const size = Math.max(7, this.cell);
    context.lineWidth = Math.max(1.5, this.cell / 12);
    for (const [row, col] of model.machine.dead_cores) {
      const x = this.x(col) + this.cell / 2, y = this.y(row) + this.cell / 2, d = size / 2 - 1;
      context.fillStyle = variable("surface");
      context.fillRect(x - size / 2, y - size / 2, size, size);
      context.strokeStyle = variable("dead");
      context.beginPath();
      context.moveTo(x - d, y - d);
      context.lineTo(x + d, y + d);
      context.moveTo(x + d, y - d);
      context.lineTo(x - d, y + d);
      context.stroke();
    }
    const sides = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1]];
    context.lineWidth = Math.max(2, this.cell / 8);
    context.strokeStyle = variable("dead");
    for (const [row, col, side] of model.machine.dead_links) {
      const [x1, y1, x2, y2] = sides[side];
      context.beginPath();
      context.moveTo(this.x(col + x1), this.y(row + y1));
      context.lineTo(this.x(col + x2), this.y(row + y2));
      context.stroke();
    }
  }

  drawCursor() {
    const {core} = this.state;
    if (!core)
      return;
    const {context} = this;
    const size = Math.max(this.cell, 7);
    const x = this.x(core[1]) + this.cell / 2 - size / 2, y = this.y(core[0]) + this.cell / 2 - size / 2;
    context.lineWidth = 4;
    context.strokeStyle = variable("surface");
    context.strokeRect(x - 1, y - 1, size + 2, size + 2);
    context.lineWidth = 2;
    context.strokeStyle = variable("ink");
    context.strokeRect(x - 1, y - 1, size + 2, size + 2);
  }

  drawAxes() {
    const {context, model} = this;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = variable("muted");
    context.strokeStyle = variable("line");
    context.lineWidth = 1;
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => s * this.cell >= 46) ?? 1000;
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    const half = this.cell >= 7 ? this.cell / 2 : 0;
    for (let col = Math.max(0, Math.ceil(this.left / step) * step); col < model.cols && this.x(col) + half < this.width - 62; col += step)
      context.fillText(col, Math.max(this.x(col) + half, margin.left + 4), margin.top - 7);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let row = Math.max(0, Math.ceil(this.top / step) * step); row < model.rows && this.y(row) < this.height - 6; row += step)
      context.fillText(row, margin.left - 7, Math.max(this.y(row) + half, margin.top + 6));
    context.textBaseline = "alphabetic";
    context.fillText("row", margin.left - 7, margin.top - 7);
    context.fillText("column", this.width - 2, margin.top - 7);
  }

  // The whole wafer in a corner, where the view shows a part of it.
  drawMiniature() {
    const {context, model} = this;
    if (this.cell <= this.least * 1.05)
      return;
    const w = Math.min(130, this.width / 6), h = w * model.rows / model.cols;
    const x = this.width - w - 10, y = this.height - h - 10;
    context.fillStyle = variable("surface");
    context.fillRect(x - 3, y - 3, w + 6, h + 6);
    context.imageSmoothingEnabled = true;
    context.drawImage(this.image, x, y, w, h);
    context.strokeStyle = variable("ink");
    context.lineWidth = 1.5;
    const scale = w / model.cols;
    const across = Math.min(model.cols, (this.width - margin.left) / this.cell), down = Math.min(model.rows, (this.height - margin.top) / this.cell);
    context.strokeRect(x + this.left * scale, y + this.top * scale, Math.max(3, across * scale), Math.max(3, down * scale));
    context.strokeStyle = variable("line");
    context.lineWidth = 1;
    context.strokeRect(x - 3.5, y - 3.5, w + 7, h + 7);
  }

  // What the tip, and a screen reader, say of a core.
  tell([row, col]) {
    const {model, state} = this;
    const core = model.core(state.configuration, row, col);
    const view = views.find(({key}) => key === state.view);
    const share = this.shareAt(row, col);
    const lines = [`row ${row}, col ${col}`];
    if (core.dead)
      lines.push("dead core");
    else
      lines.push(core.kernel >= 0 ? model.kernels[core.kernel].name : core.role ? "no kernel" : "no program");
    if (view.key !== "kernel" && !Number.isNaN(share))
      lines.push(`${percent(share)} ${view.unit}`);
    if (core.memory)
      lines.push(`SRAM ${count(core.memory.used)} of ${count(model.machine.sram_bytes)} bytes`);
    return lines;
  }

  showTip(place, x, y) {
    this.tip.hidden = !place;
    if (!place)
      return;
    const [where, what, ...more] = this.tell(place);
    this.tip.replaceChildren(el("b", {}, what), el("br"), el("span", {}, where), more.map((line) => [el("br"), line]));
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(x + 14, this.width - box.width)}px`;
    this.tip.style.top = `${y + box.height + 20 > this.height ? y - box.height - 8 : y + 16}px`;
  }

  listen() {
    const {canvas} = this;
    const pointers = new Map();
    let moved = 0;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      moved = 0;
      this.showTip(null);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        const place = this.coreAt(x, y);
        this.showTip(place, x, y);
        const kernel = place ? this.kernelAt(...place) : -1;
        if (kernel !== this.state.hovered)
          this.on.hover(kernel);
        return;
      }
      if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const span = ([ax, ay]) => Math.hypot(ax - other[0], ay - other[1]);
        this.zoom(span([x, y]) / Math.max(1, span(before)), (x + other[0]) / 2, (y + other[1]) / 2);
      } else {
        this.left -= (x - before[0]) / this.cell;
        this.top -= (y - before[1]) / this.cell;
        this.clamp();
        this.draw();
      }
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      pointers.set(event.pointerId, [x, y]);
    });
    const release = (event) => {
      if (pointers.delete(event.pointerId) && moved < 4 && event.type === "pointerup") {
        const place = this.coreAt(...at(event));
        if (place)
          this.on.select(...place);
      }
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => {
      this.showTip(null);
      this.on.hover(-1);
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas)
        return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), ...at(event));
    }, {passive: false});
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    const {rows, cols} = this.model;
    if (steps[event.key]) {
      const far = event.shiftKey ? 10 : 1;
      const [row, col] = this.state.core ?? [Math.floor(this.top), Math.floor(this.left)];
      const place = [Math.max(0, Math.min(rows - 1, row + far * steps[event.key][0])),
        Math.max(0, Math.min(cols - 1, col + far * steps[event.key][1]))];
      this.on.select(...place);
      this.reveal(place);
      this.said.textContent = this.tell(place).join(", ");
    } else if (event.key === "+" || event.key === "=") {
      this.zoom(1.5);
    } else if (event.key === "-") {
      this.zoom(1 / 1.5);
    } else if (event.key === "0") {
      this.fit();
    } else if (event.key === "Enter" && this.state.core) {
      this.on.kernel(this.kernelAt(...this.state.core));
    } else if (event.key === "Escape") {
      this.on.clear();
    } else {
      return;
    }
    event.preventDefault();
  }

  // Moves the view so that a core is in it.
  reveal([row, col]) {
    const across = (this.width - margin.left) / this.cell, down = (this.height - margin.top) / this.cell;
    if (col < this.left || col + 1 > this.left + across)
      this.left = col - across / 2;
    if (row < this.top || row + 1 > this.top + down)
      this.top = row - down / 2;
    this.clamp();
    this.draw();
  }
}

// Senders, receivers and passers-by of a stream in the small picture.
function routeColour(positions) {
  const name = positions.some((port, at) => at % 2 === 0 && port === 4) ? "input"
    : positions.some((mask, at) => at % 2 === 1 && mask >> 4 & 1) ? "network" : "accent";
  return [...channels(variable(name)), 255];
}
