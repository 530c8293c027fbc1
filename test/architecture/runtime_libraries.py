#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that shared objects need none of MLIR, LLVM, protobuf and ONNX, directly or through others (I7).

    runtime_libraries.py FILE…

Reads what the dynamic loader would map (ldd). Prints one line per forbidden library; exit status 1 if there is one.
"""
import re
import subprocess
import sys

FORBIDDEN = re.compile(r"^lib(MLIR|LLVM|clang|protobuf|onnx)", re.IGNORECASE)


def libraries(path):
    result = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"error: ldd {path}: {result.stderr.strip() or result.stdout.strip()}")
    return [line.split()[0].rsplit("/", 1)[-1] for line in result.stdout.splitlines() if line.strip()]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bad = [(path, name) for path in sys.argv[1:] for name in libraries(path) if FORBIDDEN.match(name)]
    for path, name in bad:
        print(f"error: {path} needs {name}; the runtime needs no compiler (I7)")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
