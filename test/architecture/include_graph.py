#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that includes run in one direction only: from tools down to the runtime.

LAYERS lists the folders from bottom to top. A file belongs to the longest matching entry; it may include its own
entry and those the entry names, which must stand further up in the list, so the order cannot have cycles. An entry that
ends in '*' matches file names by their beginning. Libraries that not every layer may use are named in LIBRARIES.
Scanned: C++ and TableGen sources. Prints `file:line: error: …` with the rule for each violation; exit status 1 if any.

    include_graph.py ROOT
"""
import pathlib
import posixpath
import re
import sys
from typing import NamedTuple

TOP_FOLDERS = ["runtime", "dialects", "passes", "compiler", "tools", "python-bindings", "test/unit/support",
               "test/validation"]
SUFFIXES = {".h", ".hpp", ".inc", ".c", ".cc", ".cpp", ".td"}
INCLUDE = re.compile(r'^\s*#?\s*include\s*(["<])([^">]+)[">]')

# Beginning of an include path -> library. Generated protobuf headers count as protobuf.
LIBRARIES = {
    "mlir/": "MLIR", "mlir-c/": "MLIR", "llvm/": "LLVM", "llvm-c/": "LLVM",
    "google/protobuf/": "protobuf", "onnx/": "ONNX",
}


class Layer(NamedTuple):
    name: str
    may_include: list
    libraries: set
    reason: str


NONE, IR, ALL = set(), {"MLIR", "LLVM"}, {"MLIR", "LLVM", "protobuf", "ONNX"}
BOTTOM = ["runtime/base", "runtime/files", "runtime/target", "runtime/format", "runtime/numerics", "runtime/timing"]
RUNTIME = BOTTOM + ["runtime/emulator", "runtime/emulator/liveness", "runtime/host", "runtime/session",
                    "runtime/report"]
# Recipes of raw sections: plain data that code generation hands to the writer.
SECTIONS = ["compiler/emit/SectionRecipe*", "compiler/emit/StridedCopy*"]
DIALECTS = ["dialects"]

NO_COMPILER = "the runtime needs no compiler (I7)"
LAYERS = [
    Layer("runtime/base", [], NONE, NO_COMPILER),
    Layer("runtime/files", [], NONE, NO_COMPILER),
    Layer("runtime/target", [], NONE, NO_COMPILER),
    Layer("runtime/format", ["runtime/files", "runtime/target"], NONE, NO_COMPILER),
    Layer("runtime/numerics", ["runtime/format"], NONE, NO_COMPILER),
    Layer("runtime/timing", ["runtime/target", "runtime/format"], NONE, NO_COMPILER),
    Layer("runtime/emulator/Interpreter*", ["runtime/format", "runtime/numerics"], NONE,
          "the scalar interpreter shares only format and numerics with the engines it judges (I1)"),
    Layer("runtime/emulator", BOTTOM + ["runtime/emulator/Interpreter*"], NONE, NO_COMPILER),
    Layer("runtime/emulator/liveness", BOTTOM + ["runtime/emulator"], NONE,
          "judges executables; no engine leans on it"),
    Layer("runtime/host", BOTTOM, NONE, NO_COMPILER),
    Layer("runtime/session", BOTTOM + ["runtime/emulator/Interpreter*", "runtime/emulator", "runtime/emulator/liveness",
                                      "runtime/host"], NONE,
          NO_COMPILER),
    Layer("runtime/report", BOTTOM + ["runtime/emulator"], NONE, NO_COMPILER),
    Layer("runtime/capi", RUNTIME, NONE, NO_COMPILER),
    Layer("test/unit/support", BOTTOM, NONE, "programs written by hand need no engine"),
    Layer("test/validation", RUNTIME + ["test/unit/support"], NONE,
          "hand-written programs run without the compiler (I7)"),
    Layer("compiler/solver", ["runtime/base", "runtime/target", "runtime/timing"], NONE, "solvers know no MLIR (I6)"),
    Layer("compiler/emit/StridedCopy*", [], NONE, "section recipes are plain data"),
    Layer("compiler/emit/SectionRecipe*", BOTTOM + ["compiler/emit/StridedCopy*"], NONE,
          "section recipes are plain data"),
    Layer("compiler/kernels", BOTTOM + SECTIONS + ["compiler/solver"], NONE,
          "mesh kernels are generated from plain data, without IR"),
    Layer("compiler/spmd", BOTTOM + SECTIONS + ["compiler/solver"], NONE,
          "plans and code of the general mapping are plain data, without IR (I6)"),
    Layer("dialects", ["runtime/target", "runtime/format"], IR, "dialects say what, not how"),
    Layer("passes", BOTTOM + SECTIONS + DIALECTS + ["compiler/solver", "compiler/kernels", "compiler/spmd"], IR,
          "passes join dialects with solvers and kernels"),
    Layer("compiler/import", BOTTOM + DIALECTS + ["passes"], ALL, "importers hold no mesh knowledge"),
    Layer("compiler/emit", BOTTOM + SECTIONS + DIALECTS + ["runtime/emulator/liveness", "compiler/kernels",
                                                           "compiler/spmd", "passes"], IR,
          "emission writes what passes decided, once the runtime's own checks have let it pass"),
    Layer("compiler/driver", RUNTIME + SECTIONS + DIALECTS +
          ["compiler/solver", "compiler/kernels", "compiler/spmd", "passes", "compiler/import", "compiler/emit"], IR,
          "the driver runs the phases"),
    Layer("tools/support/CommandLine*", BOTTOM, NONE, "all tools speak alike, those of the runtime too (I7)"),
    Layer("tools/support/Progress*", [], NONE, "as CommandLine"),
    Layer("tools/wsc-run", RUNTIME + ["tools/support/CommandLine*", "tools/support/Progress*"], NONE,
          "running a .wse needs no compiler (I7)"),
    Layer("tools/wsc-info", RUNTIME + ["tools/support/CommandLine*", "tools/support/Progress*"], NONE,
          "reading a .wse needs no compiler (I7)"),
    Layer("tools/wsc-place", BOTTOM + ["compiler/solver", "tools/support/CommandLine*", "tools/support/Progress*"],
          NONE, "solvers know no MLIR (I6)"),
    Layer("tools", RUNTIME + SECTIONS + DIALECTS + ["compiler/solver", "compiler/kernels", "compiler/spmd", "passes",
                                                    "compiler/import", "compiler/emit", "compiler/driver",
                                                    "tools/support/CommandLine*", "tools/support/Progress*",
                                                    "tools/wsc-place", "tools/wsc-run", "runtime/capi",
                                                    "test/validation"],
          ALL, "tools stand on top"),
    Layer("python-bindings", RUNTIME + ["compiler/driver", "tools/wsc-info"], NONE, "bindings wrap the public API"),
]


def matches(path, name):
    return path.startswith(name[:-1]) if name.endswith("*") else path == name or path.startswith(name + "/")


def layer_of(path):
    return max((layer for layer in LAYERS if matches(path, layer.name)), key=lambda layer: len(layer.name),
               default=None)


def library_of(included):
    if included.endswith(".pb.h"):
        return "protobuf"
    return next((library for start, library in LIBRARIES.items() if included.startswith(start)), None)


def check_table():
    """A layer may only name layers listed before it."""
    seen = set()
    for layer in LAYERS:
        for name in layer.may_include:
            if name not in seen:
                raise ValueError(f"layer {layer.name} names {name}, which does not stand below it")
        seen.add(layer.name)


def judge(root, layer, path, quoted, included):
    """The violation that including `included` from file `path` of `layer` makes, or None."""
    library = library_of(included)
    if library and library not in layer.libraries:
        return f"{layer.name} must not use {library}"
    if included.split("/")[0] not in TOP_FOLDERS + ["test"]:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), included))
        if not quoted or not (root / beside).exists():
            return None  # outside the project
        included = beside
    other = layer_of(included)
    if other is layer or other and other.name in layer.may_include:
        return None
    allowed = ", ".join([layer.name] + layer.may_include)
    return f"{layer.name} may include only {allowed}"


def violations(root):
    root = pathlib.Path(root)
    found = []
    for top in TOP_FOLDERS:
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            layer = layer_of(path)
            if layer is None:
                found.append(f"{path}:1: error: no layer holds this file; give its folder a place in LAYERS")
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                broken = include and judge(root, layer, path, include.group(1) == '"', include.group(2))
                if broken:
                    found.append(f'{path}:{number}: error: includes "{include.group(2)}", but {broken}: {layer.reason}')
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    check_table()
    found = violations(sys.argv[1])
    print("\n".join(found) if found else "includes run in one direction")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
