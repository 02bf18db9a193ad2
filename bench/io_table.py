#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The seventeen goals of reading files and objects, as one table: `./dev bench io`.

    bench/io_table.py [--only 1,5,6] [--json FILE] [--python PYTHON]

Each figure is a median of pairs that alternate (seven, where nothing else is said), of a bench that has checked the answer first: those of
build/sluice_bench, of bench/http_bench.py and of bench/compare/verbs.py. What takes a server (./dev deps servers) or TensorFlow
(SLUICE_TF_PYTHON) is skipped where there is none.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/sluice_bench"
sys.path[:0] = [str(ROOT / "bench/compare"), str(ROOT / "tests/http/servers")]
import nginx_server
from run import python_with_tensorflow

SERVER, TENSORFLOW = "bench/http_bench.py", "bench/compare/verbs.py"
# Number of the goal; the bench that knows; its row, and the reference of that, as patterns; what it is held against; the goal.
# Goal 3 has goals of every size in the bench, 16 is the inverse of 1: both are processor time on one thread.
ROWS = [
    (1, "tfrecord_scan", r"tfrecord, both CRCs, 100 B$", r"tuned loop", "TFRecords of 100 B, hot: ÷ a loop by hand", 0.75),
    (1, "tfrecord_scan", r"tfrecord, both CRCs, 1 KB$", r"tuned loop", "of 1 KB", 0.85),
    (1, "tfrecord_scan", r"tfrecord, both CRCs, 10 KB$", r"tuned loop", "of 10 KB", 0.90),
    (1, "tfrecord_scan", r"tfrecord, both CRCs, 150 KB$", r"tuned loop", "of 150 KB", 0.90),
    (2, "tfrecord_scan", r"tfrecord, both CRCs, 1 KB$", r"pread", "TFRecords of 1 KB, hot: ÷ pread of 1 MiB, which checks nothing", 0.33),
    (2, "tfrecord_scan", r"tfrecord, both CRCs, 10 KB$", r"pread", "of 10 KB", 0.45),
    (3, "tfrecord_scan", r"1 KB, public stream, batched$", r"", "the public iterator, batched, 1 KB: ÷ goal 1", 0.80),
    (4, TENSORFLOW, r"tfrecord, 100 B$", r"", "÷ tf.data.TFRecordDataset, batched, 100 B", 30),
    (4, TENSORFLOW, r"tfrecord, 1 KB$", r"", "1 KB", 10),
    (4, TENSORFLOW, r"tfrecord, 10 KB$", r"", "10 KB", 3.5),
    (4, TENSORFLOW, r"tfrecord, 150 KB$", r"", "150 KB", 3.5),
    (4, TENSORFLOW, r"tfrecord, 1 KB, skip$", r"", "skip, 1 KB", 1),
    (5, "io_cold_scan", r"cold scan", r"best of", "cold scan, both CRCs: ÷ the best of pread, ring, ring with O_DIRECT", 0.90),
    (5, "io_cold_scan", r"cold scan", r"as dd", "÷ pread of 1 MiB, as dd", 1.5),
    (6, "io_small_files", r"64 in parallel$", r"loop", "20,000 × 16 KiB, cold, 64 in parallel: ÷ a loop of open, read, close", 3.0),
    (6, "io_small_files", r"64 in parallel$", r"ring", "÷ a ring of linked chains", 0.85),
    (6, "io_small_files", r"by turns", r"loop", "by turns, no parallelism: ÷ the loop", 1.0),
    (7, "io_random", r"at random", r"32 deep", "4 KiB at random, O_DIRECT, 32 at once: ÷ a ring", 0.90),
    (7, "io_random", r"at random", r"one at a time", "÷ one at a time", 3.5),
    (8, "codecs", r"in gzip", r"igzip", "TFRecords in gzip, both CRCs: ÷ igzip -d", 0.90),
    (8, "codecs", r"in gzip", r"zlib", "÷ zlib", 2.0),
    (9, SERVER, r"64 × 1 MiB.*ideal ÷ ours", r"", "64 × 1 MiB, first byte after 50 ms: ideal ÷ ours", 0.85),
    (10, SERVER, r"64 × 1 MiB.*curl ÷ ours", r"", "curl --parallel-max 64 ÷ ours", 1.3),
    (11, SERVER, r"HTTPS, bytes", r"", "HTTPS, bytes a processor second: ÷ a loop of SSL_read", 0.90),
    (12, "io_one_slow_stream", r"sloppy", r"", "16 streams, one at 1 % speed, sloppy: ÷ without it", 0.95),
    (12, "io_one_slow_stream", r"in order", r"", "in order: ÷ what its window allows", 0.90),
    (13, SERVER, r"5 % 503", r"", "5 % 503, 1 % reset, 1 % stalled: ÷ clean", 0.70),
    (13, SERVER, r"requests ÷ objects", r"", "requests for each object", -1.15),
    (14, SERVER, r"p99", r"", "p99 of a range, 2 % after 2 s: hedged ÷ not", -0.25),
    (14, SERVER, r"the same: requests: ", r"", "requests, hedged ÷ not", -1.05),
    (15, "io_threads", r"hot scan", r"", "thread back end ÷ ring: hot scan", 0.90),
    (15, "io_small_files", r"cold, threads", r"", "cold small files", 0.5),
    (16, "tfrecord_scan", r"tfrecord, both CRCs, 10 KB$", r"tuned loop", "processor time, hot scan of 10 KB: ÷ the loop by hand", -1.15),
    (17, "a_memory", r"by 64$", r"", "peak memory above the budget, MiB", -64),
]


def from_benches(name):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([BENCH, name, "--json", out.name], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        text = pathlib.Path(out.name).read_text()
    return [{"name": r["name"], "reference": r["reference"], "figure": r["figure"], "spread": r.get("quartiles"), "note": r.get("note")}
            for r in (json.loads(text) if text else [])]


def from_server():
    if nginx_server.missing():
        return f"this machine has no {nginx_server.missing()} (./dev deps servers)"
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        done = subprocess.run([sys.executable, ROOT / SERVER, "--pairs", "7", "--json", out.name], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1]
        rows = json.loads(pathlib.Path(out.name).read_text())
    return [{"name": r["name"], "reference": "", "figure": r["ratio"], "spread": [r["low"], r["high"]]} for r in rows]


def from_tensorflow(python):
    if python_with_tensorflow(python) is None:
        return "TensorFlow cannot be imported (SLUICE_TF_PYTHON names an interpreter)"
    names = sorted({re.sub(r"\$$", "", r[2]) for r in ROWS if r[1] == TENSORFLOW})
    done = subprocess.run([sys.executable, ROOT / TENSORFLOW, *names, "--pairs", "7", *(["--python", python] if python else [])],
                          capture_output=True, text=True)
    rows = []
    for line in done.stdout.splitlines():
        if found := re.match(r"(.+?)\s+ours .*? ([\d.]+)x >= .*?([\d.]+)x to ([\d.]+)x$", line):
            rows.append({"name": found[1], "reference": "", "figure": float(found[2]), "spread": [float(found[3]), float(found[4])]})
    return rows or (done.stdout + done.stderr).strip().splitlines()[-1]


def found_in(rows, name, reference):
    return next((r for r in rows if re.search(name, r["name"]) and re.search(reference, r["reference"])), None)


def figure_of(number, row):
    """Median and spread; of goal 16 the inverse of what goal 1 has."""
    values = [row["figure"], *(row["spread"] or [])]
    if number != 16 or None in values:
        return values
    return [1 / values[0], *sorted(1 / v for v in values[1:])]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", metavar="N,…", help="of the goals")
    arguments.add_argument("--json", metavar="FILE")
    arguments.add_argument("--python", metavar="PYTHON", help="with TensorFlow")
    asked = arguments.parse_args()
    wanted = {int(n) for n in asked.only.split(",")} if asked.only else {r[0] for r in ROWS}
    known, printed, kept = {}, [], True
    print(f"{'goal':4}  {'what':74} {'figure':>8}  {'quartiles':17} {'goal':>8}", flush=True)
    for number, bench, name, reference, what, goal in ROWS:
        if number not in wanted:
            continue
        if bench not in known:
            known[bench] = from_server() if bench == SERVER else from_tensorflow(asked.python) if bench == TENSORFLOW else from_benches(bench)
        rows, limit = known[bench], f"{'≤' if goal < 0 else '≥'} {abs(goal):g}"
        if isinstance(rows, str):
            print(f"{number:4}  {what:74} skipped: {rows}", flush=True)
            continue
        row = found_in(rows, name, reference)
        if row is None or row["figure"] is None:
            why = next((r["note"] for r in rows if r.get("note")), "the bench has no such row")
            kept = False
            print(f"{number:4}  {what:74} FAILED: {why}", flush=True)
            continue
        figure, *spread = figure_of(number, row)
        ok = figure <= -goal if goal < 0 else figure >= goal
        kept = kept and ok
        between = f"{spread[0]:.2f} to {spread[1]:.2f}" if spread else ""
        print(f"{number:4}  {what:74} {figure:8.2f}  {between:17} {limit:>8}  {'ok' if ok else 'MISSED'}", flush=True)
        printed.append({"number": number, "what": what, "figure": figure, "spread": spread, "goal": limit, "ok": ok})
    said = subprocess.run([BENCH, "nothing_has_this_name"], capture_output=True, text=True).stdout.splitlines()
    print(f"{os.cpu_count()} processors, {os.uname().release}; {said[0] if said else ''}")
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(printed, indent=1))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
