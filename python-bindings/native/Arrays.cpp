// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python-bindings/native/Arrays.h"

#include "python-bindings/native/Status.h"
#include "runtime/session/TensorFile.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <memory>

namespace wsc::python {

namespace py = pybind11;
using format::ElementType;

namespace {

constexpr std::array<const char *, format::kNumElementTypes> kNames{"float32", "float16", nullptr, "int32",   "int64",
                                                                    "uint8",   "int8",    "bool",  "float64", "int16",
                                                                    "uint16",  "uint32",  "uint64"};

py::dtype bfloat16() {
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  } catch (py::error_already_set &error) {
    if (!error.matches(PyExc_ImportError))
      throw;
  }
  return py::dtype("V2");
}

std::string describeArray(const py::array &array) {
  std::string text = absl::StrCat(std::string(py::str(array.dtype())), "[");
  for (py::ssize_t d = 0; d < array.ndim(); ++d)
    absl::StrAppend(&text, d ? "," : "", array.shape(d));
  return text + "]";
}

bool sameShape(const py::array &array, const std::vector<int64_t> &shape) {
  if (size_t(array.ndim()) != shape.size())
    return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (array.shape(py::ssize_t(d)) != shape[d])
      return false;
  return true;
}

} // namespace

py::dtype dtypeOf(ElementType type) {
  // Never destroyed: the interpreter may end before this library is unloaded.
  static auto &known = *new std::array<py::object, format::kNumElementTypes>();
  py::object &dtype = known[size_t(type)];
  if (!dtype)
    dtype = kNames[size_t(type)] ? py::dtype(kNames[size_t(type)]) : bfloat16();
  return py::reinterpret_borrow<py::dtype>(dtype);
}

py::array checkedArray(const py::handle &value, const format::TensorType &type, const std::string &what) {
  const py::dtype wanted = dtypeOf(type.type);
  if (!py::isinstance<py::array>(value) && !py::hasattr(value, "dtype")) {
    const py::object converted = py::module_::import("numpy").attr("asarray")(value, wanted);
    return checkedArray(converted, type, what);
  }
  py::array array = py::array::ensure(value, 0);
  if (!array) {
    PyErr_Clear();
    raise(absl::InvalidArgumentError(absl::StrCat(what, " is no array")));
  }
  const bool rawBits = type.type == ElementType::BF16 && array.dtype().kind() == 'V' && array.itemsize() == 2;
  if (!array.dtype().is(wanted) && !array.dtype().equal(wanted) && !rawBits)
    raise(
        absl::InvalidArgumentError(absl::StrCat(what, " is ", describeArray(array), ", it must be ", describe(type),
                                                "; convert it with .astype(\"", std::string(py::str(wanted)), "\")")));
  if (!sameShape(array, type.shape))
    raise(absl::InvalidArgumentError(
        absl::StrCat(what, " is ", describeArray(array), ", its shape must be that of ", describe(type))));
  if (!(array.flags() & py::array::c_style))
    array = py::array::ensure(array, py::array::c_style);
  if (!array)
    throw py::error_already_set();
  return array;
}

std::span<const std::byte> bytesOf(const py::array &array) {
  return {static_cast<const std::byte *>(array.data()), size_t(array.nbytes())};
}

py::array arrayOf(const format::TensorType &type, std::vector<std::byte> bytes) {
  auto owned = std::make_unique<std::vector<std::byte>>(std::move(bytes));
  std::byte *data = owned->data();
  const py::capsule owner(owned.release(), [](void *vector) { delete static_cast<std::vector<std::byte> *>(vector); });
  return py::array(dtypeOf(type.type), std::vector<py::ssize_t>(type.shape.begin(), type.shape.end()), data, owner);
}

} // namespace wsc::python
