#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the ONNX standard's own test runner over a folder of official cases on wsc.onnx_backend.

    onnx_runner.py DATA [--list FILE] [--filter REGEX] [--jobs 2] [--timeout 120] [--json FILE] [--against FILE.json]

DATA holds the folders node, simple, pytorch-converted and pytorch-operator, as onnx/backend/test/data does. A line for
each case: PASS, FAIL or SKIP (the runner asked the backend, which has no form for the model), its name and the reason;
the closing line counts them. A case's crash or time-out is that case's failure. `--against`: results of `wsc-test
--json` over the same cases; every case that passes there and not here is named again at the end, and the exit status
is 1 if there is one. Without it the exit status is 1 if a case fails.
"""
import argparse
import concurrent.futures
import json
import pathlib
import queue
import re
import select
import signal
import subprocess
import sys
import unittest

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")


# Element types of newer versions of the standard: bits, and whether they are signed integers.
NEWER_TYPES = {17: (8, False), 18: (8, False), 19: (8, False), 20: (8, False), 21: (4, False), 22: (4, True),
               23: (4, False), 24: (8, False), 25: (2, False), 26: (2, True)}


def read_newer_types(numpy_helper):
    """Lets numpy_helper read tensors of types that the installed onnx does not know, as executables take them.

    One element a byte: integers of 4 and 2 bits as int8 or uint8, floats of 8 and 4 bits as their bits.
    """
    import numpy as np
    from onnx.mapping import TENSOR_TYPE_TO_NP_TYPE

    known = numpy_helper.to_array

    def to_array(tensor, *more):
        if tensor.data_type in TENSOR_TYPE_TO_NP_TYPE or tensor.data_type not in NEWER_TYPES:
            return known(tensor, *more)
        bits, signed = NEWER_TYPES[tensor.data_type]
        held = (np.frombuffer(tensor.raw_data, np.uint8) if tensor.HasField("raw_data")
                else np.asarray(tensor.int32_data, np.int32).astype(np.uint8))
        shifts = np.arange(0, 8, bits, dtype=np.uint8)  # the first element in the lowest bits
        values = ((held[:, None] >> shifts) & ((1 << bits) - 1)).astype(np.uint8).ravel()
        values = values[:int(np.prod(tuple(tensor.dims), dtype=np.int64))]
        if signed:
            values = np.where(values >> (bits - 1), values.astype(np.int16) - (1 << bits), values).astype(np.int8)
        return values.reshape(tuple(tensor.dims))

    numpy_helper.to_array = to_array


def runner_cases(data, target, execution):
    """The runner's test functions by the name that wsc-test gives the case: {"node/test_abs": (class, method)}."""
    import numpy as np

    if "object" not in vars(np):
        np.object = object  # what the runner of onnx 1.12 expects of NumPy
    import onnx.backend.test.loader as loader
    import onnx.backend.test.runner as runner
    from onnx import numpy_helper

    import wsc.onnx_backend

    read_newer_types(numpy_helper)

    class Backend(wsc.onnx_backend.Backend):
        options = {"target": target, "execution": execution, "threads": 1}

    found = {}
    for kind in KINDS:
        if not (pathlib.Path(data) / kind).is_dir():
            continue
        runner.load_model_tests = lambda kind, wanted=kind: (
            loader.load_model_tests(data_dir=str(data), kind=kind) if kind == wanted else [])
        for test_case in runner.Runner(Backend, __name__).test_cases.values():
            for method in [name for name in vars(test_case) if name.startswith("test_") and name.endswith("_cpu")]:
                found[f"{kind}/{method[:-len('_cpu')]}"] = (test_case, method)
    return found


def outcome(test_case, method):
    result = unittest.TestResult()
    test_case(method).run(result)
    for status, entries in (("SKIP", result.skipped), ("FAIL", result.failures), ("FAIL", result.errors)):
        for _, reason in entries:
            lines = [line for line in reason.strip().splitlines() if line.strip()]
            # The last line of a traceback is the exception; assertions of NumPy say what differs before.
            first = next((line for line in lines if re.match(r"[\w.]+(Error|Argument|Found|Unsupported)\b", line)),
                         lines[-1] if lines else "")
            more = [line.strip() for line in lines if re.match(r"\s*(Mismatched|Max absolute|DESIRED|ACTUAL)", line)]
            return status, " ".join([first.strip(), *more])[:500]
    return "PASS", ""


def work(arguments):
    """A child: a case's name a line on standard input, its outcome a line of JSON on standard output."""
    answers = sys.stdout
    sys.stdout = sys.stderr
    cases = runner_cases(arguments.data, arguments.target, arguments.execution)
    for line in sys.stdin:
        print(json.dumps(outcome(*cases[line.strip()])), file=answers, flush=True)


class Child:
    """A process that runs cases one after another; replaced after a crash or a time-out."""

    def __init__(self, arguments):
        self.command = [sys.executable, "-B", __file__, arguments.data, "--child", "--target", arguments.target,
                        "--execution", arguments.execution]
        self.timeout = arguments.timeout
        self.process = None

    def run(self, name):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        print(name, file=self.process.stdin, flush=True)
        if not select.select([self.process.stdout], [], [], self.timeout)[0]:
            self.close()
            return "FAIL", f"takes more than {self.timeout} s"
        line = self.process.stdout.readline()
        if line:
            return tuple(json.loads(line))
        status = self.process.wait()
        self.close()
        return "FAIL", f"crash: {signal.Signals(-status).name if status < 0 else f'exit status {status}'}"

    def close(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.process = None


def wanted_cases(arguments):
    names = []
    for kind in KINDS:
        folder = pathlib.Path(arguments.data, kind)
        if folder.is_dir():
            names += sorted(f"{kind}/{case.name}" for case in folder.iterdir() if (case / "model.onnx").exists())
    if not names:
        sys.exit(f"error: {arguments.data} holds none of the folders {', '.join(KINDS)} with cases")
    if arguments.list:
        listed = {line.split("#")[0].strip() for line in open(arguments.list, encoding="utf-8")} - {""}
        # Lists of wsc-test over the folder node alone name its cases without it.
        names = [name for name in names if name in listed or name.split("/")[1] in listed]
    return [name for name in names if re.search(arguments.filter, name)]


def lost_cases(results, against):
    """What passes in results of wsc-test and not here: [(name, status, reason)]."""
    passing = {pathlib.Path(case["folder"]).name for case in json.loads(pathlib.Path(against).read_text())["cases"]
               if case["status"] == "PASS"}
    return [(name, *results[name]) for name in results
            if name.split("/")[1] in passing and results[name][0] != "PASS"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--list", metavar="FILE", help="only cases named in this file, one a line; '#': a comment")
    parser.add_argument("--filter", metavar="REGEX", default="", help="only cases whose name holds a match")
    parser.add_argument("--target", default="wse2")
    parser.add_argument("--execution", default="phased")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120, metavar="S")
    parser.add_argument("--json", metavar="FILE", help="write results for programs")
    parser.add_argument("--against", metavar="FILE", help="results of wsc-test --json to compare with")
    parser.add_argument("--quiet", action="store_true", help="print failed cases and the closing line only")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return work(arguments)

    names = wanted_cases(arguments)
    children = queue.SimpleQueue()
    for _ in range(arguments.jobs):
        children.put(Child(arguments))

    def judge(name):
        child = children.get()
        try:
            return child.run(name)
        finally:
            children.put(child)

    results = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as threads:
        for name, (status, reason) in zip(names, threads.map(judge, names)):
            results[name] = (status, reason)
            if status == "FAIL" or not arguments.quiet:
                print(status, name, reason, flush=True)
    for _ in range(arguments.jobs):
        children.get().close()
    counts = {status: sum(one == status for one, _ in results.values()) for status in ("PASS", "FAIL", "SKIP")}
    lost = lost_cases(results, arguments.against) if arguments.against else []
    if arguments.against:
        print(f"{len(lost)} cases pass in {arguments.against} and not here")
        for name, status, reason in lost:
            print(" ", name, status, reason)
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(
            {**{status.lower(): count for status, count in counts.items()},
             "cases": [{"name": name, "status": status, "reason": reason}
                       for name, (status, reason) in results.items()]}, indent=1) + "\n")
    return 1 if lost or (counts["FAIL"] and not arguments.against) else 0


if __name__ == "__main__":
    sys.exit(main())
