#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Public folders only in what pkg-config says of a build that is not installed.

meson writes the libraries' own include folders into meson-uninstalled/*.pc: a program that is built with them could include private
headers, and would take `io/…` or `plan/…` of this tree for its own. Runs after each configuration.
"""
import os
import pathlib


def without_private_folders(line):
    if not line.startswith("Cflags:"):
        return line
    flags = [flag for flag in line.split()[1:] if not flag.startswith(("-I${prefix}", "-I${srcdir}"))]
    return " ".join(["Cflags:", "-I${srcdir}/include", *flags]) + "\n"


def main():
    folder = pathlib.Path(os.environ["MESON_BUILD_ROOT"]) / "meson-uninstalled"
    for config in folder.glob("sluice*-uninstalled.pc"):
        lines = config.read_text().splitlines(keepends=True)
        config.write_text("".join(without_private_folders(line) for line in lines))


if __name__ == "__main__":
    main()
