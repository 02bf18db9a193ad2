#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job beside tf.data, on the same files: answers first, then ratios.

    bench/compare/run.py [--json FILE] [--pairs 3] [--files GLOB] [--ours PROGRAM] [--python PYTHON]

Prints rows of name, reference, figure, goal, ok; exits 1 when an answer differs or a goal is missed, and 0 with a
message when TensorFlow cannot be imported. Ours and theirs alternate, so that a noisy neighbour meets both; every
figure is a median. README.md defines what the two programs print.
"""
import argparse
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
THEIRS = HERE / "main_job" / "tf_data.py"
# form of tf.data → how many times faster we promise to be
GOALS = {"per_record": 100, "vectorised": 5}
ANSWER = ("elements", "batches", "label_sum", "digest")


def python_with_tensorflow(asked):
    """The first interpreter that can import TensorFlow, or None."""
    candidates = [asked, os.environ.get("SLUICE_TF_PYTHON"), str(ROOT / ".cache/tf_venv/bin/python"), sys.executable]
    for python in filter(None, candidates):
        try:
            subprocess.run([python, "-c", "import tensorflow"], check=True, capture_output=True, timeout=120)
            return python
        except (OSError, subprocess.SubprocessError):
            continue
    return None


def ask(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:3]))} … failed with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(form, ours, theirs, files, pairs):
    """One row: refuses to time two programs that do not give the same answer."""
    first = {"ours": ask([*ours, *files]), "theirs": ask([*theirs, "--form", form, *files])}
    for key in ANSWER:
        if first["ours"][key] != first["theirs"][key]:
            return {"name": f"main job, {form}", "reference": first["theirs"]["system"], "figure": None, "goal": GOALS[form], "ok": False,
                    "note": f"{key} differs: ours {first['ours'][key]}, theirs {first['theirs'][key]}"}
    passes = {"ours": [], "theirs": []}
    for _ in range(pairs):
        passes["ours"].append(ask([*ours, "--skip-answer", *files]))
        passes["theirs"].append(ask([*theirs, "--form", form, "--skip-answer", *files]))
    wall, cpu = (ratios(passes, key) for key in ("seconds", "cpu_seconds"))
    figure = statistics.median(wall)
    return {"name": f"main job, {form}", "reference": f"tf.data {first['theirs']['versions']['tensorflow']}", "figure": round(figure, 2),
            "goal": GOALS[form], "ok": figure >= GOALS[form], "unit": "times faster", "spread": [round(min(wall), 2), round(max(wall), 2)],
            "cpu_ratio": round(statistics.median(cpu), 2), "elements": first["ours"]["elements"],
            "ns_per_element": {who: round(median_ns(p, "seconds"), 1) for who, p in passes.items()},
            "cpu_ns_per_element": {who: round(median_ns(p, "cpu_seconds"), 1) for who, p in passes.items()},
            "versions": {"ours": first["ours"]["versions"], "theirs": first["theirs"]["versions"]}}


def ratios(passes, key):
    return [theirs[key] / ours[key] for ours, theirs in zip(passes["ours"], passes["theirs"])]


def median_ns(passes, key):
    return statistics.median(p[key] / p["elements"] for p in passes) * 1e9


def print_row(row):
    verdict = "ok" if row["ok"] else "MISSED"
    if row["figure"] is None:
        print(f"{row['name']:<24} {row['reference']:<20} {'-':>9} >= {row['goal']:>4}x  {verdict}: {row['note']}", flush=True)
        return
    ns = row["ns_per_element"]
    print(f"{row['name']:<24} {row['reference']:<20} {row['figure']:>8.1f}x >= {row['goal']:>4}x  {verdict:<6}"
          f" ours {ns['ours']:.0f} ns, theirs {ns['theirs']:.0f} ns an element, {row['spread'][0]}x to {row['spread'][1]}x, by CPU time {row['cpu_ratio']}x", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", metavar="FILE")
    arguments.add_argument("--pairs", type=int, default=3)
    arguments.add_argument("--files", default=str(ROOT / "data/sample-*.tfrecord"), metavar="GLOB")
    arguments.add_argument("--ours", default=str(ROOT / "build/compare_main_job"), metavar="PROGRAM")
    arguments.add_argument("--python", metavar="PYTHON")
    arguments.add_argument("--form", choices=GOALS, action="append")
    asked = arguments.parse_args()

    python = python_with_tensorflow(asked.python)
    if python is None:
        print("skipped: TensorFlow cannot be imported; bench/compare/setup.sh installs it, or set SLUICE_TF_PYTHON")
        return 0
    files = sorted(glob.glob(asked.files))
    if not files:
        sys.exit(f"no file matches {asked.files}; `./dev run` writes the sample, or bench/compare/main_job/sample.py does")
    rows = []
    for form in asked.form or GOALS:
        rows.append(compare(form, [asked.ours], [python, str(THEIRS)], files, asked.pairs))
        print_row(rows[-1])
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
