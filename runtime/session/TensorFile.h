// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in files: NumPy's .npy and .npz, ONNX's TensorProto (.pb), and folders of the ONNX backend tests' layout
// (input_K.pb, output_K.pb; .npy in their place is read too).
//
// All element types of format::ElementType are read and written; NumPy has no bfloat16: it is stored as two-byte void
// ("V2"), as ml_dtypes does. TensorProtos of floats of 8 and 4 bits are read as u8, which holds their bits, those of
// integers of 4 and 2 bits as u8 or i8, one element a byte: what the executables of such models take and give. Files
// are not trusted: sizes are checked against the file before anything is allocated. Writing is runtime/files'.
#pragma once

#include "runtime/session/Session.h"

#include "absl/status/statusor.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wsc {

// Parsers and printers of file contents; `where` names the file in messages.
absl::StatusOr<Tensor> parseNpy(std::string_view content, const std::string &where);
std::string printNpy(const Tensor &tensor);
absl::StatusOr<Tensor> parseTensorProto(std::string_view content, const std::string &where);
std::string printTensorProto(const Tensor &tensor);

// One tensor from a .npy or .pb file, by the file's extension. The name is that of the TensorProto, or empty.
absl::StatusOr<Tensor> readTensor(const std::string &path);
// By extension.
absl::Status writeTensor(const Tensor &tensor, const std::string &path);

// All arrays of a .npz, by name, in the archive's order. Reads stored and deflated archives, writes stored ones.
absl::StatusOr<std::vector<Tensor>> readNpz(const std::string &path);
absl::Status writeNpz(std::span<const Tensor> tensors, const std::string &path);

// PREFIX_0, PREFIX_1, … of a folder, as far as they go. An empty result is not an error.
absl::StatusOr<std::vector<Tensor>> readTensorFolder(const std::string &folder, const std::string &prefix);

absl::StatusOr<std::string> readFile(const std::string &path);

// "f32[1,3,224,224]", for messages and summaries.
std::string describe(const format::TensorType &type);

} // namespace wsc
