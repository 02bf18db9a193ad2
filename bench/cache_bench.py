# SPDX-License-Identifier: Apache-2.0
"""Caches at a shell: reading one beside making its elements again and beside tf.data's cache, what building one costs, and Arrow files.

  ./dev bench cache [--pairs 5] [--records 500000] [--json FILE] [--python PYTHON]

The answers are compared before anything is timed. An epoch that is read is what ten further epochs add to a run, divided by ten. Ours and
the reference alternate; figures are the median of the pairs' ratios with their quartiles. Runs are on one worker, so that the share of an
epoch that builds a cache is work and not waiting; the JPEG rows use all cores, as such a pipeline does. tf.data needs TensorFlow
(bench/compare/setup.sh, or --python), Arrow files need pyarrow (./dev deps formats), and JPEG files need TensorFlow or Pillow.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/sluice"))
PACKAGES = str(ROOT / ".cache/formats")
EPOCHS, BATCH = 10, 1024
PARSE = 'parse_example("text: bytes, label: int64, values: float[16]")'

TF_DATA = """
import json, sys, time
import tensorflow as tf
kind, pattern, path, epochs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
spec = {"text": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64), "values": tf.io.FixedLenFeature([16], tf.float32)}
options = tf.data.Options()
options.threading.private_threadpool_size = 1
made = tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(pattern))).map(lambda r: tf.io.parse_single_example(r, spec))
if kind != "parse":
    made = made.cache("" if kind == "memory" else path)
made = made.batch(1024).with_options(options)
labels = 0
for b in made:
    labels += int(tf.reduce_sum(b["label"]))
began = time.perf_counter()
for _ in range(epochs):
    for b in made:
        pass
print(json.dumps({"answer": labels, "seconds": (time.perf_counter() - began) / epochs, "version": tf.__version__}))
"""
PYARROW_WRITE = """
import sys
sys.path.append(sys.argv[1])
import numpy, pyarrow
path, rows = sys.argv[2], int(sys.argv[3])
draw = numpy.random.default_rng(1)
with pyarrow.OSFile(path, "wb") as out:
    columns = {f"i{k}": draw.integers(0, 1 << 30, rows) for k in range(6)} | {f"d{k}": draw.random(rows) for k in range(6)}
    table = pyarrow.table(columns)
    with pyarrow.ipc.new_file(out, table.schema) as to:
        to.write_table(table, max_chunksize=65536)
"""
PYARROW_SUM = """
import json, sys, time
sys.path.append(sys.argv[1])
import pyarrow, pyarrow.compute
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
began = time.perf_counter()
sums = {}
with pyarrow.OSFile(sys.argv[2], "rb") as file:
    read = pyarrow.ipc.open_file(file)
    for n in range(read.num_record_batches):
        batch = read.get_batch(n)
        for name in batch.schema.names:
            sums[name] = sums.get(name, 0) + pyarrow.compute.sum(batch.column(name)).as_py()
print(json.dumps({"answer": sums, "seconds": time.perf_counter() - began}))
"""
PILLOW = """
import sys
from PIL import Image
import random
draw = random.Random(1)
for n in range(int(sys.argv[2])):
    small = Image.frombytes("RGB", (25, 19), draw.randbytes(25 * 19 * 3))
    small.resize((500, 375)).save(f"{sys.argv[1]}/{n:03}.jpg", quality=90)
"""


def output_of(command):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} failed: {done.stderr}")
    return done.stdout


def imports(python, package):
    command = [python, "-c", f"import sys; sys.path.append({PACKAGES!r}); import {package}"]
    return subprocess.run(command, capture_output=True).returncode == 0


def python_with(package, asked):
    known = [asked, os.environ.get("SLUICE_TF_PYTHON"), str(ROOT / ".cache/tf_venv/bin/python"), sys.executable]
    return next((python for python in known if python and shutil.which(python) and imports(python, package)), None)


class Bench:
    def __init__(self, chosen, folder):
        self.pairs, self.folder, self.rows, self.files = chosen.pairs, folder, [], 0

    def seconds(self, plan, workers=1):
        report = f"{self.folder}/report.json"
        output_of([PROGRAM, "run", plan, "--output", "null", "--report", f"json:{report}", *(["--workers", workers] if workers else [])])
        return json.loads(pathlib.Path(report).read_text())["seconds"]

    def answer(self, plan):
        return json.loads(output_of([PROGRAM, "run", plan, "--output", "jsonl", "--quiet"]))

    def new_path(self):
        self.files += 1
        return f"{self.folder}/{self.files}.cache"

    def row(self, name, ours, theirs, goal, at_most=False):
        """`ours` and `theirs` return seconds. The figure is how much faster ours is; with at_most, how much longer it takes, in percent."""
        passes = []
        for number in range(self.pairs):
            first, second = (theirs, ours) if number % 2 else (ours, theirs)
            one, two = first(), second()
            passes.append((two, one) if number % 2 else (one, two))
        figures = [100 * (our / their - 1) if at_most else their / our for our, their in passes]
        figure = statistics.median(figures)
        low, _, high = statistics.quantiles(figures, n=4) if len(figures) > 1 else (figure, 0, figure)
        ok = figure <= goal if at_most else figure >= goal
        sign, unit = ("<=", "%") if at_most else (">=", "x")
        our, their = (statistics.median(p[k] for p in passes) for k in range(2))
        print(f"{name:64} {our:.3f} s, {their:.3f} s  {figure:.2f}{unit} [{low:.2f}, {high:.2f}]  goal {sign} {goal}{unit}  {'ok' if ok else 'MISSED'}",
              flush=True)
        self.rows.append({"name": name, "figure": figure, "unit": unit, "goal": goal, "ok": ok})


def epoch_of(bench, cached):
    """Seconds of an epoch that reads a warm cache."""
    return lambda: max(1e-9, (bench.seconds(f"{cached()} | repeat({EPOCHS + 1})") - bench.seconds(f"{cached()} | repeat(1)")) / EPOCHS)


def records(bench, chosen):
    output_of([PROGRAM, "sample", f"{bench.folder}/data", "--records", chosen.records])
    pattern = f"{bench.folder}/data/*.tfrecord"
    parsed = f'list_files("{pattern}") | flat_map(tfrecord) | {PARSE}'
    batches = f"batch({BATCH})"
    kept = bench.new_path()

    def total(cache):
        return bench.answer(f"{parsed}{cache} | repeat(2) | map({{all: 0, n: label}}) | group_by(all, {{s: sum(n)}}) | map(s)")

    answers = [total(""), total(" | cache"), total(f' | cache("{kept}")'), total(f' | cache("{kept}")')]
    if len(set(answers)) != 1:
        sys.exit(f"the sums of the labels differ: {answers}")
    again = lambda: bench.seconds(f"{parsed} | {batches}")
    in_memory = epoch_of(bench, lambda: f"{parsed} | cache | {batches}")
    on_disk = epoch_of(bench, lambda: f'{parsed} | cache("{kept}") | {batches}')
    bench.row("an epoch of a cache in memory; parsing again", in_memory, again, 1)
    bench.row("an epoch of a cache in a file; parsing again", on_disk, again, 1)
    bench.row("the first epoch of parsed records with a file; without", lambda: bench.seconds(f'{parsed} | cache("{bench.new_path()}") | {batches}'),
              again, 50, at_most=True)
    bench.row("the first epoch of parsed records in memory; without", lambda: bench.seconds(f"{parsed} | cache | {batches}"), again, 50, at_most=True)
    python = python_with("tensorflow", chosen.python)
    if python is None:
        return print("skipped: tf.data: TensorFlow cannot be imported; bench/compare/setup.sh installs it, or give --python")

    def theirs(kind):
        return json.loads(output_of([python, "-c", TF_DATA, kind, pattern, f"{bench.folder}/tf", 3]).splitlines()[-1])

    if theirs("parse")["answer"] * 2 != answers[0]:
        sys.exit(f"tf.data: the sum of the labels is {theirs('parse')['answer']}, and ours {answers[0] / 2}")
    bench.row("an epoch of a cache in memory; tf.data's cache()", in_memory, lambda: theirs("memory")["seconds"], 20)
    bench.row("an epoch of a cache in a file; tf.data's cache(FILE)", on_disk, lambda: theirs("file")["seconds"], 5)


def images(bench, chosen):
    files = f"{bench.folder}/jpeg"
    os.mkdir(files)
    python = python_with("PIL", chosen.python)
    if python is None:
        return print("skipped: JPEG files: Pillow cannot be imported; python3 -m pip install pillow, or give --python")
    output_of([python, "-c", PILLOW, files, 200])
    decoded = f'list_files("{files}/*.jpg") | repeat(3) | map(resize(decode_jpeg(read_file(it), 3), 224, 224), parallelism=autotune)'
    mean = "map({all: 0, m: mean(it)}) | group_by(all, {m: mean(m)}) | map(m)"
    kept = bench.new_path()
    answers = [bench.answer(f"{decoded}{cache} | {mean}") for cache in ("", f' | cache("{kept}")', f' | cache("{kept}")')]
    if len(set(answers)) != 1:
        sys.exit(f"the mean pixels differ: {answers}")
    bench.row("the first epoch of decoded JPEG files with a file; without",
              lambda: bench.seconds(f'{decoded} | cache("{bench.new_path()}") | batch(32)', None), lambda: bench.seconds(f"{decoded} | batch(32)", None),
              10, at_most=True)


def arrow(bench, chosen):
    if not imports(sys.executable, "pyarrow") or not imports(sys.executable, "numpy"):
        return print("skipped: Arrow files: pyarrow or numpy is missing: ./dev deps formats")
    path = f"{bench.folder}/numbers.arrow"
    output_of([sys.executable, "-c", PYARROW_WRITE, PACKAGES, path, 4 * chosen.records])
    names = [f"{kind}{n}" for kind in "id" for n in range(6)]
    sums = ", ".join(f"{name}: sum({name})" for name in names)
    plan = f'from_arrow("{path}") | unbatch | group_by(0, {{{sums}}})'

    def theirs():
        return json.loads(output_of([sys.executable, "-c", PYARROW_SUM, PACKAGES, path]))

    ours, answer = bench.answer(plan), theirs()["answer"]
    wrong = [name for name in names if abs(ours[name] - answer[name]) > 1e-9 * abs(answer[name])]
    if wrong:
        sys.exit(f"the sums of {wrong} differ: {ours}, and pyarrow has {answer}")
    bench.row("the sum of every column of an Arrow file; pyarrow", lambda: bench.seconds(plan), lambda: theirs()["seconds"], 0.9)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--records", type=int, default=500_000)
    options.add_argument("--json", metavar="FILE")
    options.add_argument("--python", metavar="PYTHON", help="with TensorFlow or Pillow")
    chosen = options.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {chosen.records:,} records")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(chosen, folder)
        for part in (records, images, arrow):
            part(bench, chosen)
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(bench.rows))
    return 0 if all(row["ok"] for row in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
