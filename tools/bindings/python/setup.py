# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
The part of the setup that pyproject.toml cannot express: libtwheel is compiled into the package, as
a library that ctypes loads. With TWHEEL_SYSTEM=1, and in a tree without the library's source, the
package uses the libtwheel.so.1 of the system.
"""
import os

from setuptools import Extension, setup

SOURCE = "libtwheel/twheel.c"
own = os.path.exists(SOURCE) and os.environ.get("TWHEEL_SYSTEM") != "1"
setup(
    ext_modules=[Extension("twheel._libtwheel", [SOURCE], depends=["libtwheel/twheel.h"], py_limited_api=True,
                           extra_compile_args=["-std=gnu11", "-pthread"], extra_link_args=["-pthread", "-Wl,-Bsymbolic"])] if own else [],
    # One wheel (a package file) serves all versions of Python, because libtwheel does not use Python.
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if own else {},
)
