# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions of the package; each carries the text that the command-line tools print."""
from __future__ import annotations

from typing import Dict, List, Sequence, Type


class Error(Exception):
    """What wsc raises. `str(error)` is the whole message: first what is wrong and where, then notes, one per line."""

    code: str = "UNKNOWN"
    """Kind of the error, as absl::StatusCode names it: INVALID_ARGUMENT, NOT_FOUND, …"""

    inputs_to_bind: List[str] = []
    """Inputs of a model whose values shapes depend on: give them to `compile(..., bind={name: value})`."""


class InvalidArgument(Error, ValueError):
    """A model, an option, an input or a file's content is wrong."""

    code = "INVALID_ARGUMENT"


class NotFound(Error, LookupError):
    """A file, an entry, an input or a state variable of that name does not exist."""


class Unsupported(Error, NotImplementedError):
    """Something that wsc has no form for; operators of a model are listed in one go."""


class Cancelled(Error):
    """A compilation that was told to stop."""


_CLASSES: Dict[str, Type[Error]] = {
    "INVALID_ARGUMENT": InvalidArgument,
    "DATA_LOSS": InvalidArgument,
    "OUT_OF_RANGE": InvalidArgument,
    "NOT_FOUND": NotFound,
    "UNIMPLEMENTED": Unsupported,
    "CANCELLED": Cancelled,
}


def from_status(code: str, message: str, inputs_to_bind: Sequence[str] = ()) -> Error:
    """The exception for an error of the C++ API."""
    error = _CLASSES.get(code, Error)(message)
    error.code = code
    error.inputs_to_bind = list(inputs_to_bind)
    return error
