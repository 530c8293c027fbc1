// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Child processes: a tool runs itself again in a hidden mode, so that a crash, a time-out or peak memory is that of one
// piece of work. Children die with their parent. Standard output and standard error are read through pipes.
#pragma once

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace wsc::tools {

struct ChildOutcome {
  bool timedOut = false;
  int exitStatus = -1; // of a child that exited by itself
  int signal = 0;      // that ended it, or 0
  std::string output, errors;
  double seconds = 0;
  bool ok() const { return !timedOut && signal == 0 && exitStatus == 0; }
  // "stopped by signal 6 (Aborted)", "exit status 3": why it is not ok.
  std::string describe() const;
};

// The program that is running, for children of its own.
std::string ownPath();

// Runs a program (looked up in PATH) to its end. timeoutSeconds 0: no limit. Errors: it cannot be started.
absl::StatusOr<ChildOutcome> runChild(const std::vector<std::string> &command, double timeoutSeconds);

// A child that answers lines: one question, one answer, as often as asked.
class Dialogue {
public:
  static absl::StatusOr<std::unique_ptr<Dialogue>> start(const std::vector<std::string> &command);
  ~Dialogue(); // kills a child that finish() has not been called for
  Dialogue(const Dialogue &) = delete;
  Dialogue &operator=(const Dialogue &) = delete;
  // The next line it prints, without the newline. Errors: it ended, with its last words.
  absl::StatusOr<std::string> read();
  absl::StatusOr<std::string> ask(const std::string &line);
  // Closes its input, reads what it still prints and waits. Errors: it did not exit with 0.
  absl::StatusOr<std::string> finish();

private:
  Dialogue() = default;
  absl::Status ended();
  std::string name, buffered, errors;
  pid_t pid = -1;
  int in = -1, out = -1, error = -1;
};

// In a hidden mode, first of all: ends this process when its parent ends.
void followParent();

} // namespace wsc::tools
