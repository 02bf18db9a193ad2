# SPDX-License-Identifier: Apache-2.0
"""JSON lines at a shell: the program beside jq, and group_by beside a filter that is counted, alternately.

  ./dev bench jq [--pairs 5] [--rows 3000000] [--json FILE]      needs jq

Both programs read the same file from the page cache and must print the same numbers before they are timed. Times are those of whole
processes. Prints medians in seconds, and the median of the pairs' ratios with its quartiles: jq's time by ours, and the time of the
groups by the time of the count.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/sluice"))
SCHEMA = "id: int64, user: string, score: double, label: int64"
GROUPS = {"by a number": "label, {n: count(), s: sum(score), m: mean(score), lo: min(score), hi: max(score)}",
          "by a text": "user, {n: count(), s: sum(score)}"}


def write_file(path, rows):
    """Writes the rows, and returns the number of kept rows by label and by user."""
    draw, labels, users = random.Random(1), collections.Counter(), collections.Counter()
    with open(path, "w") as to:
        for number in range(rows):
            user, score, label = f"u{draw.randrange(1000)}", draw.randrange(100_000), draw.randrange(100)
            to.write(f'{{"id": {number}, "user": "{user}", "score": {score / 1000}, "label": {label}}}\n')
            if label < 50:
                labels[label] += 1
                users[user] += 1
    return labels, users


def timed(command):
    began = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} failed: {done.stderr}")
    return done.stdout, time.monotonic() - began


def compared(name, ours, theirs, pairs, goal, is_faster_better, json_rows):
    passes = [(timed(ours)[1], timed(theirs)[1]) for _ in range(pairs)]
    ratios = [their / our if is_faster_better else our / their for our, their in passes]
    ratio, (low, _, high) = statistics.median(ratios), statistics.quantiles(ratios, n=4)
    is_met = ratio >= goal if is_faster_better else ratio <= goal
    print(f"{name:52} {statistics.median(p[0] for p in passes):.3f} s, {statistics.median(p[1] for p in passes):.3f} s  "
          f"{ratio:.2f}x [{low:.2f}, {high:.2f}]  goal {'>=' if is_faster_better else '<='} {goal:.2f}  "
          f"{'ok' if is_met else 'MISSED'}", flush=True)
    json_rows.append({"name": name, "ratio": ratio, "goal": goal, "ok": is_met})


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--rows", type=int, default=3_000_000)
    options.add_argument("--json")
    chosen = options.parse_args()
    rows = []
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {chosen.rows:,} rows")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.jsonl"
        counts = dict(zip(GROUPS, write_file(path, chosen.rows)))
        kept = f'jsonl("{path}", "{SCHEMA}") | filter(label < 50)'
        if shutil.which("jq"):
            ours = [PROGRAM, "run", f"{kept} | map(score)", "--output", "jsonl"]
            theirs = ["jq", "-c", "select(.label < 50) | .score", path]
            if [float(v) for v in timed(ours)[0].split()] != [float(v) for v in timed(theirs)[0].split()]:
                sys.exit("the program and jq print different numbers")
            compared("filter and print one member; jq", ours, theirs, max(3, chosen.pairs // 2), 5.0, True, rows)
        else:
            print("jq is missing: apt install jq")
        for workers in ("1", "2"):
            count = [PROGRAM, "run", f"{kept} | map({{all: 0}}) | group_by(all, {{n: count()}})", "--workers", workers, "--output", "jsonl"]
            for name, groups in GROUPS.items():
                grouped = [PROGRAM, "run", f"{kept} | group_by({groups})", "--workers", workers, "--output", "jsonl"]
                made = {str(next(iter(g.values()))): g["n"] for g in map(json.loads, timed(grouped)[0].splitlines())}
                if made != {str(k): n for k, n in counts[name].items()} or \
                        json.loads(timed(count)[0])["n"] != sum(counts[name].values()):
                    sys.exit(f"group_by {name}: wrong numbers of rows")
                compared(f"group_by {name}, workers: {workers}; filter and count", grouped, count, chosen.pairs, 1.3, False, rows)
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
