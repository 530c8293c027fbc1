// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy arrays and tensors. Inputs are viewed where they lie in C order, else copied once; results are handed over
// without a copy. bfloat16 is ml_dtypes' type where that package is there, else two-byte void, as in .npy files.
#pragma once

#include "runtime/session/Session.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace wsc::python {

pybind11::dtype dtypeOf(format::ElementType type);

// The array in C order, of exactly the tensor's type and shape. Raises ValueError, naming `what` ("input x of entry
// main") with what is given and what is wanted. Lists and numbers are converted to the type.
pybind11::array checkedArray(const pybind11::handle &value, const format::TensorType &type, const std::string &what);

std::span<const std::byte> bytesOf(const pybind11::array &array);

// An array that owns the bytes.
pybind11::array arrayOf(const format::TensorType &type, std::vector<std::byte> bytes);

} // namespace wsc::python
