// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// posix_spawn, pipes and poll. Pipes are close-on-exec, so that children started at the same time by several threads do
// not hold each other's ends open.
#include "tools/support/Child.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace wsc::tools {

namespace {

using Clock = std::chrono::steady_clock;

// What is kept of each stream: a child gone wild must not fill the parent's memory.
constexpr size_t kMostBytes = size_t(16) << 20;

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void shut(int &end) {
    if (end >= 0)
      close(end);
    end = -1;
  }
  int take(int &end) { return std::exchange(end, -1); }
  ~Pipe() {
    shut(read);
    shut(write);
  }
};

absl::StatusOr<pid_t> spawn(const std::vector<std::string> &command, Pipe *in, Pipe &out, Pipe &error) {
  if ((in && !in->open()) || !out.open() || !error.open())
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot make a pipe for ", command[0], ": ", std::strerror(errno)));
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (in)
    posix_spawn_file_actions_adddup2(&actions, in->read, STDIN_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.write, STDERR_FILENO);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return absl::NotFoundError(absl::StrCat("cannot start ", command[0], ": ", std::strerror(failed)));
  if (in)
    in->shut(in->read);
  out.shut(out.write);
  error.shut(error.write);
  return pid;
}

// Appends what is there; false at the end of the stream.
bool drain(int end, std::string &to) {
  char bytes[65536];
  const ssize_t count = ::read(end, bytes, sizeof bytes);
  if (count < 0)
    return errno == EINTR || errno == EAGAIN;
  to.append(bytes, std::min(size_t(count), kMostBytes - std::min(kMostBytes, to.size())));
  return count > 0;
}

int reap(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

void setOutcome(int status, ChildOutcome &outcome) {
  if (WIFEXITED(status))
    outcome.exitStatus = WEXITSTATUS(status);
  if (WIFSIGNALED(status))
    outcome.signal = WTERMSIG(status);
}

std::string lastLine(const std::string &text) {
  size_t end = text.find_last_not_of("\n ");
  if (end == std::string::npos)
    return "";
  size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

} // namespace

std::string ChildOutcome::describe() const {
  if (timedOut)
    return "timed out";
  if (signal != 0)
    return absl::StrCat("stopped by signal ", signal, " (", strsignal(signal), ")");
  return absl::StrCat("exit status ", exitStatus);
}

std::string ownPath() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).string();
}

absl::StatusOr<ChildOutcome> runChild(const std::vector<std::string> &command, double timeoutSeconds) {
  const auto start = Clock::now();
  Pipe out, error;
  absl::StatusOr<pid_t> pid = spawn(command, nullptr, out, error);
  if (!pid.ok())
    return pid.status();
  ChildOutcome outcome;
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  pollfd ends[2] = {{out.read, POLLIN, 0}, {error.read, POLLIN, 0}};
  std::string *texts[2] = {&outcome.output, &outcome.errors};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    int wait = -1;
    if (timeoutSeconds > 0) {
      const double left = timeoutSeconds - elapsed();
      if (left <= 0) {
        outcome.timedOut = true;
        kill(*pid, SIGKILL);
        break;
      }
      wait = int(std::min(left * 1000 + 1, 1e6));
    }
    if (poll(ends, 2, wait) < 0 && errno != EINTR)
      break;
    for (int i = 0; i < 2; ++i)
      if (ends[i].fd >= 0 && ends[i].revents != 0 && !drain(ends[i].fd, *texts[i]))
        ends[i].fd = -1;
  }
  setOutcome(reap(*pid), outcome);
  outcome.seconds = elapsed();
  return outcome;
}

absl::StatusOr<std::unique_ptr<Dialogue>> Dialogue::start(const std::vector<std::string> &command) {
  // A child that ends early must not end its parent with SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in, out, error;
  absl::StatusOr<pid_t> pid = spawn(command, &in, out, error);
  if (!pid.ok())
    return pid.status();
  std::unique_ptr<Dialogue> dialogue(new Dialogue());
  dialogue->name = command[0];
  dialogue->pid = *pid;
  dialogue->in = in.take(in.write);
  dialogue->out = out.take(out.read);
  dialogue->error = error.take(error.read);
  return dialogue;
}

Dialogue::~Dialogue() {
  for (int end : {in, out, error})
    if (end >= 0)
      close(end);
  if (pid > 0) {
    kill(pid, SIGKILL);
    reap(pid);
  }
}

absl::Status Dialogue::ended() {
  ChildOutcome outcome;
  setOutcome(reap(pid), outcome);
  pid = -1;
  const std::string last = lastLine(errors);
  if (outcome.ok() && last.empty())
    return absl::InternalError(absl::StrCat(name, " ended without an answer"));
  return absl::InternalError(outcome.exitStatus > 0 && !last.empty()
                                 ? last
                                 : absl::StrCat(name, ": ", outcome.describe(), last.empty() ? "" : ": ", last));
}

absl::StatusOr<std::string> Dialogue::read() {
  if (pid < 0)
    return absl::FailedPreconditionError(absl::StrCat(name, " has ended"));
  pollfd ends[2] = {{out, POLLIN, 0}, {error, POLLIN, 0}};
  std::string *texts[2] = {&buffered, &errors};
  while (buffered.find('\n') == std::string::npos && (ends[0].fd >= 0 || ends[1].fd >= 0)) {
    if (poll(ends, 2, -1) < 0 && errno != EINTR)
      break;
    for (int i = 0; i < 2; ++i)
      if (ends[i].fd >= 0 && ends[i].revents != 0 && !drain(ends[i].fd, *texts[i]))
        ends[i].fd = -1;
  }
  const size_t end = buffered.find('\n');
  if (end == std::string::npos)
    return ended();
  std::string line = buffered.substr(0, end);
  buffered.erase(0, end + 1);
  return line;
}

absl::StatusOr<std::string> Dialogue::ask(const std::string &line) {
  const std::string text = line + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(in, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      break; // it has ended; read() says why
    done += count > 0 ? size_t(count) : 0;
  }
  return read();
}

absl::StatusOr<std::string> Dialogue::finish() {
  close(std::exchange(in, -1));
  pollfd ends[2] = {{out, POLLIN, 0}, {error, POLLIN, 0}};
  std::string *texts[2] = {&buffered, &errors};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends, 2, -1) < 0 && errno != EINTR)
      break;
    for (int i = 0; i < 2; ++i)
      if (ends[i].fd >= 0 && ends[i].revents != 0 && !drain(ends[i].fd, *texts[i]))
        ends[i].fd = -1;
  }
  ChildOutcome outcome;
  setOutcome(reap(pid), outcome);
  pid = -1;
  if (!outcome.ok())
    return absl::InternalError(absl::StrCat(name, ": ", outcome.describe(), ": ", lastLine(errors)));
  return std::move(buffered);
}

void followParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

} // namespace wsc::tools
