// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is drawn over the picture of the floor plan: routes, cells, frames and names of kernels, dead cores, the cursor,
// axes, and the whole wafer in a corner. `plan` is a FloorPlan, which knows where a core lies on the canvas.
import {isDark, variable} from "./palette.js";

export const margin = {left: 40, top: 20}; // pixels for the axes
const leastCell = 9; // pixels of a core from which on routes are lines

// Everything but the selected kernel fades; all of it under a route.
export function dim(plan) {
  const {context, model} = plan;
  const kernel = model.kernels[plan.state.kernel];
  context.save();
  context.beginPath();
  context.rect(plan.x(0), plan.y(0), model.cols * plan.cell, model.rows * plan.cell);
  if (kernel && !plan.route) {
    const {row, col, rows, cols} = kernel.rectangle;
    context.rect(plan.x(col), plan.y(row), cols * plan.cell, rows * plan.cell);
  }
  context.globalAlpha = plan.route ? 0.7 : 0.62;
  context.fillStyle = variable("surface");
  context.fill("evenodd");
  context.restore();
}

export function drawRoute(plan) {
  if (plan.cell < leastCell) {
    plan.drawImage(plan.routeImage, false);
    return;
  }
  const {context, cell} = plan;
  const half = cell / 2;
  const ends = [
    [half, 0],
    [half, cell],
    [cell, half],
    [0, half],
  ];
  context.lineWidth = Math.max(1.5, cell / 10);
  context.lineCap = "round";
  const [path, out, into] = [variable("accent"), variable("input"), variable("network")];
  for (const [row, col, positions] of plan.route) {
    const x = plan.x(col),
      y = plan.y(row);
    if (x < -cell || y < -cell || x > plan.width || y > plan.height) continue;
    for (let at = 0; at < positions.length; at += 2) {
      const [input, outputs] = [positions[at], positions[at + 1]];
      context.strokeStyle = path;
      context.beginPath();
      if (input < 4) {
        context.moveTo(x + ends[input][0], y + ends[input][1]);
        context.lineTo(x + half, y + half);
      }
      for (let side = 0; side < 4; ++side)
        if ((outputs >> side) & 1) {
          const [ex, ey] = ends[side],
            dx = Math.sign(ex - half),
            dy = Math.sign(ey - half),
            head = cell / 7;
          context.moveTo(x + half, y + half);
          context.lineTo(x + ex, y + ey);
          context.moveTo(x + ex - dx * head - dy * head, y + ey - dy * head - dx * head);
          context.lineTo(x + ex, y + ey);
          context.lineTo(x + ex - dx * head + dy * head, y + ey - dy * head + dx * head);
        }
      context.stroke();
      if (input === 4 || (outputs >> 4) & 1) {
        context.fillStyle = input === 4 ? out : into;
        context.beginPath();
        context.arc(x + half, y + half, cell / (input === 4 ? 6 : 7.5), 0, 2 * Math.PI);
        context.fill();
      }
    }
  }
}

export function drawCells(plan) {
  if (plan.cell < 7) return;
  const {context, model} = plan;
  context.strokeStyle = variable("surface");
  context.globalAlpha = Math.min(1, (plan.cell - 6) / 8);
  context.lineWidth = 1;
  context.beginPath();
  for (let col = Math.max(0, Math.floor(plan.left)); col <= model.cols && plan.x(col) <= plan.width; ++col) {
    context.moveTo(Math.round(plan.x(col)) + 0.5, plan.y(0));
    context.lineTo(Math.round(plan.x(col)) + 0.5, plan.y(model.rows));
  }
  for (let row = Math.max(0, Math.floor(plan.top)); row <= model.rows && plan.y(row) <= plan.height; ++row) {
    context.moveTo(plan.x(0), Math.round(plan.y(row)) + 0.5);
    context.lineTo(plan.x(model.cols), Math.round(plan.y(row)) + 0.5);
  }
  context.stroke();
  context.globalAlpha = 1;
}

// Frames, and names where they fit.
export function drawKernels(plan) {
  const {context, model, state} = plan;
  context.font = "600 12px system-ui, sans-serif";
  for (const kernel of model.kernels) {
    if (kernel.configuration !== state.configuration) continue;
    const {row, col, rows, cols} = kernel.rectangle;
    const [x, y, w, h] = [plan.x(col), plan.y(row), cols * plan.cell, rows * plan.cell];
    const marked = kernel.index === state.kernel || kernel.index === state.hovered;
    context.lineWidth = marked ? 2 : 1;
    context.strokeStyle = marked ? variable("ink") : variable("surface");
    if (marked || plan.cell > 0.5) context.strokeRect(x, y, w, h);
    if (!plan.route) nameKernel(plan, kernel, x, y, w, h);
  }
}

function nameKernel(plan, kernel, x, y, w, h) {
  const {context} = plan;
  const wide = context.measureText(kernel.name).width + 10;
  const left = Math.max(x, margin.left),
    right = Math.min(x + w, plan.width);
  const top = Math.max(y, margin.top),
    bottom = Math.min(y + h, plan.height);
  const upright = right - left < wide;
  if (upright ? right - left < 13 || bottom - top < wide : bottom - top < 16) return;
  context.save();
  context.translate((left + right) / 2, upright ? top + 8 + wide / 2 : Math.min(top + 14, (top + bottom) / 2));
  if (upright) context.rotate(-Math.PI / 2);
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

export function drawDead(plan) {
  const {context, model} = plan;
  const size = Math.max(7, plan.cell);
  context.lineWidth = Math.max(1.5, plan.cell / 12);
  for (const [row, col] of model.machine.dead_cores) {
    const x = plan.x(col) + plan.cell / 2,
      y = plan.y(row) + plan.cell / 2,
      d = size / 2 - 1;
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
  const sides = [
    [0, 0, 1, 0],
    [0, 1, 1, 1],
    [1, 0, 1, 1],
    [0, 0, 0, 1],
  ];
  context.lineWidth = Math.max(2, plan.cell / 8);
  context.strokeStyle = variable("dead");
  for (const [row, col, side] of model.machine.dead_links) {
    const [x1, y1, x2, y2] = sides[side];
    context.beginPath();
    context.moveTo(plan.x(col + x1), plan.y(row + y1));
    context.lineTo(plan.x(col + x2), plan.y(row + y2));
    context.stroke();
  }
}

export function drawCursor(plan) {
  const {core} = plan.state;
  if (!core) return;
  const {context} = plan;
  const size = Math.max(plan.cell, 7);
  const x = plan.x(core[1]) + plan.cell / 2 - size / 2,
    y = plan.y(core[0]) + plan.cell / 2 - size / 2;
  context.lineWidth = 4;
  context.strokeStyle = variable("surface");
  context.strokeRect(x - 1, y - 1, size + 2, size + 2);
  context.lineWidth = 2;
  context.strokeStyle = variable("ink");
  context.strokeRect(x - 1, y - 1, size + 2, size + 2);
}

export function drawAxes(plan) {
  const {context, model} = plan;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = variable("muted");
  context.strokeStyle = variable("line");
  context.lineWidth = 1;
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => s * plan.cell >= 46) ?? 1000;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const half = plan.cell >= 7 ? plan.cell / 2 : 0;
  for (
    let col = Math.max(0, Math.ceil(plan.left / step) * step);
    col < model.cols && plan.x(col) + half < plan.width - 62;
    col += step
  )
    context.fillText(col, Math.max(plan.x(col) + half, margin.left + 4), margin.top - 7);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (
    let row = Math.max(0, Math.ceil(plan.top / step) * step);
    row < model.rows && plan.y(row) < plan.height - 6;
    row += step
  )
    context.fillText(row, margin.left - 7, Math.max(plan.y(row) + half, margin.top + 6));
  context.textBaseline = "alphabetic";
  context.fillText("row", margin.left - 7, margin.top - 7);
  context.fillText("column", plan.width - 2, margin.top - 7);
}

// The whole wafer in a corner, where the view shows a part of it.
export function drawMiniature(plan) {
  const {context, model} = plan;
  if (plan.cell <= plan.least * 1.05) return;
  const w = Math.min(130, plan.width / 6),
    h = (w * model.rows) / model.cols;
  const x = plan.width - w - 10,
    y = plan.height - h - 10;
  context.fillStyle = variable("surface");
  context.fillRect(x - 3, y - 3, w + 6, h + 6);
  context.imageSmoothingEnabled = true;
  context.drawImage(plan.image, x, y, w, h);
  context.strokeStyle = variable("ink");
  context.lineWidth = 1.5;
  const scale = w / model.cols;
  const across = Math.min(model.cols, (plan.width - margin.left) / plan.cell),
    down = Math.min(model.rows, (plan.height - margin.top) / plan.cell);
  context.strokeRect(
    x + plan.left * scale,
    y + plan.top * scale,
    Math.max(3, across * scale),
    Math.max(3, down * scale),
  );
  context.strokeStyle = variable("line");
  context.lineWidth = 1;
  context.strokeRect(x - 3.5, y - 3.5, w + 7, h + 7);
}
