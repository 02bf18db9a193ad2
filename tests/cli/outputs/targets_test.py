#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that a run must not replace: each kind of file as the target of each option that writes one.

A refused target keeps its bytes, the command fails with a message that names it, and no other file appears.
"""
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM

KEPT = "one\ntwo\nthree\n"


class world:
    """A folder with a file of every kind, and plans that use them."""

    def __init__(self, folder):
        self.at = pathlib.Path(folder)
        w = self.at
        (w / "in.txt").write_text(KEPT)
        (w / "other.txt").write_text("some text\n")
        (w / "table.txt").write_text("a\nb\n")
        (w / "plan.txt").write_text(f'lines("{w}/in.txt") | map(lookup(it, "{w}/table.txt")) | map(string(it))\n')
        (w / "empty").write_text("")
        (w / "link").symlink_to(w / "in.txt")
        (w / "link-to-link").symlink_to(w / "link")
        os.link(w / "in.txt", w / "hard")
        os.link(w / "table.txt", w / "table-hard")
        (w / "sub").mkdir()
        (w / "sub" / "up").symlink_to(w)
        os.mkfifo(w / "fifo")
        (w / "dangling").symlink_to(w / "nowhere")
        (w / "loop").symlink_to(w / "loop")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(w / "socket"))
        self.run("run", "range(3)", "--checkpoint", w / "state", "--quiet")
        (w / "part.txt.partial").write_text(KEPT)
        (w / ".locked.txt.lock").write_text(KEPT)
        for name in ("bad-1.jsonl", "bad-2.jsonl"):  # bad behind the lines from which the members are inferred
            (w / name).write_text('{"a":1}\n' * 100 + f"bad in {name}\n")
        (w / "links").mkdir()
        (w / "links" / "one.txt").symlink_to(w / "in.txt")
        (w / "r.partial").write_bytes((w / "state").read_bytes())
        (w / "s-00000-of-00002.txt").write_bytes((w / "state").read_bytes())
        self.run("run", "range(3)", "--checkpoint", w / "state-with-output", "--output", f"jsonl:{w}/made.jsonl", "--quiet")

    def run(self, *words, timeout=60):
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.at, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=timeout)

    def contents(self):
        """What every regular file holds, and what else exists."""
        all_files = {}
        for path in sorted(self.at.iterdir()):
            mode = path.lstat().st_mode
            all_files[path.name] = path.read_bytes() if stat.S_ISREG(mode) else stat.S_IFMT(mode)
        return all_files


# Spellings of one file, by its kind. `in.txt` is an input, `table.txt` a lookup table, and `plan.txt` the file of the plan.
READ = {
    "the input": "in.txt", "the input by ./": "./in.txt", "the input by its whole path": "WORLD/in.txt",
    "the input by a folder and back": "sub/../in.txt", "the input by a link of folders": "sub/up/in.txt",
    "the input by /proc/self/cwd": "/proc/self/cwd/in.txt", "a link to the input": "link", "a link to a link": "link-to-link",
    "a hard link to the input": "hard", "the lookup table": "table.txt", "a hard link to the table": "table-hard",
    "the table by its whole path": "WORLD/table.txt", "the file of the plan": "plan.txt", "the plan by ./": "./plan.txt",
}
NO_CHECKPOINT = {"another file": "other.txt", "a folder": "sub", "a FIFO": "fifo", "a socket": "socket", "/dev/null": "/dev/null",
                 "/dev/full": "/dev/full", "/dev/zero": "/dev/zero", "a loop of links": "loop", "a part of a missing folder": "missing/state",
                 "an output that exists": "made.jsonl"}
GOOD_CHECKPOINT = {"no file": "fresh", "a checkpoint": "state", "a checkpoint with an output": "state-with-output",
                   "an empty file": "empty", "a link to no file": "dangling"}
OUTPUTS = ("lines", "raw", "tfrecord.gz")


class tests:
    def __init__(self):
        self.passed = self.failed = 0

    def cell(self, name, problems):
        if problems:
            self.failed += 1
            print(f"FAILED {name}: " + "; ".join(problems))
        else:
            self.passed += 1

    def refused(self, name, target, *words, says=()):
        with tempfile.TemporaryDirectory() as folder:
            w = world(folder)
            before = w.contents()
            words = [str(word).replace("WORLD", folder) for word in words]
            done = w.run(*words)
            problems = []
            if done.returncode not in (1, 2, 75):
                problems.append(f"status {done.returncode}: {done.stderr[:300]}")
            if pathlib.Path(target).name not in done.stderr:
                problems.append(f"the message does not name {target}: {done.stderr[:300]}")
            problems += [f"no {word!r} in {done.stderr[:300]}" for word in says if word not in done.stderr]
            after = w.contents()
            problems += [f"{n} changed" for n in before if after.get(n) != before[n]]
            problems += [f"{n} appeared" for n in after if n not in before]
            self.cell(name, problems)

    def accepted(self, name, *words, begins=None, path=None):
        with tempfile.TemporaryDirectory() as folder:
            w = world(folder)
            kept = {n: (w.at / n).read_bytes() for n in ("in.txt", "table.txt", "plan.txt", "other.txt")}
            done = w.run(*[str(word).replace("WORLD", folder) for word in words])
            problems = [] if done.returncode == 0 else [f"status {done.returncode}: {done.stderr[:300]}"]
            if path and not (w.at / path).read_bytes().startswith(begins):
                problems.append(f"{path} does not begin with {begins!r}")
            problems += [f"{n} changed" for n, bytes_ in kept.items() if (w.at / n).read_bytes() != bytes_]
            self.cell(name, problems)


def checkpoints(t):
    run = ("run", "-f", "plan.txt", "--quiet", "--checkpoint")
    for kind, target in READ.items():
        t.refused(f"--checkpoint over {kind}", target, *run, target, says=("which it would replace",))
        t.refused(f"--checkpoint over {kind}, resumed or started", target, "run", "-f", "plan.txt", "--quiet", "--resume-or-start", target)
    for kind, target in NO_CHECKPOINT.items():
        t.refused(f"--checkpoint over {kind}", target, *run, target)
    for kind, target in GOOD_CHECKPOINT.items():
        path = "nowhere" if target == "dangling" else target
        t.accepted(f"--checkpoint over {kind}", *run, target, path=path, begins=b"sluice")
    t.refused("--checkpoint over the output", "both", *run, "both", "--output", "jsonl:both", says=("same file",))
    t.refused("--checkpoint over the output's .partial", "o.partial", *run, "o.partial", "--output", "jsonl:o")
    t.refused("--checkpoint over a shard", "o-00000-of-00002.txt", *run, "o-00000-of-00002.txt", "--output", "lines:o.txt", "--shards", 2)
    t.refused("--checkpoint over the quarantine", "q", *run, "q", "--on-error", "quarantine:q")
    t.refused("--checkpoint over a file of a pattern", "in.txt", "run", 'list_files("*n.txt") | flat_map(lines)', "--checkpoint", "in.txt", "--quiet")
    t.refused("--checkpoint over an input of an inner plan", "in.txt", "run", 'concatenate(lines("other.txt"), lines("in.txt"))',
              "--checkpoint", "in.txt", "--quiet")
    if os.geteuid() != 0:  # root reads everything
        with tempfile.TemporaryDirectory() as folder:
            w = world(folder)
            (w.at / "secret").write_text("x")
            (w.at / "secret").chmod(0)
            done = w.run("run", "range(3)", "--checkpoint", "secret", "--quiet")
            t.cell("--checkpoint over a file that cannot be read", [] if done.returncode and "secret" in done.stderr else [done.stderr[:300]])


def outputs(t):
    for kind, target in READ.items():
        for form in OUTPUTS:
            if form == "raw" and "input" not in kind:
                continue
            t.refused(f"--output {form} over {kind}", target, "run", "-f", "plan.txt", "--quiet", "--output", f"{form.split('.')[0]}:{target}",
                      says=("which it would replace",))
        t.refused(f"--output over {kind}, with a checkpoint", target, "run", "-f", "plan.txt", "--quiet", "--output", f"lines:{target}",
                  "--checkpoint", "fresh", says=("which it would replace",))
        t.refused(f"quarantine in {kind}", target, "run", "-f", "plan.txt", "--quiet", "--on-error", "skip", "--quarantine", target)
    t.refused("quarantine in another file", "other.txt", "run", "-f", "plan.txt", "--quiet", "--on-error", "skip", "--quarantine", "other.txt")
    t.refused("quarantine in the output", "o", "run", "-f", "plan.txt", "--quiet", "--on-error", "skip", "--quarantine", "o", "--output", "lines:o")
    for n in (1, 2):
        t.refused(f"--output of {n} shards over an input", f"x-0000{n - 1}-of-00002.txt", "run",
                  f'lines("x-0000{n - 1}-of-00002.txt")', "--quiet", "--output", "lines:x.txt", "--shards", 2)


def names_beside(t):
    """What a dead run left in NAME.partial can be read, and is not removed by a run that writes NAME."""
    part = "part.txt.partial"
    says = ("is replaced while",)
    t.refused("--output whose .partial is the input", part, "run", f'lines("{part}")', "--quiet", "--output", "lines:part.txt", says=says)
    t.refused("--output whose .partial is a lookup table", part, "run", f'lines("in.txt") | map(string(lookup(it, "{part}")))', "--quiet",
              "--output", "lines:part.txt", says=says)
    t.refused("--checkpoint whose .partial is the input", part, "run", f'lines("{part}")', "--quiet", "--checkpoint", "part.txt", says=says)
    t.refused("convert of NAME.partial to NAME", part, "convert", part, "part.txt", "--from", "lines", "--to", "lines", says=says)
    t.refused("cp of NAME.partial to NAME", part, "cp", part, "part.txt")
    lock = ".locked.txt.lock"
    t.refused("--output whose lock is the input", lock, "run", f'lines("{lock}")', "--quiet", "--output", "lines:locked.txt", says=says)
    t.refused("--checkpoint whose lock is the input", lock, "run", f'lines("{lock}")', "--quiet", "--checkpoint", "locked.txt", says=says)
    t.refused("convert of the lock of NAME to NAME", lock, "convert", lock, "locked.txt", "--from", "lines", "--to", "lines", says=says)
    t.refused("cp of the lock of NAME to NAME", lock, "cp", lock, "locked.txt", says=says)
    t.refused("--resume that is the .partial of the output", "r.partial", "run", "range(3)", "--quiet", "--resume", "r.partial", "--new-output",
              "--output", "jsonl:r", says=says)
    t.refused("--output with a shard that is the checkpoint resumed from", "s-00000-of-00002.txt", "run", "range(3)", "--quiet", "--resume",
              "s-00000-of-00002.txt", "--new-output", "--output", "jsonl:s.txt", "--shards", 2, says=("which it would replace",))


def patterns(t):
    """A pattern reads the files that its links name."""
    for pattern in ("links/*.txt", "sub/up/i*.txt", "l*nk", "WORLD/links/o??.txt"):
        for words in (("--checkpoint", "in.txt"), ("--output", "lines:in.txt"), ("--on-error", "skip", "--quarantine", "in.txt")):
            t.refused(f"{' '.join(words)} over what {pattern} reads", "in.txt", "run", f'list_files("{pattern}") | flat_map(lines)', "--quiet", *words)
    t.accepted("--output over a file that no pattern matches", "run", 'list_files("links/*.txt") | flat_map(lines)', "--quiet", "--output",
               "lines:made.jsonl", path="made.jsonl", begins=b"one\n")


NO_REGULAR_FILE = {"a folder": "sub", "a socket": "socket", "a part of a missing folder": "missing/o", "a loop of links": "loop"}


def other_kinds(t):
    """Targets that are no regular files. An output may be a FIFO or a device."""
    for kind, target in NO_REGULAR_FILE.items():
        t.refused(f"--output over {kind}", target, "run", "-f", "plan.txt", "--quiet", "--output", f"lines:{target}")
        t.refused(f"quarantine in {kind}", target, "run", "-f", "plan.txt", "--quiet", "--on-error", "skip", "--quarantine", target)
        t.refused(f"convert to {kind}", target, "convert", "in.txt", target, "--to", "lines", "--overwrite")
    for kind, target in (("a FIFO", "fifo"), ("/dev/null", "/dev/null")):
        t.refused(f"quarantine in {kind}", target, "run", "-f", "plan.txt", "--quiet", "--on-error", "skip", "--quarantine", target)
    t.refused("cp to a socket", "socket", "cp", "in.txt", "socket", "--overwrite")
    t.refused("cp to a loop of links", "loop", "cp", "in.txt", "loop", "--overwrite")
    t.accepted("--output to /dev/null", "run", "-f", "plan.txt", "--quiet", "--output", "lines:/dev/null")
    # A checkpoint is replaced by the one of a resumed run, also by way of another file.
    t.accepted("--checkpoint over the checkpoint that the run resumes from", "run", "range(3)", "--quiet", "--resume", "state", "--checkpoint",
               "state", path="state", begins=b"sluice")


def conversions(t):
    for kind, target in READ.items():
        if "input" not in kind and "link" not in kind or "table" in kind:
            continue
        for words in ((), ("--overwrite",)):
            t.refused(f"convert in.txt to {kind} {' '.join(words)}", target, "convert", "in.txt", target, "--to", "lines", *words)
    t.refused("convert of two files over the second", "other.txt", "convert", "in.txt", "other.txt", "other.txt", "--to", "lines", "--overwrite")
    t.refused("convert with a checkpoint over its input", "in.txt", "convert", "in.txt", "o.txt", "--to", "lines", "--checkpoint", "in.txt")
    t.refused("convert over another file", "other.txt", "convert", "in.txt", "other.txt", "--to", "lines", says=("--overwrite",))
    t.accepted("convert over an output", "convert", "in.txt", "made.jsonl", "--to", "lines", "--overwrite", path="made.jsonl", begins=b"one\n")
    for kind, target in READ.items():
        if ("input" in kind or "link" in kind) and "table" not in kind:
            t.refused(f"cp in.txt to {kind}", target, "cp", "in.txt", target)


def one_writer(folder):
    w = world(folder)
    first = subprocess.Popen([PROGRAM, "run", "range(1000000) | rate_limit(elements_per_second=50)", "--output", "jsonl:a.jsonl", "--checkpoint", "ck", "--quiet",
                              "--every", "1"], cwd=w.at, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    while not (w.at / "ck").exists() and first.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    return w, first


def partial_of_another(t):
    targets = {"jsonl:a.jsonl.partial": "a.jsonl.partial", "jsonl:a.jsonl": "a.jsonl", "jsonl:./sub/up/a.jsonl.partial": "a.jsonl.partial"}
    for output, name in targets.items():
        with tempfile.TemporaryDirectory() as folder:
            w, first = one_writer(folder)
            second = w.run("run", "range(3)", "--output", output, "--quiet")
            third = w.run("run", "range(3)", "--checkpoint", name, "--quiet")
            first.send_signal(signal.SIGTERM)
            first.wait(60)
            problems = [f"status {d.returncode}: {d.stderr[:300]}" for d in (second, third) if d.returncode not in (2, 75) or name not in d.stderr]
            if str(first.pid) not in second.stderr:
                problems.append(f"the writer's process is not named: {second.stderr[:300]}")
            again = w.run("run", "range(1000000) | rate_limit(elements_per_second=50)", "--output", "jsonl:a.jsonl", "--checkpoint", "ck", "--resume", "ck", "--quiet",
                          "--limit", "1")
            if again.returncode:
                problems.append(f"the first run cannot be resumed: {again.stderr[:300]}")
            t.cell(f"{output} while another process writes a.jsonl", problems)


def quarantine_of_another(t):
    """While one process keeps bad elements in q.jsonl, no other process writes it in any role, although it does not exist yet."""
    skipping = ("--on-error", "skip", "--quarantine")
    seconds = {
        "run": ("run", "range(3)", "--quiet", *skipping, "q.jsonl"),
        "run, by a link of folders": ("run", "range(3)", "--quiet", *skipping, "sub/up/q.jsonl"),
        "run, by a link": ("run", "range(3)", "--quiet", *skipping, "to-q"),
        "run, in the plan": ("run", 'jsonl("in.txt", "a: int64", on_error=skip, quarantine="q.jsonl")', "--quiet"),
        "run, in an inner plan": ("run", 'list_files("in.txt") | flat_map(jsonl(schema="a: int64", on_error=skip, quarantine="q.jsonl"))', "--quiet"),
        "head": ("head", "range(3)", *skipping, "q.jsonl"),
        "count": ("count", "range(3)", *skipping, "q.jsonl"),
        "select": ("select", "a", "range(3) | map({a: it})", *skipping, "q.jsonl"),
        "cat": ("cat", "in.txt", *skipping, "q.jsonl"),
        "convert": ("convert", "in.txt", "c.jsonl", "--quiet", *skipping, "q.jsonl"),
        "--output": ("run", "range(3)", "--quiet", "--output", "jsonl:q.jsonl"),
        "--checkpoint": ("run", "range(3)", "--quiet", "--checkpoint", "q.jsonl"),
        "convert to it": ("convert", "in.txt", "q.jsonl", "--quiet", "--overwrite"),
        "cp to it": ("cp", "in.txt", "q.jsonl", "--quiet", "--overwrite"),
    }
    with tempfile.TemporaryDirectory() as folder:
        w = world(folder)
        (w.at / "to-q").symlink_to(w.at / "q.jsonl")
        first = subprocess.Popen([PROGRAM, "run", "range(1000000) | rate_limit(elements_per_second=50)", "--quiet", *skipping, "q.jsonl"],
                                 cwd=w.at, stderr=subprocess.PIPE)
        until = time.monotonic() + 30
        while not (w.at / ".q.jsonl.lock").exists() and first.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        before = w.contents()
        for name, words in seconds.items():
            done = w.run(*words)
            problems = [] if done.returncode == 75 else [f"status {done.returncode}: {done.stderr[:300]}"]
            if f"is being written by process {first.pid}" not in done.stderr:
                problems.append(f"the writer's process is not named: {done.stderr[:300]}")
            after = w.contents()
            problems += [f"{n} changed" for n in before if after.get(n) != before[n]] + [f"{n} appeared" for n in after if n not in before]
            t.cell(f"{name} while another process keeps bad elements in q.jsonl", problems)
        first.send_signal(signal.SIGTERM)
        first.wait(60)
        left = [n for n in w.contents() if n.endswith(".lock") and n not in (".locked.txt.lock",)]
        t.cell("the lock of a quarantine is gone with its run", left)
        done = w.run(*seconds["run"])
        t.cell("the quarantine of a run that has ended is free", [] if done.returncode == 0 else [done.stderr[:300]])
    with tempfile.TemporaryDirectory() as folder:
        w, first = one_writer(folder)
        for name in ("a.jsonl", "a.jsonl.partial", "ck"):
            done = w.run("run", "range(3)", "--quiet", *skipping, name)
            problems = [] if done.returncode == 75 else [f"status {done.returncode}"]
            if f"is being written by process {first.pid}" not in done.stderr:
                problems.append(done.stderr[:300])
            t.cell(f"quarantine in {name} while another process writes it", problems)
        first.send_signal(signal.SIGTERM)
        first.wait(60)
    # One process may name a quarantine in several stages, and for several plans.
    bad = 'jsonl("in.txt", "a: int64", on_error=skip, quarantine="q.jsonl")'
    t.accepted("a quarantine of two stages and of the run", "run", f"concatenate({bad}, {bad})", "--quiet", *skipping, "q.jsonl",
               path="q.jsonl", begins=b'{"error":')
    t.accepted("a quarantine of several files", "cat", "bad-1.jsonl", "bad-2.jsonl", *skipping, "q.jsonl", path="q.jsonl", begins=b'{"error":')
    t.refused("quarantine whose lock is the input", ".locked.txt.lock", "run", 'lines(".locked.txt.lock")', "--quiet", *skipping, "locked.txt",
              says=("is replaced while",))


def main():
    t = tests()
    checkpoints(t)
    outputs(t)
    names_beside(t)
    patterns(t)
    other_kinds(t)
    conversions(t)
    partial_of_another(t)
    quarantine_of_another(t)
    print(f"{t.passed} passed, {t.failed} failed")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
