# SPDX-License-Identifier: GPL-2.0
"""
Sphinx configuration: "make html" builds build/html from this directory, and "make
man" builds build/man.

The descriptions of functions and structures are kernel-doc comments in the
sources. What reads them is the kernel's own: Documentation/sphinx/kerneldoc.py
and scripts/kernel-doc of a kernel source tree. That tree is the one which
TWHEEL_KERNEL_SOURCE names, or else what tests/vm/kernel takes of Debian's
linux-source and keeps in the cache of the tests.
"""
import csv
import importlib.util
import os
import subprocess
import sys

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def kernel_source():
    """The directory of the kernel source tree."""
    directory = os.environ.get("TWHEEL_KERNEL_SOURCE")
    if not directory:
        directory = subprocess.run(
            [os.path.join(top, "tests/vm/kernel"), "source-docs"],
            stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    return directory


source = kernel_source()
sys.path.insert(0, os.path.join(source, "Documentation/sphinx"))

project = "twheel"
author = "The twheel developers"
copyright = "the twheel developers, GPL-2.0"

# automarkup makes a link of each function() that is described somewhere.
extensions = ["kerneldoc", "automarkup"]
kerneldoc_bin = os.path.join(source, "scripts/kernel-doc")
kerneldoc_srctree = top
kerneldoc_verbosity = 1

# The descriptions in twheel.9.rst are those of kernel-api.rst, and C knows no two
# functions of one name. So "sphinx-build -t man" reads the manual only.
if tags.has("man"):
    root_doc = "twheel.4"
    include_patterns = ["twheel.*.rst"]
    exclude_patterns = []
else:
    exclude_patterns = ["examples", "twheel.9.rst"]
primary_domain = "c"
highlight_language = "none"
smartquotes = False
# Words that kernel-doc leaves in a declaration.
c_id_attributes = ["__user", "__init", "__exit", "TWHEEL_INLINE"]

# Drawn from constants and names of the sources. Not in git.
subprocess.run([sys.executable, os.path.join(top, "Documentation/figures/wheel.py"),
                os.path.join(top, "twheel_hier.h"),
                os.path.join(top, "Documentation/figures")], check=True)
subprocess.run([sys.executable, os.path.join(top, "Documentation/figures/bases.py"), top,
                os.path.join(top, "Documentation/figures")], check=True)
# Tables of tests, from the tests.
subprocess.run([sys.executable, os.path.join(top, "Documentation/figures/tests.py"), top,
                os.path.join(top, "Documentation/figures")], check=True)

# What more than one page states is in figures.csv, and |NAME| in a page.
with open(os.path.join(top, "Documentation/figures.csv"), encoding="utf-8") as figures:
    rst_epilog = "".join(f".. |{row['name']}| replace:: {int(row['value']):,}\n"
                         for row in csv.DictReader(figures))

# Sphinx without Debian's package furo has its own theme still.
if importlib.util.find_spec("furo"):
    html_theme = "furo"
    # Debian's furo has no dark page, but dark code. So code is as light as the page.
    pygments_dark_style = "tango"
html_title = "twheel"
html_static_path = ["_static"]
html_css_files = ["twheel.css"]
html_copy_source = False
html_show_copyright = False

man_pages = [
    ("twheel.4", "twheel", "timers by the million through one file descriptor",
     author, 4),
    ("twheel.9", "twheel", "timing wheels for kernel modules", author, 9),
]
