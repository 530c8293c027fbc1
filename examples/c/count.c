/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Runs the counter of examples/counter: two samples through one entry, the sum from the other.   count counter.wse */
#include <stdio.h>
#include <wsc/wsc.h>

static int fail(void) { return fprintf(stderr, "error: %s\n", wsc_last_error()), 1; }

int main(int argc, char **argv) {
  wsc_executable *counter;
  wsc_session *session;
  size_t step, read;
  float x[4] = {1, 2, 3, 4}, sum[4];
  const wsc_input in = {x, sizeof x};
  const wsc_output out = {sum, sizeof sum};
  if (argc != 2 || wsc_executable_open(argv[1], &counter) || wsc_session_open(counter, 0, &session))
    return fail();
  if (wsc_executable_find_entry(counter, "step", &step) || wsc_executable_find_entry(counter, "read", &read))
    return fail();
  for (int sample = 0; sample < 2; ++sample)
    if (wsc_session_run(session, step, &in, 1, NULL, 0))
      return fail();
  if (wsc_session_run(session, read, NULL, 0, &out, 1))
    return fail();
  printf("sum %g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
  return wsc_session_close(session) || wsc_executable_close(counter) ? fail() : 0;
}
