# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong is an exception that says what, where and the way out."""
import os
import signal
import threading

import numpy as np
import pytest

import wsc


@pytest.mark.parametrize("inputs, kind, message", [
    ({"x": 0}, wsc.InvalidArgument, r"entry main has no input x; its inputs are image f32\[1, 1, 8, 8\]"),
    ({}, wsc.InvalidArgument, r"input image of entry main is not given"),
    ([], wsc.InvalidArgument, r"entry main takes 1 inputs, 0 given"),
    ([np.zeros((1, 1, 8, 8))], wsc.InvalidArgument, r'image of entry main is float64\[1,1,8,8\].*astype\("float32"\)'),
    ([np.zeros((1, 8, 8), np.float32)], wsc.InvalidArgument, r"float32\[1,8,8\], its shape must be .* f32\[1,1,8,8\]"),
    ([np.array(["a"])], wsc.InvalidArgument, r"must be f32"),
    ([np.zeros((1, 1, 8, 8), ">f4")], wsc.InvalidArgument, r"must be f32"),
    (["abc"], ValueError, r"could not convert"),
    ([None], wsc.InvalidArgument, r"shape must be"),
])
def test_wrong_inputs(digits, inputs, kind, message):
    with pytest.raises(kind, match=message):
        digits.run(inputs)


def test_no_such_entry_or_state(digits, counter):
    with pytest.raises(wsc.NotFound, match="no entry train; .* has: main"):
        digits.run([0], entry="train")
    with pytest.raises(wsc.NotFound, match=r"no state variable h; there are: total f32\[1,4\]"):
        counter.session().read_state("h")
    with pytest.raises(wsc.NotFound, match="no state variable h"):
        counter.session().write_state("h", 0)
    with pytest.raises(wsc.InvalidArgument, match="state variable total is float32"):
        counter.session().write_state("total", np.zeros(4, np.float32))


def test_files_that_are_no_executables(digits, tmp_path):
    with pytest.raises(wsc.NotFound, match="no.wse: cannot open: No such file"):
        wsc.load(tmp_path / "no.wse")
    with pytest.raises(wsc.InvalidArgument, match="3 bytes are too few"):
        wsc.load(b"abc")
    digits.save(tmp_path / "good.wse")
    content = bytearray((tmp_path / "good.wse").read_bytes())
    content[100] ^= 1
    with pytest.raises(wsc.InvalidArgument, match="damaged"):
        wsc.load(bytes(content))


def test_unwritable_place(digits, tmp_path):
    with pytest.raises(wsc.Error, match="cannot be created: No such file or directory"):
        digits.save(tmp_path / "no" / "digits.wse")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("model, options, kind, message", [
    ("no.onnx", {}, wsc.NotFound, "cannot read 'no.onnx'"),
    (b"hello", {}, wsc.InvalidArgument, "<bytes>.onnx: not an ONNX model"),
    ("func.func {", {}, wsc.InvalidArgument, "<text>.mlir:1:11: custom op .func.func. expected"),
    (3, {}, wsc.InvalidArgument, "a model is a path, bytes or ModelProto of ONNX, or MLIR text, not int"),
    ("no.onnx", {"target": "wse9"}, wsc.Error, "wse9"),
    ("no.onnx", {"execution": "fast"}, wsc.InvalidArgument, "unknown execution fast; there are: auto pipelined phased"),
    ("no.onnx", {"effort": "much"}, wsc.InvalidArgument, "unknown effort much; there are: fast default high"),
    ("no.onnx", {"colour": "red"}, wsc.InvalidArgument, "unknown option colour; the options are target, "),
])
def test_wrong_models_and_options(model, options, kind, message):
    with pytest.raises(kind, match=message):
        wsc.compile(model, **options)


def test_errors_are_of_pythons_kinds_too():
    with pytest.raises(ValueError):
        wsc.compile(b"hello")
    with pytest.raises(LookupError) as raised:
        wsc.load("/no.wse")
    assert raised.value.code == "NOT_FOUND"


def test_unsupported_operators_are_listed():
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Foo", ["x"], ["y"], domain="my"),
                               helper.make_node("Bar", ["y"], ["z"], domain="my")], "graph",
                              [value("x", onnx.TensorProto.FLOAT, [1])], [value("z", onnx.TensorProto.FLOAT, [1])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("my", 1)])
    with pytest.raises(wsc.Unsupported, match="(?s)<graph>.onnx: 2 operators are not supported.*Foo.*Bar"):
        wsc.compile(model)
    assert len(wsc.validate(model)) == 2


def test_external_tensors_need_a_path(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    value = helper.make_tensor_value_info
    weights = pytest.importorskip("onnx.numpy_helper").from_array(np.ones(1000, np.float32), "w")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "graph",
                              [value("x", onnx.TensorProto.FLOAT, [1000])],
                              [value("y", onnx.TensorProto.FLOAT, [1000])], [weights])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph), str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    executable = wsc.compile(path, "mesh-16x16")
    assert np.array_equal(executable.run([np.ones(1000, np.float32)])["y"], np.full(1000, 2, np.float32))
    with pytest.raises(wsc.Error, match="(?s)'weights.bin'.*<bytes>.onnx came as bytes: give its path"):
        wsc.compile(path.read_bytes())


def test_an_exception_of_the_progress_callback_ends_the_compilation(counter_text):
    def progress(phase, done, total):
        if phase == "kernels":
            raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        wsc.compile(counter_text, progress=progress)


def test_a_signal_ends_the_compilation(counter_text):
    def progress(phase, done, total):
        if phase == "nn":
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        wsc.compile(counter_text, progress=progress)
