#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes reports of the demo network in every form and checks them.

    report_files.py WSC_COMPILE WSC_RUN ROOT OUT

OUT receives the reports, for the test of the page: full (the whole wafer, strips), small (8 x 8, cycle engine), phased,
and defects. Checked: the JSON is well-formed, docs/Report.md names each of its fields, numbers that can be counted two
ways agree, pages refer to nothing outside, and what cannot be written is refused without leaving a file.
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

COMPILE, RUN, ROOT, OUT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
DIGITS = ROOT / "examples/digits/digits.onnx"


def call(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False)


def made(*arguments):
    done = call(*arguments)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")


def lattice_size(lattice):
    size = 1
    for count in lattice[2::3]:
        size *= count
    return size


def keys(value):
    """All field names in a JSON value, but for those of tables' own columns."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "defects.json").write_text('{"dead_cores": [{"row": 3, "col": 5}, {"row": 9, "col": 2}],'
                                          ' "dead_links": [{"row": 6, "col": 6, "side": "EAST"}]}')
        cls.reports = {}
        for name, compiling, running in [
                ("full", [], []),
                ("small", ["--target", "mesh-8x8"], ["--engine", "cycle", "--samples", "3", "--timing-only"]),
                ("phased", ["--target", "mesh-16x16", "--execution", "phased"], ["--random", "1"]),
                ("defects", ["--target", "mesh-16x16", "--defects", OUT / "defects.json"], [])]:
            wse = OUT / f"{name}.wse"
            made(COMPILE, DIGITS, "-o", wse, "--quiet", "--report", OUT / f"{name}.compile.json", *compiling)
            running = running or ["--timing-only"]
            for ending in ["json", "html", "txt"] if name == "small" else ["json", "html"]:
                made(RUN, wse, "--quiet", "--report", OUT / f"{name}.{ending}", *running)
            for kind in ["compile", "run"]:
                path = OUT / (f"{name}.compile.json" if kind == "compile" else f"{name}.json")
                cls.reports[name, kind] = json.loads(path.read_text())

    def test_every_field_is_documented(self):
        documented = set(re.findall(r"`(\w+)`", (ROOT / "docs/Report.md").read_text()))
        for name, report in self.reports.items():
            with self.subTest(report=name):
                self.assertEqual(sorted(set(keys(report)) - documented), [])

    def test_cores_counted_by_kernels_and_by_roles_agree(self):
        for name, report in self.reports.items():
            for number, configuration in enumerate(report["configurations"]):
                roles = configuration["roles"]
                cores = {}
                for kernel, lattice in zip(roles["kernel"], roles["cores"]):
                    cores[kernel] = cores.get(kernel, 0) + lattice_size(lattice)
                for index, kernel in enumerate(report["kernels"]):
                    if kernel["configuration"] == number:
                        self.assertEqual(cores.get(index, 0), kernel["cores"], (name, kernel["name"]))

    def test_rasters_cover_the_mesh(self):
        for name, report in self.reports.items():
            machine = report["machine"]
            for configuration in report["configurations"]:
                for side, raster in configuration["link_words"].items():
                    places = -(-machine["rows"] // raster["step"]) * -(-machine["cols"] // raster["step"])
                    self.assertEqual(sum(raster["runs"][1::2]), places, (name, side))
                    self.assertEqual(max(raster["runs"][0::2]), raster["largest"], (name, side))

    def test_step_adds_up(self):
        for (name, kind), report in self.reports.items():
            step = sum(report["step"].values())
            expected = report["interval_cycles"]
            if (name, kind) == ("phased", "compile") and step > 1.03 * expected:
                # A layer that two phases share is predicted as part of the second, so the slots of the first count.
                self.assertIn("Predicted cycles are too few", [advice["title"] for advice in report["advice"]])
                expected = step
            # Slots of a few samples are not yet at the steady interval.
            self.assertAlmostEqual(step / expected, 1, delta=0.03, msg=(name, kind))
            self.assertTrue(report["bound"])

    def test_phases_are_predicted_as_a_whole(self):
        predicted = self.reports["phased", "compile"]["interval_cycles"]
        self.assertAlmostEqual(predicted / self.reports["phased", "run"]["interval_cycles"], 1, delta=0.05)

    def test_run_adds_what_was_emulated(self):
        small = self.reports["small", "run"]
        self.assertEqual(small["emulation"]["engine"], "cycle")
        for (name, kind), report in self.reports.items():
            if kind == "run":
                emulated = report["emulation"]
                self.assertLessEqual(emulated["interval_low"], emulated["interval_cycles"], name)
                self.assertGreaterEqual(emulated["interval_high"], emulated["interval_cycles"], name)
                self.assertIsInstance(emulated["interval_settled"], bool)
        self.assertIn("stalls", small["emulation"])
        self.assertTrue(all("emulated" in kernel for kernel in small["kernels"]))
        self.assertNotIn("emulation", self.reports["small", "compile"])
        self.assertTrue(all(part["cycles"] > 0 for part in self.reports["phased", "run"]["phases"]))

    def test_defects_are_told(self):
        self.assertEqual(self.reports["defects", "run"]["machine"]["dead_cores"], [[3, 5], [9, 2]])
        self.assertEqual(self.reports["defects", "run"]["machine"]["dead_links"], [[6, 6, 2]])

    def test_text_holds_the_same_numbers(self):
        text = (OUT / "small.txt").read_text()
        small = self.reports["small", "run"]
        for number in [small["cores_used"], small["sram_worst_bytes"], small["emulation"]["latency_cycles"]]:
            self.assertIn(str(number), text)
        self.assertIn(small["advice"][0]["title"], text)

    def test_pages_refer_to_nothing_outside(self):
        for name in ["full", "small", "phased", "defects"]:
            page = (OUT / f"{name}.html").read_text()
            self.assertLess(len(page), 5 << 20)
            self.assertIsNone(re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page))

    def test_ending_is_checked_before_the_work(self):
        done = call(COMPILE, DIGITS, "-o", OUT / "never.wse", "--report", OUT / "report.pdf")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"error: report .*report\.pdf must end in \.txt, \.json or \.html")
        self.assertFalse((OUT / "never.wse").exists())

    def test_folder_is_checked_before_the_work(self):
        missing = OUT / "missing" / "report.html"
        for command in [[COMPILE, DIGITS, "-o", OUT / "never.wse"], [RUN, OUT / "small.wse", "--timing-only"]]:
            done = call(*command, "--report", missing)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"error: --report .*missing/report\.html: cannot be created: No such file")
        self.assertFalse((OUT / "never.wse").exists())

    def test_report_of_an_earlier_phase_is_refused(self):
        done = call(COMPILE, DIGITS, "-o", OUT / "never.mlir", "--compile-to", "nn", "--report", OUT / "never.html")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: --report tells of an executable; --compile-to nn stops before there is one", done.stderr)

    def test_interrupted_run_writes_no_report(self):
        report = OUT / "interrupted.html"
        report.unlink(missing_ok=True)
        with subprocess.Popen([RUN, str(OUT / "small.wse"), "--random", "1", "--samples", "1000000", "--report",
                               str(report)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
            self.assertIn("result", run.stdout.readline())
            run.send_signal(signal.SIGINT)
            _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertEqual(error, f"error: interrupted; report {report} was not written\n")
        self.assertEqual([path.name for path in OUT.glob("interrupted*")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
