# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The standard ONNX backend interface by its short name; see wsc.onnx_backend."""
from .onnx_backend import Backend, PreparedModel, is_compatible, prepare, run_model, run_node, supports_device

__all__ = ["Backend", "PreparedModel", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]
