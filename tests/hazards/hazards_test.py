# SPDX-License-Identifier: Apache-2.0
"""Each compiler trap of docs/internals/hazards.md, compiled and run: as written with the hazard, and in its safe form (-DSAFE).

The safe forms must be right on every compiler here. With the hazard, clang 19 must be right, and g++ 12 must be wrong in
the way that is known: the day it is not, the dialect can be relaxed, and this test says so.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BASE = ["-std=c++20", "-O0", "-w", "-pthread"]

# name: (hazard on clang, hazard on g++, has a safe form, extra flags of the hazard, extra flags of the safe form)
# Outcomes: right; wrong (a wrong answer or a crash); refused (does not compile).
HAZARDS = {
    "closure_argument": ("right", "wrong", True, [], []),
    "aggregate_argument": ("right", "wrong", True, [], []),
    "trivial_options": ("right", "right", False, [], []),
    "yield_aggregate": ("right", "wrong", True, [], []),
    "conditional_expression": ("right", "wrong", True, [], []),
    "conditional_argument": ("right", "wrong", True, [], []),
    "condition_without_local": ("right", "wrong", True, [], []),
    "canonical_loop": ("right", "right", False, [], []),
    "braced_list_argument": ("right", "refused", True, [], []),
    "awaiter_by_reference": ("right", "wrong", True, [], []),
    "deep_await": ("right", "wrong", True, [], ["-foptimize-sibling-calls"]),
    "throw_from_await": ("right", "right", False, [], []),
    "test_macro": ("right", "wrong", True, [], []),
    "capturing_coroutine": ("wrong", "wrong", True, ["-fsanitize=address"], ["-fsanitize=address"]),
    "thread_local_address": ("right", "right", False, ["-O2"], []),
    "closure_in_header": ("wrong", "wrong", True, [], []),
}


def compilers():
    """(command, family), of those that are installed; what g++ 12 gets wrong is asserted of 12 alone."""
    found = []
    if shutil.which("clang++-19"):
        found.append(("clang++-19", "clang"))
    if shutil.which("g++-12"):
        found.append(("g++-12", "g++"))
    return found


def outcome(compiler, name, flags, folder):
    program = pathlib.Path(folder) / f"{name}-{compiler}-{abs(hash(tuple(flags)))}"
    sources = sorted(str(p) for p in HERE.glob(f"{name}*.cpp"))
    built = subprocess.run([compiler, *BASE, *flags, *sources, "-o", str(program)], capture_output=True, text=True)
    if built.returncode:
        return "refused", built.stderr[:1500]
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, env=environment)
    right = ran.returncode == 0 and ran.stdout == "correct\n"
    return ("right" if right else "wrong"), f"exit status {ran.returncode}: {ran.stdout}{ran.stderr}"[:1500]


def cases():
    for compiler, family in compilers():
        for name, (on_clang, on_gcc, has_safe_form, hazard_flags, safe_flags) in HAZARDS.items():
            yield compiler, name, hazard_flags, on_clang if family == "clang" else on_gcc
            if has_safe_form:
                # clang makes the tail call without being asked and does not know the flag at -O0
                flags = [f for f in safe_flags if family == "g++" or f != "-foptimize-sibling-calls"]
                yield compiler, name, ["-DSAFE", *flags], "right"
                yield compiler, name, ["-DSAFE", *flags, "-O2"], "right"


def main():
    passed = failed = 0
    unlisted = {p.stem for p in HERE.glob("*.cpp")} - set(HAZARDS) - {"closure_in_header_other_file"}
    for name in sorted(unlisted):
        failed += 1
        print(f"{name}.cpp has no expectation in {__file__}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pending = [(case, pool.submit(outcome, *case[:3], folder)) for case in cases()]
        for (compiler, name, flags, expected), future in pending:
            got, detail = future.result()
            if got == expected:
                passed += 1
                continue
            failed += 1
            print(f"{name} {' '.join(flags)} with {compiler}: expected {expected}, got {got}\n  {detail}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
