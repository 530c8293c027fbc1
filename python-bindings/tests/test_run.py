# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executables and sessions: values, time, states, files, threads."""
import concurrent.futures
import json
import os
import pathlib
import time

import numpy as np
import pytest

import wsc
from conftest import DIGITS


def test_classifies_digits(digits, images, labels):
    right = sum(int(digits.run({"image": images[i:i + 1]})["probabilities"].argmax()) == labels[i] for i in range(20))
    assert right >= 18


def test_inputs_by_name_by_place_and_as_lists_are_the_same(digits, images):
    by_name = digits.run({"image": images[:1]})["probabilities"]
    assert np.array_equal(by_name, digits.run([images[:1]])["probabilities"])
    assert np.array_equal(by_name, digits.run([images[:1].tolist()])["probabilities"])
    assert np.array_equal(by_name, digits({"image": np.asfortranarray(images[:1])})["probabilities"])
    assert by_name.dtype == np.float32 and by_name.shape == (1, 10)


def test_results_own_their_memory(digits, images):
    first = digits.run([images[:1]])["probabilities"]
    kept = first.copy()
    digits.run([images[1:2]])
    assert np.array_equal(first, kept)
    first[0, 0] = 7  # may be written to


def test_describes_itself(digits):
    entry, = digits.entries
    assert (entry.name, entry.inputs[0].name, entry.inputs[0].shape) == ("main", "image", (1, 1, 8, 8))
    assert entry.inputs[0].dtype == np.float32
    assert digits.target == "wse2" and digits.mesh == (750, 994) and digits.execution == "pipelined"
    assert [kernel.name for kernel in digits.kernels][0] == "conv0"
    assert all(kernel.cores > 0 for kernel in digits.kernels)
    report = digits.report()
    assert "wse2" in report and "conv0" in report and digits.floor_plan() in report
    assert digits.compile_report["kernels"][0]["name"] == "conv0"


def test_reports_are_files_too(digits, counter, tmp_path):
    for ending in ("html", "json", "txt"):
        assert digits.report(tmp_path / f"digits.{ending}") == digits.report()
    facts = json.loads((tmp_path / "digits.json").read_text())
    assert facts["interval_cycles"] == digits.time().interval_cycles and facts["emulation"]["engine"] == "core"
    assert [kernel["name"] for kernel in facts["kernels"]] == [kernel.name for kernel in digits.kernels]
    assert facts["bound"] in " ".join((tmp_path / "digits.txt").read_text().split())
    assert '<script type="application/json"' in (tmp_path / "digits.html").read_text()
    counter.report(tmp_path / "read.json", entry="read")
    assert json.loads((tmp_path / "read.json").read_text())["entry"] == 1
    before = sorted(tmp_path.iterdir())
    with pytest.raises(wsc.InvalidArgument, match=r"report\.pdf must end in \.txt, \.json or \.html"):
        digits.report(tmp_path / "report.pdf")
    with pytest.raises(wsc.Error, match="cannot be created"):
        digits.report(tmp_path / "no" / "report.html")
    assert sorted(tmp_path.iterdir()) == before


def test_time(digits):
    time = digits.time()
    assert 0 < time.interval_cycles <= time.latency_cycles
    assert time.interval_settled and time.interval_low <= time.interval_cycles <= time.interval_high
    assert time.interval_seconds == pytest.approx(time.interval_cycles / 0.85e9)
    assert "kernel" in time.bottleneck and 0 < time.utilisation < 1


def test_floor_plan_in_a_notebook(digits):
    page = digits._repr_html_()
    assert page.count("<rect") == len(digits.kernels) and "conv0" in page
    assert ">conv1</text>" in wsc.compile(DIGITS / "digits.onnx", "mesh-8x8")._repr_html_()  # where there is room
    assert "http" not in page  # self-contained


def test_a_notebook_shows_the_first_of_many_configurations(monkeypatch):
    phased = wsc.compile(DIGITS / "digits.onnx", "mesh-16x16", execution="phased")
    configurations = len({kernel.configuration for kernel in phased.kernels})
    page = phased._repr_html_()
    assert page.count("<svg") == min(configurations, 6)
    monkeypatch.setattr("wsc._executable._PLANS", 0)
    page = phased._repr_html_()
    assert page.count("<svg") == 0 and f"and {configurations} more configurations" in page


def test_saves_and_loads(digits, images, tmp_path):
    path = tmp_path / "digits.wse"
    digits.save(path)
    assert path.stat().st_size == digits.nbytes and os.listdir(tmp_path) == ["digits.wse"]
    wanted = digits.run([images[:1]])["probabilities"]
    for loaded in (wsc.load(path), wsc.load(str(path), verify_hashes=True), wsc.load(path.read_bytes())):
        assert np.array_equal(loaded.run([images[:1]])["probabilities"], wanted)
        assert loaded.compile_report is None


def test_states_belong_to_sessions(counter):
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    one, other = counter.session(), counter.session(threads=1)
    one.run({"x": x}, entry="step")
    one.run([x], entry="step")
    assert np.array_equal(one.run({}, entry="read")["total"], 2 * x)
    assert np.array_equal(other.run({}, entry="read")["total"], 0 * x)
    other.write_state("total", 5 * x)
    assert np.array_equal(other.run({}, entry="read")["total"], 5 * x)
    assert np.array_equal(one.states["total"], 2 * x)


def resident_bytes(path):
    """Of the process's mappings of a file, and of all else: proportional set sizes."""
    mapped = other = 0
    ours = False
    for line in pathlib.Path("/proc/self/smaps").read_text().splitlines():
        if line.split(" ", 1)[0].count("-") == 1:
            ours = line.endswith(path)
        elif line.startswith("Pss:"):
            if ours:
                mapped += int(line.split()[1]) * 1024
            else:
                other += int(line.split()[1]) * 1024
    return mapped, other


def test_sixteen_threads_with_sessions_of_their_own(tmp_path):
    """A layer with 4 MiB of weights: the same bits from all, and the weights in memory once."""
    onnx = pytest.importorskip("onnx")
    random = np.random.default_rng(1)
    weights = random.standard_normal((1024, 1024), dtype=np.float32)
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "dense",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1024])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 1024])],
        [pytest.importorskip("onnx.numpy_helper").from_array(weights, "w")])
    path = str(tmp_path / "dense.wse")
    wsc.compile(helper.make_model(graph), target="mesh-64x64").save(path)
    executable = wsc.load(path)
    x = random.standard_normal((1, 1024), dtype=np.float32)
    wanted = executable.run([x])["y"]
    assert np.allclose(wanted, x @ weights, atol=1e-3)
    sessions = [executable.session(threads=1) for _ in range(16)]

    def work(session):
        return [session.run([x])["y"].tobytes() for _ in range(4)]

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        for results in threads.map(work, sessions):
            assert results == [wanted.tobytes()] * 4
    mapped, other = resident_bytes(path)
    print(f"mapped {mapped >> 10} KiB, all else {other >> 10} KiB, weights {weights.nbytes >> 10} KiB")
    assert mapped <= executable.nbytes + 4096


def test_threads_share_a_session(counter):
    x = np.ones((1, 4), dtype=np.float32)
    session = counter.session()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: session.run([x], entry="step"), range(64)))
    assert np.array_equal(session.read_state("total"), 64 * x)


def test_a_call_costs_little(counter):
    """All of a call, for four numbers on one core; least of many, so that what else the machine does is left out."""
    x = np.ones((1, 4), dtype=np.float32)
    session = counter.session(threads=1)
    best = float("inf")
    for _ in range(100):
        start = time.perf_counter()
        for _ in range(20):
            session.run({"x": x}, entry="step")
        best = min(best, (time.perf_counter() - start) / 20)
    print(f"a call takes {best * 1e6:.1f} us")
    assert best <= 50e-6
