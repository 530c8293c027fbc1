# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests tools/results.py: a row for each network, and intervals that are not settled as ranges."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "results.py"


def run(content):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "r.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return subprocess.run([sys.executable, "-B", SCRIPT, path], capture_output=True, text=True)


class ResultsTest(unittest.TestCase):
    def test_a_row_for_each_network(self):
        def row(figure, value, **more):
            return {"name": "net@wse2." + figure, "value": value, **more}

        outcome = run({"suite": "agreement", "machine": "m", "results": [
            row("analytic.latency", 86649),
            row("analytic.interval", 3442, interval_settled=True, interval_low=3434, interval_high=3442),
            row("cycle.samples", 10), row("cycle.latency", 92989), row("latency.difference", -6.8),
            row("cycle.interval", 3456, interval_settled=False, interval_low=3400, interval_high=3500),
            row("interval.difference", -0.4)]})
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("| net@wse2 | 3,442 (settled) | 3,456 (3,400 to 3,500) | -0.4 % | 86,649 | 92,989 | -6.8 % "
                      "| 10 |", outcome.stdout)

    def test_phases_have_a_latency_only(self):
        def row(figure, value):
            return {"name": "net@wse2." + figure, "value": value}

        outcome = run({"suite": "agreement", "machine": "m", "results": [
            row("part0.configure main.0", 3784), row("part1.run main.0.analytic", 715),
            row("part1.run main.0.difference", -1.1), row("analytic.latency", 4499), row("cycle.samples", 1),
            row("cycle.latency", 4507), row("latency.difference", -0.2)]})
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("| net@wse2 | the latency | the latency | – | 4,499 | 4,507 | -0.2 % | 1 |", outcome.stdout)

    def test_other_suites_are_refused(self):
        outcome = run({"suite": "map", "machine": "m", "results": []})
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("is of suite map, needed is agreement", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
