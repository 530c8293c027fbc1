# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX's own runner over its official cases, and the backend's functions."""
import os
import pathlib

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import onnx.backend.test.loader as loader  # noqa: E402
from conftest import SOURCE  # noqa: E402

import wsc  # noqa: E402
import wsc.onnx_backend  # noqa: E402

if "object" not in vars(np):
    np.object = object  # what the runner of onnx 1.12 expects of NumPy

DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
EVERY = int(os.environ.get("WSC_ONNX_EVERY", "1"))  # of the listed cases, every so many


class SmallMesh(wsc.onnx_backend.Backend):
    options = {"target": "mesh-16x16", "execution": "phased"}


def official_cases():
    """The runner's test classes, with the listed cases only."""
    from onnx.backend.test import BackendTest

    load = loader.load_model_tests
    runner = __import__("onnx.backend.test.runner", fromlist=["x"])
    runner.load_model_tests = lambda kind: load(data_dir=str(DATA), kind=kind) if kind == "node" else []
    lines = (SOURCE / "test" / "conformance" / "phased-cases.txt").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")][::EVERY]
    cases = BackendTest(SmallMesh, __name__).test_cases
    for case in cases.values():
        for name in [name for name in vars(case) if name.startswith("test_")]:
            if name not in {f"{one}_cpu" for one in names}:
                delattr(case, name)
    return cases


if DATA.exists():
    globals().update(official_cases())


def test_run_node_and_run_model():
    node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    a, b = np.float32([[1, 2]]), np.float32([[3], [4]])
    assert np.array_equal(SmallMesh.run_node(node, [a, b])[0], a + b)
    with pytest.raises(wsc.InvalidArgument, match="1 inputs are given, node Add has 2"):
        SmallMesh.run_node(node, [a])


def test_open_dimensions_are_those_of_the_inputs():
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "graph",
                                   [value("x", onnx.TensorProto.FLOAT, ["n", 3])],
                                   [value("y", onnx.TensorProto.FLOAT, ["n", 3])])
    prepared = SmallMesh.prepare(onnx.helper.make_model(graph))
    for n in (1, 4, 1):
        x = np.arange(3 * n, dtype=np.float32).reshape(n, 3) - 1
        assert np.array_equal(prepared.run([x]).y, np.maximum(x, 0))
    assert len(prepared._executables) == 2


def test_bfloat16_is_what_onnx_has_for_it():
    value = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.BFLOAT16
    graph = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "graph", [value("x", kind, [5])],
                                   [value("y", kind, [5])])
    prepared = SmallMesh.prepare(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))
    if not wsc.onnx_backend._bfloat16_is_float32():
        pytest.skip("this onnx has a type of its own for bfloat16")
    # 257 and 259 lie between two values each, the second one to round up to even; the rest is exact.
    got = prepared.run([np.float32([1.5, 257, 259, np.inf, np.nan])]).y
    assert got.dtype == np.float32
    assert np.array_equal(got, np.float32([-1.5, -256, -260, -np.inf, np.nan]), equal_nan=True)


def test_devices():
    assert SmallMesh.supports_device("CPU") and not SmallMesh.supports_device("CUDA")
