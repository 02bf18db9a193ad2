# SPDX-License-Identifier: Apache-2.0
"""Plans on workers: dispatcher, workers and consumer as processes of this machine, over TCP.

  python3 bench/service_bench.py [--pairs 5] [--json FILE]        after ./dev build

Each pair of commands must print the same numbers before it is timed, and the two alternate. Our times are those of the consumer's
whole process; those of tf.data's service begin when TensorFlow is loaded (rows skipped where bench/compare/setup.sh was not run).
Prints medians in seconds, and the median of the pairs' ratios with its quartiles.
"""
import argparse
import atexit
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
THEIRS = ROOT / "bench/compare/service/tf_data.py"
sys.path.insert(0, str(ROOT / "bench/compare"))
from run import python_with_tensorflow   # noqa: E402

FILES, FILE_BYTES = 8, 64 << 20
SUM = "map({n: NUMBER}) | group_by(0, {count: count(), sum: sum(n)})"


class Service:
    def __init__(self, folder, workers):
        self.address_file = f"{folder}/address{workers}"
        self.processes = [subprocess.Popen([PROGRAM, "dispatcher", "--address-file", self.address_file], stdout=subprocess.DEVNULL)]
        while not os.path.exists(self.address_file):
            time.sleep(0.01)
        self.address = pathlib.Path(self.address_file).read_text().strip()
        for _ in range(workers):
            worker = subprocess.Popen([PROGRAM, "worker", "--dispatcher", self.address], stdout=subprocess.PIPE, text=True)
            worker.stdout.readline()
            self.processes.append(worker)
        atexit.register(self.close)

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return done.stdout


def ours(plan, *options):
    """Returns the numbers that the plan yields, and seconds."""
    began = time.monotonic()
    text = run([PROGRAM, "run", plan, "--output", "jsonl", "--quiet", *options])
    seconds = time.monotonic() - began
    answer = json.loads(text)
    return (answer["count"], answer["sum"]), seconds


def theirs(python, address, *what):
    answer = json.loads(run([python, str(THEIRS), "read", address, *map(str, what)]).splitlines()[-1])
    return (answer["count"], answer["sum"]), answer["seconds"]


SMALL = 6_000_000  # elements


def small_elements(address):
    """Structures of a number and a text from a worker of another process: elements per second, with the start of the consumer."""
    plan = f'range({SMALL}) | map({{n: it, text: "element of a small structure"}}) | distribute("{address}") | {SUM.replace("NUMBER", "n")}'
    (count, total), seconds = ours(plan)
    if (count, total) != (SMALL, SMALL * (SMALL - 1) // 2):
        sys.exit(f"small elements: {count} came, and their sum is {total}")
    return SMALL / seconds


SPLITS = 1_000_000


def start_with_splits(folder):
    """Returns a function that starts a dispatcher whose store has SPLITS splits of an unfinished job, and returns the seconds until
    `sluice status` has printed their number."""
    command = [PROGRAM, "dispatcher", "--store", f"sqlite:{folder}/splits.db"]

    def started():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        atexit.register(process.kill)
        return process, process.stdout.readline().split()[-1]

    def end(process):
        process.kill()
        process.wait()
        process.stdout.close()

    process, address = started()
    worker = subprocess.Popen([PROGRAM, "worker", "--dispatcher", address], stdout=subprocess.PIPE, text=True)
    worker.stdout.readline()
    run([PROGRAM, "run", f'range({SPLITS}) | filter(it >= 0) | distribute("{address}", job="many", splits={SPLITS}, splits_at_once=64) | take(1000)',
         "--output", "null", "--quiet"])
    worker.kill()
    worker.wait()
    end(process)

    def restarted():
        began = time.monotonic()
        process, address = started()
        iteration = json.loads(run([PROGRAM, "status", address, "--json"]))["iterations"][0]
        seconds = time.monotonic() - began
        if iteration["listed"] != SPLITS:
            sys.exit(f"the dispatcher knows {iteration['listed']} splits instead of {SPLITS}")
        end(process)
        return seconds

    return restarted


class Rows:
    def __init__(self, pairs):
        self.pairs, self.rows = pairs, []

    def add_figure(self, name, figures, unit, goal, at_most=False):
        """One row without a reference: the median of these figures."""
        figure = statistics.median(figures)
        low, _, high = statistics.quantiles(figures, n=4)
        ok = figure <= goal if at_most else figure >= goal
        print(f"{name:58} {figure:.3g} {unit} [{low:.3g}, {high:.3g}]  goal {'<=' if at_most else '>='} {goal:g}  {'ok' if ok else 'MISSED'}", flush=True)
        self.rows.append({"name": name, "figure": figure, "unit": unit, "goal": goal, "ok": ok})

    def add(self, name, measured, reference, goal, pairs=None, at_most=False):
        """One row: the time of `reference` by that of `measured`; by 1 over that with `at_most`."""
        first = measured()[0], reference()[0]
        if first[0] != first[1]:
            sys.exit(f"{name}: the answers differ: {first}")
        passes = [(measured()[1], reference()[1]) for _ in range(pairs or self.pairs)]
        ratios = [(m / r if at_most else r / m) for m, r in passes]
        ratio = statistics.median(ratios)
        low, _, high = statistics.quantiles(ratios, n=4)
        ok = ratio <= goal if at_most else ratio >= goal
        print(f"{name:58} {statistics.median(p[0] for p in passes):.3f} s, {statistics.median(p[1] for p in passes):.3f} s  {ratio:.3g}x "
              f"[{low:.3g}, {high:.3g}]  goal {'<=' if at_most else '>='} {goal:g}  {'ok' if ok else 'MISSED'}", flush=True)
        self.rows.append({"name": name, "ratio": ratio, "goal": goal, "ok": ok})


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    table = Rows(asked.pairs)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{k}.bin" for k in range(FILES)]
        for path in files:
            pathlib.Path(path).write_bytes(os.urandom(1 << 20) * (FILE_BYTES >> 20))
        service, four = Service(folder, 1), Service(folder, 4)

        def numbers(count, address):
            return f'range({count}) | filter(it >= 0) | distribute("{address}") | {SUM.replace("NUMBER", "it")}'

        def records(size, arguments):
            stage = f" | distribute({arguments})" if arguments is not None else ""
            return f'fixed_length("{folder}/*.bin", {size}){stage} | {SUM.replace("NUMBER", "length(it)")}'

        at = f'"{service.address}"'
        for size, name in ((65536, "64 KiB"), (1 << 20, "1 MiB")):
            table.add(f"records of {name}, splits of 64 MiB: exactly once, at most once", lambda: ours(records(size, at)),
                      lambda: ours(records(size, f"{at}, visitation=at_most_once")), 1.03, pairs=3 * asked.pairs, at_most=True)

        table.add_figure("structures of a number and a text, between two processes", [small_elements(service.address) / 1e6 for _ in range(asked.pairs)],
                         "M elements/s", 2)
        restarted = start_with_splits(folder)
        table.add_figure("a dispatcher with 10^6 splits in SQLite: until its status is printed", [restarted() for _ in range(asked.pairs)], "s", 1, at_most=True)

        def sleeping(address, splits_at_once):
            stage = f'distribute("{address}", splits=48, splits_at_once={splits_at_once})'
            return f"range(240) | sleep(10ms) | {stage} | {SUM.replace('NUMBER', 'it')}"

        table.add("10 ms an element, one split a worker: four workers, one", lambda: ours(sleeping(four.address, 4)),
                  lambda: ours(sleeping(service.address, 1)), 3.8, pairs=2)
        for size, name in ((65536, "64 KiB"), (1 << 20, "1 MiB")):
            table.add(f"records of {name}: in this process with distribute(), without", lambda: ours(records(size, "")),
                      lambda: ours(records(size, None)), 1.1, at_most=True)
        python = python_with_tensorflow(None)
        if python:
            server = subprocess.Popen([python, str(THEIRS), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      stderr=subprocess.DEVNULL)
            their = server.stdout.readline().strip()
            for name, plan, what, goal in (("8 B", numbers(20_000, service.address), ("numbers", 20_000), 100),
                                           ("64 KiB", records(65536, at), ("records", 65536, *files), 5),
                                           ("1 MiB", records(1 << 20, at), ("records", 1 << 20, *files), 1.5)):
                table.add(f"elements of {name}: sluice, tf.data's service", lambda: ours(plan), lambda: theirs(python, their, *what), goal, pairs=3)
            server.communicate("")
        else:
            print("rows of tf.data's service skipped: TensorFlow cannot be imported; bench/compare/setup.sh installs it")
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(table.rows, indent=1) + "\n")
    return 0 if all(row["ok"] for row in table.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
