# SPDX-License-Identifier: Apache-2.0
"""Users who turn every usual warning on get none from us: all public headers and all examples, not as system headers, with
both compilers, in C++20 and C++23."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic"]
FLAGS = ["-fsyntax-only", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-I", "include", "-x", "c++", "-"]


def programs():
    headers = sorted(p.relative_to(ROOT / "include") for p in (ROOT / "include").rglob("*.hpp"))
    # One file with everything in it: the templates of the headers are instantiated with the examples' types.
    yield "all headers", "".join(f'#include "{h}"\n' for h in headers)
    for example in sorted((ROOT / "examples").glob("*.cpp")):
        yield example.name, example.read_text()


def warnings(compiler, standard, text):
    done = subprocess.run([compiler, f"-std=c++{standard}", *WARNINGS, *FLAGS], input=text, cwd=ROOT, capture_output=True, text=True)
    return done.stderr if done.returncode or "warning:" in done.stderr else ""


def main():
    compilers = [c for c in ("clang++-19", "g++-12") if shutil.which(c)]
    passed = failed = 0
    cases = [(c, s, name, text) for c in compilers for name, text in programs() for s in ((20, 23) if name == "all headers" else (20,))]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SLUICE_JOBS", os.cpu_count()))) as pool:
        control = [(c, pool.submit(warnings, c, 20, "int f(long x) { return x; }\n")) for c in compilers]
        found = [(case, pool.submit(warnings, case[0], case[1], case[3])) for case in cases]
        for compiler, answer in control:
            passed, failed = passed + bool(answer.result()), failed + (not answer.result())
            if not answer.result():
                print(f"{compiler} does not warn of a narrowing: this test cannot fail")
        for (compiler, standard, name, _), answer in found:
            passed, failed = passed + (not answer.result()), failed + bool(answer.result())
            if answer.result():
                print(f"{name} with {compiler} as C++{standard}:\n" + "\n".join(answer.result().splitlines()[:20]))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
