#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each verb that tf.data has, too, over 64-bit integers beside it: answers first, then ratios.

    bench/compare/verbs.py [NAME…] [--pairs 3] [--markdown] [--python PYTHON]

A row's figure is tf.data's wall time for an element of the input over ours: the median of pairs that alternate. Both sides use all
cores, and batches of 1,000 behind the verb where it gives numbers.
"""
import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys

from run import ROOT, ask, python_with_tensorflow

THEIRS = pathlib.Path(__file__).resolve().parent / "verbs" / "tf_data.py"
FILES = ROOT / ".cache" / "compare_verbs"
GOAL = 50
# Of files; others: GOAL.
GOALS = {"lines": 20, "csv": 20, "sql": 1, "tfrecord, 100 B": 30, "tfrecord, 1 KB": 10, "tfrecord, 10 KB": 3.5, "tfrecord, 150 KB": 3.5,
         "tfrecord, 1 KB, skip": 1}
ANSWERED = 10_000                      # elements whose sums are compared
SECONDS = 0.25                         # that a pass takes at the least
THEIRS_FIRST, OURS_FIRST = 10_000, 100_000


def write_files(python):
    """What the rows of files read: a line is 72 bytes, a row of numbers.csv four integers."""
    FILES.mkdir(parents=True, exist_ok=True)
    lines = FILES / "lines.txt"
    if not lines.exists():
        lines.write_text("".join(f"{i:071d}\n" for i in range(1_000_000)))
    numbers = FILES / "numbers.csv"
    if not numbers.exists():
        numbers.write_text("".join(f"{i},{i + 1},{i * 7},{-i}\n" for i in range(1_000_000)))
    if not (FILES / "numbers.db").exists():
        with contextlib.closing(sqlite3.connect(FILES / "numbers.db")) as made:
            made.execute("CREATE TABLE numbers(x INTEGER PRIMARY KEY)")
            made.executemany("INSERT INTO numbers VALUES(?)", ((i,) for i in range(1_000_000)))
            made.commit()
    if not (FILES / "150000.tfrecord").exists():
        subprocess.run([python, THEIRS, "write", FILES], check=True, stderr=subprocess.DEVNULL)
    os.environ["COMPARE_FILES"] = str(FILES)


class Theirs:
    """TensorFlow takes seconds to start: one process for all rows."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, THEIRS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def __call__(self, name, n, answer=False):
        self.process.stdin.write(f"'{name}' {n} {'--answer' if answer else ''}\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        if not said:
            sys.exit(f"{name}: tf.data's side ended")
        return json.loads(said)


def enough(side, name, n):
    """As many elements as take SECONDS; whole thousands, which all rows divide."""
    seconds = side(name, n)["seconds"]
    while seconds < SECONDS and n < 200_000_000:
        n = min(int(n * min(10, 1.5 * SECONDS / max(seconds, 1e-6)) // 10_000 + 1) * 10_000, 200_000_000)
        seconds = side(name, n)["seconds"]
    return n


def compare(name, ours, theirs, pairs):
    answers = ours(name, ANSWERED, True)["sum"], theirs(name, ANSWERED, True)["sum"]
    if answers[0] != answers[1]:
        return {"name": name, "note": f"the sums differ: ours {answers[0]}, theirs {answers[1]}"}
    n_ours, n_theirs = enough(ours, name, OURS_FIRST), enough(theirs, name, THEIRS_FIRST)
    passes = [(ours(name, n_ours)["seconds"] / n_ours * 1e9, theirs(name, n_theirs)["seconds"] / n_theirs * 1e9) for _ in range(pairs)]
    ratios = [t / o for o, t in passes]
    return {"name": name, "ours": statistics.median(o for o, _ in passes), "theirs": statistics.median(t for _, t in passes),
            "figure": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", metavar="NAME")
    arguments.add_argument("--pairs", type=int, default=3)
    arguments.add_argument("--markdown", action="store_true", help="as docs/internals/measurements.md has it")
    arguments.add_argument("--ours", default=str(ROOT / "build/compare_verbs"), metavar="PROGRAM")
    arguments.add_argument("--python", metavar="PYTHON")
    asked = arguments.parse_args()
    python = python_with_tensorflow(asked.python)
    if python is None:
        print("skipped: TensorFlow cannot be imported; bench/compare/setup.sh installs it, or set SLUICE_TF_PYTHON")
        return 0
    all_names = subprocess.run([asked.ours], capture_output=True, text=True, check=True).stdout.splitlines()
    ours = lambda name, n, answer=False: ask([asked.ours, name, str(n), *(["--answer"] if answer else [])])  # noqa: E731
    write_files(python)
    theirs = Theirs(python)
    kept = True
    if asked.markdown:
        print("| verb | ours, ns an element | tf.data, ns | times faster | spread |\n|---|---|---|---|---|")
    for name in asked.names or all_names:
        row = compare(name, ours, theirs, asked.pairs)
        if "note" in row:
            kept = False
            print(f"{name}: {row['note']}", flush=True)
            continue
        goal = GOALS.get(name, GOAL)
        kept = kept and row["figure"] >= goal
        if asked.markdown:
            print(f"| `{name}` | {row['ours']:.2f} | {row['theirs']:,.0f} | {row['figure']:,.0f} | "
                  f"{row['least']:,.0f} to {row['most']:,.0f} |", flush=True)
        else:
            print(f"{name:<28} ours {row['ours']:9.2f} ns  tf.data {row['theirs']:10.1f} ns  {row['figure']:8.1f}x >= {goal}x  "
                  f"{'ok' if row['figure'] >= goal else 'MISSED'}  {row['least']:.1f}x to {row['most']:.1f}x", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
