#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that `wsc-info --isa` lists at least one and at most 64 distinct opcodes (I1).

    isa_size.py WSC-INFO
"""
import subprocess
import sys

LIMIT = 64


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = subprocess.run([sys.argv[1], "--isa"], capture_output=True, text=True, check=True).stdout.splitlines()
    if not table or not table[0].startswith("opcode"):
        sys.exit("error: wsc-info --isa does not begin with the heading of its table")
    opcodes = [line.split()[0] for line in table[1:] if line.strip()]
    print(f"{len(opcodes)} opcodes, limit {LIMIT}")
    if not 1 <= len(opcodes) <= LIMIT or len(set(opcodes)) != len(opcodes):
        sys.exit(f"error: {len(opcodes)} opcodes, {len(set(opcodes))} distinct; at most {LIMIT} distinct ones may "
                 "exist (I1)")


if __name__ == "__main__":
    main()
