# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in, executables and IR out."""
import concurrent.futures

import numpy as np
import pytest

import wsc
from conftest import DIGITS


def test_paths_bytes_and_protos_give_the_same_file(digits, tmp_path):
    onnx = pytest.importorskip("onnx")
    path = DIGITS / "digits.onnx"
    digits.save(tmp_path / "path.wse")
    wsc.compile(path.read_bytes()).save(tmp_path / "bytes.wse")
    wsc.compile(onnx.load(str(path))).save(tmp_path / "proto.wse")
    assert (tmp_path / "path.wse").read_bytes() == (tmp_path / "bytes.wse").read_bytes()
    assert (tmp_path / "path.wse").read_bytes() == (tmp_path / "proto.wse").read_bytes()


def test_ir_of_every_phase_compiles_on(digits, images):
    wanted = digits.run([images[:1]])["probabilities"]
    for phase in ("import", "nn", "kernels", "sized", "placed", "routed", "core"):
        text = wsc.lower(DIGITS / "digits.onnx", phase)
        assert np.array_equal(wsc.compile(text).run([images[:1]])["probabilities"], wanted), phase
    nests = wsc.lower(DIGITS / "digits.onnx", "nests", target="mesh-16x16")
    phased = wsc.compile(nests, target="mesh-16x16")
    assert phased.execution == "phased"
    assert np.allclose(phased.run([images[:1]])["probabilities"], wanted, atol=1e-5)
    assert phased.time().parts


def test_pipelines_of_passes(counter_text):
    text = wsc.lower(counter_text, "import")
    assert "wafer.kernel" in wsc.opt(text, "func.func(canonicalize,wafer-form-kernels)")
    with pytest.raises(wsc.InvalidArgument, match="'no-such-pass' does not refer to a registered pass"):
        wsc.opt(text, "no-such-pass")
    with pytest.raises(wsc.InvalidArgument, match="mine.mlir:1:1"):
        wsc.opt("nonsense", "cse", name="mine.mlir")


def test_progress_counts_phases(counter_text):
    seen = []
    wsc.compile(counter_text, progress=lambda phase, done, total: seen.append((phase, done, total)))
    assert [phase for phase, _, _ in seen] == ["import", "nn", "kernels", "sized", "placed", "routed", "core", "wse"]
    assert [done for _, done, _ in seen] == list(range(8)) and seen[-1][2] == 8
    wsc.compile(counter_text, progress=True)


def test_options_have_the_names_of_the_command(tmp_path):
    digits = DIGITS / "digits.onnx"
    dumps = tmp_path / "dumps"
    executable = wsc.compile(digits, "mesh-64x64", execution="phased", effort="fast", seed=3, threads=1,
                             dump_phases=dumps)
    assert executable.execution == "phased" and executable.mesh == (64, 64)
    assert any(file.name.endswith("nests.mlir") for file in dumps.iterdir())


def test_precision(digits, images):
    wanted = digits.run([images[:1]])["probabilities"]
    narrow = wsc.compile(DIGITS / "digits.onnx", "mesh-16x16", precision="fp16", accumulate="fp16", precision_samples=1)
    assert np.abs(narrow.run([images[:1]])["probabilities"] - wanted).max() < 1e-2
    assert narrow.compile_report["precision"].startswith("fp16 operands, fp16 sums; error against fp32 over 1")
    with pytest.raises(wsc.InvalidArgument, match="unknown precision fp8; there are: model fp32 fp16 bf16 mixed"):
        wsc.compile(DIGITS / "digits.onnx", precision="fp8")
    with pytest.raises(wsc.InvalidArgument, match="accumulate fp16 does not go with precision bf16"):
        wsc.compile(DIGITS / "digits.onnx", precision="bf16", accumulate="fp16")


def test_compilations_run_side_by_side(digits):
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        sizes = set(threads.map(lambda _: wsc.compile(DIGITS / "digits.onnx").nbytes, range(8)))
    assert sizes == {digits.nbytes}


def test_torch_modules():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    x = torch.randn(1, 1, 8, 8)
    executable = wsc.from_torch(module, x, "mesh-32x32", input_names=["x"], output_names=["y"])
    got = executable.run({"x": x.numpy()})["y"]
    assert np.allclose(got, module(x).detach().numpy(), atol=1e-5)
