# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that the tests share. WSC_SOURCE is the project's folder; default: three up from here.

Where no package wsc is installed or in PYTHONPATH, that of the tree's build folder is taken.
"""
import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ.get("WSC_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
DIGITS = SOURCE / "examples" / "digits"
if importlib.util.find_spec("wsc") is None:
    sys.path.append(str(SOURCE / "build" / "python"))

import wsc  # noqa: E402


@pytest.fixture(scope="session")
def digits():
    return wsc.compile(DIGITS / "digits.onnx")


@pytest.fixture(scope="session")
def images():
    return np.load(DIGITS / "heldout_images.npy").astype(np.float32)


@pytest.fixture(scope="session")
def labels():
    return np.load(DIGITS / "heldout_labels.npy")


@pytest.fixture(scope="session")
def counter_text():
    return (SOURCE / "examples" / "counter" / "counter.mlir").read_text()


@pytest.fixture(scope="session")
def counter(counter_text):
    return wsc.compile(counter_text, target="mesh-16x16")
