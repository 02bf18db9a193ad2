# SPDX-License-Identifier: Apache-2.0
"""One large file of JSON lines or CSV: filter and sum of one column, by the program and by DuckDB, alternately.

  python3 bench/duckdb_bench.py [--pairs 7] [--megabytes 131] [--json FILE]      after ./dev build; needs the Python package duckdb

Both read the same file from the page cache, with the same declared columns, and must return the same sum before they are timed. Times
exclude the start of the process: the program's are those of its report, DuckDB's those of a query on an open connection. Prints medians
in seconds, and the ratio of each pair (DuckDB's time by ours: above 1 we are faster) with its quartiles. CPU seconds are beside them,
since other programs of the machine change wall time.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import duckdb
except ImportError:
    print("duckdb_bench skipped: the Python package duckdb is missing; pip install duckdb")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/sluice"))
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()
COLUMNS = {"id": "int64", "user": "string", "score": "double", "label": "int64", "ok": "bool", "text": "string"}
DUCKDB_TYPES = {"int64": "BIGINT", "string": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN"}
SUM = " | map({all: 0, score}) | group_by(all, {sum: sum(score)})"


def rows(seed):
    draw = random.Random(seed)
    number = 0
    while True:
        yield {"id": number, "user": draw.choice(WORDS) + str(draw.randrange(10000)), "score": round(draw.random() * 1000, 3),
               "label": draw.randrange(100), "ok": draw.random() < 0.5, "text": " ".join(draw.choices(WORDS, k=8))}
        number += 1


def write_file(path, size, line_of, head=""):
    """Lines of 20,000 different rows, repeated, with other numbers."""
    some = [row for row, _ in zip(rows(7), range(20000))]
    with open(path, "w") as out:
        out.write(head)
        number = 0
        while out.tell() < size:
            for row in some:
                row["id"] = number
                number += 1
                out.write(line_of(row))


def csv_line(row):
    return ",".join(json.dumps(v) if isinstance(v, bool) else str(v) for v in row.values()) + "\n"


def ours(plan, workers):
    """The sum, and wall and CPU seconds."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([PROGRAM, "run", plan, "--workers", str(workers), "--output", "jsonl", "--report", "json"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{plan} failed: {done.stderr}")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    return json.loads(done.stdout)["sum"], json.loads(done.stderr)["seconds"], cpu


def theirs(connection, query):
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    answer = connection.execute(query).fetchall()[0][0]
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
    return answer, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compared(name, plan, query, cores, pairs):
    connection = duckdb.connect()
    connection.execute(f"set threads={cores}")
    sums = ours(plan, cores)[0], theirs(connection, query)[0]
    if abs(sums[0] - sums[1]) > 1e-9 * abs(sums[1]):
        sys.exit(f"{name}: the sums differ: {sums[0]} and {sums[1]}")
    passes = [(ours(plan, cores)[1:], theirs(connection, query)[1:]) for _ in range(pairs)]
    wall = [their[0] / our[0] for our, their in passes]
    cpu = [their[1] / our[1] for our, their in passes]
    median = lambda side, unit: statistics.median(p[side][unit] for p in passes)
    low, _, high = statistics.quantiles(wall, n=4)
    ratio = statistics.median(wall)
    print(f"{name + ', cores: ' + str(cores):34} ours {median(0, 0):.3f} s ({median(0, 1):.3f} CPU)  DuckDB {median(1, 0):.3f} s "
          f"({median(1, 1):.3f} CPU)  ratio {ratio:.2f}x [{low:.2f}, {high:.2f}], CPU {statistics.median(cpu):.2f}x  "
          f"goal 1.00x {'ok' if ratio >= 1 else 'MISSED'}", flush=True)
    return {"name": name, "cores": cores, "ratio": ratio, "cpu_ratio": statistics.median(cpu), "goal": 1.0}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=7)
    options.add_argument("--megabytes", type=int, default=131)
    options.add_argument("--json")
    chosen = options.parse_args()
    declared = ", ".join(f"{name}: {kind}" for name, kind in COLUMNS.items())
    types = ", ".join(f"'{name}': '{DUCKDB_TYPES[kind]}'" for name, kind in COLUMNS.items())
    print(f"DuckDB {duckdb.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {chosen.megabytes} MB")
    with tempfile.TemporaryDirectory() as folder:
        lines, table = f"{folder}/a.jsonl", f"{folder}/a.csv"
        size = chosen.megabytes * 10**6
        write_file(lines, size, lambda row: json.dumps(row) + "\n")
        write_file(table, size, csv_line, ",".join(COLUMNS) + "\n")
        files = [("JSON lines", f'jsonl("{lines}", "{declared}")',
                  f"read_json('{lines}', format='newline_delimited', columns={{{types}}})"),
                 ("CSV", f'csv("{table}", "{declared.replace("string", "bytes")}", header=true)',
                  f"read_csv('{table}', header=true, columns={{{types}}})")]
        results = [compared(f"{kind}: {what}", plan + condition + SUM, f"select sum(score) from {source}{where}", cores, chosen.pairs)
                   for kind, plan, source in files
                   for what, condition, where in [("sum", "", ""), ("filter, sum", " | filter(label < 50)", " where label < 50")]
                   for cores in (1, 2)]
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
