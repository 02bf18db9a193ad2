# SPDX-License-Identifier: Apache-2.0
"""Runs the test executables of a build folder and the script tests, in parallel; prints what failed and the count.

  run_tests.py BUILD [--scripts | --all | --scripts-of PATH] [--only FOLDER]… [--jobs N]
  run_tests.py BUILD --operator NAME
  run_tests.py BUILD --stress TIMES [--only FOLDER]… [--jobs N]

--scripts runs the scripts that a contributor needs, --all also those of packages, servers, documents and compilers' messages, which compile
again or start other programs. Scripts of a folder that --only names always run. --operator runs the rows of one operator in every way, the
suites of all operators, and the operator's own cases. --stress runs the tests that use threads, other processes or a clock TIMES times, while
four processes keep the cores busy; with 0 it prints their names.

Every Catch2 test case gets a process of its own: a crash costs one test, the slow ones spread over the cores, and no
test lives on state that another left behind. The last line is `N passed, N failed`; the exit status says the same.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = int(os.environ.get("SLUICE_TEST_TIMEOUT", "600"))
ONLY_WITH_ALL = ("packaging/", "hazards/", "docs/", "http/", "bench/", "arrow/", "faults/", "io/", "tidy/headers_test.py", "tidy/joined_test.py")
# What a test source contains whose result could depend on how fast the machine is.
REAL_TIME = {".cpp": re.compile(r"std::j?thread\b|\b(?:steady|system)_clock\b|\bruntime(?:_options)?\b[^;]*\bworkers\b|kTwoWorkers|loopback_server"),
             ".py": re.compile(r"^(?:import|from) (?:[\w, ]*\b)?(?:socket|threading|time|signal)\b|\bPopen\b", re.M)}
SPINNING = 4
SCRIPT_PATTERNS = ["tests/**/*_test.py", "tests/**/*_test.sh"]


def catch_cases(executable, spec=None, options=()):
    if not pathlib.Path(executable).exists():
        return [(f"{pathlib.Path(executable).name} is not built", ["sh", "-c", f"ls {executable}"])]
    listing = subprocess.run([executable, *options, "--list-test-names-only", spec or "~[.]"], capture_output=True, text=True)
    names = [line for line in listing.stdout.splitlines() if line.strip()]
    if listing.returncode < 0 or not names:
        return [(f"{pathlib.Path(executable).name} cannot list its tests", ["sh", "-c", f"{executable} --list-test-names-only; exit 1"])]
    folder = pathlib.Path(executable).name.removesuffix("_tests")
    # A backslash keeps Catch2 from reading the name as a pattern.
    escaped = [re.sub(r"([\\,\[*~\"])", r"\\\1", name) for name in names]
    return [(f"{folder}: {name}", [executable, spec]) for name, spec in zip(names, escaped)]


def script_cases(folders, only):
    scripts = sorted({path for pattern in SCRIPT_PATTERNS for path in ROOT.glob(pattern)})
    scripts = [s for s in scripts if not folders or s.relative_to(ROOT / "tests").as_posix().startswith(tuple(folders))]
    chosen = [s for s in scripts if not only or s.relative_to(ROOT / "tests").parts[0] in only]
    return [(str(s.relative_to(ROOT)), ["python3" if s.suffix == ".py" else "bash", str(s)]) for s in chosen]


def count(output, succeeded):
    """A script that ends with `N passed, N failed` counts its own checks; anything else is one."""
    match = re.search(r"(\d+) passed, (\d+) failed\s*\Z", output)
    if not match:
        return int(succeeded), int(not succeeded)
    passed, failed = map(int, match.groups())
    return passed, failed if succeeded else max(failed, 1)


def run(case):
    name, command = case
    started = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_SECONDS, cwd=ROOT, errors="replace", text=True)
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as expired:
        tail = (expired.stdout or b"").decode(errors="replace")[-4000:]
        output, status = f"{tail}\nstill running after {TIMEOUT_SECONDS} s", 124
    if "No test cases matched" in output:
        status = status or 1
    return name, command, status, output, time.monotonic() - started


def report(name, command, status, output):
    meaning = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
    print(f"FAILED {name}: {meaning}\n  {subprocess.list2cmdline(command)}")
    print("\n".join("  | " + line for line in output.strip().splitlines()[-80:]), flush=True)


def cases_of_operator(build, name):
    rows = ROOT / f"tests/verbs/{name}.tsv"
    if not rows.exists():
        sys.exit(f"no operator {name} has rows: {rows.relative_to(ROOT)} does not exist")
    os.environ["SLUICE_TEST_ROWS"] = str(rows.relative_to(ROOT))
    cases = [("tests/tidy/operators_test.py", ["python3", str(ROOT / "tests/tidy/operators_test.py")])]
    suites = f"[every_verb],*elements of every kind*,*print as*,{name}*,* {name} *"
    return cases + catch_cases(str(build / "runners_tests")) + catch_cases(str(build / "op_tests"), suites)


def uses_real_time(path):
    pattern = REAL_TIME.get(path.suffix)
    return pattern is not None and pattern.search(path.read_text()) is not None


def cases_in_real_time(build, given):
    """Cases of the sources that use threads, other processes or a clock. Catch2 names a case's source by the tag `#` and its stem."""
    cases = [case for case in script_cases([], given.only) if uses_real_time(ROOT / case[0]) and not case[0].startswith("tests/tidy/")]
    for folder in sorted(path for path in (ROOT / "tests").iterdir() if (build / f"{path.name}_tests").exists()):
        sources = [path for path in sorted(folder.rglob("*_test.cpp")) if uses_real_time(path)]
        if sources and (not given.only or folder.name in given.only):
            cases += catch_cases(str(build / f"{folder.name}_tests"), ",".join(f"[#{path.stem}]~[.]" for path in sources), ["-#"])
    return cases


def collect(build, given):
    if given.stress is not None:
        return cases_in_real_time(build, given) * max(given.stress, 1)
    if given.operator:
        return cases_of_operator(build, given.operator)
    only = given.only
    cases = script_cases(given.scripts_of, only) if given.scripts or given.all or given.scripts_of else []
    if given.scripts and not given.all and not only:
        cases = [c for c in cases if not c[0].removeprefix("tests/").startswith(ONLY_WITH_ALL)]
    listing = build / "meson-info/intro-tests.json"
    for test in json.loads(listing.read_text()) if listing.exists() else []:
        if not only or test["name"] in only:
            cases += catch_cases(test["cmd"][0])
    return cases


class progress:
    """One line on a terminal that is written again and again, and nothing elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.failed = total, 0, 0

    def step(self, failed):
        self.done, self.failed = self.done + 1, self.failed + failed
        if sys.stderr.isatty():
            trouble = f", {self.failed} failed" if self.failed else ""
            sys.stderr.write(f"\r\033[Ktesting: {self.done} of {self.total}{trouble}")
            sys.stderr.flush()

    def clear(self):
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--only", action="append", default=[])
    arguments.add_argument("--scripts", action="store_true")
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--scripts-of", action="append", default=[])
    arguments.add_argument("--operator")
    arguments.add_argument("--stress", type=int, metavar="TIMES")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--slowest", type=int, default=0)
    given = arguments.parse_args()
    build = given.build.resolve()
    os.environ["SLUICE_BUILD"] = str(build)  # for scripts that run the program

    cases = collect(build, given)
    if given.stress == 0:
        print("\n".join(name for name, _ in cases))
        return 0
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(SPINNING if given.stress else 0)]
    try:
        return run_all(cases, given)
    finally:
        for process in spinning:
            process.kill()


def run_all(cases, given):
    passed = failed = 0
    times = []
    shown = progress(len(cases))
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, case) for case in cases]):
            name, command, status, output, seconds = done.result()
            good, bad = count(output, status == 0) if command[0] in ("python3", "bash") else (int(not status), int(bool(status)))
            passed, failed = passed + good, failed + bad
            times.append((seconds, name))
            if bad:
                shown.clear()
                report(name, command, status, output)
            shown.step(bool(bad))
    shown.clear()
    for seconds, name in sorted(times, reverse=True)[:given.slowest]:
        print(f"{seconds:8.2f} s  {name}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
