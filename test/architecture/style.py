#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks how files look: lines of at most 120 columns in sources and documents, the licence at the top of each source,
of IR and of tests, and clang-format of C++.

Rows of Markdown tables, pictures in code blocks and tables that clang-format leaves alone may be longer, as they cannot
be broken; so may lit tests, whose RUN and CHECK lines are one line by nature, and C++ with literals. Prints
`file:line: error: …` for each violation; exit status 1 if any.

    style.py ROOT [CLANG-FORMAT]
"""
import pathlib
import subprocess
import sys

COLUMNS = 120
SOURCES = {".cpp", ".h", ".inc", ".td", ".py", ".fbs", ".proto", ".mjs", ".js", ".css", ".html", ".cmake", ".in"}
FORMATTED = {".cpp", ".h", ".inc"}
LICENSED = SOURCES | {".mlir", ".test", ".sh", ".toml", ".ini", ".map"}
# Data, pictures, files of others.
SKIPPED = ("examples/digits/", "test/unit/format/golden/", "test/unit/solver/problems/")


def tracked(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in names if name and not name.startswith(SKIPPED) and (root / name).is_file()]


def is_source(path):
    return path.suffix in SOURCES or path.name == "CMakeLists.txt" or path.parts[:1] == ("tools",) and not path.suffix


def long_lines(path, text):
    """Numbers of the lines that are too long."""
    fenced = table = False
    for number, line in enumerate(text.split("\n"), 1):
        if path.suffix == ".md":
            fenced ^= line.lstrip().startswith("```")
            if fenced or line.startswith(("    ", "|")) or "](" in line and " " not in line.strip():
                continue
        table = "clang-format off" in line or table and "clang-format on" not in line
        if path.suffix in FORMATTED and '"' in line:
            continue  # literals that clang-format does not break
        if len(line) > COLUMNS and not table and "http" not in line:
            yield number, len(line)


def main():
    root = pathlib.Path(sys.argv[1])
    errors = []
    to_format = []
    for name in tracked(root):
        path = pathlib.Path(name)
        if not is_source(path) and path.suffix not in LICENSED | {".md"}:
            continue
        text = (root / name).read_text(encoding="utf-8")
        if path.suffix != ".md" and "SPDX-License-Identifier:" not in "\n".join(text.split("\n")[:3]):
            errors.append(f"{name}:1: error: no SPDX-License-Identifier in the first three lines")
        if not is_source(path) and path.suffix != ".md":
            continue
        errors += [f"{name}:{number}: error: {length} columns, limit is {COLUMNS}" for number, length
                   in long_lines(path, text)]
        if path.suffix in FORMATTED:
            to_format.append(name)
    if len(sys.argv) > 2:
        for begin in range(0, len(to_format), 100):
            outcome = subprocess.run([sys.argv[2], "--dry-run", "-Werror", *to_format[begin:begin + 100]], cwd=root,
                                     capture_output=True, text=True)
            names = {line.split(":")[0] for line in outcome.stderr.split("\n") if "clang-format" in line}
            errors += [f"{name}:1: error: not formatted; tools/format does it" for name in sorted(names)]
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
