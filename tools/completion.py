#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the bash completion of a command from its --help.

    completion.py COMMAND -o FILE

Options are the words that begin with a dash at the start of a line of the help; their values are what the help lists
in braces behind them ({core,cycle}); where it lists none, files are completed.
"""
import os
import re
import subprocess
import sys

# "  -o, --output TEXT ..." or "  --engine TEXT:{core,cycle} [core] ..."
OPTION = re.compile(r"^\s{1,8}((?:-{1,2}[A-Za-z][\w-]*(?:,\s?|\s|=|$))+)(.*)$")


def options(text):
    """[(words, values)] in the order of the help."""
    found = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match:
            values = re.search(r"\{([\w.,-]+)\}", match.group(2))
            words = re.findall(r"-{1,2}[A-Za-z][\w-]*", match.group(1))
            found.append((words, values.group(1).split(",") if values else []))
    return found


def script(command, text):
    found = options(text)
    if not found:
        sys.exit(f"error: {command} --help lists no options")
    words = " ".join(word for names, _ in found for word in names)
    name = "_" + re.sub(r"\W", "_", command)
    lines = [f"# Completion of {command} for bash; made from {command} --help.", f"{name}() {{",
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}", "  case $before in"]
    for names, values in found:
        if values:
            lines.append(f"  {'|'.join(names)}) COMPREPLY=($(compgen -W '{' '.join(values)}' -- \"$word\")); return ;;")
    lines += ["  esac", "  if [[ $word == -* ]]; then", f"    COMPREPLY=($(compgen -W '{words}' -- \"$word\"))",
              "  else", "    COMPREPLY=($(compgen -f -- \"$word\"))",
              "  fi", "}", f"complete -o filenames -F {name} {command}", ""]
    return "\n".join(lines)


def main():
    if len(sys.argv) != 4 or sys.argv[2] != "-o":
        sys.exit(__doc__)
    text = subprocess.run([sys.argv[1], "--help"], capture_output=True, text=True, check=True).stdout
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write(script(os.path.basename(sys.argv[1]), text))


if __name__ == "__main__":
    main()
