# SPDX-License-Identifier: Apache-2.0
"""Parquet at a shell: the program beside pyarrow's reader on one thread, and beside DuckDB on one core and on two, alternately.

  python3 bench/parquet_bench.py [--pairs 5] [--rows 2000000] [--json FILE]     after ./dev build and ./dev deps formats

All read the same files from the page cache and must find the same numbers before they are timed. Times: ours are those that `sluice run`
reports, and theirs are taken around the read, so that neither counts the start of a process; the time of our whole process is printed
too. pyarrow yields batches of as many rows as ours. Prints medians in seconds, and the median of the pairs' ratios with its quartiles:
their time by ours.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/sluice"))
PACKAGES = str(ROOT / ".cache/formats")
GROUP_ROWS, WIDE_COLUMNS, BATCH_ROWS = 131_072, 50, 1024

PYARROW = """
import sys, time
sys.path.append(sys.argv[1])
import pyarrow.parquet
began = time.perf_counter()
file = pyarrow.parquet.ParquetFile(sys.argv[2])
rows = sum(b.num_rows for b in file.iter_batches(batch_size=int(sys.argv[3]), columns=sys.argv[4:] or None, use_threads=False))
print(rows, time.perf_counter() - began)
"""
DUCKDB = """
import sys, time
sys.path.append(sys.argv[1])
import duckdb
to = duckdb.connect()
to.execute(f"set threads = {sys.argv[3]}")
began = time.perf_counter()
total = to.execute(f"select sum(i0) from '{sys.argv[2]}' where d0 > 0.9").fetchone()[0]
print(total, time.perf_counter() - began)
"""
WRITE = """
import sys
sys.path.append(sys.argv[1])
import numpy, pyarrow, pyarrow.parquet
folder, rows, wide_columns, group_rows = sys.argv[2], *map(int, sys.argv[3:])
draw = numpy.random.default_rng(1)
words = numpy.array([f"word{n}-{'x' * (n % 13)}" for n in range(20_000)])
whole = {f"i{k}": draw.integers(0, 1 << 40, rows) for k in range(3)}
whole |= {f"d{k}": draw.random(rows) for k in range(3)}
whole |= {f"s{k}": words[draw.integers(0, len(words), rows)] for k in range(2)}
pyarrow.parquet.write_table(pyarrow.table(whole), folder + "/all.parquet", row_group_size=group_rows)
wide = {f"c{k:02}": draw.integers(0, 1 << 16, rows) if k % 2 else draw.random(rows).astype("float32") for k in range(wide_columns)}
pyarrow.parquet.write_table(pyarrow.table(wide), folder + "/wide.parquet", row_group_size=group_rows)
"""


def has(package):
    return subprocess.run([sys.executable, "-c", f"import sys; sys.path.append({PACKAGES!r}); import {package}"],
                          capture_output=True).returncode == 0


def output_of(command, cores=0):
    """Runs the command, on the first `cores` cores if that is not 0."""
    if cores:
        command = ["taskset", "-c", f"0-{cores - 1}", *command]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} failed: {done.stderr}")
    return done.stdout


def timed_ours(plan, folder, cores):
    """Returns what the run printed, its seconds, and those of the whole process."""
    report = f"{folder}/report.json"
    began = time.monotonic()
    made = output_of([PROGRAM, "run", plan, "--report", f"json:{report}", "--output", "null" if "group_by" not in plan else "jsonl"],
                     cores)
    whole = time.monotonic() - began
    return made, json.loads(pathlib.Path(report).read_text())["seconds"], whole


def timed_theirs(script, arguments, cores):
    answer, seconds = output_of([sys.executable, "-c", script, PACKAGES, *arguments], cores).split()
    return answer, float(seconds)


def compared(name, plan, script, arguments, folder, answer_of, pairs, goal, json_rows, cores=0):
    made, theirs = answer_of(plan), timed_theirs(script, arguments, cores)[0]
    if int(made) != int(theirs):
        sys.exit(f"{name}: {made}, and the reference has {theirs}")
    passes = []
    for number in range(pairs):  # the order of the two alternates, too
        if number % 2:
            their = timed_theirs(script, arguments, cores)[1]
        _, our, whole = timed_ours(plan, folder, cores)
        if number % 2 == 0:
            their = timed_theirs(script, arguments, cores)[1]
        passes.append((our, their, whole))
    ratios = [their / our for our, their, _ in passes]
    ratio, (low, _, high) = statistics.median(ratios), statistics.quantiles(ratios, n=4)
    our, their, whole = (statistics.median(p[k] for p in passes) for k in range(3))
    print(f"{name:44} {our:.3f} s (process {whole:.3f} s), {their:.3f} s  {ratio:.2f}x [{low:.2f}, {high:.2f}]  goal >= {goal:.2f}  "
          f"{'ok' if ratio >= goal else 'MISSED'}", flush=True)
    json_rows.append({"name": name, "ratio": ratio, "goal": goal, "ok": ratio >= goal})


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--json", metavar="FILE")
    chosen = options.parse_args()
    if not has("pyarrow") or not has("numpy"):
        return print("pyarrow or numpy is missing: ./dev deps formats; python3 -m pip install numpy")
    rows = []
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {chosen.rows:,} rows, row groups of {GROUP_ROWS:,}")
    with tempfile.TemporaryDirectory() as folder:
        output_of([sys.executable, "-c", WRITE, PACKAGES, folder, str(chosen.rows), str(WIDE_COLUMNS), str(GROUP_ROWS)])
        whole, wide = f"{folder}/all.parquet", f"{folder}/wide.parquet"

        def rows_of(plan):
            return output_of([PROGRAM, "run", f"{plan} | unbatch | count_elements", "--output", "jsonl", "--quiet"])

        def sum_of(plan):
            return json.loads(output_of([PROGRAM, "run", plan, "--output", "jsonl", "--quiet"]))["s"]

        compared("all 8 columns; pyarrow", f'parquet("{whole}") | batch({BATCH_ROWS})', PYARROW, [whole, str(BATCH_ROWS)], folder, rows_of,
                 chosen.pairs, 0.9, rows)
        compared(f"1 of {WIDE_COLUMNS} columns; pyarrow", f'parquet("{wide}", columns=["c07"]) | batch({BATCH_ROWS})', PYARROW,
                 [wide, str(BATCH_ROWS), "c07"], folder, rows_of, chosen.pairs, 0.9, rows)
        compared(f"all {WIDE_COLUMNS} columns; pyarrow", f'parquet("{wide}") | batch({BATCH_ROWS})', PYARROW, [wide, str(BATCH_ROWS)],
                 folder, rows_of, chosen.pairs, 0.9, rows)
        if has("duckdb"):
            plan = f'parquet("{whole}") | filter(d0 > 0.9) | map({{all: 0, s: i0}}) | group_by(all, {{s: sum(s)}})'
            for cores in (1, 2):
                compared(f"a filter and a sum, cores: {cores}; DuckDB", plan, DUCKDB, [whole, str(cores)], folder, sum_of, chosen.pairs, 0.8,
                         rows, cores)
        else:
            print("duckdb is missing: ./dev deps formats")
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
