# SPDX-License-Identifier: Apache-2.0
"""`./dev bench compile [--passes N] [--compiler C]…`: what including sluice costs a program's author.

User seconds of one compilation at -O2, as a multiple of a reference that is compiled in turn with it; medians of N passes
(9), and the fastest. The first pass brings the headers into memory and is not counted.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = ["-std=c++20", "-O2", "-c", "-w", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-I", str(ROOT / "include"), "-o", "/dev/null"]
SMALL = "#include <memory>\n#include <string>\n"

# name: (program, flags), reference: (program, flags), goal
ROWS = {
    "sluice/sluice.hpp": (("#include <sluice/sluice.hpp>\n", []), "<memory> and <string>", (SMALL, []), 2.2),
    "a pipeline of a dozen stages": ((HERE / "ten_stages.cpp", []), "<memory> and <string>", (SMALL, []), 3.5),
    "an asio server with a stream per client":
        ((HERE / "asio_server.cpp", ["-DWITH_SLUICE"]), "the same server, plain asio", (HERE / "asio_server.cpp", []), 2.0),
}


def seconds(compiler, program, flags, folder):
    path = program
    if isinstance(program, str):
        path = pathlib.Path(folder) / "program.cpp"
        path.write_text(program)
    process = subprocess.Popen([compiler, *FLAGS, *flags, str(path)])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{path} does not compile with {compiler}")
    return usage.ru_utime


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--passes", type=int, default=9)
    arguments.add_argument("--compiler", action="append", default=[])
    given = arguments.parse_args()
    print(f"{'name':<48} {'reference':<30} {'figure':>7} {'goal':>7}  ok")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler in given.compiler or [c for c in ("clang++-19", "g++-12") if shutil.which(c)]:
            for name, (program, reference_name, reference, goal) in ROWS.items():
                pairs = [(seconds(compiler, *program, folder), seconds(compiler, *reference, folder)) for _ in range(given.passes + 1)][1:]
                ratio = statistics.median(ours / theirs for ours, theirs in pairs)
                ours, theirs = (min(p[i] for p in pairs) for i in (0, 1))
                missed += ratio > goal
                print(f"{name + ', ' + compiler:<48} {reference_name:<30} {ratio:7.2f} <={goal:5.2f}  {'ok' if ratio <= goal else 'MISSED':<6} "
                      f"x the user time; at best {ours:.2f} s and {theirs:.2f} s", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
