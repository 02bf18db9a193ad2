# SPDX-License-Identifier: Apache-2.0
"""Every system call of a run that writes output and checkpoint fails, or the process is killed there; then it is resumed.

Whatever happened, the output is exact after a resume, an error says what could not be done with which file, and nothing is
left behind. By default a sample of the positions, as many as 25 seconds allow; SLUICE_TEST_FAULTS=all takes all of them, and a
number so many.
"""
import collections
import gzip
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import GOLDEN, PROGRAM   # noqa: E402

SHIM = pathlib.Path(PROGRAM).parent / "libfault_shim.so"
SAMPLE = 160
SAMPLE_SECONDS = 25   # of the clock: what an fsync takes is the disk's and the other tests' affair
TIMEOUT_SECONDS = 120
WORDS = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EMFILE": "Too many open files",
         "EACCES": "Permission denied", "EDQUOT": "Disk quota exceeded"}
# What a call may fail with. EINTR, short writes and file systems without locks are no errors at all.
FAULTS = {
    "open": ["EMFILE", "EIO", "EACCES", "EINTR", "kill"], "write": ["EIO", "ENOSPC", "EDQUOT", "EINTR", "short", "kill"],
    "fsync": ["EIO", "ENOSPC", "EINTR", "kill"], "rename": ["EIO", "ENOSPC", "EACCES", "kill"], "unlink": ["EIO", "EACCES", "kill"],
    "ftruncate": ["EIO", "EINTR", "kill"], "flock": ["EIO", "ENOLCK", "EINTR", "kill"], "fchmod": ["EIO", "kill"],
    "pread": ["EIO", "EINTR", "kill"], "preadv2": ["EIO", "EINTR", "kill"], "io_uring_enter": ["ENOMEM", "EAGAIN", "EBADR", "EINTR", "kill"],
}
HARMLESS = {"EINTR", "short", "ENOLCK"}
# A kill as the third checkpoint would take its name: what a resumed life starts from.
FIRST_LIFE_ENDS = "rename:3:kill"
COLD = "preadv2:1+:EAGAIN"   # as if nothing were in the page cache: all reads go through the back end


class World:
    """A folder with an input, and lives of a run that writes there."""

    def __init__(self, form, io, to_stdout=False, options=(), plan="", names=("out",)):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.kept.name)
        self.form, self.io, self.to_stdout, self.options, self.names = form, io, to_stdout, list(options), sorted(names)
        self.plan = plan
        self.data = (GOLDEN / "examples.tfrecord").read_bytes()
        (self.folder / "in").write_bytes(self.data)
        self.expected = None
        self.begin()

    def begin(self):
        for path in self.folder.iterdir():
            if path.name != "in":
                path.unlink()
        for name in self.names:
            (self.folder / name).write_bytes(b"old")   # to be replaced, with its mode
            (self.folder / name).chmod(0o600)

    def live(self, fault="", log=None):
        here = self.folder / "here"
        environment = dict(os.environ, LD_PRELOAD=str(SHIM), SLUICE_FAULT_UNDER=str(self.folder), SLUICE_FAULT=fault)
        if not fault:
            environment.pop("SLUICE_FAULT")
        if log:
            environment["SLUICE_FAULT_LOG"] = str(log)
        output = self.form if self.to_stdout else f"{self.form}:{self.folder}/out"
        arguments = ["--output", output, "--checkpoint", here, "--every", "25", "--io", self.io, "--workers", "1",
                     *self.options]
        if here.exists():
            arguments += ["--resume", here]
        plan = f'tfrecord("{self.folder}/in", read_bytes=4096) | repeat(4) | shuffle(20, seed=3){self.plan}'
        with open(self.folder / "out" if self.to_stdout else os.devnull, "ab" if here.exists() else "wb") as stdout:
            return subprocess.run([PROGRAM, "run", plan, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, text=True,
                                  env=environment, timeout=TIMEOUT_SECONDS)

    def written(self):
        """What the outputs hold; of compressed ones what a reader gets, since each checkpoint ends a member."""
        contents = [(self.folder / name).read_bytes() for name in self.names]
        return [gzip.decompress(c) if c.startswith(b"\x1f\x8b") else c for c in contents]

    def names_file(self, said):
        return str(self.folder) in said or (self.to_stdout and "standard output" in said)

    def calls(self, before, fault):
        """How often a life makes each call."""
        self.begin()
        if before:
            self.live(before)
        with tempfile.NamedTemporaryFile() as log:
            self.live(fault, log.name)
            return collections.Counter(line.split()[0] for line in pathlib.Path(log.name).read_text().splitlines())

    def complaints(self, before, fault):
        """What is wrong after a life with this fault and one without."""
        self.begin()
        if before:
            self.live(before)
        call, _, what = fault.split(",")[-1].split(":")
        done = self.live(fault)
        if done.returncode == 99:
            yield done.stderr
        if what in HARMLESS and done.returncode != 0:
            yield f"is no error, and ended with {done.returncode}: {done.stderr}"
        if done.returncode not in (0, -9):
            said = next((line for line in done.stderr.splitlines() if line.startswith("sluice: ") and "warning: " not in line), "")
            if done.returncode not in (1, 75) or not said.startswith("sluice: "):
                yield f"ended with {done.returncode}: {done.stderr}"
            elif call != "io_uring_enter" and (WORDS[what] not in said or not self.names_file(said)):
                yield f"does not say what failed with which file: {said}"
        if done.returncode == 0 and self.written() != self.expected:
            yield "ended well, and the output is wrong"
        again = self.live()
        if again.returncode != 0:
            yield f"cannot be resumed: {again.stderr}"
        elif self.written() != self.expected:
            yield f"resumed, the output has {[len(w) for w in self.written()]} bytes of {[len(e) for e in self.expected]}, or others"
        elif any((self.folder / name).stat().st_mode & 0o777 != 0o600 for name in self.names):
            yield "the output's mode changed"
        left = sorted(p.name for p in self.folder.iterdir())
        if call == "unlink" and "--shard-size" in self.options:   # the lock of a shard that no later life writes to
            left = [name for name in left if not name.endswith(".lock")]
        if left != ["here", "in", *self.names]:
            yield f"leaves {sorted(p.name for p in self.folder.iterdir())}"


def positions(world, before, cold):
    prefix = COLD + "," if cold else ""
    for call, count in sorted(world.calls(before, COLD if cold else "").items()):
        if cold != (call in ("pread", "io_uring_enter")) or call not in FAULTS:
            continue
        for n in range(1, count + 1):
            for what in FAULTS[call]:
                yield f"{prefix}{call}:{n}:{what}"
                if call == "io_uring_enter" and what in ("ENOMEM", "EAGAIN", "EBADR"):
                    yield f"{prefix}{call}:{n}+:{what}"


def main():
    wanted = os.environ.get("SLUICE_TEST_FAULTS", "")
    cases = []
    turns = dict(options=["--shards", "3"], names=[f"out-0000{k}-of-00003" for k in range(3)])
    sizes = dict(options=["--shard-size", "30000"], names=[f"out-0000{k}" for k in range(4)])
    for world in (World("tfrecord", "auto"), World("jsonl", "threads"), World("raw", "auto"), World("jsonl", "auto", True),
                  World("csv", "auto", options=["--compression", "gzip"], plan=" | enumerate"), World("tfrecord", "threads", **turns),
                  World("jsonl", "auto", **sizes), World("npy", "auto", plan=" | map(length(it))")):
        if world.live().returncode != 0:
            print("the run fails without a fault\n0 passed, 1 failed")
            return 1
        world.expected = world.written()
        for before in ("", FIRST_LIFE_ENDS):
            for cold in (False, True):
                cases += [(world, before, fault) for fault in positions(world, before, cold)]
    calls = {fault.split(",")[-1].split(":")[0] for _, _, fault in cases}
    # Few, and where a resume goes wrong that must not touch what it cannot cut back: always, and first.
    always = [case for case in cases if case[1] and "ftruncate" in case[2]]
    sample = random.Random(1).sample(cases, min(int(wanted) if wanted.isdigit() else SAMPLE, len(cases)))
    chosen = cases if wanted == "all" else always + sample
    deadline = None if wanted else time.monotonic() + SAMPLE_SECONDS
    tried = 0
    failed = 0
    for world, before, fault in chosen:
        if deadline and tried > len(always) and time.monotonic() > deadline:
            break
        tried += 1
        try:
            wrong = list(world.complaints(before, fault))
        except subprocess.TimeoutExpired as hung:
            wrong = [f"still runs after {hung.timeout} s"]
        failed += bool(wrong)
        for words in wrong:
            print(f"FAILED {world.form} {world.io}{' to standard output' if world.to_stdout else ''}, {'resumed' if before else 'first life'}, {fault}: {words.strip()}", flush=True)
    missing = set(FAULTS) - calls - {"io_uring_enter", "pread"}   # these two depend on the back end there is
    if missing:
        failed += 1
        print(f"no run makes a call of {missing}")
    print(f"{tried} of {len(cases)} positions, of {', '.join(sorted(calls))}")
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
