# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executables and sessions: what `wsc.compile` and `wsc.load` give."""
from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _runtime
from ._errors import InvalidArgument

Inputs = Union[Mapping[str, Any], Sequence[Any]]


@dataclass(frozen=True)
class TensorType:
    """Name, element type and shape of an input, an output or a state variable."""

    name: str
    type: str
    """The element type as wsc prints it: f32, f16, bf16, i64, …"""
    dtype: np.dtype[Any]
    shape: Tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """An entry point of an executable."""

    name: str
    inputs: Tuple[TensorType, ...]
    outputs: Tuple[TensorType, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel of the mapping: some layers on a rectangle of cores."""

    name: str
    layers: Tuple[str, ...]
    configuration: str
    row: int
    col: int
    rows: int
    cols: int
    cores: int
    """Cores that have a program of this kernel."""
    macs: int
    """Multiply-adds per sample, by the network's own definition."""
    predicted_interval_cycles: int
    sram_bytes: int
    """Of its fullest core."""


@dataclass(frozen=True)
class TimePart:
    """A step of an entry that runs in phases."""

    kind: str
    """run or configure"""
    name: str
    count: int
    cycles_each: int


@dataclass(frozen=True)
class Time:
    """What a sample takes on the wafer, by the timing model (docs/Timing.md)."""

    latency_cycles: int
    """From the first input word offered to the last output word out."""
    interval_cycles: int
    """Between samples in the steady state, analytic; in phased execution the latency."""
    interval_settled: bool
    """Whether bounds on the interval have met within 1/128."""
    interval_low: int
    interval_high: int
    """The range that the interval lies in by the samples simulated; 0: unknown."""
    clock_ghz: float
    utilisation: float
    """Multiply-adds over what all cores could do in the interval: 0 to 1."""
    bottleneck: str
    parts: Tuple[TimePart, ...]

    @property
    def latency_seconds(self) -> float:
        return self.latency_cycles / (self.clock_ghz * 1e9)

    @property
    def interval_seconds(self) -> float:
        return self.interval_cycles / (self.clock_ghz * 1e9)

    @property
    def samples_per_second(self) -> float:
        return 1 / self.interval_seconds if self.interval_cycles else float("inf")


def _tensors(native: List[Tuple[str, str, Any, Tuple[int, ...]]]) -> Tuple[TensorType, ...]:
    return tuple(TensorType(*one) for one in native)


class Session:
    """Runs an executable, with state variables of its own; made by `Executable.session`.

    Sessions share the executable and its weights. Several threads may use one session, whose calls then wait for each
    other, or better each its own: the interpreter lock is released while a session works.
    """

    def __init__(self, executable: "Executable", threads: int = 0) -> None:
        """`threads`: host threads of a run, 0: all. Results never depend on it."""
        self.executable = executable
        self._native = _runtime.Session(executable._program, threads)
        self._numbers: Dict[Optional[str], int] = {}

    def _entry(self, name: Optional[str]) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._native.find_entry(name or "")
        return number

    def run(self, inputs: Inputs, entry: Optional[str] = None) -> Dict[str, np.ndarray[Any, Any]]:
        """One sample through an entry (default: the only one, or main).

        `inputs`: arrays by name, or in the entry's order. Arrays must have the entry's element types and shapes; those
        in C order are read in place. Returns new arrays by name, in the entry's order.
        """
        number = self._entry(entry)
        signature = self.executable.entries[number]
        if isinstance(inputs, Mapping):
            if len(inputs) != len(signature.inputs) or any(t.name not in inputs for t in signature.inputs):
                raise self._wrong_names(inputs, signature)
            values = [inputs[t.name] for t in signature.inputs]
        else:
            values = list(inputs)
        results = self._native.run(number, values)
        return {t.name: result for t, result in zip(signature.outputs, results)}

    __call__ = run

    @staticmethod
    def _wrong_names(inputs: Mapping[str, Any], signature: Entry) -> InvalidArgument:
        known = ", ".join(f"{t.name} {t.type}{list(t.shape)}" for t in signature.inputs) or "none"
        given = {t.name for t in signature.inputs}
        for name in inputs:
            if name not in given:
                return InvalidArgument(f"entry {signature.name} has no input {name}; its inputs are {known}")
        missing = next(t.name for t in signature.inputs if t.name not in inputs)
        return InvalidArgument(f"input {missing} of entry {signature.name} is not given; the inputs are {known}")

    def time(self, entry: Optional[str] = None) -> Time:
        """What a sample of an entry takes; computed once."""
        native = self._native.time(self._entry(entry))
        return Time(native["latency_cycles"], native["interval_cycles"], native["interval_settled"],
                    native["interval_low"], native["interval_high"], self.executable.clock_ghz,
                    native["utilisation"], native["bottleneck"], tuple(TimePart(*part) for part in native["parts"]))

    def read_state(self, name: str) -> np.ndarray[Any, Any]:
        """A copy of a state variable's value."""
        return self._native.read_state(name)

    def write_state(self, name: str, value: Any) -> None:
        """Sets a state variable; type and shape must be the variable's."""
        self._native.write_state(name, value)

    @property
    def states(self) -> Dict[str, np.ndarray[Any, Any]]:
        """Copies of all state variables, as `numpy.savez(path, **session.states)` keeps them."""
        return {t.name: self.read_state(t.name) for t in self.executable.states}


_PLANS, _PLAN_PIXELS = 6, 480  # floor plans that a notebook shows, and their width


def _drawing(kernel: Kernel, hottest: int, pixel: float) -> str:
    """A kernel's rectangle and, where there is room, its name. `pixel`: cores on a pixel's side."""
    load = kernel.predicted_interval_cycles / hottest
    label = html.escape(f"{kernel.name}: {kernel.cores} cores, {kernel.predicted_interval_cycles} cycles")
    rectangle = (f'<rect x="{kernel.col}" y="{kernel.row}" width="{kernel.cols}" height="{kernel.rows}" '
                 f'fill="hsl({210 - 210 * load:.0f},70%,55%)" stroke="#fff" stroke-width="{0.6 * pixel:.2f}">'
                 f"<title>{label}</title></rect>")
    size = 10 * pixel
    across = kernel.cols < kernel.rows
    if min(kernel.rows, kernel.cols) < size or 0.6 * size * len(kernel.name) > max(kernel.rows, kernel.cols):
        return rectangle
    x, y = kernel.col + kernel.cols / 2, kernel.row + kernel.rows / 2
    turn = f' transform="rotate(-90 {x:.2f} {y:.2f})"' if across else ""
    return (f'{rectangle}<text x="{x:.2f}" y="{y:.2f}" font-size="{size:.2f}" font-family="sans-serif" fill="#000" '
            f'text-anchor="middle" dominant-baseline="central" pointer-events="none"{turn}>'
            f"{html.escape(kernel.name)}</text>")


class Executable:
    """A network compiled for a wafer: programs, routes and weights; see `wsc.compile` and `wsc.load`."""

    def __init__(self, program: _runtime.Program, compile_report: Optional[Dict[str, Any]] = None) -> None:
        self._program = program
        self._session: Optional[Session] = None
        self.compile_report = compile_report
        """What the compiler reported (the fields of `wsc-compile --report FILE.json`); None if loaded from a file."""
        mesh = program.mesh()
        self.target: str = mesh["name"]
        self.mesh: Tuple[int, int] = (mesh["rows"], mesh["cols"])
        """Rows and columns of cores."""
        self.clock_ghz: float = mesh["clock_ghz"]
        self.execution: str = program.execution
        """pipelined or phased"""
        self.entries: Tuple[Entry, ...] = tuple(
            Entry(name, _tensors(inputs), _tensors(outputs)) for name, inputs, outputs in program.entries())
        self.states: Tuple[TensorType, ...] = _tensors(program.states())

    @property
    def name(self) -> str:
        """The file, or what was compiled."""
        return self._program.name

    @property
    def nbytes(self) -> int:
        """Size of the executable's file."""
        return self._program.nbytes

    def entry(self, name: Optional[str] = None) -> Entry:
        """An entry by name; default: the only one, or main."""
        return self.entries[self._default()._entry(name)]

    def session(self, threads: int = 0) -> Session:
        """A session with states of its own. `threads`: host threads of a run, 0: all."""
        return Session(self, threads)

    def _default(self) -> Session:
        if self._session is None:
            self._session = Session(self)
        return self._session

    def run(self, inputs: Inputs, entry: Optional[str] = None) -> Dict[str, np.ndarray[Any, Any]]:
        """`Session.run` in a session that this executable keeps, and so are its states."""
        return self._default().run(inputs, entry)

    __call__ = run

    def time(self, entry: Optional[str] = None) -> Time:
        """What a sample takes on the wafer."""
        return self._default().time(entry)

    @property
    def kernels(self) -> List[Kernel]:
        """The kernels of all configurations."""
        kernels = self._program.kernels()
        for kernel in kernels:
            kernel["layers"] = tuple(kernel["layers"])
        return [Kernel(**kernel) for kernel in kernels]

    def report(self, path: Union[None, str, os.PathLike[str]] = None, entry: Optional[str] = None) -> str:
        """Summary, table of kernels and floor plan, as `wsc-info` prints them.

        With a path that ends in .html, .json or .txt, also writes what `wsc-run --timing-only --report` does
        (docs/Report.md): where all lies, where an entry's time goes, and what bounds it.
        """
        if path is not None:
            session = self._default()
            session._native.write_report(self._program, session._entry(entry), os.fspath(path))
        return self._program.report()

    def floor_plan(self) -> str:
        """The floor plan in characters."""
        return self._program.floor_plan()

    def to_json(self) -> str:
        """What `wsc-info --json` prints."""
        return self._program.json()

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the .wse file, whole or not at all."""
        self._program.save(os.fspath(path))

    def __repr__(self) -> str:
        entries = ", ".join(entry.name for entry in self.entries)
        return f"<wsc.Executable {self.name}: {self.execution} on {self.target}, entries {entries}>"

    def _repr_html_(self) -> str:
        """The floor plan for notebooks: a drawing of each of the first configurations, a rectangle a kernel."""
        rows, cols = self.mesh
        kernels = self.kernels
        hottest = max((k.predicted_interval_cycles for k in kernels), default=0) or 1
        plans: Dict[str, List[str]] = {}
        for kernel in kernels:
            plans.setdefault(kernel.configuration, []).append(_drawing(kernel, hottest, max(rows, cols) / _PLAN_PIXELS))
        drawings = "".join(
            f'<figure style="margin:0.5em 0"><figcaption>{html.escape(name)}</figcaption>'
            f'<svg viewBox="0 0 {cols} {rows}" width="{_PLAN_PIXELS}" role="img" '
            f'aria-label="floor plan of {html.escape(name)}" style="background:#8882">{"".join(rectangles)}</svg>'
            "</figure>"
            for name, rectangles in list(plans.items())[:_PLANS])
        more = f"<div>and {len(plans) - _PLANS} more configurations</div>" if len(plans) > _PLANS else ""
        return (f"<div><b>{html.escape(self.name)}</b>: {html.escape(self.execution)} on {html.escape(self.target)}, "
                f"{rows} × {cols} cores; the redder, the more cycles{drawings}{more}</div>")


def load(path: Union[str, os.PathLike[str], bytes], verify_hashes: bool = False) -> Executable:
    """Opens a .wse file, or the content of one given as bytes. It is checked in full before this returns.

    `verify_hashes` checks the hashes of all weights too.
    """
    if isinstance(path, bytes):
        return Executable(_runtime.Program.from_bytes(path, "<bytes>"))
    return Executable(_runtime.Program.open(os.fspath(path), verify_hashes))
