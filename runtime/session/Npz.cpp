// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npz archives: a zip with one .npy per array. Written without compression and with a fixed date, so that equal arrays
// give equal files.
#include "runtime/files/OutputFile.h"
#include "runtime/session/TensorFile.h"

#include "absl/strings/str_cat.h"

#include <memory>

#include <zip.h>

namespace wsc {

namespace {

constexpr uint64_t kLargestArray = uint64_t(1) << 40;

struct ZipCloser {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, ZipCloser>;

absl::StatusOr<Archive> open(const std::string &path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive)
    return archive;
  zip_error_t reason;
  zip_error_init_with_code(&reason, code);
  std::string text = zip_error_strerror(&reason);
  zip_error_fini(&reason);
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be opened as .npz: ", text));
}

absl::StatusOr<Tensor> readArray(zip_t *archive, zip_uint64_t index, const std::string &path) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive, index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_NAME))
    return absl::InvalidArgumentError(absl::StrCat(path, ": broken entry ", index));
  std::string name = stat.name;
  if (stat.size > kLargestArray)
    return absl::InvalidArgumentError(absl::StrCat(path, ": array ", name, " claims ", stat.size, " bytes"));
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(archive, index, 0), &zip_fclose);
  if (!file)
    return absl::InvalidArgumentError(absl::StrCat(path, ": array ", name, ": ", zip_strerror(archive)));
  // Grow with what is really there: the size in the directory is only a claim.
  std::string content;
  char block[1 << 16];
  while (content.size() < stat.size) {
    const zip_int64_t got = zip_fread(file.get(), block, sizeof block);
    if (got <= 0)
      return absl::InvalidArgumentError(absl::StrCat(path, ": array ", name, " is cut short or damaged"));
    content.append(block, size_t(got));
  }
  if (name.size() > 4 && name.substr(name.size() - 4) == ".npy")
    name.resize(name.size() - 4);
  absl::StatusOr<Tensor> tensor = parseNpy(content, absl::StrCat(path, ", array ", name));
  if (tensor.ok())
    tensor->type.name = name;
  return tensor;
}

// The bytes of a closed archive.
absl::Status writeSource(zip_source_t *memory, const std::string &path) {
  absl::StatusOr<files::OutputFile> file = files::OutputFile::open(path);
  if (!file.ok())
    return file.status();
  const auto failed = [&] {
    return absl::InternalError(absl::StrCat(path, ": ", zip_error_strerror(zip_source_error(memory))));
  };
  if (zip_source_open(memory) != 0)
    return failed();
  const std::unique_ptr<zip_source_t, decltype(&zip_source_close)> opened(memory, &zip_source_close);
  char block[1 << 16];
  for (;;) {
    const zip_int64_t got = zip_source_read(memory, block, sizeof block);
    if (got < 0)
      return failed();
    if (got == 0)
      return file->commit();
    if (absl::Status status = file->write({block, size_t(got)}); !status.ok())
      return status;
  }
}

} // namespace

absl::StatusOr<std::vector<Tensor>> readNpz(const std::string &path) {
  absl::StatusOr<Archive> archive = open(path, ZIP_RDONLY);
  if (!archive.ok())
    return archive.status();
  std::vector<Tensor> tensors;
  const zip_int64_t count = zip_get_num_entries(archive->get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    absl::StatusOr<Tensor> tensor = readArray(archive->get(), zip_uint64_t(i), path);
    if (!tensor.ok())
      return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

absl::Status writeNpz(std::span<const Tensor> tensors, const std::string &path) {
  if (tensors.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": no arrays to write"));
  // The archive is made in memory: libzip would replace what is at a path.
  zip_source_t *memory = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  if (!memory)
    return absl::ResourceExhaustedError(absl::StrCat(path, ": no memory for the archive"));
  zip_source_keep(memory); // for reading, when the archive is closed
  const std::unique_ptr<zip_source_t, decltype(&zip_source_free)> kept(memory, &zip_source_free);
  Archive archive(zip_open_from_source(memory, ZIP_TRUNCATE, nullptr));
  if (!archive) {
    zip_source_free(memory);
    return absl::ResourceExhaustedError(absl::StrCat(path, ": no memory for the archive"));
  }
  std::vector<std::string> contents; // libzip reads them at zip_close
  contents.reserve(tensors.size());
  for (const Tensor &tensor : tensors) {
    contents.push_back(printNpy(tensor));
    zip_source_t *source = zip_source_buffer(archive.get(), contents.back().data(), contents.back().size(), 0);
    const zip_int64_t index =
        source ? zip_file_add(archive.get(), absl::StrCat(tensor.type.name, ".npy").c_str(), source, ZIP_FL_ENC_UTF_8)
               : -1;
    if (index < 0) {
      const std::string text = zip_strerror(archive.get());
      if (source)
        zip_source_free(source);
      return absl::InvalidArgumentError(absl::StrCat(path, ": array ", tensor.type.name, ": ", text));
    }
    zip_set_file_compression(archive.get(), zip_uint64_t(index), ZIP_CM_STORE, 0);
    zip_file_set_dostime(archive.get(), zip_uint64_t(index), 0, 1 << 5 | 1, 0); // 1980-01-01
  }
  if (zip_close(archive.get()) != 0)
    return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", zip_strerror(archive.get())));
  archive.release();
  return writeSource(memory, path);
}

} // namespace wsc
