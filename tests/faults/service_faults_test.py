# SPDX-License-Identifier: Apache-2.0
"""Dispatcher, workers and consumers as processes, each killed at every message and at every commit: the elements are exact.

A boundary is one call of send, recv, write or sync of one process: SIGKILL comes instead of the call or directly after it, so a
message was not sent, or was sent and the sender never learned it; a commit was not made, or was made and not answered. A killed
process starts again: a dispatcher over its store, a worker as a new one, a consumer from its checkpoint. A full disk lasts for
a second; then the dispatcher is restarted.

By default a sample of the boundaries, as many as 20 seconds allow; SLUICE_TEST_FAULTS=all takes all of them, and a number that many.
"""
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import PROGRAM   # noqa: E402

SHIM = pathlib.Path(PROGRAM).parent / "libfault_shim.so"
SAMPLE_SECONDS = 20
TIMEOUT_SECONDS = 60
FULL_DISK_SECONDS = 1
ELEMENTS = 4000
# Calls that are boundaries, by role. A consumer's own files are the subject of crash_test.py.
BOUNDARIES = {
    "dispatcher": {"send": ["kill", "kill_after"], "recv": ["kill"], "pwrite": ["kill", "kill_after", "ENOSPC"],
                   "fdatasync": ["kill", "kill_after", "EIO"], "fsync": ["kill"]},
    "worker": {"send": ["kill", "kill_after"], "recv": ["kill"]},
    "consumer": {"send": ["kill", "kill_after"], "recv": ["kill"], "fsync": ["kill"], "rename": ["kill"]},
}


class Cluster:
    """One dispatcher, two workers and consumers, which start again when they were killed."""

    def __init__(self, consumers):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.kept.name)
        self.consumers = consumers
        self.processes = {}
        self.address = ""
        self.errors = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self.kept.cleanup()

    def spawn(self, name, arguments, fault="", log=None):
        environment = dict(os.environ, LD_PRELOAD=str(SHIM), SLUICE_FAULT_UNDER=str(self.folder))
        if fault:
            environment["SLUICE_FAULT"] = fault
        if log:
            environment["SLUICE_FAULT_LOG"] = str(self.folder / log)
        with open(self.folder / f"{name}.err", "ab") as stderr:
            self.processes[name] = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=stderr,
                                                    env=environment)

    def start_dispatcher(self, fault="", log=None):
        file = self.folder / "address"
        file.unlink(missing_ok=True)
        listen = ["--listen", self.address] if self.address else []
        self.spawn("dispatcher", ["dispatcher", *listen, "--address-file", file, "--store", f"sqlite:{self.folder}/meta.db"], fault, log)
        while not file.exists() and self.processes["dispatcher"].poll() is None:
            time.sleep(0.002)
        if file.exists():
            self.address = file.read_text().strip()

    def start_worker(self, name, fault="", log=None):
        self.spawn(name, ["worker", "--dispatcher", self.address], fault, log)

    def start_consumer(self, name, fault="", log=None):
        job = f', job="shared", consumer="{name}"' if len(self.consumers) > 1 else ""
        plan = f'range({ELEMENTS}) | filter(it >= 0) | distribute("{self.address}", splits=8, splits_at_once=3, patience=30s{job})'
        checkpoint = self.folder / f"{name}.checkpoint"
        self.spawn(name, ["run", plan, "--output", self.folder / f"{name}.jsonl", "--quiet", "--checkpoint", checkpoint, "--every", "200",
                          "--resume-or-start", checkpoint], fault, log)

    def run(self, faulty="", fault="", log=None):
        """Runs until all consumers have ended; returns true if the fault killed `faulty`."""
        def of(name):
            return (fault, log) if name == faulty else ("", None)

        self.start_dispatcher(*of("dispatcher"))
        if not self.address:   # killed before it knew its address
            self.start_dispatcher()
        for name in ("worker", "worker2"):
            self.start_worker(name, *of(name))
        for name in self.consumers:
            self.start_consumer(name, *of(name))
        was_hit = False
        running = set(self.consumers)
        begun = time.monotonic()
        is_full = fault.endswith(("ENOSPC", "EIO"))
        while running:
            if is_full and time.monotonic() > begun + FULL_DISK_SECONDS:
                is_full = False
                was_hit = True
                self.processes["dispatcher"].kill()
            if time.monotonic() > begun + TIMEOUT_SECONDS:
                raise subprocess.TimeoutExpired(f"consumer {', '.join(running)}", TIMEOUT_SECONDS)
            for name, process in list(self.processes.items()):
                code = process.poll()
                if code is None or (name in self.consumers and name not in running):
                    continue
                if code == 0 and name in running:
                    running.remove(name)
                    continue
                was_hit = was_hit or name == faulty
                if code != -signal.SIGKILL and not (name == "dispatcher" and is_full and code == 1):
                    self.errors.append(f"{name} ended with {code}: {(self.folder / f'{name}.err').read_text()}")
                    return was_hit
                if name == "dispatcher":
                    self.start_dispatcher()
                elif name in self.consumers:
                    self.start_consumer(name)
                else:
                    self.start_worker(name)
            time.sleep(0.003)
        return was_hit

    def elements(self):
        return [[int(line) for line in (self.folder / f"{name}.jsonl").read_text().split()] for name in self.consumers]

    def complaints(self):
        yield from self.errors
        if self.errors:
            return
        parts = self.elements()
        if len(parts) == 1 and parts[0] != list(range(ELEMENTS)):
            yield f"{len(parts[0])} elements, {len(set(parts[0]))} different, or in another order"
        if sorted(x for part in parts for x in part) != list(range(ELEMENTS)):
            yield f"{[len(part) for part in parts]} elements of {ELEMENTS}, {len(set(x for part in parts for x in part))} different"
        for name in self.consumers:
            said = (self.folder / f"{name}.err").read_text()
            if "error" in said:
                yield f"{name} wrote {said}"


def boundaries(consumers):
    """Each boundary of each role, counted in a run without a fault."""
    for role, calls in BOUNDARIES.items():
        name = consumers[0] if role == "consumer" else role
        with Cluster(consumers) as cluster:
            cluster.run(name, "", "log")
            if list(cluster.complaints()):
                raise AssertionError(f"the run fails without a fault: {list(cluster.complaints())}")
            made = collections.Counter(line.split()[0] for line in (cluster.folder / "log").read_text().splitlines())
        for call, faults in calls.items():
            for n in range(1, made[call] + 1):
                for what in faults:
                    yield consumers, name, f"{call}:{n}{'+' if what.startswith('E') else ''}:{what}"


def main():
    wanted = os.environ.get("SLUICE_TEST_FAULTS", "")
    cases = [*boundaries(["consumer"]), *boundaries(["one", "two"])]
    random.Random(2).shuffle(cases)
    if wanted.isdigit():
        cases = cases[:int(wanted)]
    deadline = None if wanted else time.monotonic() + SAMPLE_SECONDS
    tried = hit = failed = 0
    for consumers, name, fault in cases:
        if deadline and time.monotonic() > deadline:
            break
        tried += 1
        with Cluster(consumers) as cluster:
            try:
                hit += cluster.run(name, fault)
                wrong = list(cluster.complaints())
            except subprocess.TimeoutExpired as hung:
                wrong = [f"{hung.cmd} still runs after {hung.timeout} s"]
        failed += bool(wrong)
        for words in wrong:
            print(f"FAILED {len(consumers)} consumers, {name}, {fault}: {words.strip()}", flush=True)
    print(f"{tried} of {len(cases)} boundaries, {hit} processes died there")
    if hit < tried // 2:
        failed += 1
        print("FAILED: most faults did not happen")
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
