# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From models to executables; loads the compiler when first used."""
from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

from . import _runtime
from ._errors import InvalidArgument
from ._executable import Executable

if TYPE_CHECKING:
    from types import ModuleType

Progress = Callable[[str, int, int], None]
Model = Union[str, "os.PathLike[str]", bytes, Any]


def _native() -> "ModuleType":
    try:
        from . import _compiler
    except ImportError as error:
        raise ImportError(f"wsc's compiler is not installed (package wsc-tools); running works without it: {error}",
                          name="wsc._compiler") from error
    return _compiler


def _model_of(model: Model) -> Tuple[str, Optional[bytes]]:
    """The name of a model, and its bytes unless it is a file."""
    if isinstance(model, str) and ("\n" in model or "{" in model):
        return "<text>.mlir", model.encode()
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model), None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return "<bytes>.onnx", bytes(model)
    if hasattr(model, "SerializeToString"):
        name = model.graph.name if getattr(model, "graph", None) else ""
        return f"<{name or 'model'}>.onnx", model.SerializeToString()
    raise InvalidArgument(f"a model is a path, bytes or ModelProto of ONNX, or MLIR text, not {type(model).__name__}")


def _texts(values: Union[str, Sequence[str]]) -> Sequence[str]:
    return [values] if isinstance(values, str) else list(values)


def _elements(value: Any) -> str:
    """The elements of a value to bind, in row-major order with commas in between."""
    if isinstance(value, str):
        return value
    import numpy as np

    flat = np.asarray(value).ravel()
    return ",".join(str(int(x)) if flat.dtype == bool else repr(x.item()) for x in flat)


def _progress(wanted: Union[None, bool, Progress], name: str) -> Tuple[Optional[Progress], Callable[[], None]]:
    """The callback, and what to call at the end."""
    if not wanted:
        return None, lambda: None
    if callable(wanted):
        return wanted, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return (lambda phase, done, total: print(f"{name}: {phase}", file=sys.stderr)), lambda: None
    bar = tqdm(desc=name, unit="phase", leave=False)

    def show(phase: str, done: int, total: int) -> None:
        bar.total = total or None
        bar.n = done
        bar.set_postfix_str(phase)

    return show, bar.close


def _check_precision(precision: str, accumulate: str) -> None:
    narrow = {"fp16": "fp16", "bf16": "bf16", "mixed": "fp16"}
    if precision not in ("model", "fp32", *narrow):
        raise InvalidArgument(f"unknown precision {precision}; there are: model fp32 fp16 bf16 mixed")
    sums = ("fp32", narrow[precision]) if precision in narrow else ("fp32",)
    if accumulate not in sums:
        raise InvalidArgument(
            f"accumulate {accumulate} does not go with precision {precision}; there are: {' '.join(sums)}")


def _request(model: Model, to: str, file: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    name, content = _model_of(model)
    known: Dict[str, Any] = {
        "target": None, "execution": "auto", "precision": "model",
        "accumulate": "fp32", "precision_samples": 4, "dim": {}, "bind": {}, "input": (), "output": (),
        "effort": "default", "seed": 1, "threads": 0, "defects": "", "pins": "", "compile_from": "", "dump_phases": "",
        "dump_problems": "", "signature": "", "keep_variables": False,
    }
    for key in options:
        if key not in known:
            raise InvalidArgument(f"unknown option {key}; the options are {', '.join(known)}")
    given = {**known, **options}
    _check_precision(given["precision"], given["accumulate"])
    for key in ("target", "defects", "pins", "dump_phases", "dump_problems"):
        given[key] = os.fspath(given[key] or "")
    given["compile_from"] = given["compile_from"] or ""
    given["dim"] = {str(key): int(value) for key, value in given["dim"].items()}
    given["bind"] = {str(key): _elements(value) for key, value in given["bind"].items()}
    given["input"], given["output"] = _texts(given["input"]), _texts(given["output"])
    return {**given, "model": name, "content": content, "to": to, "file": file}


def compile(model: Model, target: Union[None, str, "os.PathLike[str]"] = None, *,
            progress: Union[None, bool, Progress] = None, log: Optional[Callable[[str], None]] = None,
            **options: Any) -> Executable:
    """Compiles a model for a wafer.

    `model`: path of a file or folder that wsc-compile takes; bytes of an ONNX model; an `onnx.ModelProto`; or MLIR text
    at any phase (a string with a line end or a brace). `target`: wse1, wse2, wse3, mesh-RxC or a description file; not
    given, the one that MLIR text records, else wse2.

    Options have the names of wsc-compile's, with underscores: `execution` (auto, pipelined, phased),
    `dim={name: value}`, `bind={name: value}`, `input=[...]`, `output=[...]`, `effort` (fast, default, high), `seed`,
    `threads`, `defects`, `pins`, `precision` (model, fp32, fp16, bf16, mixed) with `accumulate` (fp32, or the operands'
    type) and `precision_samples` (its error against fp32 is in the report), `compile_from`, `dump_phases`,
    `dump_problems`,
    and for TensorFlow models `signature` and `keep_variables`.

    `progress`: True for a bar (tqdm where it is installed, else lines on stderr), or `progress(phase, done, total)`.
    `log` is called with each warning. An exception in either, or Ctrl-C, ends the compilation. The interpreter lock is
    released, so compilations may run side by side.

    Raises `wsc.Error` with the text that wsc-compile prints.
    """
    native = _native()
    with tempfile.TemporaryDirectory(prefix="wsc-") as folder:
        file = os.path.join(folder, "model.wse")
        request = _request(model, "wse", file, {"target": target, **options})
        show, close = _progress(progress, request["model"])
        try:
            report = native.compile(request, show, log)
        finally:
            close()
        program = _runtime.Program.open(file, name=request["model"])
    return Executable(program, report)


def lower(model: Model, to: str, target: Union[None, str, "os.PathLike[str]"] = None, *,
          progress: Union[None, bool, Progress] = None, log: Optional[Callable[[str], None]] = None,
          **options: Any) -> str:
    """Compiles up to a phase (import, nn, kernels, sized, placed, routed, nests, core) and gives its IR as text.

    The text names weights in the model's file: give a path if you want to go on from it with `compile`. Options as for
    `compile`.
    """
    native = _native()
    if to == "wse":
        raise InvalidArgument("phase wse is an executable, not IR; use wsc.compile")
    with tempfile.TemporaryDirectory(prefix="wsc-") as folder:
        file = os.path.join(folder, "module.mlir")
        request = _request(model, to, file, {"target": target, **options})
        show, close = _progress(progress, request["model"])
        try:
            native.compile(request, show, log)
        finally:
            close()
        with open(file, encoding="utf-8") as text:
            return text.read()


def validate(model: Model, **options: Any) -> Sequence[str]:
    """One line for each operator of a model that has no form; empty if it can be compiled. Options as for `compile`."""
    lines: Sequence[str] = _native().validate(_request(model, "wse", "", options))
    return lines


def opt(ir: str, pipeline: str, name: str = "module.mlir") -> str:
    """Runs a pass pipeline on IR text, as wsc-opt does: opt(text, "func.func(canonicalize,wafer-form-kernels)").

    `name` stands for the text in messages.
    """
    text: str = _native().run_pipeline(ir, pipeline, name)
    return text


def from_torch(module: Any, example_inputs: Any, target: Union[None, str, "os.PathLike[str]"] = None, *,
               input_names: Optional[Sequence[str]] = None, output_names: Optional[Sequence[str]] = None,
               opset_version: int = 13, **options: Any) -> Executable:
    """Compiles a torch.nn.Module by way of torch.onnx.export, in evaluation mode, for the shapes of the example inputs.

    `example_inputs`: a tensor or a tuple of them. Names default to those that the exporter gives. Options as for
    `compile`.
    """
    import io

    import torch

    content = io.BytesIO()
    inputs = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    torch.onnx.export(module, inputs, content, input_names=list(input_names or []) or None,
                      output_names=list(output_names or []) or None, opset_version=opset_version,
                      training=torch.onnx.TrainingMode.EVAL)
    return compile(content.getvalue(), target, **options)
