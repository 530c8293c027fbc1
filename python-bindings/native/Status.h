// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of the C++ API as exceptions of wsc._errors, with the same text.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

namespace wsc::python {

// Raises; the interpreter lock is held. `inputs`: names of inputs whose values the compiler must know.
[[noreturn]] inline void raise(const absl::Status &status, const std::vector<std::string> &inputs = {}) {
  const pybind11::object error =
      pybind11::module_::import("wsc._errors")
          .attr("from_status")(absl::StatusCodeToString(status.code()), std::string(status.message()), inputs);
  PyErr_SetObject(pybind11::type::handle_of(error).ptr(), error.ptr());
  throw pybind11::error_already_set();
}

inline void check(const absl::Status &status) {
  if (!status.ok())
    raise(status);
}

template <typename T> T take(absl::StatusOr<T> value) {
  if (!value.ok())
    raise(value.status());
  return *std::move(value);
}

} // namespace wsc::python
