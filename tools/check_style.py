# SPDX-License-Identifier: Apache-2.0
"""`./dev check`: clang-format and clang-tidy over what changed since the last commit (or --all), then the style tests.
It also compiles the changed sources (or all) one by one, which the build compiles in groups (tools/check_alone.py).

`--fix` lets clang-format rewrite the files instead of complaining.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", "src", "io", "tests", "bench", "examples"]
BUILD = ROOT / "build"


def lines(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def chosen(everything):
    known = lines("git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS)
    if not everything:
        changed = set(lines("git", "diff", "--name-only", "HEAD")) | set(lines("git", "ls-files", "--others", "--exclude-standard"))
        known = [f for f in known if f in changed]
    return [f for f in known if f.endswith((".hpp", ".cpp")) and (ROOT / f).exists()]


def run(name, command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return name, done.returncode, done.stdout.strip()


def jobs(files, fix):
    for file in files:
        yield f"format {file}", ["clang-format-19", *(["-i"] if fix else ["--dry-run", "--Werror"]), file]
    sources = [f for f in files if f.endswith(".cpp") and not f.startswith("tests/")]  # Catch2's macros are noise
    if not (BUILD / "compile_commands.json").exists():
        print("clang-tidy is left out: ./dev build first")
        sources = []
    for file in sources:
        yield f"tidy {file}", ["clang-tidy-19", "--quiet", "-p", str(BUILD), file]
    alone = [f for f in files if f.endswith(".cpp")]
    if alone and (BUILD / "compile_commands.json").exists():
        yield "sources alone", ["python3", "tools/check_alone.py", *alone]
    for script in sorted((ROOT / "tests/tidy").glob("*_test.py")):
        yield str(script.relative_to(ROOT)), ["python3", str(script)]


def main(arguments):
    unknown = set(arguments) - {"--all", "--fix"}
    if unknown:
        print(f"unknown: {' '.join(unknown)}", file=sys.stderr)
        return 2
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(run, *job) for job in jobs(chosen("--all" in arguments), "--fix" in arguments)]
        for future in concurrent.futures.as_completed(work):
            name, status, output = future.result()
            passed, failed = passed + (status == 0), failed + (status != 0)
            if status:
                shown = [l for l in output.splitlines() if "warnings generated" not in l and "Suppressed" not in l]
                print(f"FAILED {name}\n" + "\n".join("  | " + l for l in shown[:30]), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
