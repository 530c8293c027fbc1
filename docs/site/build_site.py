#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the documentation site: OUT/html/index.html, which opens without a server or a network.

    build_site.py --source ROOT --out OUT --version VERSION [--generated FOLDER] [--commands FOLDER] [--python FOLDER]

The pages are the tree's own Markdown files, in their places; docs/site/index.md says in which order. Beside them stand
pages made here: the commands' --help, the instruction set, the values of the built-in targets with their sources, the
schema of .wse, and the API of Python, C and C++ from docstrings and headers (Doxygen). --generated holds what
mlir-tblgen wrote. Links to files of the tree that are no pages become downloads; a link that leads nowhere, a page
that no list names or anything else that Sphinx warns of fails the build.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# Public headers in the order of use, with titles; then the name spaces that they declare things in.
CPP_HEADERS = [
    ("runtime/session/Session.h", "Sessions"),
    ("runtime/session/TensorFile.h", "Files of tensors"),
    ("compiler/driver/Compiler.h", "The compiler"),
    ("compiler/driver/Phases.h", "Phases"),
    ("compiler/driver/Precision.h", "Precisions"),
    ("compiler/driver/Pipeline.h", "Pipelines of passes"),
    ("compiler/driver/Registration.h", "Dialects and passes for programs of others"),
    ("runtime/target/Target.h", "Targets"),
    ("runtime/report/Report.h", "Reports"),
]
CPP_NAMESPACES = ["wsc", "wsc::driver", "wsc::target", "wsc::report"]
ABOUT = "briefdescription detaileddescription"
C_HEADER = "runtime/capi/wsc.h"
COMMANDS = ["wsc-compile", "wsc-run", "wsc-info", "wsc-test", "wsc-opt", "wsc-translate", "wsc-place", "wsc-bench",
            "wsc-lsp-server", "wsc-reduce"]
LINK = r"\[([^\]]*)\]\(([^)\s]+)\)"
SKIPPED = {"build", "node_modules", ".git", ".ci"}


def pages_of(root):
    """The tree's Markdown files, relative to it."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("build"))
        for name in sorted(files):
            if name.endswith(".md"):
                yield pathlib.Path(folder, name).relative_to(root)


class Stage:
    """The folder that Sphinx reads: pages, what they link to, what is generated."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        shutil.rmtree(folder, ignore_errors=True)
        self.pages = [page for page in pages_of(root) if page != pathlib.Path("docs/site/index.md")]

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def copy(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.root / name, path)

    def link(self, page, match):
        """A link of a page as the site has it."""
        text, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        place, _, anchor = target.partition("#")
        found = pathlib.Path(os.path.normpath(page.parent / place))
        if not (self.root / found).exists():
            sys.exit(f"error: {page}: the link to {target} leads nowhere")
        if (self.root / found).is_dir():
            if not (self.root / found / "README.md").exists():
                return text if text.startswith("`") else f"`{text}`"
            place, found = f"{place.rstrip('/')}/README.md", found / "README.md"
        if found not in self.pages:
            self.copy(found)
        return f"[{text}]({place}{'#' + anchor if anchor else ''})"

    def add_page(self, page):
        inside, lines = False, []
        for line in (self.root / page).read_text(encoding="utf-8").split("\n"):
            if line.startswith("```"):
                inside = not inside
                line = re.sub(r"^(```\w+) .*", r"\1", line)
            elif not inside and not line.startswith("    "):
                line = re.sub(LINK, lambda match: self.link(page, match), line)
            lines.append(line)
        # Links that go over a line's end.
        text = re.sub(r"\[([^\]]*\n[^\]]*)\]\(([^)\s]+)\)", lambda match: self.link(page, match), "\n".join(lines))
        self.write(page, text)


def block(text, language="none"):
    return f"````{language}\n{text.rstrip()}\n````\n"


def commands_page(folder):
    parts = ["# Commands\n\nWhat each command's `--help` says.\n"]
    for command in COMMANDS:
        path = pathlib.Path(folder, command)
        if path.exists():
            text = subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout
            parts.append(f"## {command}\n\n{block(text)}")
    return "\n".join(parts)


def instructions_page(folder):
    text = subprocess.run([pathlib.Path(folder, "wsc-info"), "--isa"], capture_output=True, text=True,
                          check=True).stdout
    return ("# Instructions\n\nWhat `wsc-info --isa` prints; [Execution](../docs/Execution.md) says what it means.\n\n"
            f"{block(text)}")


def target_values_page(root):
    """The built-in descriptions side by side; a source that all of them share is said once."""
    names = ["wse1", "wse2", "wse3"]
    targets = [json.loads((root / "runtime/target/descriptions" / f"{name}.json").read_text()) for name in names]
    fields = [field for field in targets[1] if field not in ("name", "base", "sources")]
    fields += [field for target in targets for field in target if field not in fields + ["name", "base", "sources"]]
    rows = ["# Values of the built-in targets\n",
            "[Target descriptions](../runtime/target/README.md) says what the fields mean; `mesh-RxC` has wse2's.\n",
            f"| field | {' | '.join(names)} | source |", "|---" * (len(names) + 2) + "|"]
    for field in dict.fromkeys(fields):
        sources = {}
        for name, target in zip(names, targets):
            sources.setdefault(target.get("sources", {}).get(field, ""), []).append(name)
        told = "; ".join(f"{', '.join(of)}: {source}" if len(sources) > 1 else source
                         for source, of in sources.items() if source)
        values = [json.dumps(target[field]) if field in target else "" for target in targets]
        rows.append(f"| `{field}` | {' | '.join(values)} | {told.replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


def schema_page(root):
    parts = ["# Schema of `.wse` files\n\n[The format](../runtime/format/README.md) says how the parts lie in a file. "
             "Below are the metadata, and the header and the section table around it.\n"]
    for title, name, language in (("Metadata", "runtime/format/wse.fbs", "flatbuffers"),
                                  ("Header and sections", "runtime/format/FileLayout.h", "cpp")):
        parts.append(f"## {title}\n\n{block((root / name).read_text(), language)}")
    return "\n".join(parts)


def python_page():
    return """# Python

[From Python](../docs/Python.md) shows how these are used.

```{eval-rst}
.. automodule:: wsc
   :no-members:

.. autofunction:: wsc.compile
.. autofunction:: wsc.load
.. autofunction:: wsc.lower
.. autofunction:: wsc.opt
.. autofunction:: wsc.validate
.. autofunction:: wsc.from_torch

.. autoclass:: wsc.Executable
   :members:
   :special-members: __call__
.. autoclass:: wsc.Session
   :members:
.. autoclass:: wsc.Entry
   :members:
.. autoclass:: wsc.TensorType
   :members:
.. autoclass:: wsc.Kernel
   :members:
.. autoclass:: wsc.Time
   :members:
.. autoclass:: wsc.TimePart
   :members:

.. automodule:: wsc._errors
   :members: Error, InvalidArgument, NotFound, Unsupported, Cancelled

.. automodule:: wsc.onnx_backend
   :members: Backend, PreparedModel
```
"""


def c_page():
    return """# C

[From C and C++](../docs/Embedding.md) shows how these are used. `#include <wsc/wsc.h>`

```{eval-rst}
.. doxygenfile:: wsc.h
   :sections: briefdescription detaileddescription enum typedef func innerclass public-attrib
```
"""


def cpp_page():
    parts = ["# C++\n\n[From C and C++](../docs/Embedding.md) shows how these are used.\n\n## Headers\n"]
    for header, title in CPP_HEADERS:
        parts.append(f"### {title}\n\n`#include <wsc/{header}>`\n\n```{{eval-rst}}\n.. doxygenfile:: {header}\n"
                     f"   :sections: {ABOUT}\n```\n")
    for namespace in CPP_NAMESPACES:
        parts.append(f"## Name space {namespace}\n\n```{{eval-rst}}\n.. doxygennamespace:: {namespace}\n"
                     "   :content-only:\n   :members:\n   :undoc-members:\n```\n")
    return "\n".join(parts)


def run_doxygen(root, folder):
    headers = [C_HEADER] + [header for header, _ in CPP_HEADERS]
    settings = {
        "INPUT": " ".join(f'"{root / header}"' for header in headers), "OUTPUT_DIRECTORY": f'"{folder}"',
        "GENERATE_HTML": "NO", "GENERATE_LATEX": "NO", "GENERATE_XML": "YES", "XML_PROGRAMLISTING": "NO",
        "FILTER_PATTERNS": f'"*.h={sys.executable} -B {root / "docs/site/doxygen_filter.py"}"',
        "STRIP_FROM_PATH": f'"{root}"', "FULL_PATH_NAMES": "YES", "EXTRACT_ALL": "YES", "QUIET": "YES",
        "WARNINGS": "NO", "MACRO_EXPANSION": "YES", "PREDEFINED": "__cplusplus=0", "JAVADOC_AUTOBRIEF": "NO",
        "EXTRACT_PRIVATE": "NO", "EXTRACT_ANON_NSPACES": "NO", "HIDE_UNDOC_RELATIONS": "YES",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Doxyfile").write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    subprocess.run(["doxygen", folder / "Doxyfile"], check=True)
    return folder / "xml"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--generated", type=pathlib.Path, help="folder of pages made of TableGen sources")
    parser.add_argument("--commands", type=pathlib.Path, help="folder of the built commands")
    parser.add_argument("--python", type=pathlib.Path, help="folder of the built package")
    arguments = parser.parse_args()
    root, out = arguments.source.resolve(), arguments.out.resolve()
    stage = Stage(root, out / "source")
    for page in stage.pages:
        stage.add_page(page)
    stage.write("index.md", (root / "docs/site/index.md").read_text(encoding="utf-8"))
    for page in sorted(arguments.generated.glob("*.md")):
        stage.write(f"generated/{page.name}", tablegen_page(page))
    stage.write("generated/commands.md", commands_page(arguments.commands))
    stage.write("generated/instructions.md", instructions_page(arguments.commands))
    stage.write("generated/target-values.md", target_values_page(root))
    stage.write("generated/wse-schema.md", schema_page(root))
    stage.write("generated/api-python.md", python_page())
    stage.write("generated/api-c.md", c_page())
    stage.write("generated/api-cpp.md", cpp_page())
    environment = {**os.environ, "WSC_VERSION": arguments.version, "PYTHONPATH": str(arguments.python),
                   "WSC_DOXYGEN_XML": str(run_doxygen(root, out / "doxygen")), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", out / "doctrees",
                           "-c", root / "docs/site", out / "source", out / "html"], env=environment, check=False)
    if done.returncode == 0:
        print(out / "html/index.html")
    return done.returncode


def tablegen_page(page):
    """What mlir-tblgen writes, with a title, as it begins with an HTML comment and has none for passes."""
    text = re.sub(r"<!--.*?-->\s*", "", page.read_text(encoding="utf-8"), flags=re.DOTALL).replace("[TOC]", "")
    name = page.stem.partition("-")[2]
    if not re.match(r"# ", text):
        text = f"# Passes of {name}\n\n" + re.sub(r"^#(##+) ", r"\1 ", text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    sys.exit(main())
