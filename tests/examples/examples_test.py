# SPDX-License-Identifier: Apache-2.0
"""Every example prints what stands in NAME.txt beside this script, every time. README.md shows 01_hello as it is.

`--update` writes the files anew; read the difference before you commit it.
"""
import difflib
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_SECONDS = 60


def run(program, folder):
    done = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                          cwd=folder)
    if done.returncode or done.stderr:
        return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def difference(expected, printed):
    return "\n".join(difflib.unified_diff(expected.splitlines(), printed.splitlines(), "expected", "printed", lineterm=""))


def complaints(name):
    program = ROOT / "build" / f"example_{name}"
    golden = HERE / f"{name}.txt"
    if not program.exists():
        return f"{program} is missing: ./dev build"
    with tempfile.TemporaryDirectory() as folder:
        printed = run(program, folder)
    if "--update" in sys.argv:
        golden.write_text(printed)
    return difference(golden.read_text() if golden.exists() else "", printed)


def readme_complaints():
    readme = (ROOT / "README.md").read_text()
    source = (ROOT / "examples/01_hello.cpp").read_text()
    program = source[source.index("#include"):].rstrip()
    printed = (HERE / "01_hello.txt").read_text().rstrip()
    return "\n".join(f"README.md does not show {what} of 01_hello as it is" for what, text in
                     (("the program", program), ("the output", printed)) if text not in readme)


def main():
    checks = {path.stem: complaints(path.stem) for path in sorted((ROOT / "examples").glob("*.cpp"))}
    checks["README.md"] = readme_complaints()
    for name, complaint in checks.items():
        if complaint:
            print(f"{name}:\n{complaint}")
    failed = sum(bool(c) for c in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
