// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointer and keys on the floor plan.
//
// Pointer: drag moves, Ctrl and wheel (or two fingers) zoom, wheel alone too once the map has the focus; a click
// selects a core. Keys: arrows move a cursor from core to core, + - 0 zoom, Enter selects the cursor's kernel, Escape
// nothing.

export function listen(plan) {
  const {canvas} = plan;
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
    plan.showTip(null);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      const place = plan.coreAt(x, y);
      plan.showTip(place, x, y);
      const kernel = place ? plan.kernelAt(...place) : -1;
      if (kernel !== plan.state.hovered) plan.on.hover(kernel);
      return;
    }
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const span = ([ax, ay]) => Math.hypot(ax - other[0], ay - other[1]);
      plan.zoom(span([x, y]) / Math.max(1, span(before)), (x + other[0]) / 2, (y + other[1]) / 2);
    } else {
      plan.left -= (x - before[0]) / plan.cell;
      plan.top -= (y - before[1]) / plan.cell;
      plan.clamp();
      plan.draw();
    }
    moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    pointers.set(event.pointerId, [x, y]);
  });
  const release = (event) => {
    if (pointers.delete(event.pointerId) && moved < 4 && event.type === "pointerup") {
      const place = plan.coreAt(...at(event));
      if (place) plan.on.select(...place);
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    plan.showTip(null);
    plan.on.hover(-1);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      plan.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), ...at(event));
    },
    {passive: false},
  );
  canvas.addEventListener("keydown", (event) => key(plan, event));
}

function key(plan, event) {
  const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  const {rows, cols} = plan.model;
  if (steps[event.key]) {
    const far = event.shiftKey ? 10 : 1;
    const [row, col] = plan.state.core ?? [Math.floor(plan.top), Math.floor(plan.left)];
    const place = [
      Math.max(0, Math.min(rows - 1, row + far * steps[event.key][0])),
      Math.max(0, Math.min(cols - 1, col + far * steps[event.key][1])),
    ];
    plan.on.select(...place);
    plan.reveal(place);
    plan.said.textContent = plan.tell(place).join(", ");
  } else if (event.key === "+" || event.key === "=") {
    plan.zoom(1.5);
  } else if (event.key === "-") {
    plan.zoom(1 / 1.5);
  } else if (event.key === "0") {
    plan.fit();
  } else if (event.key === "Enter" && plan.state.core) {
    plan.on.kernel(plan.kernelAt(...plan.state.core));
  } else if (event.key === "Escape") {
    plan.on.clear();
  } else {
    return;
  }
  event.preventDefault();
}
