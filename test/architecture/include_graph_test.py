#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests include_graph.py on a small tree: each broken rule is found at its file and line, and what is allowed is left
alone."""
import pathlib
import tempfile
import unittest

import include_graph

SOURCES = {
    # Allowed.
    "runtime/timing/Cost.h":
        '#include "runtime/target/Target.h"\n#include <vector>\n#include "absl/status/status.h"\n',
    "runtime/target/Target.h": "#pragma once\n",
    "runtime/emulator/Interpreter.h":
        '#include "runtime/emulator/InterpreterCheck.h"\n#include "runtime/numerics/Fma.h"\n',
    "dialects/nn/Ops.td": 'include "mlir/IR/OpBase.td"\ninclude "dialects/nn/Attributes.td"\n',
    "tools/wsc-test/main.cpp": '#include "compiler/driver/Driver.h"\n#include "google/protobuf/message.h"\n',
    # Broken; the marked lines.
    "runtime/format/Reader.h": '#pragma once\n#include "mlir/IR/Value.h" // bad\n#include "dialects/nn/Nn.h" // bad\n',
    "runtime/format/Near.h": '#include "../timing/Cost.h" // bad\n',
    "runtime/session/Proto.cpp": '#include "compiler/import/onnx.pb.h" // bad\n#include <onnx/defs/schema.h> // bad\n',
    "runtime/emulator/InterpreterCheck.cpp": '\n#include "runtime/timing/Cost.h" // bad\n#include "Engine.h" // bad\n',
    "runtime/emulator/Engine.h": '#include "runtime/session/Session.h" // bad\n',
    "compiler/solver/Sizing.cpp": '#include "runtime/format/Isa.h" // bad\n  #  include <llvm/ADT/DenseMap.h> // bad\n',
    "compiler/kernels/network/Layout.h": '#include "dialects/wafer/Wafer.h" // bad\n',
    "dialects/wafer/Ops.td": 'include "passes/wafer/Passes.td" // bad\n',
    "passes/wafer/Size.cpp": '#include "compiler/driver/Driver.h" // bad\n#include "test/support/Builder.h" // bad\n',
    "tools/wsc-run/main.cpp": '#include "compiler/driver/Driver.h" // bad\n',
    "compiler/new/Thing.cpp": "// bad: in no layer\n",
}


class IncludeGraphTest(unittest.TestCase):
    def test_finds_every_broken_rule_and_nothing_else(self):
        expected = {f"{path}:{number}" for path, text in SOURCES.items()
                    for number, line in enumerate(text.splitlines(), 1) if "// bad" in line}
        with tempfile.TemporaryDirectory() as folder:
            for path, text in SOURCES.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found = include_graph.violations(folder)
        self.assertEqual({line.split(": error")[0] for line in found}, expected)
        self.assertTrue(any("runtime/format/Reader.h:2" in line and "must not use MLIR" in line and "I7" in line
                            for line in found), found)

    def test_refuses_a_table_that_runs_upwards(self):
        layers = include_graph.LAYERS
        try:
            include_graph.LAYERS = [include_graph.Layer("low", ["high"], set(), ""),
                                    include_graph.Layer("high", [], set(), "")]
            with self.assertRaisesRegex(ValueError, "low names high"):
                include_graph.check_table()
        finally:
            include_graph.LAYERS = layers
        include_graph.check_table()


if __name__ == "__main__":
    unittest.main()
