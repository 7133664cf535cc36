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
import re
import subprocess
import sys

from docutils import nodes
from sphinx import addnodes

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

# The extension of this name, whose functions link_literals() calls.
automarkup = importlib.import_module("automarkup")

project = "twheel"
with open(os.path.join(top, "dkms.conf"), encoding="utf-8") as dkms:
    version = release = re.search(r'^PACKAGE_VERSION="(.*)"', dkms.read(), re.M)[1]
author = "The twheel developers"
copyright = "the twheel developers, GPL-2.0"

# automarkup makes a link of each function() that is described somewhere.
extensions = ["kerneldoc", "automarkup"]
# Buttons that copy what a page says to type, if Debian's python3-sphinx-copybutton is there.
if importlib.util.find_spec("sphinx_copybutton"):
    extensions.append("sphinx_copybutton")
kerneldoc_bin = os.path.join(source, "scripts/kernel-doc")
kerneldoc_srctree = top
kerneldoc_verbosity = 1

# The descriptions in twheel.9.rst are those of kernel-api.rst, and C knows no two
# functions of one name. So "sphinx-build -t man" reads the manual only.
if tags.has("man"):
    root_doc = "twheel.9"
    include_patterns = ["twheel.9.rst"]
    exclude_patterns = []
else:
    exclude_patterns = ["examples", "twheel.9.rst"]
primary_domain = "c"
highlight_language = "none"
smartquotes = False
# Words that kernel-doc leaves in a declaration.
macros = ("TWHEEL_INLINE", "TWHEEL_TIMERS_API")
c_id_attributes = ["__user", "__init", "__exit", *macros]

# Drawn from constants and names of the sources. Not in git.
subprocess.run([sys.executable, os.path.join(top, "Documentation/figures/wheel.py"),
                os.path.join(top, "twheel_hier.h"),
                os.path.join(top, "Documentation/figures")], check=True)
subprocess.run([sys.executable, os.path.join(top, "Documentation/figures/bases.py"), top,
                os.path.join(top, "Documentation/figures")], check=True)

# The figures are in data/. Pages include its tables, and |NAME| in a page stands for a single
# cell.
def cell(table, row, column):
    """A figure of data/TABLE.csv."""
    with open(os.path.join(top, f"Documentation/data/{table}.csv"), encoding="utf-8") as data:
        rows = csv.DictReader(data)
        return next(line for line in rows if line[rows.fieldnames[0]] == row)[column]


with open(os.path.join(top, "Documentation/data/figures.csv"), encoding="utf-8") as names:
    rst_epilog = "".join(f".. |{row.pop('name')}| replace:: {int(cell(**row)):,}\n"
                         for row in csv.DictReader(names))


def numbers(_, doctree):
    """In tables: group the digits of numbers, and align columns of numbers to the right."""
    for group in doctree.findall(nodes.tgroup):
        for head, *column in zip(*(row.children for row in group.findall(nodes.row))):
            texts = [entry.astext() for entry in column]
            if not any(texts) or not all(re.fullmatch(r"[-+]?[\d.,]*( [kM])?( to [\d.,]+)?( (ns|us|ms|s|%|KiB))?", text) for text in texts):
                continue
            for entry in [head] + column:
                entry["classes"].append("number")
                for text in list(entry.findall(nodes.Text)):
                    if re.fullmatch(r"\d{4,}", text):
                        text.parent.replace(text, nodes.Text(f"{int(text):,}"))


def plain(_, doctree):
    """Prototypes without the macro before them."""
    for signature in doctree.findall(addnodes.desc_signature):
        for text in [text for text in signature.findall(nodes.Text) if text in macros]:
            line = text.parent
            del line[line.index(text):line.index(text) + 2]


def link_literals(app, doctree, docname):
    """Have a literal ``function()`` be a link, as function() without quotes is by automarkup."""
    for literal in list(doctree.findall(nodes.literal)):
        name = automarkup.RE_function.fullmatch(literal.astext())
        if name and not isinstance(literal.parent, nodes.reference):
            link = automarkup.markup_func_ref_sphinx3(docname, app, name)
            if isinstance(link, nodes.reference):
                literal.replace_self(link)


def setup(app):
    app.connect("doctree-read", numbers)
    app.connect("doctree-read", plain)
    # After automarkup, which looks for the namespace of the page.
    app.connect("doctree-resolved", link_literals, priority=900)


# Sphinx without Debian's package furo has its own theme still.
if importlib.util.find_spec("furo"):
    html_theme = "furo"
    # Debian's furo has no dark page, but dark code. So code is as light as the page.
    pygments_dark_style = "tango"
html_title = f"twheel {version}"
html_static_path = ["_static"]
html_css_files = ["twheel.css"]
html_copy_source = False
html_show_copyright = False

man_pages = [("twheel.9", "twheel", "timing wheels for kernel modules", author, 9)]
