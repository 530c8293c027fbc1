// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that programs write. A regular file is written under a temporary name in its own folder and renamed, so that a
// failure leaves what was there before; a symbolic link keeps pointing at the file it names. A device, a FIFO, a socket
// and the file that is this process's standard output are written through, as nothing can take their place.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <span>
#include <string>
#include <string_view>

namespace wsc::files {

// One file being written. Without commit() the destructor removes the temporary file.
class OutputFile {
public:
  // Errors: a folder is at `path`, its folder does not exist or cannot be written. Opening a FIFO waits for a reader.
  static absl::StatusOr<OutputFile> open(const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  // Readable and writable unless writesThrough().
  int descriptor() const { return file; }
  bool writesThrough() const { return temporary.empty(); }
  absl::Status write(std::string_view bytes);
  // Puts the file in place. Errors: it cannot be renamed, or closing it tells of a failed write.
  absl::Status commit();
  // "PATH: cannot WHAT: " and the system's words for an errno.
  absl::Status failed(const std::string &what, int error) const;

private:
  OutputFile() = default;
  std::string path, place, temporary; // as named; behind links; beside `place`, empty when written through
  int file = -1, slot = -1;           // slot: of the temporary name, see Temporaries.h
};

absl::Status writeWhole(std::string_view content, const std::string &path);

// Whether a failure is that of an output, which other work would meet as well.
bool isOutputFailure(const absl::Status &status);
// Whether `path` leads to this process's standard output; to something that is no regular file or standard output, so
// that what is written to it cannot be read again.
bool isStandardOutput(const std::string &path);
bool writesThrough(const std::string &path);

struct Output {
  std::string option, path; // "-o"; an empty path is no output
  bool folder = false;      // made if it is not there
};

// Whether all outputs can be written, before work begins whose result would be lost. Nothing is left behind. Errors: an
// output is one of the `inputs`, two outputs are one file, a path that cannot be written.
absl::Status checkOutputs(std::span<const Output> outputs, std::span<const std::string> inputs);

// For main(): removes all temporary files when SIGINT, SIGTERM or SIGHUP ends this process.
void cleanUpOnSignals();

} // namespace wsc::files
