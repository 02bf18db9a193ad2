# SPDX-License-Identifier: Apache-2.0
"""The tuner on this machine: scenarios of bench/tuner as real runs, beside the best setting of the simulated grid and tf.data.

  ./dev bench tuner [--goal 0.97] [--tf-elements 400] [--tf-python FILE] [--json FILE] [SCENARIO…]

Each row is one pipeline, run three times after each other: with the best setting of the grid, with the tuner, and in tf.data with
AUTOTUNE, once with as many threads as cores and once with 64. Rates are elements per second in the second half of a run. The goal
is the share of the best setting that the tuner reaches. Stages wait by timers, so a busy machine changes rates by some percent.
tf.data needs a Python with TensorFlow: --tf-python, SLUICE_TF_PYTHON, or bench/compare/setup.sh; otherwise its columns are empty.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCENARIOS = ["quiz", "slow_consumer", "sequential_bound", "jitter", "jitter_of_two", "three_calls", "long_tail", "one_in_ten_is_slow",
             "server_of_four"]
NOT_IN_TF_DATA = {"server_of_four"}  # its calls slow each other down, and a sleep in tf.data does not
TF_THREADS = [0, 64]


def ours(name):
    """The fields of the line that tests/tuner/scenarios_test.cpp prints for a scenario."""
    environment = dict(os.environ, SLUICE_TEST_SCENARIO=name)
    done = subprocess.run([str(ROOT / "build/tuner_tests"), "[.real]"], cwd=ROOT, env=environment, capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("real\t")]
    if done.returncode != 0 or len(rows) != 1:
        sys.exit(f"{name}: the run has failed\n{done.stdout}{done.stderr}")
    fixed, tuned = map(float, rows[0][2:4])
    best_calls, calls, steps = map(int, rows[0][4:7])
    return {"name": name, "fixed": fixed, "tuned": tuned, "share": tuned / fixed, "best_calls": best_calls, "calls": calls, "steps": steps,
            "seconds": float(rows[0][7])}


def tf_data(python, name, elements, threads):
    """Elements per second in tf.data; None: not available."""
    if not python or name in NOT_IN_TF_DATA:
        return None
    command = [python, str(ROOT / "bench/compare/tuner_tf_data.py"), "--elements", str(elements), "--threads", str(threads), name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 or "AUTOTUNE" not in done.stdout:
        print(f"# {name}: no row of tf.data: {(done.stdout + done.stderr).strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return float(done.stdout.split()[-1].removesuffix("/s"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--goal", type=float, default=0.97)
    parser.add_argument("--tf-elements", type=int, default=400)
    parser.add_argument("--tf-python", default=os.environ.get("SLUICE_TF_PYTHON", str(ROOT / ".cache/tf_venv/bin/python")))
    parser.add_argument("--json")
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    options = parser.parse_args()
    python = options.tf_python if os.path.exists(options.tf_python) else None
    if not python:
        print(f"# no TensorFlow at {options.tf_python}: bench/compare/setup.sh installs it", file=sys.stderr)
    print(f"{'elements per second':20} {'best':>7} {'tuner':>7} {'share':>6} {'calls':>9} {'steps':>5} {'0.95 after':>10}"
          f" {'tf.data':>8} {'64 threads':>10}")
    rows = []
    for name in options.scenarios or SCENARIOS:
        row = ours(name)
        row["tf_data"] = [tf_data(python, name, options.tf_elements, threads) for threads in TF_THREADS]
        row["goal"], row["ok"] = options.goal, row["share"] >= options.goal
        rows.append(row)
        theirs = " ".join("-".rjust(width) if rate is None else f"{rate:{width}.1f}" for rate, width in zip(row["tf_data"], (8, 10)))
        print(f"{name:20} {row['fixed']:7.1f} {row['tuned']:7.1f} {row['share']:6.2f} {row['calls']:4} / {row['best_calls']:<2} {row['steps']:5}"
              f" {row['seconds']:8.1f} s {theirs}  goal >= {options.goal:.2f}  {'ok' if row['ok'] else 'MISSED'}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
