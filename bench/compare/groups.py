#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""group_by against filter and count of the same file: `python3 bench/compare/groups.py [--rows N] [--pairs K] [--sluice PROGRAM]`.

Both plans read and filter one CSV file. The first counts the rows that are left, the second groups them by city with a count and a sum. The
answers are compared first: the counts of the groups add up to the count. Pairs of runs alternate; the figures are medians of the processor
time (user and system) and of the wall time. The goal is a ratio of at most 1.3. With jq, the same groups of JSON lines are computed by jq."""
import argparse
import json
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measured(command):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--sluice", default=str(ROOT / "build/sluice"))
    a = parser.parse_args()
    r = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("csv", "jsonl"):
            path = pathlib.Path(folder) / f"rows.{suffix}"
            with open(path, "w") as file:
                if suffix == "csv":
                    file.write("id,city,score,name\n")
                for n in range(a.rows):
                    city, score, name = f"city {r.randrange(500)}", r.randrange(4000) / 4, f"name {r.randrange(10**6)}"
                    file.write(f"{n},{city},{score},{name}\n" if suffix == "csv" else
                               json.dumps({"id": n, "city": city, "score": score, "name": name}) + "\n")
            source = f'csv("{path}", header=true)' if suffix == "csv" else f'jsonl("{path}")'
            kept = f"{source} | filter(score > 100)"
            run = lambda plan: [a.sluice, "run", plan, "--output", "jsonl", "--quiet"]
            plans = [run(f"{kept} | count_elements"), run(f"{kept} | group_by(city, {{n: count(), total: sum(score)}})")]
            count = json.loads(measured(plans[0])[0])
            groups = [json.loads(line) for line in measured(plans[1])[0].splitlines()]
            assert sum(g["n"] for g in groups) == count and len(groups) == 500, "the answers differ"
            times = [[], []]
            for _ in range(a.pairs):
                for k in (0, 1):
                    times[k].append(measured(plans[k])[1:])
            cpu = [statistics.median(t[0] for t in times[k]) for k in (0, 1)]
            wall = [statistics.median(t[1] for t in times[k]) for k in (0, 1)]
            print(f"{suffix}, {a.rows:,} rows: filter and count {cpu[0]:.3f} s of a core ({wall[0]:.3f} s), "
                  f"group_by {cpu[1]:.3f} s ({wall[1]:.3f} s): ratio {cpu[1] / cpu[0]:.2f} ({wall[1] / wall[0]:.2f}); goal 1.30")
            if suffix == "jsonl" and shutil.which("jq"):
                query = ('reduce (inputs | select(.score > 100)) as $r ({}; .[$r.city].n += 1 | .[$r.city].total += $r.score)'
                         ' | to_entries[] | {city: .key, n: .value.n, total: .value.total}')
                made, jq_cpu, jq_wall = measured(["jq", "-cn", query, str(path)])
                same = sorted((json.loads(line) for line in made.splitlines()), key=lambda g: g["city"])
                assert [(g["city"], g["n"], g["total"]) for g in same] == [(g["city"], g["n"], g["total"]) for g in groups], "jq differs"
                print(f"jq: {jq_cpu:.3f} s of a core ({jq_wall:.3f} s): {jq_wall / wall[1]:.1f} times sluice's")


main()
