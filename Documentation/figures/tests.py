#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The tables of testing.rst, from the tests themselves

    tests.py TOP DIR        writes mutants.inc and selftests.inc into DIR

A mutant says what it breaks and who must see it, a program of tests/api/selftests in its
first comment what it is about. Without that there is no table.
"""
import glob
import os
import re
import sys


def table(path, headings, widths, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write(f".. list-table::\n   :header-rows: 1\n   :widths: {widths}\n\n")
        for row in [headings] + rows:
            mark = "*"
            for cell in row:
                out.write(f"   {mark} - {cell}\n")
                mark = " "


def found(pattern, text, path):
    match = re.search(pattern, text, re.M | re.S)
    if not match:
        sys.exit(f"{path}: nothing is {pattern!r}")
    return match.group(1)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def mutants(top):
    for path in sorted(glob.glob(os.path.join(top, "tests/mutants/*"))):
        if os.path.basename(path) == "run":
            continue
        text = read(path)
        seen = found(r"^seen='([^'\n]+)'$", text, path)
        run = re.search(r"^run='([^'\n]+)'$", text, re.M)
        yield (f"``{os.path.basename(path)}``", found(r"^what='(.*?)'$", text, path).replace("\\", "\\\\").replace("*", "\\*"),
               seen.replace(" ", ", ") + (f": ``{run.group(1)}``" if run else ""))


def selftests(top):
    for path in sorted(glob.glob(os.path.join(top, "tests/api/selftests/test_*.c"))):
        text = read(path)
        cases = re.findall(r"^TEST(?:_LIMIT)?\((\w+)", text, re.M)
        if not cases:
            sys.exit(f"{path} has no case")
        yield (f"``{os.path.basename(path)[5:-2]}``", found(r"^/\*\n \* (.*?)$", text, path),
               ", ".join(f"``{case}``" for case in cases))


def main(top, directory):
    table(os.path.join(directory, "mutants.inc"), ("Mutant", "Broken on purpose", "Seen by"), "18 42 40",
          list(mutants(top)))
    table(os.path.join(directory, "selftests.inc"), ("Program", "Subject", "Cases"), "14 26 60",
          list(selftests(top)))


main(*sys.argv[1:])
