// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the inputs of each sample come from: files, seeded numbers, data sets.
#include "tools/wsc-run/Run.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <filesystem>

namespace wsc::run {

using namespace format;

namespace {

bool isNpz(const std::string &path) { return path.size() > 4 && path.substr(path.size() - 4) == ".npz"; }

absl::Status addInput(const std::string &name, Tensor tensor, Inputs &inputs) {
  tensor.type.name = name;
  if (!inputs.emplace(name, std::move(tensor)).second)
    return absl::InvalidArgumentError(absl::StrCat("input ", name, " is given twice"));
  return absl::OkStatus();
}

// NAME=FILE, unless what stands before '=' is no input; then the whole text is a file's name.
absl::Status readInput(const Entry &entry, const std::string &text, Inputs &inputs) {
  const size_t equals = text.find('=');
  const std::string prefix = text.substr(0, equals);
  const bool named = equals != std::string::npos && !std::filesystem::exists(text);
  const std::string path = named ? text.substr(equals + 1) : text;
  if (!isNpz(path)) {
    if (!named && entry.inputs.size() != 1)
      return absl::InvalidArgumentError(absl::StrCat("--input ", text, ": entry ", entry.name, " has ",
                                                     entry.inputs.size(), " inputs; say which with NAME=FILE"));
    absl::StatusOr<Tensor> tensor = readTensor(path);
    if (!tensor.ok())
      return tensor.status();
    return addInput(named ? prefix : entry.inputs[0].name, *std::move(tensor), inputs);
  }
  absl::StatusOr<std::vector<Tensor>> tensors = readNpz(path);
  if (!tensors.ok())
    return tensors.status();
  if (named) {
    for (Tensor &tensor : *tensors)
      if (tensor.type.name == prefix || tensors->size() == 1)
        return addInput(prefix, std::move(tensor), inputs);
    return absl::NotFoundError(absl::StrCat(path, ": no array named ", prefix));
  }
  for (Tensor &tensor : *tensors) {
    const std::string name = tensor.type.name;
    if (absl::Status status = addInput(name, std::move(tensor), inputs); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace

std::vector<std::string> dataSetFolders(const std::string &folder) {
  std::vector<std::string> folders;
  std::error_code code;
  for (int k = 0;; ++k) {
    std::string path = absl::StrCat(folder, "/test_data_set_", k);
    if (!std::filesystem::is_directory(path, code))
      break;
    folders.push_back(std::move(path));
  }
  if (folders.empty())
    folders.push_back(folder);
  return folders;
}

absl::StatusOr<Inputs> matchTensors(std::vector<Tensor> tensors, const std::vector<TensorType> &types,
                                    const std::string &where) {
  if (tensors.size() != types.size())
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": ", tensors.size(), " tensors, the entry has ", types.size()));
  const auto known = [&](const Tensor &tensor) {
    return std::any_of(types.begin(), types.end(),
                       [&](const TensorType &type) { return type.name == tensor.type.name; });
  };
  const bool byName = std::all_of(tensors.begin(), tensors.end(), known);
  Inputs inputs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = byName ? tensors[i].type.name : types[i].name;
    if (absl::Status status = addInput(name, std::move(tensors[i]), inputs); !status.ok())
      return absl::InvalidArgumentError(absl::StrCat(where, ": ", std::string(status.message())));
  }
  return inputs;
}

absl::StatusOr<SampleSource> SampleSource::create(const Entry &entry, const Options &options) {
  SampleSource source;
  source.entry = &entry;
  source.samples = std::max(1, options.samples);
  if (options.hasRandom) {
    source.random = true;
    source.seed = options.random;
  } else if (!options.data.empty()) {
    source.dataSets = dataSetFolders(options.data);
    if (options.samples == 0)
      source.samples = int(source.dataSets.size());
  } else {
    if (options.inputs.empty() && !entry.inputs.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entry.name, " takes ", entry.inputs.size(),
                       " inputs; give them with --input, --data or --random, or ask for --timing-only"));
    for (const std::string &text : options.inputs)
      if (absl::Status status = readInput(entry, text, source.fixed); !status.ok())
        return status;
  }
  return source;
}

absl::StatusOr<Inputs> SampleSource::sample(int k) const {
  if (random)
    return randomInputs(*entry, seed, k);
  if (dataSets.empty())
    return fixed;
  const std::string &folder = dataSets[size_t(k) % dataSets.size()];
  absl::StatusOr<std::vector<Tensor>> tensors = readTensorFolder(folder, "input");
  if (!tensors.ok())
    return tensors.status();
  return matchTensors(*std::move(tensors), entry->inputs, folder);
}

} // namespace wsc::run
