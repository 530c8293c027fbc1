# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of Sphinx for the pages that build_site.py stages."""
import os

from pygments.lexers.special import TextLexer

project = "wsc"
author = "the wsc developers"
copyright = "the wsc developers, Apache-2.0 WITH LLVM-exception"
version = release = os.environ["WSC_VERSION"]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
highlight_language = "none"

html_theme = "furo"
html_title = f"wsc {version}"
html_show_sphinx = False
html_copy_source = False

breathe_projects = {"wsc": os.environ["WSC_DOXYGEN_XML"]}
breathe_default_project = "wsc"
breathe_show_include = False
breathe_domain_by_file_pattern = {"*/wsc.h": "c"}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "code"  # what stands in backquotes in docstrings
suppress_warnings = ["misc.highlighting_failure"]  # excerpts of programs need not be whole


class PlainLexer(TextLexer):
    """Languages of our pages that Pygments does not know, as plain text."""

    name = "IR"
    aliases = ["mlir", "flatbuffers"]


def indented_is_code(app, what, name, given, options, lines):
    """In docstrings, indented paragraphs are code."""
    made = []
    for at, line in enumerate(lines):
        if line.startswith("    ") and not (lines[at - 1] if at else "").strip():
            if not any(before.startswith("    ") for before in made[-2:]):
                made += [".. code-block:: python", ""]
        made.append(line)
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", indented_is_code)
    app.add_lexer("mlir", PlainLexer)
    app.add_lexer("flatbuffers", PlainLexer)
