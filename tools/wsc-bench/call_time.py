# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times exe.run of the first entry, in rounds, so that others' rounds can lie between.

    python3 call_time.py MODEL.wse FOLDER

FOLDER is where the package is looked for last, as a build has it. First prints "ready"; a line "CALLS BATCHES" on
standard input asks for so many batches of so many calls, and the answer is the microseconds of a call in the least one.
"""
import sys
import time

sys.path.append(sys.argv[2])
try:
    import numpy
    import wsc
except ImportError as error:
    print(error, flush=True)
    sys.exit(1)

executable = wsc.load(sys.argv[1])
entry = executable.entries[0]
inputs = {tensor.name: numpy.zeros(tensor.shape, tensor.dtype) for tensor in entry.inputs}
executable.run(inputs, entry.name)
print("ready", flush=True)
for line in sys.stdin:
    calls, batches = map(int, line.split())
    best = float("inf")
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(calls):
            executable.run(inputs, entry.name)
        best = min(best, (time.perf_counter() - start) / calls)
    print(best * 1e6, flush=True)
