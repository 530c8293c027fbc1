// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of the selected core: its kernel, its slots, what its SRAM holds, its links and its routes.
import {el, bytes, count, percent} from "./dom.js";
import {sumSlots} from "./model.js";
import {memoryColours, slotKinds} from "./palette.js";

const ports = ["N", "S", "E", "W", "core"];

// A bar of parts [{size, colour, title}] over `whole`.
export function stack(parts, whole, label) {
  return el(
    "div",
    {class: "stack", role: "img", "aria-label": label},
    parts
      .filter(({size}) => size > 0)
      .map(({size, colour, title}) =>
        el("span", {
          class: size > 0.02 * whole ? "large" : null,
          style: `width:${(100 * size) / whole}%;background:${colour}`,
          title,
        }),
      ),
  );
}

function memoryList(memory, whole) {
  const parts = memory.parts.map((part) => ({
    size: part.bytes,
    colour: `var(${memoryColours[part.kind] ?? "--memory"})`,
    title: `${part.name}: ${count(part.bytes)} bytes at ${part.address}`,
  }));
  const row = (part) =>
    el(
      "tr",
      {},
      el("td", {class: "number"}, count(part.address)),
      el("td", {class: "number"}, count(part.bytes)),
      el(
        "td",
        {class: "wide", title: part.name},
        el("span", {class: "swatch", style: `background:var(${memoryColours[part.kind] ?? "--memory"})`}),
        part.name,
      ),
      el("td", {}, part.kind === part.name ? "" : `${part.kind} ${part.type}${part.idle ? ", unused here" : ""}`),
    );
  return [
    el(
      "h4",
      {},
      el("span", {}, "SRAM"),
      el("span", {}, `${count(memory.used)} of ${count(whole)} bytes (${percent(memory.used / whole)})`),
    ),
    stack(
      parts,
      whole,
      `SRAM by address: ${memory.parts.map((part) => `${part.name} ${part.bytes} bytes`).join(", ")}`,
    ),
    el(
      "div",
      {class: "list", tabindex: 0, role: "region", "aria-label": "Contents of the core's SRAM"},
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", {class: "number", scope: "col"}, "address"),
            el("th", {class: "number", scope: "col"}, "bytes"),
            el("th", {scope: "col"}, "content"),
            el("th", {scope: "col"}, "kind"),
          ),
        ),
        el("tbody", {}, memory.parts.map(row)),
      ),
    ),
  ];
}

function slotList(work, cycles) {
  const shown = slotKinds.slice(0, 4).map(([key, name]) => ({
    size: work[`${key}_cycles`],
    colour: `var(--${key})`,
    title: `${name}: ${count(work[`${key}_cycles`])} cycles`,
    name,
  }));
  const slots = sumSlots(work);
  return [
    el(
      "h4",
      {},
      el("span", {}, "Issue slots"),
      el(
        "span",
        {},
        cycles ? `${count(slots)} in ${count(cycles)} cycles (${percent(slots / cycles)})` : count(slots),
      ),
    ),
    stack(shown, Math.max(cycles, slots), `Issue slots: ${shown.map(({title}) => title).join(", ")}`),
    el(
      "ul",
      {class: "keys", style: "margin:4px 0 0"},
      shown
        .filter(({size}) => size > 0)
        .map(({name, size, colour}) =>
          el("li", {}, el("span", {class: "swatch", style: `background:${colour}`}), `${name} ${count(size)}`),
        ),
    ),
  ];
}

function routeList(routers, nets, onNet) {
  const way = (positions) => {
    const texts = [];
    for (let at = 0; at < positions.length; at += 2)
      texts.push(
        `${ports[positions[at]]} → ${ports.filter((_, side) => (positions[at + 1] >> side) & 1).join(" ") || "ends"}`,
      );
    return texts.join(" | ");
  };
  return [
    el("h4", {}, el("span", {}, "Routes"), el("span", {}, `${routers.length} colours in use`)),
    el(
      "div",
      {class: "list", tabindex: 0, role: "region", "aria-label": "Routes through the core's router"},
      el(
        "table",
        {},
        el(
          "tbody",
          {},
          routers.map(({net, colour, positions}) =>
            el(
              "tr",
              {},
              el("td", {class: "number", title: "colour"}, colour),
              el(
                "td",
                {class: "wide"},
                net >= 0
                  ? el(
                      "button",
                      {
                        type: "button",
                        class: "link",
                        title: `show the routes of ${nets.name[net]}`,
                        onclick: () => onNet(net),
                      },
                      nets.name[net],
                    )
                  : "",
              ),
              el("td", {}, way(positions)),
            ),
          ),
        ),
      ),
    ),
  ];
}

// Fills `element`. `on`: functions kernel(index), net(index).
export function showCore(element, model, configuration, place, on) {
  if (!place) {
    element.replaceChildren(
      el("h3", {}, "No core selected"),
      el(
        "p",
        {class: "note"},
        "Click a core, or move with the arrow keys when the map has the focus, to see its memory, work and routes. " +
          "Drag to move; Ctrl and the wheel, or + and −, zoom.",
      ),
    );
    return;
  }
  const [row, col] = place;
  const core = model.core(configuration, row, col);
  const routers = model.routes(configuration, row, col);
  const {nets} = model.report.configurations[configuration];
  const cycles = model.cyclesOf(configuration);
  const kernel = model.kernels[core.kernel];
  const links =
    core.links[0] === undefined
      ? null
      : core.links.map((words, side) => `${ports[side]} ${count(words)}`).join(" · ");
  element.replaceChildren(
    el("h3", {}, `Core (${row}, ${col})`),
    el(
      "dl",
      {},
      core.dead
        ? [el("dt", {}, "State"), el("dd", {}, "dead: no program; routes pass only where its links work")]
        : null,
      el("dt", {}, "Kernel"),
      el(
        "dd",
        {},
        kernel
          ? el("button", {type: "button", class: "link", onclick: () => on.kernel(kernel.index)}, kernel.name)
          : core.role
            ? "none"
            : "no program",
      ),
      core.role ? [el("dt", {}, "Role"), el("dd", {}, core.role)] : null,
      core.work
        ? [
            el("dt", {}, "Work"),
            el("dd", {}, `${count(core.work.fma)} multiply-adds, ${bytes(core.work.sram_bytes)} of SRAM traffic`),
          ]
        : null,
      core.work
        ? [el("dt", {}, "Words"), el("dd", {}, `${count(core.work.words_in)} in, ${count(core.work.words_out)} out`)]
        : null,
      links ? [el("dt", {}, "Links"), el("dd", {}, `${links} words`)] : null,
    ),
    ...(core.work ? slotList(core.work, cycles) : []),
    ...(core.memory ? memoryList(core.memory, model.machine.sram_bytes) : []),
    ...(routers.length ? routeList(routers, nets, on.net) : []),
  );
}
