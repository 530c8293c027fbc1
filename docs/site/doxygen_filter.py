#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Doxygen's input filter: prints a header with its plain comments as documentation comments.

A comment's own lines describe what follows, one behind a declaration describes that; the first comment describes the
file, without its first line (the licence). Comments inside of declarations that go over several lines stay as they are.
"""
import re
import sys


def as_code(text):
    """What is indented in a comment, as far as Markdown asks of code."""
    return "    " + text if text.startswith("   ") else text


def cpp(lines):
    yield "/// \\file"
    for line in lines[1:]:
        own = re.match(r"(\s*)//( .*)?$", line)
        behind = re.match(r"(.*[;,{}]) +// (.*)$", line)
        if own:
            yield f"{own[1]}///{as_code(own[2] or '')}"
        elif behind:
            yield f"{behind[1]} ///< {behind[2]}"
        else:
            yield line


def c(lines):
    text = "\n".join(lines)
    text = re.sub(r"\A/\*[^\n]*", r"/** \\file", text)
    text = re.sub(r"^ \*(   .*)$", lambda match: " *" + as_code(match[1]), text, flags=re.MULTILINE)
    text = re.sub(r"^/\*(?!\*) ", "/** ", text, flags=re.MULTILINE)
    text = re.sub(r"([;,]) +/\*(?!\*) ", r"\1 /**< ", text)
    text = re.sub(r"(= \d+) +/\*(?!\*) ", r"\1 /**< ", text)  # the last constant of an enumeration
    # Structures by their tags, which are their types' names.
    text = re.sub(r"^typedef (struct \w+ \{.*?\n\}) \w+;", r"\1;", text, flags=re.MULTILINE | re.DOTALL)
    return text.split("\n")


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
    print("\n".join(c(lines) if lines[0].startswith("/*") else cpp(lines)))


if __name__ == "__main__":
    main()
