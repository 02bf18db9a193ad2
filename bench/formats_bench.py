# SPDX-License-Identifier: Apache-2.0
"""Files of records in a random order: the program beside the Python readers of their libraries, alternately.

  python3 bench/formats_bench.py [--pairs 5] [--records 300000] [--json FILE]     after ./dev build and ./dev deps formats

Both read all records of the same file from the page cache, each in a random order of its own, and must find the same number of bytes
before they are timed. Times: ours are those that `sluice run` reports, and theirs are taken around the read, so that neither counts the
start of a process. Prints medians in seconds, and the median of the pairs' ratios with its quartiles: their time by ours. The goal is 3.
A format is skipped where its library is missing.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/sluice"))
PACKAGES = str(ROOT / ".cache/formats") + ":" + str(ROOT / "tests/cli/formats")
GOAL = 3

# Each format: its package, the end of the file's name, how its library writes the file, how it reads it in the order `places`, and our
# expression of the bytes of a record. Without a writer, our program writes: that of MDS needs more packages than its reader.
FORMATS = {
    "bagz": ("bagz", "bagz", """
with bagz.Writer(path) as to:
    for r in records(): to.write(r)
""", """
reader = bagz.Reader(path)
places = list(range(len(reader)))
random.Random(1).shuffle(places)
began = time.perf_counter()
total = sum(len(r) for r in reader.read_indices_iter(places))
""", "length(it)"),
    "array_record": ("array_record.python.array_record_module", "array_record", """
module = sys.modules["array_record.python.array_record_module"]
to = module.ArrayRecordWriter(path, "group_size:1,zstd:3")
for r in records(): to.write(r)
to.close()
""", """
from array_record.python import array_record_data_source
source = array_record_data_source.ArrayRecordDataSource(path)
places = list(range(len(source)))
random.Random(1).shuffle(places)
began = time.perf_counter()
total = 0
for begin in range(0, len(places), 1024):
    total += sum(len(r) for r in source.__getitems__(places[begin:begin + 1024]))
""", "length(it)"),
    "mds": ("mds_library", "mds", None, """
samples = mds_library.local_dataset(path)
places = list(range(len(samples)))
random.Random(1).shuffle(places)
began = time.perf_counter()
total = sum(len(samples[i]["text"]) for i in places)
""", "length(text)"),
}
WRITTEN_BY_US = 'range({n}) | map({{id: it, text: text(it) + "{tail}"}})'

HEAD = """
import random, sys, time
sys.path += sys.argv[1].split(":")
import {package}
path, n = sys.argv[2], int(sys.argv[3])
def records():
    draw = random.Random(2)
    words = [bytes(draw.choices(b"abcdefgh ", k=40)) for _ in range(1000)]
    for i in range(n): yield b"%d " % i + b" ".join(draw.choices(words, k=4))
"""


def python(package, code, *arguments):
    done = subprocess.run([sys.executable, "-c", HEAD.format(package=package) + code, PACKAGES, *map(str, arguments)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{package} failed: {done.stderr}")
    return done.stdout


def has(package):
    code = f"import sys; sys.path += {PACKAGES.split(':')!r}; import {package}; sys.exit({package}.__dict__.get('local_dataset', 0) is None)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def write_ours(path, records):
    plan = WRITTEN_BY_US.format(n=records, tail="x" * 160)
    done = subprocess.run([PROGRAM, "run", plan, "--output", f"mds:{path}/"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{plan} failed: {done.stderr}")


def ours(plan):
    """The number of bytes of all records, or of elements, and the seconds of the run."""
    done = subprocess.run([PROGRAM, "run", plan], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{plan} failed: {done.stderr}")
    found = re.search(r"([\d,]+) elements in ([\d.]+) s", done.stderr)
    return int(found[1].replace(",", "")), float(found[2])


def total_of(plan):
    done = subprocess.run([PROGRAM, "run", plan, "--output", "jsonl"], capture_output=True, text=True)
    return int(done.stdout or -1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--json")
    args = parser.parse_args()
    rows = []
    for name, (package, suffix, write, read, length) in FORMATS.items():
        if not has(package):
            print(f"{name}: skipped: no package {package}: ./dev deps formats")
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/a.{suffix}"
            if write:
                python(package, write, path, args.records)
            else:
                write_ours(path, args.records)
            plan = f'{name}("{path}") | global_shuffle(seed=1)'
            read += "\nprint(total, time.perf_counter() - began)"
            theirs = python(package, read, path, args.records).split()
            if total_of(f"{plan} | map({length}) | reduce(0, state + it)") != int(theirs[0]):
                sys.exit(f"{name}: the readers find different records")
            times = []
            for _ in range(args.pairs):
                mine = ours(plan)
                times.append((mine[1], float(python(package, read, path, args.records).split()[1])))
            ratios = sorted(t / m for m, t in times)
            row = {"name": f"{name}, shuffled", "ours_s": statistics.median(m for m, _ in times),
                   "theirs_s": statistics.median(t for _, t in times), "ratio": statistics.median(ratios), "goal": GOAL}
            quarter = len(ratios) // 4
            print(f"{row['name']}: {args.records} records: ours {row['ours_s']:.3f} s, {package} {row['theirs_s']:.3f} s, ratio "
                  f"{row['ratio']:.2f} ({ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}), goal {GOAL}: "
                  f"{'ok' if row['ratio'] >= GOAL else 'MISSED'}")
            rows.append(row)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


main()
