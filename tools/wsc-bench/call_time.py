# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times exe.run of the first entry, N calls for each line N on standard input, so that others' calls can lie between.

    python3 call_time.py MODEL.wse FOLDER

FOLDER is where the package is looked for last, as a build has it. First prints "ready"; the answer to a line is the
microseconds taken by its calls.
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
    calls = range(int(line))
    start = time.perf_counter()
    for _ in calls:
        executable.run(inputs, entry.name)
    print((time.perf_counter() - start) * 1e6, flush=True)
