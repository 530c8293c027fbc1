#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of all fields in runtime/target/README.md is that of the schema and of the built-in descriptions.

    target_fields.py ROOT
"""
import json
import pathlib
import re
import sys


def main():
    target = pathlib.Path(sys.argv[1], "runtime", "target")
    schema = re.search(r"table Description \{(.*?)\}", (target / "target.fbs").read_text(), re.DOTALL)[1]
    known = set(re.findall(r"^\s*(\w+):", schema, re.MULTILINE))
    table = (target / "README.md").read_text().split("## All fields")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    documented = [field for row in rows for field in re.findall(r"`(\w+)`", row)]
    problems = [f"{field} is not documented" for field in sorted(known - set(documented))]
    problems += [f"{field} is documented and does not exist" for field in sorted(set(documented) - known)]
    problems += [f"{field} is documented twice" for field in sorted(set(documented))
                 if documented.count(field) > 1]
    for file in sorted((target / "descriptions").glob("*.json")):
        problems += [f"{file.name}: {field} is not documented" for field in json.loads(file.read_text())
                     if field not in documented]
    if problems:
        sys.exit("error: runtime/target/README.md: " + "; ".join(problems))
    print(f"{len(documented)} fields")


if __name__ == "__main__":
    main()
