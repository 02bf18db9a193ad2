# SPDX-License-Identifier: Apache-2.0
"""A service on five machines, one network namespace each, with a fault every few seconds: exact, and level in memory and descriptors.

Faults: a worker or the dispatcher is killed and starts again; a worker is paused, or its cable is pulled, for a while; the consumer
is killed and resumes from its checkpoint. One worker and the dispatcher's machine are spared some faults, so that one process of
each kind lives long. Prints for each kind of fault the longest time until elements came again.

Without network namespaces (they need `unshare` and `ip`) all processes share the host, and cables are not pulled; it says so.
SLUICE_TEST_SOAK=SECONDS:BETWEEN sets how long it runs (15 s) and the time from one fault to the next (2 s, or 4 s where a machine is
away meanwhile).
"""
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import PROGRAM   # noqa: E402

SECONDS, BETWEEN = (float(x) for x in os.environ.get("SLUICE_TEST_SOAK", "15:2").split(":"))
END_SECONDS = 60
AWAY = max(BETWEEN, 4)   # longer than the others wait for a machine that does not answer
USUAL_GAP = 0.3   # seconds; a longer one has begun with an earlier fault
ELEMENTS_A_FAULT = 1000   # at least, at the end
MACHINES = {"dispatcher": "10.77.0.1", "spared": "10.77.0.2", "worker1": "10.77.0.3", "worker2": "10.77.0.4", "consumer": "10.77.0.5"}
WORKERS = [name for name in MACHINES if name not in ("dispatcher", "consumer")]
# Growth that is no leak: pages that the allocator keeps, tables of splits. A leak of one frame for each fault exceeds it.
GROWTH_MIB, GROWTH_DESCRIPTORS = 48, 16


def may_make_namespaces():
    if not (shutil.which("unshare") and shutil.which("nsenter") and shutil.which("ip")):
        return False
    probe = "ip link add probe1 type veth peer name probe2 && ip link add br0 type bridge"
    return subprocess.run(["unshare", "-Urn", "sh", "-c", probe], capture_output=True).returncode == 0


class Network:
    """Machines on one bridge; without namespaces, all on this host."""

    def __init__(self, has_namespaces):
        self.has_namespaces = has_namespaces
        self.holders = {}
        if not has_namespaces:
            return
        self.ip("link set lo up", "link add br0 type bridge", "link set br0 up")
        for name, address in MACHINES.items():
            # A process of its own keeps each namespace while programs come and go.
            self.holders[name] = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo up; read end"], stdin=subprocess.PIPE,
                                                  stdout=subprocess.PIPE, text=True)
            self.holders[name].stdout.readline()
            pid = self.holders[name].pid
            self.ip(f"link add {name} type veth peer name inside netns {pid}", f"link set {name} master br0 up")
            script = f"ip link set lo up; ip addr add {address}/24 dev inside; ip link set inside up"
            subprocess.run(["nsenter", "-t", str(pid), "-n", "sh", "-c", script], check=True)

    def connects(self):
        """Returns true if one machine reaches another one: a firewall of the host may apply to bridges."""
        def python(name, code):
            return [*self.enter(name), sys.executable, "-c", f"import socket; {code}"]

        listening = f"s = socket.create_server(('{MACHINES['dispatcher']}', 7700)); print(1, flush=True); s.settimeout(5); s.accept()"
        with subprocess.Popen(python("dispatcher", listening), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            server.stdout.readline()
            connecting = f"socket.create_connection(('{MACHINES['dispatcher']}', 7700), 3)"
            return subprocess.run(python("consumer", connecting), capture_output=True).returncode == 0

    @staticmethod
    def ip(*commands):
        for command in commands:
            subprocess.run(["ip", *command.split()], check=True)

    def enter(self, name):
        return ["nsenter", "-t", str(self.holders[name].pid), "-n", "--"] if self.has_namespaces else []

    def command(self, name, arguments):
        return [*self.enter(name), PROGRAM, *map(str, arguments)]

    def address(self, name):
        return MACHINES[name] if self.has_namespaces else "127.0.0.1"

    def cable(self, name, state):
        self.ip(f"link set {name} {state}")

    def close(self):
        for holder in self.holders.values():
            holder.communicate("end\n")


class Soak:
    def __init__(self, network, folder):
        self.network = network
        self.folder = folder
        self.processes = {}
        self.address = ""
        self.gaps = collections.defaultdict(float)
        self.written, self.changed, self.cause = 0, time.monotonic(), ""   # bytes, when they became more, the fault since then
        self.first = {}    # by process: RSS and descriptors after it has settled
        self.last = {}     # by machine
        self.wrong = []
        self.drawn = random.Random(5)

    # --- processes
    def spawn(self, name, arguments):
        with open(self.folder / f"{name}.err", "ab") as stderr:
            self.processes[name] = subprocess.Popen(self.network.command(name, arguments), stdout=subprocess.DEVNULL, stderr=stderr)

    def start(self, name):
        if name == "dispatcher":
            file = self.folder / "address"
            file.unlink(missing_ok=True)
            self.spawn(name, ["dispatcher", "--listen", self.address or f"{self.network.address(name)}:0", "--address-file", file,
                              "--store", f"sqlite:{self.folder}/meta.db"])
            while not file.exists():
                time.sleep(0.005)
            self.address = file.read_text().strip()
        elif name == "consumer":
            plan = (f'range(100000000) | filter(it >= 0) | sleep(100us) | '
                    f'distribute("{self.address}", splits=200000, splits_at_once=4, job="soak", consumer="one")')
            checkpoint = self.folder / "checkpoint"
            self.spawn(name, ["run", plan, "--output", self.folder / "out.jsonl", "--quiet", "--checkpoint", checkpoint,
                              "--every", "2000", "--resume-or-start", checkpoint])
        else:
            self.spawn(name, ["worker", "--dispatcher", self.address, "--listen", f"{self.network.address(name)}:0"])

    def stop(self, name, how):
        self.processes[name].send_signal(how)
        self.processes[name].wait()

    # --- what it delivers
    def bytes_out(self):
        return sum(p.stat().st_size for p in self.folder.glob("out.jsonl*") if not p.name.endswith(".lock"))

    def watch(self, seconds, kind):
        """Watches the output for some seconds; the longest time without a new byte counts for the kind of fault with which
        it began."""
        end = time.monotonic() + seconds
        if time.monotonic() < self.changed + USUAL_GAP:
            self.cause = kind
        while time.monotonic() < end:
            time.sleep(0.01)
            self.gaps[self.cause] = max(self.gaps[self.cause], time.monotonic() - self.changed)
            now = self.bytes_out()
            if now != self.written:
                self.written, self.changed, self.cause = now, time.monotonic(), kind
            for name, process in self.processes.items():
                code = process.poll()
                if code is not None:
                    self.wrong.append(f"{name} ended with {code}: {(self.folder / f'{name}.err').read_text()[-2000:]}")
                    return

    def measure(self):
        for name, process in self.processes.items():
            with open(f"/proc/{process.pid}/statm") as statm:
                mib = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            now = (mib, len(os.listdir(f"/proc/{process.pid}/fd")))
            first = self.first.setdefault(process.pid, now)
            if now[0] > first[0] + GROWTH_MIB or now[1] > first[1] + GROWTH_DESCRIPTORS:
                self.wrong.append(f"{name} grew from {first[0]:.0f} MiB and {first[1]} descriptors to {now[0]:.0f} and {now[1]}")
            self.last[name] = now

    # --- faults
    def kill(self, name):
        self.stop(name, signal.SIGKILL)
        self.start(name)
        self.watch(BETWEEN, f"SIGKILL of {'a worker' if name in WORKERS else 'the ' + name}")

    def pause(self, name):
        self.processes[name].send_signal(signal.SIGSTOP)
        self.watch(AWAY, "SIGSTOP of a worker")
        self.processes[name].send_signal(signal.SIGCONT)

    def pull_cable(self, name):
        self.network.cable(name, "down")
        self.watch(AWAY, "partition of " + ("a worker" if name in WORKERS else "the dispatcher"))
        self.network.cable(name, "up")

    def run(self):
        for name in MACHINES:
            self.start(name)
        self.cause = "no fault"
        self.watch(BETWEEN, "no fault")
        faults = [lambda: self.kill("worker1"), lambda: self.kill("dispatcher"), lambda: self.pause("worker2"),
                  lambda: self.kill("worker2"), lambda: self.kill("consumer"), lambda: self.pause("worker1")]
        if self.network.has_namespaces:
            faults += [lambda: self.pull_cable("worker1"), lambda: self.pull_cable("spared"), lambda: self.pull_cable("dispatcher")]
        count = 0
        begun = time.monotonic()
        while time.monotonic() < begun + SECONDS and not self.wrong:
            order = self.drawn.sample(faults, len(faults))
            for fault in order:
                fault()
                count += 1
                self.measure()
                if self.wrong or time.monotonic() > begun + SECONDS:
                    break
        return count

    def wait_for_elements(self, count):
        """Waits until this number of elements has been written, however slow the machine is. A line has at most 10 bytes."""
        end = time.monotonic() + END_SECONDS
        while self.bytes_out() < 10 * count and time.monotonic() < end:
            time.sleep(0.01)

    def finish(self):
        """Ends the consumer, and returns the number of elements; they are 0, 1, 2 …"""
        self.processes["consumer"].send_signal(signal.SIGTERM)
        self.processes["consumer"].wait(END_SECONDS)
        count = 0
        path = next(p for p in self.folder.glob("out.jsonl*") if not p.name.endswith(".lock"))
        with open(path) as lines:
            for line in lines:
                if int(line) != count:
                    self.wrong.append(f"element {count} is {line.strip()}")
                    break
                count += 1
        return count

    def close(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


def main():
    if "SLUICE_SOAK_INSIDE" not in os.environ and may_make_namespaces():
        return subprocess.run(["unshare", "-Urn", sys.executable, __file__], env=dict(os.environ, SLUICE_SOAK_INSIDE="1")).returncode
    has_namespaces = "SLUICE_SOAK_INSIDE" in os.environ
    network = Network(has_namespaces)
    if has_namespaces and not network.connects():
        network.close()
        network = Network(False)
    if not network.has_namespaces:
        print("no network namespaces that reach each other: partitions are skipped")
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(network, pathlib.Path(folder))
        try:
            faults = soak.run()
            if not soak.wrong:
                soak.wait_for_elements(ELEMENTS_A_FAULT * faults)
            delivered = soak.finish() if not soak.wrong else 0
        finally:
            soak.close()
            network.close()
        print(f"{faults} faults, {delivered} elements")
        for kind, seconds in sorted(soak.gaps.items()):
            print(f"longest time without an element: {seconds:.2f} s, {kind}")
        for name, (mib, descriptors) in sorted(soak.last.items()):
            print(f"{name}: {mib:.0f} MiB, {descriptors} descriptors")
        if not soak.wrong and delivered < ELEMENTS_A_FAULT * faults:
            soak.wrong.append(f"{delivered} elements only")
        for words in soak.wrong:
            print(f"FAILED {words}")
    print(f"{0 if soak.wrong else 1} passed, {1 if soak.wrong else 0} failed")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
