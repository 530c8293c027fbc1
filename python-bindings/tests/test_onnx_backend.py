# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX's own runner over its official cases, and the backend's functions."""
import json
import os
import pathlib
import subprocess
import sys

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


def write_case(folder, operator, x, y):
    """A backend-test folder for one operator."""
    value, float32 = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph([onnx.helper.make_node(operator, ["x"], ["y"])], "graph",
                                   [value("x", float32, x.shape)], [value("y", float32, y.shape)])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (data / "input_0.pb").write_bytes(onnx.numpy_helper.from_array(x, "x").SerializeToString())
    (data / "output_0.pb").write_bytes(onnx.numpy_helper.from_array(y, "y").SerializeToString())


def test_the_runner_over_a_folder(tmp_path):
    """onnx_runner.py: a line for each case, and what passes elsewhere and not here."""
    x = np.float32([[-1, 2]])
    write_case(tmp_path / "node" / "test_good", "Relu", x, np.maximum(x, 0))
    write_case(tmp_path / "node" / "test_wrong", "Relu", x, x)
    write_case(tmp_path / "node" / "test_unknown", "NoSuchOperator", x, x)
    elsewhere = [{"folder": str(tmp_path / "node" / name), "status": "PASS"} for name in ("test_good", "test_wrong")]
    (tmp_path / "elsewhere.json").write_text(json.dumps({"cases": elsewhere}))

    def run(*arguments):
        done = subprocess.run([sys.executable, "-B", SOURCE / "python-bindings" / "tests" / "onnx_runner.py", tmp_path,
                               "--target", "mesh-16x16", "--jobs", "2", *arguments], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False)
        return done.returncode, done.stdout + done.stderr

    status, text = run("--against", str(tmp_path / "elsewhere.json"), "--json", str(tmp_path / "results.json"))
    assert status == 1
    assert "PASS node/test_good" in text and "FAIL node/test_wrong AssertionError: Mismatched elements: 1 / 2" in text
    assert "SKIP node/test_unknown" in text and "1 passed, 1 failed, 1 skipped" in text
    assert f"1 cases pass in {tmp_path}/elsewhere.json and not here\n  node/test_wrong FAIL" in text
    assert json.loads((tmp_path / "results.json").read_text())["cases"][0]["name"] == "node/test_good"
    assert run("--filter", "good") == (0, "PASS node/test_good \n1 passed, 0 failed, 0 skipped\n")
    (tmp_path / "node").rename(tmp_path / "other")
    status, text = run()
    assert status == 1 and text.startswith(f"error: {tmp_path} holds none of the folders node, simple,")


def test_devices():
    assert SmallMesh.supports_device("CPU") and not SmallMesh.supports_device("CUDA")
