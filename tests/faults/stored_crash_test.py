# SPDX-License-Identifier: Apache-2.0
"""Random plans with a cache in a file, or a snapshot: the first run is cut at a random element and killed at a random system call.

The second run, of another random length, and the third, of two epochs, deliver what the plan without the cache delivers. So does a
run that resumes from a checkpoint of the second. By default as many plans as 25 seconds allow; SLUICE_TEST_FAULTS=N takes N.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import PROGRAM   # noqa: E402

SHIM = pathlib.Path(PROGRAM).parent / "libfault_shim.so"
SAMPLE_SECONDS = 25
CALLS = ("open", "write", "fsync", "rename", "unlink", "ftruncate", "flock", "pread", "preadv2")
SOURCES = ("range({n})", "concatenate(range({n}), range(100, 130))", "range({n}) | flat_map([it, it + 1])",
           "sample_from_datasets([range({n}), range(1000, 1300)], weights=[0.7, 0.3], seed={s})")
STAGES = ("map(it * 3 + 1)", "filter(it % 7 != 2)", "shuffle({k}, seed={s})", "map(string(it)) | map(to_integer(it))", "batch({k}) | unbatch",
          "skip({k})", "map(it + random(5), seed={s})", "prefetch({k})", "take(900)")


def random_plan(draw, folder):
    """A plan without a cache, and the same plan with one."""
    def filled(text):
        return text.format(n=draw.randrange(1, 4000), s=draw.randrange(1, 99), k=draw.randrange(2, 40))
    above = [filled(draw.choice(SOURCES))] + [filled(draw.choice(STAGES)) for _ in range(draw.randrange(0, 4))]
    below = [filled(draw.choice(STAGES)) for _ in range(draw.randrange(0, 3))]
    if draw.random() < 0.7:
        stored = f'cache("{folder}/stored")'
    else:
        stored = f'snapshot("{folder}/stored", shards={draw.randrange(1, 4)})'
    draws_below = any("shuffle" in stage or "random" in stage for stage in below)   # then epochs differ
    return " | ".join(above + below), " | ".join(above + [stored] + below), draws_below


def run(folder, plan, *options, fault=""):
    environment = dict(os.environ)
    if fault:
        environment.update(LD_PRELOAD=str(SHIM), SLUICE_FAULT_UNDER=str(folder), SLUICE_FAULT=fault)
    return subprocess.run([PROGRAM, "run", plan, "--output", "jsonl", "--quiet", "--seed", "5", "--workers", "1", *map(str, options)],
                          capture_output=True, text=True, env=environment, timeout=120)


def complaints(seed):
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain, stored, draws_below = random_plan(draw, folder)
        yield plain, stored
        once = run(folder, plain)
        if once.returncode != 0:
            yield f"the plan without a cache fails: {once.stderr}"
            return
        expected = once.stdout.splitlines()
        fault = f"{draw.choice(CALLS)}:{draw.randrange(1, 25)}:kill" if draw.random() < 0.8 else ""
        limit = ["--limit", draw.randrange(1, len(expected) + 2)] if draw.random() < 0.7 else []
        first = run(folder, stored, *limit, fault=fault)
        if first.returncode not in (0, -9):
            yield f"the first run ended with {first.returncode}: {first.stderr}"
        cut = draw.randrange(1, len(expected) + 2)
        second = run(folder, stored, "--limit", cut, "--checkpoint", folder / "here")
        if second.returncode != 0 or second.stdout.splitlines() != expected[:cut]:
            yield f"the second run differs after {fault or 'no fault'}, {limit}: {second.stderr}"
        rest = run(folder, stored, "--resume", folder / "here")
        if rest.returncode != 0 or rest.stdout.splitlines() != expected[cut:]:
            yield f"resumed at {cut}, the rest differs: {rest.stderr}"
        twice = run(folder, stored + " | repeat(2)")
        lines = twice.stdout.splitlines()
        if twice.returncode != 0 or lines[:len(expected)] != expected or (not draws_below and lines[len(expected):] != expected):
            yield f"two epochs differ: {twice.stderr}"


def main():
    wanted = os.environ.get("SLUICE_TEST_FAULTS", "")
    plans = int(wanted) if wanted.isdigit() else 3000 if wanted == "all" else None
    first = int(os.environ.get("SLUICE_TEST_SEED", "1"))
    deadline = time.monotonic() + SAMPLE_SECONDS
    tried = failed = 0
    while tried < plans if plans else time.monotonic() < deadline or tried < 5:
        found = complaints(first + tried)
        what = next(found)
        wrong = list(found)
        tried += 1
        failed += bool(wrong)
        for words in wrong:
            print(f"FAILED SLUICE_TEST_SEED={first + tried - 1}: {what[1]}: {words.strip()}", flush=True)
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
