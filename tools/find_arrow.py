# SPDX-License-Identifier: Apache-2.0
"""Finds Arrow C++ inside an installed pyarrow, whose wheel has the headers and the libraries. meson.build asks for it where neither
pkg-config nor CMake knows Arrow.

  find_arrow.py        prints four lines: the version, the folder of the headers, and the paths of libarrow and libparquet;
                       prints nothing if no pyarrow is found

`./dev deps formats` installs pyarrow into .cache/formats, which is searched first; then follow the packages of the python3 that runs this.
"""
import importlib.util
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def folders():
    yield ROOT / ".cache/formats/pyarrow"
    spec = importlib.util.find_spec("pyarrow")
    if spec and spec.origin:
        yield pathlib.Path(spec.origin).parent


def library(folder, name):
    """The library with its version in its name, libarrow.so.2600: wheels have no other, and programs ask for that one when they start."""
    versions = sorted(folder.glob(f"lib{name}.so.*"), key=lambda p: (len(p.name), p.name))
    return versions[0] if versions else None


def arrow_in(folder):
    header = folder / "include/arrow/util/config.h"
    arrow, parquet = library(folder, "arrow"), library(folder, "parquet")
    if not header.is_file() or not (folder / "include/parquet/arrow/reader.h").is_file() or not arrow or not parquet:
        return None
    version = re.search(r'ARROW_VERSION_STRING "([^"]+)"', header.read_text())
    return [version[1], folder / "include", arrow, parquet] if version else None


def main():
    for folder in folders():
        found = arrow_in(folder)
        if found:
            print(*found, sep="\n")
            return


if __name__ == "__main__":
    main()
