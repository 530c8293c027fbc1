/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the runtime: opens, runs and times wafer executables (.wse). Link with libwsc (CMake: wsc::c;
 * pkg-config: wsc); no C++ is needed.
 *
 *   wsc_executable *exe;
 *   wsc_session *session;
 *   if (wsc_executable_open("net.wse", &exe) || wsc_session_open(exe, 0, &session))
 *     return fail(wsc_last_error());
 *   wsc_input x = {pixels, sizeof pixels};
 *   wsc_output y = {scores, sizeof scores};
 *   if (wsc_session_run(session, 0, &x, 1, &y, 1))
 *     return fail(wsc_last_error());
 *
 * Every function gives WSC_OK or a code, and then wsc_last_error() says what is wrong; results are stored only with
 * WSC_OK. Null pointers, wrong sizes, and handles that were closed or never opened are errors, not crashes. No C++
 * exception leaves the library. All functions may be called from any thread: sessions of one executable run side by
 * side and share its weights; calls of one session wait for each other. A handle that is closed while another thread
 * uses it stays alive until that call returns.
 *
 * Symbols carry the version WSC_0.1; functions that change their meaning get a new version, under which programs that
 * were linked before do not find them.
 */
#ifndef WSC_WSC_H
#define WSC_WSC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t wsc_status;
enum {
  WSC_OK = 0,
  WSC_INVALID_ARGUMENT = 1,   /* a null pointer, a wrong size, number or handle, a file that is damaged */
  WSC_NOT_FOUND = 2,          /* no file, entry or state variable of that name */
  WSC_UNIMPLEMENTED = 3,      /* no form for what is asked */
  WSC_RESOURCE_EXHAUSTED = 4, /* no memory */
  WSC_FAILED = 5              /* anything else: files that cannot be written, programs that stop */
};

typedef int32_t wsc_type;
enum {
  WSC_F32 = 0,
  WSC_F16 = 1,
  WSC_BF16 = 2,
  WSC_I32 = 3,
  WSC_I64 = 4,
  WSC_U8 = 5,
  WSC_I8 = 6,
  WSC_BOOL = 7, /* a byte, 0 or 1 */
  WSC_F64 = 8,
  WSC_I16 = 9,
  WSC_U16 = 10,
  WSC_U32 = 11,
  WSC_U64 = 12
};

typedef struct wsc_executable wsc_executable;
typedef struct wsc_session wsc_session;

/* A tensor of an entry, or a state variable. Pointers are valid until the executable is closed. */
typedef struct wsc_tensor {
  const char *name;
  wsc_type type;
  size_t rank;
  const int64_t *shape; /* `rank` extents */
  size_t bytes;         /* of all elements, row-major */
} wsc_tensor;

typedef struct wsc_input {
  const void *data;
  size_t bytes; /* exactly those of the tensor */
} wsc_input;

typedef struct wsc_output {
  void *data;
  size_t bytes; /* exactly those of the tensor */
} wsc_output;

/* What a sample takes on the wafer, by the timing model. */
typedef struct wsc_time {
  int64_t latency_cycles;  /* first input word offered to last output word out */
  int64_t interval_cycles; /* between samples in the steady state */
  double clock_ghz;
  double utilisation; /* multiply-adds over what all cores could do: 0 to 1 */
} wsc_time;

/* "0.1.0". Never null. */
const char *wsc_version(void);
/* What was wrong in this thread's last call that failed; valid until its next one. Empty if none failed. Never null. */
const char *wsc_last_error(void);

/* Maps and checks a file. */
wsc_status wsc_executable_open(const char *path, wsc_executable **executable);
/* The same of a file's content, which is copied; `name` stands for the file in messages. */
wsc_status wsc_executable_open_memory(const void *content, size_t bytes, const char *name, wsc_executable **executable);
/* Writes the executable's file, whole or not at all. */
wsc_status wsc_executable_save(const wsc_executable *executable, const char *path);
/* Sessions that are open keep what they need. */
wsc_status wsc_executable_close(wsc_executable *executable);

wsc_status wsc_executable_entries(const wsc_executable *executable, size_t *count);
wsc_status wsc_executable_entry_name(const wsc_executable *executable, size_t entry, const char **name);
/* By name; null or "": the only entry, or "main". */
wsc_status wsc_executable_find_entry(const wsc_executable *executable, const char *name, size_t *entry);
wsc_status wsc_executable_inputs(const wsc_executable *executable, size_t entry, size_t *count);
wsc_status wsc_executable_outputs(const wsc_executable *executable, size_t entry, size_t *count);
wsc_status wsc_executable_states(const wsc_executable *executable, size_t *count);
wsc_status wsc_executable_input(const wsc_executable *executable, size_t entry, size_t index, wsc_tensor *tensor);
wsc_status wsc_executable_output(const wsc_executable *executable, size_t entry, size_t index, wsc_tensor *tensor);
wsc_status wsc_executable_state(const wsc_executable *executable, size_t index, wsc_tensor *tensor);

/* A session with state variables of its own. `threads`: host threads of a run, 0: all; results never depend on it. */
wsc_status wsc_session_open(const wsc_executable *executable, int32_t threads, wsc_session **session);
wsc_status wsc_session_close(wsc_session *session);
/* One sample through an entry: all inputs and outputs, in the entry's order. Outputs are written if all goes well. */
wsc_status wsc_session_run(wsc_session *session, size_t entry, const wsc_input *inputs, size_t input_count,
                           const wsc_output *outputs, size_t output_count);
/* Computed once per entry. `bytes`: sizeof(wsc_time). */
wsc_status wsc_session_time(wsc_session *session, size_t entry, wsc_time *time, size_t bytes);
wsc_status wsc_session_read_state(wsc_session *session, const char *name, void *data, size_t bytes);
wsc_status wsc_session_write_state(wsc_session *session, const char *name, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
