# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wsc as an ONNX backend: `prepare`, `run_model`, `run_node` of onnx.backend.base, and the class for ONNX's runner.

Shapes are static on a wafer. What a model leaves open (dimensions, and inputs on whose values shapes depend) is fixed
by the first inputs of `run`; other shapes or values of these compile the model again.

Arrays are those of `onnx.numpy_helper`: where the installed onnx has float32 in place of bfloat16, so has the backend.
"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import onnx
import onnx.defs
import onnx.helper
from onnx.backend.base import Backend as _Backend
from onnx.backend.base import BackendRep as _BackendRep
from onnx.backend.base import namedtupledict

from ._compile import compile as _compile
from ._compile import validate as _validate
from ._errors import Error, InvalidArgument
from ._executable import Executable


def _inputs_of(graph: Any) -> List[Any]:
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]


def _tensor_type(dtype: np.dtype[Any]) -> int:
    if hasattr(onnx.helper, "np_dtype_to_tensor_dtype"):
        return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))
    from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

    return int(NP_TYPE_TO_TENSOR_TYPE[dtype])


def _bfloat16_is_float32() -> bool:
    """Whether the installed onnx holds bfloat16 in arrays of float32, as all do that know no type for it."""
    kind = onnx.TensorProto.BFLOAT16
    if hasattr(onnx.helper, "tensor_dtype_to_np_dtype"):
        return bool(onnx.helper.tensor_dtype_to_np_dtype(kind) == np.float32)
    from onnx.mapping import TENSOR_TYPE_TO_NP_TYPE

    return bool(TENSOR_TYPE_TO_NP_TYPE[int(kind)] == np.float32)


def _to_bfloat16(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """float32 rounded to the nearest bfloat16, ties to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40  # of a NaN, whose rounding could end in infinity
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16).reshape(array.shape).view(dtype)


def _to_float32(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values of bfloat16, whatever type NumPy has for its two bytes."""
    bits = np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32).reshape(array.shape)


def _open_dims(value: Any) -> bool:
    """Of a dense tensor; other kinds of inputs have none."""
    if not value.type.HasField("tensor_type"):
        return False
    tensor = value.type.tensor_type
    return not tensor.HasField("shape") or any(not dim.HasField("dim_value") for dim in tensor.shape.dim)


class PreparedModel(_BackendRep):  # type: ignore[misc]
    """A model, and its executables for the shapes met so far."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:
        self._model = model
        self._options = dict(options)
        self._inputs = _inputs_of(model.graph)
        self._outputs = tuple(value.name for value in model.graph.output)
        self._bound: Dict[Any, Tuple[str, ...]] = {}  # by shapes: the inputs that are constants
        self._executables: Dict[Any, Executable] = {}
        if any(_open_dims(value) for value in self._inputs):
            return
        try:
            self._executables[self._key({}, None)] = _compile(model, **self._options)
            self._bound[None] = ()
        except Error as error:
            if not error.inputs_to_bind:
                raise

    @staticmethod
    def _key(arrays: Mapping[str, np.ndarray[Any, Any]], shapes: Any, bound: Sequence[str] = ()) -> Any:
        return shapes, tuple((name, arrays[name].tobytes()) for name in bound)

    def _shape_options(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Dict[str, Any]:
        dims: Dict[str, int] = dict(self._options.get("dim", {}))
        inputs: List[str] = list(self._options.get("input", ()))
        for value in self._inputs:
            array = arrays.get(value.name)
            if array is None or not _open_dims(value):
                continue
            shape = value.type.tensor_type.shape.dim
            if len(shape) == array.ndim and all(d.HasField("dim_value") or d.dim_param for d in shape):
                dims.update({d.dim_param: n for d, n in zip(shape, array.shape) if d.dim_param})
            else:
                inputs.append(f"{value.name}:{'x'.join(map(str, array.shape))}")
        return {**self._options, "dim": dims, "input": inputs}

    def _executable(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Tuple[Executable, Tuple[str, ...]]:
        if None in self._bound:  # nothing was open
            return self._executables[self._key({}, None)], ()
        shapes = tuple((name, array.shape) for name, array in arrays.items())
        bound = list(self._bound.get(shapes, ()))
        key = self._key(arrays, shapes, bound)
        if key in self._executables:
            return self._executables[key], tuple(bound)
        options = self._shape_options(arrays)
        while True:
            try:
                executable = _compile(self._model, **options, bind={name: arrays[name] for name in bound})
                break
            except Error as error:
                more = [name for name in error.inputs_to_bind
                        if name in arrays and name not in bound and arrays[name].ndim <= 1]
                if not more:
                    raise
                bound += more
        self._bound[shapes] = tuple(bound)
        self._executables[self._key(arrays, shapes, bound)] = executable
        return executable, tuple(bound)

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        """One sample. `inputs`: arrays in the order of the graph's inputs, or by name."""
        if isinstance(inputs, Mapping):
            arrays = {name: np.asarray(value) for name, value in inputs.items()}
        else:
            if len(inputs) > len(self._inputs):
                raise InvalidArgument(f"{len(inputs)} inputs are given, the graph has {len(self._inputs)}")
            arrays = {value.name: np.asarray(array) for value, array in zip(self._inputs, inputs)}
        executable, bound = self._executable(arrays)
        entry = executable.entry()
        wanted = {tensor.name for tensor in entry.inputs}
        given = {name: array for name, array in arrays.items() if name in wanted or name not in bound}
        narrow = _bfloat16_is_float32()
        for tensor in entry.inputs:
            if narrow and tensor.type == "bf16" and getattr(given.get(tensor.name), "dtype", None) == np.float32:
                given[tensor.name] = _to_bfloat16(given[tensor.name], tensor.dtype)
        results = executable.run(given)
        values = [_to_float32(value) if narrow and tensor.type == "bf16" else value
                  for tensor, value in zip(entry.outputs, results.values())]
        return namedtupledict("Outputs", self._outputs)(*values)  # type: ignore[no-any-return]


class Backend(_Backend):  # type: ignore[misc]
    """The backend. Subclasses may set `options`; `prepare` takes those of `wsc.compile` too."""

    options: Dict[str, Any] = {}

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether every operator of the model has a form, as far as that is known without inputs."""
        try:
            return not _validate(model, **{**cls.options, **kwargs})
        except Error as error:
            return bool(error.inputs_to_bind) or any(_open_dims(value) for value in _inputs_of(model.graph))

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> PreparedModel:
        if not cls.supports_device(device):
            raise InvalidArgument(f"unknown device {device}; the wafer is emulated on CPU")
        return PreparedModel(model, {**cls.options, **kwargs})

    @classmethod
    def run_node(cls, node: Any, inputs: Any, device: str = "CPU",
                 outputs_info: Optional[Sequence[Tuple[Any, Tuple[int, ...]]]] = None,
                 **kwargs: Any) -> Tuple[Any, ...]:
        """Runs one operator on arrays in the order of its inputs that are there."""
        names = [name for name in node.input if name]
        arrays = [np.asarray(value) for value in inputs]
        if len(arrays) != len(names):
            raise InvalidArgument(f"{len(arrays)} inputs are given, node {node.op_type} has {len(names)}")
        helper = onnx.helper
        typed = [helper.make_tensor_value_info(name, _tensor_type(array.dtype), array.shape)
                 for name, array in zip(names, arrays)]
        untyped = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        model = helper.make_model(helper.make_graph([node], node.op_type, typed, untyped),
                                  opset_imports=[helper.make_opsetid(node.domain, opset)])
        return cls.prepare(model, device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
