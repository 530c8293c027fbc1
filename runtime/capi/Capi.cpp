// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API over the C++ one: arguments are judged, statuses become codes with a text per thread, exceptions end here.
#include "runtime/capi/wsc.h"

#include "runtime/capi/Handles.h"
#include "runtime/session/Session.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <new>

using namespace wsc;

namespace {

using Executables = capi::Handles<const LoadedExecutable, 1>;
using Sessions = capi::Handles<Session, 2>;

// Never destroyed: other threads may still call while the process ends.
Executables &executables() {
  static auto &table = *new Executables();
  return table;
}
Sessions &sessions() {
  static auto &table = *new Sessions();
  return table;
}

std::string &lastError() {
  static thread_local std::string text;
  return text;
}

wsc_status codeOf(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kOk:
    return WSC_OK;
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kDataLoss:
  case absl::StatusCode::kOutOfRange:
    return WSC_INVALID_ARGUMENT;
  case absl::StatusCode::kNotFound:
    return WSC_NOT_FOUND;
  case absl::StatusCode::kUnimplemented:
    return WSC_UNIMPLEMENTED;
  case absl::StatusCode::kResourceExhausted:
    return WSC_RESOURCE_EXHAUSTED;
  default:
    return WSC_FAILED;
  }
}

// Runs a call that gives an absl::Status.
template <typename Call> wsc_status guarded(const char *function, Call call) noexcept {
  try {
    try {
      const absl::Status status = call();
      if (!status.ok())
        lastError() = absl::StrCat(function, ": ", std::string(status.message()));
      return codeOf(status);
    } catch (const std::bad_alloc &) {
      lastError() = absl::StrCat(function, ": no memory");
      return WSC_RESOURCE_EXHAUSTED;
    } catch (const std::exception &error) {
      lastError() = absl::StrCat(function, ": ", error.what());
    } catch (...) {
      lastError() = absl::StrCat(function, ": unknown exception");
    }
  } catch (...) { // no memory for the text either
    lastError().clear();
  }
  return WSC_FAILED;
}

absl::Status nullPointer(const char *what) {
  return absl::InvalidArgumentError(absl::StrCat("argument ", what, " is a null pointer"));
}

absl::StatusOr<ExecutablePtr> executableOf(const wsc_executable *handle) {
  if (!handle)
    return nullPointer("executable");
  if (ExecutablePtr found = executables().find(handle))
    return found;
  return absl::InvalidArgumentError("the executable's handle was closed, or is none");
}

absl::StatusOr<std::shared_ptr<Session>> sessionOf(const wsc_session *handle) {
  if (!handle)
    return nullPointer("session");
  if (std::shared_ptr<Session> found = sessions().find(handle))
    return found;
  return absl::InvalidArgumentError("the session's handle was closed, or is none");
}

absl::StatusOr<const format::Entry *> entryOf(const format::Executable &executable, size_t entry) {
  if (entry < executable.entries.size())
    return &executable.entries[entry];
  return absl::InvalidArgumentError(
      absl::StrCat("entry ", entry, " does not exist; there are ", executable.entries.size()));
}

size_t bytesOf(const format::TensorType &type) { return size_t(type.elements() * format::elementBytes(type.type)); }

absl::Status describeTensor(const std::vector<const format::TensorType *> &types, size_t index, const char *what,
                            wsc_tensor *tensor) {
  if (index >= types.size())
    return absl::InvalidArgumentError(absl::StrCat(what, " ", index, " does not exist; there are ", types.size()));
  const format::TensorType &type = *types[index];
  *tensor = {type.name.c_str(), wsc_type(type.type), type.shape.size(), type.shape.data(), bytesOf(type)};
  return absl::OkStatus();
}

// Calls with the executable, and an entry's tensors of one direction.
template <typename Call>
wsc_status withTensors(const char *function, const wsc_executable *handle, size_t number, bool outputs,
                       const void *result, const char *resultName, Call call) noexcept {
  return guarded(function, [&]() -> absl::Status {
    auto executable = executableOf(handle);
    if (!executable.ok())
      return executable.status();
    auto entry = entryOf((*executable)->content, number);
    if (!entry.ok())
      return entry.status();
    if (!result)
      return nullPointer(resultName);
    std::vector<const format::TensorType *> types;
    for (const format::TensorType &type : outputs ? (*entry)->outputs : (*entry)->inputs)
      types.push_back(&type);
    return call(types);
  });
}

absl::Status keep(absl::StatusOr<ExecutablePtr> loaded, wsc_executable **executable) {
  if (loaded.ok())
    *executable = static_cast<wsc_executable *>(executables().add(*std::move(loaded)));
  return loaded.status();
}

// One side of a run: the count, and each buffer's address and size.
template <typename Buffer>
absl::Status checkBuffers(const char *what, const format::Entry &entry, const std::vector<format::TensorType> &types,
                          const Buffer *buffers, size_t count) {
  if (count != types.size())
    return absl::InvalidArgumentError(
        absl::StrCat("entry ", entry.name, " has ", types.size(), " ", what, "s, ", count, " given"));
  if (count > 0 && !buffers)
    return nullPointer(absl::StrCat(what, "s").c_str());
  for (size_t i = 0; i < count; ++i) {
    const size_t bytes = bytesOf(types[i]);
    if (buffers[i].bytes != bytes)
      return absl::InvalidArgumentError(absl::StrCat(what, " ", types[i].name, " of entry ", entry.name, " has ", bytes,
                                                     " bytes, ", buffers[i].bytes, " given"));
    if (bytes > 0 && !buffers[i].data)
      return absl::InvalidArgumentError(
          absl::StrCat(what, " ", types[i].name, " of entry ", entry.name, " is a null pointer"));
  }
  return absl::OkStatus();
}

// The state variable of that name, if `bytes` are its size.
absl::StatusOr<const format::StateVariable *> stateOf(Session &session, const char *name, const void *data,
                                                      size_t bytes) {
  if (!name)
    return nullPointer("name");
  for (const format::StateVariable &state : session.executable().states)
    if (state.tensor.name == name) {
      if (bytesOf(state.tensor) != bytes)
        return absl::InvalidArgumentError(
            absl::StrCat("state variable ", name, " has ", bytesOf(state.tensor), " bytes, ", bytes, " given"));
      if (bytes > 0 && !data)
        return nullPointer("data");
      return &state;
    }
  return session.readState(name).status(); // says which there are
}

} // namespace

extern "C" {

const char *wsc_version(void) { return WSC_VERSION; }
const char *wsc_last_error(void) { return lastError().c_str(); }

wsc_status wsc_executable_open(const char *path, wsc_executable **executable) {
  return guarded(__func__, [&]() -> absl::Status {
    if (!path)
      return nullPointer("path");
    if (!executable)
      return nullPointer("executable");
    return keep(openExecutable(path), executable);
  });
}

wsc_status wsc_executable_open_memory(const void *content, size_t bytes, const char *name,
                                      wsc_executable **executable) {
  return guarded(__func__, [&]() -> absl::Status {
    if (!content)
      return nullPointer("content");
    if (!executable)
      return nullPointer("executable");
    return keep(openExecutable({static_cast<const std::byte *>(content), bytes}, name ? name : "<memory>"), executable);
  });
}

wsc_status wsc_executable_save(const wsc_executable *executable, const char *path) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    return path ? saveExecutable(**found, path) : nullPointer("path");
  });
}

wsc_status wsc_executable_close(wsc_executable *executable) {
  return guarded(__func__, [&]() -> absl::Status {
    if (auto found = executableOf(executable); !found.ok())
      return found.status();
    executables().remove(executable);
    return absl::OkStatus();
  });
}

wsc_status wsc_executable_entries(const wsc_executable *executable, size_t *count) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    if (!count)
      return nullPointer("count");
    *count = (*found)->content.entries.size();
    return absl::OkStatus();
  });
}

wsc_status wsc_executable_entry_name(const wsc_executable *executable, size_t number, const char **name) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    auto entry = entryOf((*found)->content, number);
    if (!entry.ok())
      return entry.status();
    if (!name)
      return nullPointer("name");
    *name = (*entry)->name.c_str();
    return absl::OkStatus();
  });
}

wsc_status wsc_executable_find_entry(const wsc_executable *executable, const char *name, size_t *entry) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    if (!entry)
      return nullPointer("entry");
    auto number = findEntry(**found, name ? name : "");
    if (!number.ok())
      return number.status();
    *entry = size_t(*number);
    return absl::OkStatus();
  });
}

wsc_status wsc_executable_inputs(const wsc_executable *executable, size_t entry, size_t *count) {
  return withTensors(__func__, executable, entry, false, count, "count",
                     [&](const auto &types) { return *count = types.size(), absl::OkStatus(); });
}

wsc_status wsc_executable_outputs(const wsc_executable *executable, size_t entry, size_t *count) {
  return withTensors(__func__, executable, entry, true, count, "count",
                     [&](const auto &types) { return *count = types.size(), absl::OkStatus(); });
}

wsc_status wsc_executable_input(const wsc_executable *executable, size_t entry, size_t index, wsc_tensor *tensor) {
  return withTensors(__func__, executable, entry, false, tensor, "tensor",
                     [&](const auto &types) { return describeTensor(types, index, "input", tensor); });
}

wsc_status wsc_executable_output(const wsc_executable *executable, size_t entry, size_t index, wsc_tensor *tensor) {
  return withTensors(__func__, executable, entry, true, tensor, "tensor",
                     [&](const auto &types) { return describeTensor(types, index, "output", tensor); });
}

wsc_status wsc_executable_states(const wsc_executable *executable, size_t *count) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    if (!count)
      return nullPointer("count");
    *count = (*found)->content.states.size();
    return absl::OkStatus();
  });
}

wsc_status wsc_executable_state(const wsc_executable *executable, size_t index, wsc_tensor *tensor) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    if (!tensor)
      return nullPointer("tensor");
    std::vector<const format::TensorType *> types;
    for (const format::StateVariable &state : (*found)->content.states)
      types.push_back(&state.tensor);
    return describeTensor(types, index, "state variable", tensor);
  });
}

wsc_status wsc_session_open(const wsc_executable *executable, int32_t threads, wsc_session **session) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = executableOf(executable);
    if (!found.ok())
      return found.status();
    if (!session)
      return nullPointer("session");
    if (threads < 0 || threads > 4096)
      return absl::InvalidArgumentError(absl::StrCat(threads, " threads; 0 means all, 4096 are the most"));
    auto opened = Session::open(*std::move(found), {.threads = threads});
    if (!opened.ok())
      return opened.status();
    *session = static_cast<wsc_session *>(sessions().add(*std::move(opened)));
    return absl::OkStatus();
  });
}

wsc_status wsc_session_close(wsc_session *session) {
  return guarded(__func__, [&]() -> absl::Status {
    if (auto found = sessionOf(session); !found.ok())
      return found.status();
    sessions().remove(session);
    return absl::OkStatus();
  });
}

wsc_status wsc_session_run(wsc_session *session, size_t number, const wsc_input *inputs, size_t inputCount,
                           const wsc_output *outputs, size_t outputCount) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = sessionOf(session);
    if (!found.ok())
      return found.status();
    auto entry = entryOf((*found)->executable(), number);
    if (!entry.ok())
      return entry.status();
    if (auto status = checkBuffers("input", **entry, (*entry)->inputs, inputs, inputCount); !status.ok())
      return status;
    if (auto status = checkBuffers("output", **entry, (*entry)->outputs, outputs, outputCount); !status.ok())
      return status;
    std::vector<emulator::HostView> views(inputCount);
    for (size_t i = 0; i < inputCount; ++i)
      views[i] = {static_cast<const std::byte *>(inputs[i].data), inputs[i].bytes};
    auto results = (*found)->runViews(int(number), views);
    if (!results.ok())
      return results.status();
    for (size_t i = 0; i < outputCount; ++i)
      if (outputs[i].bytes > 0)
        std::memcpy(outputs[i].data, (*results)[i].bytes.data(), outputs[i].bytes);
    return absl::OkStatus();
  });
}

wsc_status wsc_session_time(wsc_session *session, size_t number, wsc_time *time, size_t bytes) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = sessionOf(session);
    if (!found.ok())
      return found.status();
    if (!time)
      return nullPointer("time");
    if (bytes != sizeof(wsc_time))
      return absl::InvalidArgumentError(absl::StrCat("wsc_time has ", sizeof(wsc_time), " bytes, ", bytes, " given"));
    const format::Executable &executable = (*found)->executable();
    if (auto entry = entryOf(executable, number); !entry.ok())
      return entry.status();
    auto timing = (*found)->timing(int(number));
    if (!timing.ok())
      return timing.status();
    *time = {(*timing)->latencyCycles, (*timing)->intervalCycles, executable.target.clockGHz,
             (*timing)->computeUtilisation};
    return absl::OkStatus();
  });
}

wsc_status wsc_session_read_state(wsc_session *session, const char *name, void *data, size_t bytes) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = sessionOf(session);
    if (!found.ok())
      return found.status();
    if (auto state = stateOf(**found, name, data, bytes); !state.ok())
      return state.status();
    auto value = (*found)->readState(name);
    if (!value.ok())
      return value.status();
    if (bytes > 0)
      std::memcpy(data, value->bytes.data(), bytes);
    return absl::OkStatus();
  });
}

wsc_status wsc_session_write_state(wsc_session *session, const char *name, const void *data, size_t bytes) {
  return guarded(__func__, [&]() -> absl::Status {
    auto found = sessionOf(session);
    if (!found.ok())
      return found.status();
    auto state = stateOf(**found, name, data, bytes);
    if (!state.ok())
      return state.status();
    const auto *begin = static_cast<const std::byte *>(data);
    return (*found)->writeState(name, {(*state)->tensor, {begin, begin + bytes}});
  });
}

} // extern "C"
