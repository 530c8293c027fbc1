// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report's data made ready for drawing: lattices become grids of numbers, and the same question ("how busy is this
// core?") has one answer for map, table and charts. docs/Report.md says what the fields mean.

// Calls visit(row, col) for every place of a lattice [row, col, count, rowStep, colStep, …].
export function eachPlace(lattice, visit) {
  const dims = [];
  for (let at = 2; at < lattice.length; at += 3) dims.push(lattice.slice(at, at + 3));
  const walk = (d, row, col) => {
    if (d === dims.length) {
      visit(row, col);
      return;
    }
    const [times, rowStep, colStep] = dims[d];
    for (let i = 0; i < times; ++i) walk(d + 1, row + i * rowStep, col + i * colStep);
  };
  walk(0, lattice[0], lattice[1]);
}

export function holds(lattice, row, col) {
  const search = (at, r, c) => {
    if (at >= lattice.length) return r === row && c === col;
    const [times, rowStep, colStep] = lattice.slice(at, at + 3);
    if (at + 3 === lattice.length) {
      const i = rowStep ? (row - r) / rowStep : (col - c) / colStep;
      return Number.isInteger(i) && i >= 0 && i < times && r + i * rowStep === row && c + i * colStep === col;
    }
    for (let i = 0; i < times; ++i) if (search(at + 3, r + i * rowStep, c + i * colStep)) return true;
    return false;
  };
  return mayHold(lattice, row, col) && search(2, lattice[0], lattice[1]);
}

// Whether a place lies in the smallest rectangle around a lattice.
function mayHold(lattice, row, col) {
  let [north, south, west, east] = [lattice[0], lattice[0], lattice[1], lattice[1]];
  for (let at = 2; at < lattice.length; at += 3) {
    const down = (lattice[at] - 1) * lattice[at + 1];
    const across = (lattice[at] - 1) * lattice[at + 2];
    north += Math.min(0, down);
    south += Math.max(0, down);
    west += Math.min(0, across);
    east += Math.max(0, across);
  }
  return row >= north && row <= south && col >= west && col <= east;
}

function decodeRuns(raster, rows, cols) {
  const values = new Float64Array(rows * cols);
  const {step, runs} = raster;
  const down = Math.ceil(rows / step),
    across = Math.ceil(cols / step);
  let place = 0;
  for (let at = 0; at < runs.length; at += 2) {
    const value = runs[at];
    for (let n = runs[at + 1]; n > 0; --n, ++place) {
      if (value === 0) continue;
      const [r, c] =
        raster.order === "rows"
          ? [Math.floor(place / across), place % across]
          : [place % down, Math.floor(place / down)];
      for (let row = r * step; row < Math.min(rows, (r + 1) * step); ++row)
        for (let col = c * step; col < Math.min(cols, (c + 1) * step); ++col) values[row * cols + col] = value;
    }
  }
  return values;
}

const sides = ["north", "south", "east", "west"];
const slotNames = ["compute_cycles", "memory_cycles", "network_cycles", "setup_cycles"];
export const sumSlots = (work) => slotNames.reduce((sum, name) => sum + work[name], 0);

export class Model {
  constructor(report) {
    this.report = report;
    this.machine = report.machine;
    this.rows = report.machine.rows;
    this.cols = report.machine.cols;
    this.phased = report.execution === "phased";
    this.emulated = report.emulation && !report.emulation.unknown ? report.emulation : null;
    this.kernels = report.kernels.map((kernel, index) => ({...kernel, index, busy: sumSlots(kernel.busiest_core)}));
    const columns = report.works.columns;
    this.works = report.works.rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
    this.memories = report.memories.rows.map((row) => this.readMemory(row));
    this.grids = new Map(); // by what and configuration
  }

  readMemory(row) {
    const {strings} = this.report;
    const parts = [];
    for (let at = 0; at < row.length; at += 5)
      parts.push({
        address: row[at],
        bytes: row[at + 1],
        name: strings[row[at + 2]],
        kind: strings[row[at + 3]],
        type: strings[row[at + 4]],
      });
    const free = parts.reduce((sum, part) => sum + (part.kind === "free" ? part.bytes : 0), 0);
    return {parts, used: this.machine.sram_bytes - free};
  }

  // Cycles of a step as its parts add up.
  get stepCycles() {
    return Object.values(this.report.step).reduce((sum, cycles) => sum + cycles, 0);
  }

  // Cycles of a sample: from one to the next in strips, of the whole entry in a phased executable.
  get sampleCycles() {
    return this.phased && this.emulated ? this.emulated.latency_cycles : this.report.interval_cycles;
  }

  // The configuration to look at first: the one that takes longest.
  get mainConfiguration() {
    const time = (part) => part.cycles ?? part.predicted_cycles;
    const runs = this.report.phases.filter(({kind}) => kind === "run");
    if (runs.length) return runs.reduce((a, b) => (time(b) > time(a) ? b : a)).configuration;
    const steps = this.report.entries[this.report.entry]?.steps ?? [];
    return steps.find(({kind}) => kind === "run")?.configuration ?? 0;
  }

  // Cycles of one run of a configuration: a step's of strips, a run's of a phase.
  cyclesOf(c) {
    if (!this.phased) {
      const {steps} = this.report.entries[this.report.entry];
      if (steps.some(({configuration}) => configuration === c)) return this.report.interval_cycles;
      return Math.max(
        0,
        ...this.kernels
          .filter(({configuration}) => configuration === c)
          .map((kernel) => kernel.predicted_interval_cycles),
      );
    }
    const part = this.report.phases.find(({kind, configuration}) => kind === "run" && configuration === c);
    return part ? (part.cycles ?? part.predicted_cycles) / part.count : 0;
  }

  // Cycles of one run that a kernel takes, emulated where that is known: what it would sustain alone, or its phase's.
  kernelCycles(kernel) {
    if (!kernel.emulated) return kernel.predicted_interval_cycles;
    return this.phased ? this.cyclesOf(kernel.configuration) : kernel.emulated.interval_cycles;
  }

  remember(name, c, make) {
    const key = `${name} ${c}`;
    if (!this.grids.has(key)) this.grids.set(key, make());
    return this.grids.get(key);
  }

  // Grid of role numbers, -1 where no role is.
  roles(c) {
    return this.remember("roles", c, () => {
      const grid = new Int32Array(this.rows * this.cols).fill(-1);
      this.report.configurations[c].roles.cores.forEach((lattice, role) =>
        eachPlace(lattice, (row, col) => {
          grid[row * this.cols + col] = role;
        }),
      );
      return grid;
    });
  }

  // [north, west, south, east] that holds all cores with a role, of any configuration.
  usedBox() {
    return this.remember("box", "", () => {
      let [north, west, south, east] = [this.rows, this.cols, 0, 0];
      this.report.configurations.forEach((_, c) =>
        this.roles(c).forEach((role, place) => {
          if (role < 0) return;
          const row = Math.floor(place / this.cols),
            col = place % this.cols;
          north = Math.min(north, row);
          south = Math.max(south, row + 1);
          west = Math.min(west, col);
          east = Math.max(east, col + 1);
        }),
      );
      return south > 0 ? [north, west, south, east] : [0, 0, this.rows, this.cols];
    });
  }

  // Words over the links of all routers on one side; null where they are not known.
  linkWords(c, side) {
    const words = this.report.configurations[c].link_words;
    return words ? this.remember(side, c, () => decodeRuns(words[side], this.rows, this.cols)) : null;
  }

  busiestLinks(c) {
    if (!this.report.configurations[c].link_words) return null;
    return this.remember("links", c, () => {
      const most = new Float64Array(this.rows * this.cols);
      for (const side of sides)
        this.linkWords(c, side).forEach((words, place) => {
          if (words > most[place]) most[place] = words;
        });
      return most;
    });
  }

  stalls(name) {
    return this.remember(name, "", () => decodeRuns(this.emulated.stalls[name], this.rows, this.cols));
  }

  // The number that colours a core: a share of 1, or NaN where there is none.
  shares(what, c) {
    return this.remember(`share ${what}`, c, () => {
      const roles = this.roles(c);
      const {kernel, memory, work} = this.report.configurations[c].roles;
      const cycles = this.cyclesOf(c);
      const ofRole = (pick) => {
        const values = kernel.map((_, role) => pick(role));
        return Float64Array.from(roles, (role) => (role < 0 ? NaN : values[role]));
      };
      if (what === "sram") return ofRole((role) => this.memories[memory[role]].used / this.machine.sram_bytes);
      if (what === "fma") return ofRole((role) => this.works[work[role]].fma / this.machine.fma_per_cycle / cycles);
      if (what === "slots") return ofRole((role) => Math.min(1, sumSlots(this.works[work[role]]) / cycles));
      if (what === "links") {
        const words = this.busiestLinks(c);
        return words ? Float64Array.from(words, (number) => (number === 0 ? NaN : number / cycles)) : null;
      }
      return this.stallShares(c, ofRole);
    });
  }

  stallShares(c, ofRole) {
    if (this.emulated?.stalls) {
      const [busy, words, room] = ["busy_cycles", "wait_words_cycles", "wait_room_cycles"].map((name) =>
        this.stalls(name),
      );
      return Float64Array.from(busy, (slots, place) => {
        const all = slots + words[place] + room[place];
        return all === 0 ? NaN : (words[place] + room[place]) / all;
      });
    }
    const {work} = this.report.configurations[c].roles;
    const cycles = this.cyclesOf(c);
    return ofRole((role) => Math.max(0, 1 - sumSlots(this.works[work[role]]) / cycles));
  }

  get stallSource() {
    return this.emulated?.stalls
      ? "of a core's cycles spent waiting for words or space (cycle engine)"
      : "of the step's cycles without a slot (--engine cycle tells what a core waits for)";
  }

  // The settings of a core's router: net, colour and switch positions.
  routes(c, row, col) {
    const {cores, net, colour, positions} = this.report.configurations[c].routers;
    const found = [];
    cores.forEach((lattice, router) => {
      if (holds(lattice, row, col))
        found.push({
          net: net[router],
          colour: colour[router],
          positions: this.report.positions[positions[router]],
        });
    });
    return found;
  }

  // What a core does and holds.
  core(c, row, col) {
    const configuration = this.report.configurations[c];
    const role = this.roles(c)[row * this.cols + col];
    const links = sides.map((side) => this.linkWords(c, side)?.[row * this.cols + col]);
    const dead = this.machine.dead_cores.some(([r, d]) => r === row && d === col);
    if (role < 0) return {row, col, dead, links, kernel: -1};
    const {name, kernel, memory, work} = configuration.roles;
    return {
      row,
      col,
      dead,
      links,
      role: name[role],
      kernel: kernel[role],
      memory: this.withResidents(this.memories[memory[role]], row, col),
      work: this.works[work[role]],
    };
  }

  // Adds what lies on the core all the time although its program does not use it: weights and states of other phases.
  withResidents(memory, row, col) {
    const {residents} = this.report;
    const parts = memory.parts.filter(({kind}) => kind !== "free");
    residents.cores.forEach((lattice, at) => {
      const [address, bytes] = [residents.address[at], residents.bytes[at]];
      const meets = (part) => address < part.address + part.bytes && part.address < address + bytes;
      if (!parts.some(meets) && holds(lattice, row, col))
        parts.push({
          address,
          bytes,
          name: residents.name[at],
          kind: residents.kind[at],
          type: residents.type[at],
          idle: true,
        });
    });
    if (!parts.some(({idle}) => idle)) return memory;
    const all = [];
    let end = 0;
    for (const part of [
      ...parts.sort((a, b) => a.address - b.address),
      {address: this.machine.sram_bytes, bytes: 0},
    ]) {
      if (part.address > end)
        all.push({address: end, bytes: part.address - end, name: "free", kind: "free", type: ""});
      if (part.bytes) all.push(part);
      end = Math.max(end, part.address + part.bytes);
    }
    return {
      parts: all,
      used: this.machine.sram_bytes - all.reduce((sum, part) => sum + (part.kind === "free" ? part.bytes : 0), 0),
    };
  }
}
