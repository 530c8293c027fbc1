# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a model, runs a sample of zeros, prints results, time and the kernels.   classify.py model.onnx"""
import sys

import numpy as np

import wsc

exe = wsc.compile(sys.argv[1], target="wse2")
inputs = {t.name: np.zeros(t.shape, t.dtype) for t in exe.entry().inputs}
for name, value in exe.run(inputs).items():
    print(name, value.shape, "largest at", int(value.argmax()))
print(exe.time().interval_cycles, "cycles between samples,", f"{exe.time().samples_per_second:.0f} samples/s")
for kernel in exe.kernels:
    print(f"{kernel.name}: {kernel.rows} x {kernel.cols} cores at ({kernel.row}, {kernel.col})")
