// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A session: an executable it shares with others, an engine of its own, and the timing of each entry once it has been
// asked for. One lock per session; the engine brings its own threads.
#include "runtime/session/Session.h"

#include "runtime/base/Random.h"
#include "runtime/emulator/Interpreter.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/liveness/Liveness.h"
#include "runtime/files/OutputFile.h"
#include "runtime/format/Reader.h"
#include "runtime/format/Verifier.h"
#include "runtime/session/EntryTime.h"
#include "runtime/session/TensorFile.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace wsc {

using namespace format;

struct Session::Impl {
  explicit Impl(ExecutablePtr shared) : shared(std::move(shared)) {}

  const ExecutablePtr shared;
  const std::string &path = shared->name;
  const Executable &executable = shared->content;
  std::mutex mutex;                             // held by every call that uses what follows
  std::unique_ptr<emulator::CoreEngine> engine; // views executable
  std::vector<std::optional<emulator::TimingResult>> timings;
  std::unique_ptr<EntryTime> phases;                // of a phased executable, else null
  std::vector<std::optional<Configuration>> merged; // per entry of a phased executable

  absl::Status checkEntry(int entry) const {
    if (entry < 0 || entry >= int(executable.entries.size()))
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entry, " does not exist; ", path, " has ", executable.entries.size()));
    return absl::OkStatus();
  }

  // The one configuration an entry runs.
  absl::StatusOr<int> configurationOf(int entry) const {
    if (absl::Status status = checkEntry(entry); !status.ok())
      return status;
    int configuration = -1, runs = 0;
    for (const Step &step : executable.entries[entry].steps)
      if (step.kind == StepKind::Run) {
        configuration = step.configuration;
        runs += step.count;
      }
    if (runs != 1)
      return absl::UnimplementedError(
          absl::StrCat("entry ", executable.entries[entry].name, " runs ", runs,
                       " configurations one after another; time is known of such entries in phased executables"));
    return configuration;
  }

  // Views of the inputs' bytes, in the entry's order.
  absl::StatusOr<std::vector<emulator::HostView>> gather(int entry, const std::map<std::string, Tensor> &inputs) const;
  std::vector<Tensor> label(int entry, std::vector<emulator::HostTensor> outputs) const;
  absl::StatusOr<int> findState(const std::string &name) const;
};

namespace {

std::string listNames(const std::vector<TensorType> &tensors) {
  std::string text;
  for (const TensorType &tensor : tensors)
    absl::StrAppend(&text, text.empty() ? "" : ", ", tensor.name, " ", describe(tensor));
  return text.empty() ? "none" : text;
}

// "" if equal, else the first difference.
std::string difference(const std::vector<std::byte> &engine, const std::vector<std::byte> &scalar) {
  if (engine.size() != scalar.size())
    return absl::StrCat("the engine has ", engine.size(), " bytes, the interpreter ", scalar.size());
  const auto at = std::mismatch(engine.begin(), engine.end(), scalar.begin());
  if (at.first == engine.end())
    return "";
  return absl::StrCat("byte ", at.first - engine.begin(), " is ", int(*at.first), " in the engine, ", int(*at.second),
                      " in the interpreter");
}

absl::Status replayCore(const Executable &executable, const Role &role, const emulator::CoreEngine::CoreTrace &trace,
                        int64_t iteration, const std::string &phase) {
  auto [row, col] = emulator::latticePosition(role.cores, trace.index);
  const std::string where = absl::StrCat("replay of ", phase, "role ", role.name, ", core (", row, ", ", col, "): ");
  std::vector<std::vector<std::byte>> received(role.queues.size());
  for (size_t q = 0; q < role.queues.size(); ++q)
    if (!role.queues[q].output)
      received[q] = trace.queueWords[q];
  absl::StatusOr<emulator::CoreRun> run =
      emulator::interpretCore(executable, role, trace.index, {trace.buffersBefore}, received, iteration);
  if (!run.ok())
    return absl::Status(run.status().code(), absl::StrCat(where, std::string(run.status().message())));
  for (size_t q = 0; q < role.queues.size(); ++q) {
    const std::string found = role.queues[q].output ? difference(trace.queueWords[q], run->queueWords[q])
                                                    : difference({}, run->queueWords[q]);
    if (!found.empty())
      return absl::DataLossError(absl::StrCat(where,
                                              role.queues[q].output ? "words sent on queue " : "words left on queue ",
                                              q, " (colour ", int(role.queues[q].colour), ") differ: ", found));
  }
  for (size_t b = 0; b < role.buffers.size(); ++b)
    if (const std::string found = difference(trace.buffersAfter[b], run->image.buffers[b]); !found.empty())
      return absl::DataLossError(absl::StrCat(where, "buffer ", role.buffers[b].name, " differs: ", found));
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::vector<emulator::HostView>>
Session::Impl::gather(int number, const std::map<std::string, Tensor> &inputs) const {
  if (absl::Status status = checkEntry(number); !status.ok())
    return status;
  const Entry &entry = executable.entries[number];
  for (const auto &[name, tensor] : inputs)
    if (std::none_of(entry.inputs.begin(), entry.inputs.end(),
                     [&, n = name](const TensorType &type) { return type.name == n; }))
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entry.name, " has no input ", name, "; its inputs are ", listNames(entry.inputs)));
  std::vector<emulator::HostView> result;
  for (const TensorType &type : entry.inputs) {
    auto found = inputs.find(type.name);
    if (found == inputs.end())
      return absl::InvalidArgumentError(absl::StrCat("input ", type.name, " of entry ", entry.name,
                                                     " is not given; the inputs are ", listNames(entry.inputs)));
    const Tensor &tensor = found->second;
    if (tensor.type.type != type.type || tensor.type.shape != type.shape)
      return absl::InvalidArgumentError(absl::StrCat("input ", type.name, " is ", describe(tensor.type), ", entry ",
                                                     entry.name, " takes ", describe(type)));
    const int64_t bytes = type.elements() * elementBytes(type.type);
    if (int64_t(tensor.bytes.size()) != bytes)
      return absl::InvalidArgumentError(absl::StrCat("input ", type.name, " has ", tensor.bytes.size(), " bytes, ",
                                                     describe(type), " needs ", bytes));
    result.push_back(tensor.bytes);
  }
  return result;
}

std::vector<Tensor> Session::Impl::label(int entry, std::vector<emulator::HostTensor> outputs) const {
  std::vector<Tensor> result;
  for (size_t i = 0; i < outputs.size(); ++i)
    result.push_back({executable.entries[entry].outputs[i], std::move(outputs[i].bytes)});
  return result;
}

absl::StatusOr<int> Session::Impl::findState(const std::string &name) const {
  std::vector<TensorType> types;
  for (size_t s = 0; s < executable.states.size(); ++s) {
    if (executable.states[s].tensor.name == name)
      return int(s);
    types.push_back(executable.states[s].tensor);
  }
  return absl::NotFoundError(absl::StrCat("no state variable ", name, "; there are: ", listNames(types)));
}

static absl::StatusOr<ExecutablePtr> judged(absl::StatusOr<LoadedFile> file, const std::string &name) {
  if (!file.ok())
    return file.status();
  auto loaded = std::make_shared<const LoadedExecutable>(name, *std::move(file));
  if (absl::Status status = verifyExecutable(loaded->content); !status.ok())
    return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
  return loaded;
}

absl::StatusOr<ExecutablePtr> openExecutable(const std::string &path, const LoadOptions &options,
                                             const std::string &name) {
  return judged(loadFile(path, options), name.empty() ? path : name);
}

absl::StatusOr<ExecutablePtr> openExecutable(std::span<const std::byte> content, const std::string &name,
                                             const LoadOptions &options) {
  return judged(loadContent(content, name, options), name);
}

absl::StatusOr<int> findEntry(const LoadedExecutable &executable, const std::string &name) {
  const std::vector<Entry> &entries = executable.content.entries;
  if (name.empty() && entries.size() == 1)
    return 0;
  const std::string wanted = name.empty() ? "main" : name;
  std::string known;
  for (size_t e = 0; e < entries.size(); ++e) {
    if (entries[e].name == wanted)
      return int(e);
    absl::StrAppend(&known, known.empty() ? "" : ", ", entries[e].name);
  }
  return absl::NotFoundError(
      absl::StrCat("no entry ", wanted, "; ", executable.name, " has: ", known.empty() ? "none" : known));
}

absl::Status saveExecutable(const LoadedExecutable &executable, const std::string &path) {
  const absl::Status status =
      files::writeWhole({reinterpret_cast<const char *>(executable.file.data()), executable.file.size()}, path);
  return status.ok() ? status : absl::UnavailableError(status.message());
}

Session::Session(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Session>> Session::open(const std::string &path, const SessionOptions &options) {
  absl::StatusOr<ExecutablePtr> executable = openExecutable(path, {.verifyWeightHashes = options.verifyWeightHashes});
  if (!executable.ok())
    return executable.status();
  return open(*std::move(executable), options);
}

absl::StatusOr<std::unique_ptr<Session>> Session::open(ExecutablePtr executable, const SessionOptions &options) {
  if (!executable)
    return absl::InvalidArgumentError("a session needs an executable, not a null pointer");
  auto impl = std::make_unique<Impl>(std::move(executable));
  if (options.verifyLiveness)
    if (absl::Status status = emulator::checkLiveness(impl->executable, {.threads = options.threads}); !status.ok())
      return absl::Status(status.code(), absl::StrCat(impl->path, ": ", std::string(status.message())));
  emulator::CoreEngineOptions engineOptions;
  engineOptions.threads = options.threads;
  engineOptions.shared = impl->shared->prepared;
  engineOptions.schedule = options.worklist ? emulator::Schedule::Worklist : emulator::Schedule::Units;
  auto engine = emulator::CoreEngine::create(impl->executable, engineOptions);
  if (!engine.ok())
    return absl::Status(engine.status().code(), absl::StrCat(impl->path, ": ", std::string(engine.status().message())));
  impl->engine = *std::move(engine);
  impl->timings.resize(impl->executable.entries.size());
  impl->merged.resize(impl->executable.entries.size());
  if (impl->executable.execution == "phased")
    impl->phases = std::make_unique<EntryTime>(impl->executable, *impl->engine, options.threads);
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

const Executable &Session::executable() const { return impl->executable; }

absl::StatusOr<int> Session::findEntry(const std::string &name) const { return wsc::findEntry(*impl->shared, name); }

absl::StatusOr<std::vector<Tensor>> Session::run(int entry, const std::map<std::string, Tensor> &inputs) {
  auto host = impl->gather(entry, inputs);
  if (!host.ok())
    return host.status();
  auto outputs = runViews(entry, *host);
  if (!outputs.ok())
    return outputs.status();
  return impl->label(entry, *std::move(outputs));
}

absl::StatusOr<std::vector<emulator::HostTensor>> Session::runViews(int entry,
                                                                    std::span<const emulator::HostView> inputs) {
  const std::lock_guard lock(impl->mutex);
  return impl->engine->runViews(entry, inputs);
}

absl::StatusOr<const emulator::TimingResult *> Session::timing(int entry) {
  const std::lock_guard lock(impl->mutex);
  if (absl::Status status = impl->checkEntry(entry); !status.ok())
    return status;
  std::optional<emulator::TimingResult> &cached = impl->timings[size_t(entry)];
  if (cached)
    return &*cached;
  absl::StatusOr<emulator::TimingResult> result;
  if (impl->phases) {
    result = impl->phases->timing(entry);
  } else {
    absl::StatusOr<int> configuration = impl->configurationOf(entry);
    if (!configuration.ok())
      return configuration.status();
    auto networks = impl->engine->networks(*configuration);
    if (!networks.ok())
      return networks.status();
    result = emulator::analyseTiming(impl->executable, *configuration, **networks);
  }
  if (!result.ok())
    return result.status();
  cached = *std::move(result);
  return &*cached;
}

absl::StatusOr<emulator::CycleResult> Session::cycles(int entry, const emulator::CycleOptions &options,
                                                      std::vector<emulator::TimingPart> *parts) {
  const std::lock_guard lock(impl->mutex);
  std::vector<emulator::TimingPart> unused;
  if (absl::Status status = impl->checkEntry(entry); !status.ok())
    return status;
  if (impl->phases)
    return impl->phases->cycles(entry, options, parts ? *parts : unused);
  absl::StatusOr<int> configuration = impl->configurationOf(entry);
  if (!configuration.ok())
    return configuration.status();
  return emulator::runCycles(impl->executable, *configuration, options);
}

absl::StatusOr<const Configuration *> Session::timedConfiguration(int entry) {
  const std::lock_guard lock(impl->mutex);
  if (absl::Status status = impl->checkEntry(entry); !status.ok())
    return status;
  if (impl->phases) {
    std::optional<Configuration> &merged = impl->merged[size_t(entry)];
    if (!merged)
      merged = impl->phases->merged(entry);
    return &*merged;
  }
  absl::StatusOr<int> configuration = impl->configurationOf(entry);
  if (!configuration.ok())
    return configuration.status();
  return &impl->executable.configurations[size_t(*configuration)];
}

emulator::ValueCounters Session::counters(int entry) const {
  const std::lock_guard lock(impl->mutex);
  return impl->engine->counters(entry);
}

absl::StatusOr<Tensor> Session::readState(const std::string &name) const {
  absl::StatusOr<int> state = impl->findState(name);
  if (!state.ok())
    return state.status();
  const std::lock_guard lock(impl->mutex);
  return Tensor{impl->executable.states[*state].tensor, impl->engine->readState(*state).bytes};
}

absl::Status Session::writeState(const std::string &name, const Tensor &value) {
  absl::StatusOr<int> state = impl->findState(name);
  if (!state.ok())
    return state.status();
  const TensorType &type = impl->executable.states[*state].tensor;
  if (value.type.type != type.type || value.type.shape != type.shape)
    return absl::InvalidArgumentError(
        absl::StrCat("state variable ", name, " is ", describe(type), ", not ", describe(value.type)));
  const std::lock_guard lock(impl->mutex);
  return impl->engine->writeState(*state, {value.bytes});
}

absl::Status Session::replay(int entry, const std::map<std::string, Tensor> &inputs, int count, uint64_t seed) {
  auto host = impl->gather(entry, inputs);
  if (!host.ok())
    return host.status();
  const std::lock_guard lock(impl->mutex);
  const std::span<const emulator::EntryRun> runs = impl->engine->runs(entry);
  const auto coresOf = [&](const emulator::EntryRun &run) {
    int64_t cores = 0;
    for (const Role &role : impl->executable.configurations[size_t(run.configuration)].roles)
      cores += role.cores.size();
    return cores;
  };
  // Every core of every iteration is as likely as any other.
  int64_t all = 0;
  for (const emulator::EntryRun &run : runs)
    all += coresOf(run) * run.count;
  if (all == 0)
    return absl::OkStatus();
  Random random(seed);
  std::vector<emulator::CorePlace> picked;
  for (int i = 0; i < count; ++i) {
    int64_t number = random.in(0, all - 1);
    size_t run = 0;
    while (number >= coresOf(runs[run]) * runs[run].count) {
      number -= coresOf(runs[run]) * runs[run].count;
      ++run;
    }
    const std::vector<Role> &roles = impl->executable.configurations[size_t(runs[run].configuration)].roles;
    const auto iteration = int32_t(number / coresOf(runs[run]));
    int64_t ordinal = number % coresOf(runs[run]);
    int32_t role = 0;
    while (ordinal >= roles[size_t(role)].cores.size())
      ordinal -= roles[size_t(role++)].cores.size();
    picked.push_back({int32_t(run), iteration, role, emulator::latticeIndex(roles[size_t(role)].cores, ordinal)});
  }
  std::vector<emulator::HostTensor> outputs;
  auto traces = impl->engine->runTracedViews(entry, *host, picked, outputs);
  if (!traces.ok())
    return traces.status();
  for (size_t i = 0; i < picked.size(); ++i) {
    const Configuration &configuration =
        impl->executable.configurations[size_t(runs[size_t(picked[i].run)].configuration)];
    const std::string phase =
        runs.size() == 1 && runs[0].count == 1
            ? ""
            : absl::StrCat("run ", picked[i].run, " (", configuration.name, "), iteration ", picked[i].iteration, ", ");
    if (absl::Status status = replayCore(impl->executable, configuration.roles[size_t(picked[i].role)], (*traces)[i],
                                         runs[size_t(picked[i].run)].first + picked[i].iteration, phase);
        !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace wsc
