// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/TextFile.h"

#include "runtime/files/OutputFile.h"

namespace wsc::emit {

namespace {

// Keeps the first error and drops what follows it.
class FileStream : public llvm::raw_ostream {
public:
  explicit FileStream(files::OutputFile &file) : file(file) { SetBufferSize(size_t(1) << 16); }
  ~FileStream() override { flush(); }
  absl::Status status = absl::OkStatus();

private:
  void write_impl(const char *data, size_t size) override {
    if (status.ok())
      status = file.write({data, size});
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  files::OutputFile &file;
  uint64_t position = 0;
};

} // namespace

absl::Status writeText(const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  absl::StatusOr<files::OutputFile> file = files::OutputFile::open(path == "-" ? "/dev/stdout" : path);
  if (!file.ok())
    return file.status();
  FileStream stream(*file);
  print(stream);
  stream.flush();
  return stream.status.ok() ? file->commit() : stream.status;
}

} // namespace wsc::emit
