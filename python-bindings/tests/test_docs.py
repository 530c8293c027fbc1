# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of docs/Python.md run as they stand, one after another."""
import re

import numpy as np
import pytest
from conftest import SOURCE


def test_the_examples_of_the_documentation(tmp_path, monkeypatch, capsys):
    onnx = pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs" / "Python.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    digits = "examples/digits/digits.onnx"
    names = {"model": onnx.load(digits), "x": np.load("examples/digits/heldout_images.npy")[:1].astype(np.float32)}
    for block in blocks:
        exec(compile(block, "docs/Python.md", "exec"), names)
    assert names["outputs"][0].shape == (1, 10)
    assert "conv0" in capsys.readouterr().out
