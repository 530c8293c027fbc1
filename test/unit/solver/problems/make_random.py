#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the problems of random graphs in random/: a pipeline to size, branches that rejoin to place, memories, lanes
to colour, nets to route, bundles that choose between ways, defects, and layers that choose between layouts. The seed of each is its number.

    python3 make_random.py          (writes to the folder random beside it)
"""
import os
import random

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random")


def write(name, kind, lines):
    with open(os.path.join(FOLDER, f"{name}.{kind}.txt"), "w") as file:
        file.write(f"wsc-problem {kind} 1\n" + "".join(line + "\n" for line in lines))


def sizing(seed, kernels):
    """Work shared out over columns, with a part that is not."""
    r = random.Random(seed)
    lines = [f"columns {kernels * 9}"]
    for k in range(kernels):
        work, rest = r.randint(2000, 60000), r.randint(50, 900)
        lines.append(f"kernel k{k}")
        for columns in range(r.randint(1, 3), r.randint(12, 40)):
            lines.append(f"candidate {columns} {rest + work // columns} {40000 // columns + 3000} {columns}")
    return lines


def placement(seed, kernels, reach, eastward, pins=0):
    """Each kernel takes from one to three of those shortly before it."""
    r = random.Random(seed)
    cols = [r.randint(1, 12) for _ in range(kernels)]
    lines = [f"mesh 100 {sum(cols) + 10 * pins}"]
    pinned = {r.randrange(kernels): None for _ in range(pins)}
    at = 0
    for k in range(kernels):
        pin = ""
        if k in pinned:
            pin = f" pin {at + 5}"
            at += 5
        lines.append(f"kernel k{k} {r.randint(50, 100)} {cols[k]}{pin}")
        at += cols[k]
    for k in range(1, kernels):
        for source in sorted({r.randint(max(0, k - reach), k - 1) for _ in range(r.randint(1, 3))}):
            lines.append(f"edge {source} {k} {r.randint(100, 90000)}{' east' if eastward else ''}")
    return lines


def allocation(seed, buffers, steps):
    r = random.Random(seed)
    lines = ["range 5000 49152", "banks 6144"]
    for b in range(buffers):
        begin = r.randint(0, steps - 1)
        life = f" life {begin} {r.randint(begin + 1, min(steps, begin + 9))}" if r.random() < 0.85 else ""
        bank = f" bank {r.randint(0, 7)}" if r.random() < 0.2 else ""
        lines.append(f"buffer b{b} {r.randint(1, 300) * 8} align 8{bank}{life}")
    return lines


def colouring(seed, lanes, rows, cols):
    """Lanes east with a tooth or two."""
    r = random.Random(seed)
    lines = [f"mesh {rows} {cols}", "colours " + " ".join(str(c) for c in range(2, 24))]
    for lane in range(lanes):
        row, begin = r.randrange(rows), r.randrange(cols - 4)
        end = min(cols, begin + r.randint(3, cols // 3))
        lines += [f"item lane{lane}" + (f" fixed {lane // 150}" if lane % 150 == 0 else ""),
                  f"rect {row} {row + 1} {begin} {end}"]
        for _ in range(r.randint(0, 2)):
            col, reach = r.randrange(begin, end), r.randint(1, rows // 6)
            lines.append(f"rect {max(0, row - reach)} {min(rows, row + reach)} {col} {col + 1}")
    return lines


def routing(seed, nets, side):
    r = random.Random(seed)
    lines = [f"mesh {side} {side}", f"capacity {nets * 2}"]
    for n in range(nets):
        lines.append(f"net n{n} {r.randrange(side)} {r.randrange(side)} {r.randint(1, 20)}")
        for _ in range(r.randint(1, 4)):
            low = r.randrange(side)
            lines.append(f"sink {r.randrange(side)} {low} {min(side - 1, low + r.choice([0, 0, 0, 2]))}")
    return lines


def alternatives(seed, items, side):
    """Vertical runs in one of a few columns."""
    r = random.Random(seed)
    lines = [f"mesh {side} {side}", f"capacity {3 * items}"]
    for _ in range(items // 4):
        row, col = r.randrange(side), r.randrange(side - 1)
        lines.append(f"fixed {row} {col} {row} {r.randrange(col + 1, side)} {r.randint(1, 20)}")
    for i in range(items):
        col, words = r.randint(2, side - 3), r.randint(5, 30)
        top, bottom = sorted(r.sample(range(side), 2))
        lines.append(f"item i{i}")
        for turn in (0, 1, -1, 2, -2):
            lines += [f"option {turn} {8 * abs(turn)}", f"load {top} {col + turn} {bottom} {col + turn} {words}"]
            if turn:
                lines.append(f"load {bottom} {col + turn} {bottom} {col} {words}")
    return lines


def defects(seed, rows, cols, cores, row_links, col_links):
    r = random.Random(seed)
    return ([f"mesh {rows} {cols}"] + [f"dead {r.randrange(rows)} {r.randrange(cols)}" for _ in range(cores)] +
            [f"dead-row {r.randrange(rows)}" for _ in range(row_links)] +
            [f"dead-col {r.randrange(cols)}" for _ in range(col_links)])


def layers(seed, count, options, skip):
    """Each layer reads the one before it, every `skip`-th also the one `skip` before."""
    r = random.Random(seed)
    lines = [f"node l{k} " + " ".join(str(r.randint(100, 2000)) for _ in range(options)) for k in range(count)]
    for k in range(1, count):
        for source in {k - 1, k - skip if k % skip == 0 else k - 1}:
            costs = [0 if i == j else r.randint(50, 3000) for i in range(options) for j in range(options)]
            lines.append(f"edge {source} {k} " + " ".join(map(str, costs)))
    return lines


def main():
    os.makedirs(FOLDER, exist_ok=True)
    write("1-pipeline", "sizing", sizing(1, 40))
    write("2-branches", "placement", placement(2, 40, 6, True))
    write("3-circles", "placement", placement(3, 14, 14, False, pins=3))
    write("4-memory", "allocation", allocation(4, 60, 40))
    write("5-lanes", "colouring", colouring(5, 300, 64, 96))
    write("6-nets", "routing", routing(6, 60, 24))
    write("7-bundles", "alternatives", alternatives(7, 40, 24))
    write("8-wafer-46", "lines", defects(8, 750, 994, 46, 0, 0))
    write("9-mesh-1-percent", "lines", defects(9, 64, 64, 41, 1, 1))
    write("10-links", "lines", defects(10, 32, 48, 3, 2, 2))
    write("11-small-nets", "routing", routing(11, 12, 8))
    write("12-layers", "pbqp", layers(12, 30, 12, 3))
    write("13-layers-that-meet", "pbqp", layers(13, 24, 10, 2))


if __name__ == "__main__":
    main()
