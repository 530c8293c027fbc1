#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every command of the documents.

    commands.py BUILD SOURCE WORK [PAGE…]

The commands are the indented lines of the tree's Markdown pages that begin with a program; those of a page run one
after another in a folder that looks like the tree's root, with BUILD as its build folder and first in PATH. A line that
begins with `!` must fail. Fenced blocks of a language and a file's name are written to that file first. Models and data
that a page names without saying where they come from are stood in for by small ones (STAND_INS). A few commands cannot
run here; ELSEWHERE says which test runs each, or why none does, and such tests must exist. What stands in
brackets is left out. Options that the text mentions for a command must be in its --help, and filters of ctest must
match tests.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PROGRAM = re.compile(r"(! )?(wsc-[a-z-]+|build/bin/\S+|(/usr/bin/)?python3|cmake|ctest|cpack|pip|npm|node|grep|sed|"
                     r"apt-get|tools/\S+|test/\S+|my-opt/\S+)(\s|$)")

# (pattern, the test that does it or None, why not here)
ELSEWHERE = [
    (r"tools/check$", None, "runs this test itself"),
    (r"tools/quickstart$", None, "installs packages and builds the tree; its commands are those of docs/Tutorial.md"),
    (r"pip install \./python-bindings$", "install-pip", "makes an environment for it"),
    (r"cpack --config", "install-package", "makes the package and looks into it"),
    (r"test/install/debian_root ", None, "needs root, a network and 1.5 GB"),
    (r"apt-get install ", None, "installs packages"),
    (r"/usr/bin/python3 examples/digits/train\.py$", None, "needs torch and scikit-learn, and would write the demo"),
    (r"cmake --preset fuzz && ", None, "is a build of its own, with both sanitizers"),
    (r"test/fuzz/run ", None, "needs that build"),
    (r"build/bin/wsc-test /usr/share/libonnx-testdata/data/node ", "conformance-phased", "takes a list of the cases"),
    (r"python3 python-bindings/tests/onnx_runner\.py CASES ", "conformance-official-runner", "takes a list of cases"),
    (r"python3 -m pytest python-bindings/tests/test_onnx_backend\.py$", "python-bindings", "runs all of them"),
    (r"wsc-compile (saved_model_folder|train\.(meta|pb)) |wsc-run train\.wse ", "model-tf-training-test",
     "builds such graphs with all their files"),
]


# Pages whose Python is run by a test of its own.
PYTHON_ELSEWHERE = {"docs/Python.md": "python-bindings"}


def run(command, folder, environment, timeout=600):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


class Site:
    def __init__(self, build, source, work):
        self.build, self.source, self.work = build, source, work
        tools = work / "bin"
        shutil.rmtree(work, ignore_errors=True)
        tools.mkdir(parents=True)
        (tools / "python3").symlink_to(sys.executable)
        self.environment = {**os.environ, "PATH": f"{build / 'bin'}:{tools}:{os.environ['PATH']}",
                            "PYTHONPATH": str(build / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.counts = {"run": 0, "elsewhere": 0}
        self.problems = []
        self.help = {}

    def pages(self):
        for folder, folders, files in os.walk(self.source):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "build")))
            yield from (pathlib.Path(folder, name) for name in sorted(files) if name.endswith(".md"))

    def tests(self, pattern):
        listed = subprocess.run(["ctest", "-N", "-R", pattern], cwd=self.build, capture_output=True, text=True,
                                check=True).stdout
        return int(re.search(r"Total Tests: (\d+)", listed)[1])

    def problem(self, page, command, text):
        self.problems.append(f"{page}: {command}: {text}")
        print(f"FAIL {page}: {command}\n{text}", flush=True)

    def folder(self, page):
        """A folder like the tree's root for the page's commands."""
        folder = self.work / str(page.relative_to(self.source)).replace("/", "-").removesuffix(".md")
        folder.mkdir()
        for entry in self.source.iterdir():
            if not entry.name.startswith((".", "build")) and entry.suffix != ".md":
                (folder / entry.name).symlink_to(entry)
        (folder / "build").symlink_to(self.build)
        return folder

    def judge(self, page):
        name, text = page.relative_to(self.source), page.read_text(encoding="utf-8")
        commands, files, scripts = parts(text)
        self.judge_options(name, text)
        if not commands and not scripts:
            return
        folder = self.folder(page)
        for file, content in files:
            (folder / file).write_text(content, encoding="utf-8")
        for command in commands:
            self.judge_command(name, folder, command)
        for script in scripts if str(name) not in PYTHON_ELSEWHERE else []:
            self.judge_script(name, folder, script)

    def judge_command(self, page, folder, command):
        for pattern, test, why in ELSEWHERE:
            if re.match(pattern, command):
                self.counts["elsewhere"] += 1
                print(f"  -   {page}: {command}  ({f'test {test}: ' if test else ''}{why})", flush=True)
                if test and self.tests(f"^{test}$") == 0:
                    self.problem(page, command, f"test {test}, which is to run it, does not exist")
                return
        filtered = re.match(r"ctest --preset \w+ -R (\S+)$", command)
        if filtered:
            if self.tests(filtered[1]) == 0:
                self.problem(page, command, "matches no test")
            return
        for stand_in, make in STAND_INS.items():
            named = re.search(rf"(?<![\w/.-]){re.escape(stand_in)}(?![\w/-])", command)
            if named and not (folder / stand_in).exists():
                if not make(self, folder, stand_in):
                    self.counts["elsewhere"] += 1
                    print(f"  -   {page}: {command}  ({stand_in} has no stand-in here)", flush=True)
                    return
        fails = command.startswith("! ")
        begin = time.monotonic()
        try:
            done = run(command.removeprefix("! "), folder, self.environment)
        except subprocess.TimeoutExpired:
            return self.problem(page, command, "takes more than 600 s")
        self.counts["run"] += 1
        if fails != (done.returncode != 0):
            return self.problem(page, command, f"exit status {done.returncode}\n{done.stdout[-2000:]}")
        print(f"{time.monotonic() - begin:5.1f} {page}: {command}", flush=True)

    def judge_script(self, page, folder, script):
        for stand_in, make in STAND_INS.items():
            if stand_in in script and not (folder / stand_in).exists():
                make(self, folder, stand_in)
        (folder / "script.py").write_text("import numpy\narray = numpy.zeros((1, 4), 'f4')\n" + script)
        done = run("python3 script.py", folder, self.environment)
        self.counts["run"] += 1
        if done.returncode != 0:
            return self.problem(page, "Python", f"exit status {done.returncode}\n{done.stdout[-2000:]}")
        print(f"      {page}: {script.count(chr(10))} lines of Python", flush=True)

    def judge_options(self, page, text):
        """Options that a command is said to have, in lines and in the text."""
        for span in re.findall(r"`([^`\n]+)`", text) + parts(text)[0]:
            for command, rest in re.findall(r"\b(wsc-[a-z-]+)((?: [^|;&]*)?)", span):
                if not (self.build / "bin" / command).exists():
                    continue
                if command not in self.help:
                    self.help[command] = subprocess.run([self.build / "bin" / command, "--help"], capture_output=True,
                                                        text=True, check=True).stdout
                for option in re.findall(r"(?<![^\s\[])--[a-z][\w-]*", rest.split(" # ")[0]):
                    known = re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", self.help[command])
                    if option != "--help" and not known:
                        self.problem(page, span, f"{command} has no option {option}")
            for pattern in re.findall(r"ctest --preset \w+ -R (\S*[a-z]\S*)", span):
                if self.tests(pattern) == 0:
                    self.problem(page, span, "matches no test")


def parts(text):
    """(commands, [(file, content)], scripts) of a page."""
    commands, files, scripts, fence = [], [], [], None
    for line in text.split("\n"):
        if line.startswith("```"):
            if fence is None:
                fence = (line[3:].split(), [])
                continue
            (words, content), fence = fence, None
            if len(words) > 1 and "{" not in words[0]:
                files.append((words[1], "\n".join(content) + "\n"))
            elif words == ["python"]:
                scripts.append("\n".join(content) + "\n")
        elif fence is not None:
            fence[1].append(line)
        elif line.startswith("    ") and PROGRAM.match(line[4:]):
            commands.append(re.sub(r"\s+# .*| \[--[^\]]*\]", "", line[4:]).rstrip())
    return commands, files, scripts


# What stands in for names of a page: a function that makes it in the folder, and says whether it could.

def make_model(site, folder, name):
    """y = relu(x · w) with x f32[1,4]."""
    import numpy
    import onnx
    from onnx import helper, numpy_helper

    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = numpy_helper.from_array(numpy.arange(32, dtype="f4").reshape(4, 8) - 16, "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])], "demo",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 8])], [weights])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString())
    return True


def make_case(site, folder, name):
    """A folder as of a backend test."""
    import numpy
    from onnx import numpy_helper

    make_model(site, folder, f"{name}/model.onnx")
    x = numpy.ones((1, 4), "f4")
    y = numpy.maximum(x @ (numpy.arange(32, dtype="f4").reshape(4, 8) - 16), 0)
    data = folder / name / "test_data_set_0"
    data.mkdir()
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())
    return True


def make_demo(site, folder, name):
    (folder / name).symlink_to(site.source / "examples" / "digits" / "digits.onnx")
    return True


def make_input(site, folder, name):
    import numpy

    numpy.save(folder / name, numpy.ones((1, 4), "f4"))
    return True


def make_executable(site, folder, name):
    if not (folder / "model.onnx").exists():
        make_model(site, folder, "model.onnx")
    return run(f"wsc-compile model.onnx -o {name} --quiet", folder, site.environment).returncode == 0


def make_report(site, folder, name):
    return make_executable(site, folder, "of-report.wse") and run(
        f"wsc-run of-report.wse --timing-only --quiet --report {name}", folder, site.environment).returncode == 0


def make_table(site, folder, name):
    """Two rows of a table of published times, made up; see test/validation/README.md for the columns."""
    (folder / name).write_text(
        "id,arch,kind,workload,parameters,published,unit,tolerance,note\n"
        "chain,wse2,latency,reduce_1d_chain,P=8;B=64;dtype=f32,180,cycles,0.5,\n")
    return True


def make_graph(site, folder, name):
    given = site.source.parent / "shared" / "models" / "tf" / "kws_CNN_S" / "graph.pb"
    if not given.exists():
        return False
    (folder / name).symlink_to(given)
    return True


STAND_INS = {
    "model.onnx": make_model, "net.onnx": make_demo, "x.npy": make_input, "model.wse": make_executable,
    "models/resnet50": make_case, "report.json": make_report, "FILE.csv": make_table, "graph.pb": make_graph,
}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, source, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    site = Site(build, source, work)
    for page in [source / name for name in sys.argv[4:]] or site.pages():
        site.judge(page)
    print(f"{site.counts['run']} commands run, {site.counts['elsewhere']} elsewhere, {len(site.problems)} wrong")
    (work / "problems.json").write_text(json.dumps(site.problems, indent=1))
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())
