# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wsc: compiles neural networks for wafer-scale meshes and runs them on the bundled emulator.

    import wsc
    exe = wsc.compile("model.onnx", target="wse2")
    result = exe.run({"x": array})
    print(exe.time().interval_cycles)
    exe.save("model.wse")               # wsc.load("model.wse") opens it again
"""
from ._compile import compile, from_torch, lower, opt, validate
from ._errors import Cancelled, Error, InvalidArgument, NotFound, Unsupported
from ._executable import Entry, Executable, Kernel, Session, TensorType, Time, TimePart, load
from ._runtime import version as __version__

__all__ = [
    "Cancelled", "Entry", "Error", "Executable", "InvalidArgument", "Kernel", "NotFound", "Session", "TensorType",
    "Time", "TimePart", "Unsupported", "__version__", "compile", "from_torch", "load", "lower", "opt", "validate",
]
