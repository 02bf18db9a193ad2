# SPDX-License-Identifier: Apache-2.0
"""Remote objects: the program beside curl, both reading from one nginx on this machine, in turns.

  python3 bench/http_bench.py [--pairs 9] [--json FILE]      after ./dev build; ./dev bench io has its rows, too

Prints for each workload the median of seconds, and the ratio of pairs with its quartiles. The ideal of N objects of S bytes, whose first
bytes take L seconds, is L + N·S/b: all asked for at once, over a link of b bytes a second, which is what curl gets for one large object in
the same run. Times are the whole life of a process; those beside the ideal are the program's own, as the ideal starts no process.
"""
import argparse
import hashlib
import json
import pathlib
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/http/servers"))
import certificates
import nginx_server

PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/sluice"))
MIB = 1 << 20
OBJECTS, FIRST_BYTE_SECONDS = 64, 0.05
# Requests of a pass, for half as many objects; so many that a request whose hedge stalls, too, is a small part of its time.
TROUBLED, TROUBLED_BYTES = 8000, 65536
RAW_READER = """
import resource, socket, ssl, sys
host, port, path, root = sys.argv[1:]
context = ssl.create_default_context(cafile=root)
to = context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=host)
to.sendall(f"GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n".encode())
room, got = bytearray(1 << 18), 0
view = memoryview(room)
began = resource.getrusage(resource.RUSAGE_SELF)
while n := to.recv_into(view, len(view)):
    got += n
ended = resource.getrusage(resource.RUSAGE_SELF)
print(got, ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime)
"""


def timed(command, env=None):
    began = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return time.monotonic() - began, done


def ours(plan, elements, env=None):
    """Seconds of the process, and those of the run: by its rate, which has three digits where "in 0.09 s" has one."""
    seconds, done = timed([PROGRAM, "run", plan], env)
    found = re.search(r"^([\d,]+) elements in .*?: ([\d.]+) ([kMG]?) ?records/s", done.stderr)
    if int(found[1].replace(",", "")) != elements:
        sys.exit(f"{found[1]} elements, expected {elements}")
    return seconds, elements / (float(found[2]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[3]])


class Table:
    def __init__(self):
        self.rows = []
        print(f"{'workload':52} {'ours':>8} {'reference':>10} {'ratio':>7}  {'quartiles':13} {'goal':>6}")

    def row(self, name, us, reference, ratios, goal=None, at_most=False):
        ratios = sorted(ratios)
        low, middle, high = (ratios[round((len(ratios) - 1) * q)] for q in (0.25, 0.5, 0.75))
        verdict = "" if goal is None else "ok" if (middle <= goal if at_most else middle >= goal) else "MISSED"
        print(f"{name:52} {statistics.median(us):7.3f}s {statistics.median(reference):9.3f}s {middle:7.2f}  {low:5.2f}–{high:5.2f}   "
              f"{'' if goal is None else goal:>6} {verdict}")
        self.rows.append({"name": name, "ours_s": us, "reference_s": reference, "ratio": middle, "low": low, "high": high, "goal": goal,
                          "at_most": at_most, "verdict": verdict})


def many_objects(server, table, folder, pairs):
    names = folder / "names.txt"
    names.write_text("".join(server.url(f"slow/part-{i}") + "\n" for i in range(OBJECTS)))
    plan = f'lines("{names}") | interleave(fixed_length(65536), cycle_length={OBJECTS}, parallelism={OBJECTS})'
    curl = ["curl", "-sS", "--parallel", "--parallel-immediate", "--parallel-max", "64", "-o", str(folder / "out#1"),
            server.url(f"slow/part-[0-{OBJECTS - 1}]")]
    whole, own, theirs, ideal = [], [], [], []
    for _ in range(pairs):
        seconds, said = ours(plan, OBJECTS * 16)
        whole.append(seconds)
        own.append(said)
        theirs.append(timed(curl)[0])
        link = timed(["curl", "-sS", "-o", "/dev/null", "-w", "%{time_total} %{size_download}", server.url("raw/large")])[1].stdout.split()
        ideal.append(FIRST_BYTE_SECONDS + OBJECTS * MIB / (float(link[1]) / float(link[0])))
    table.row("64 × 1 MiB, first byte 50 ms: ideal ÷ ours", own, ideal, [i / o for i, o in zip(ideal, own)], 0.85)
    table.row("64 × 1 MiB, first byte 50 ms: ideal ÷ curl", theirs, ideal, [i / t for i, t in zip(ideal, theirs)])
    table.row("64 × 1 MiB, first byte 50 ms: curl ÷ ours", whole, theirs, [t / w for t, w in zip(theirs, whole)], 1.3)


def one_object(url, table, name, pairs, size, curl_options=(), env=None):
    us, theirs = [], []
    for _ in range(pairs):
        us.append(ours(f'fixed_length("{url}", 65536)', size // 65536, env)[0])
        theirs.append(timed(["curl", "-sS", *curl_options, "-o", "/dev/null", url])[0])
    table.row(name, us, theirs, [t / u for t, u in zip(theirs, us)])


def troubled(server, table, pairs):
    """Objects of which some are refused, reset or stalled, beside the same without: the bytes first, in order; then requests and time, in
    the order of their coming, as one that is late keeps sixty-three others waiting in any other."""
    names = server.folder / "troubled.txt"

    def plan(location, order="deterministic"):
        names.write_text("".join(server.url(f"{location}/small-{i % (TROUBLED // 2)}") + "\n" for i in range(TROUBLED)))
        return f'lines("{names}") | interleave(fixed_length({TROUBLED_BYTES}), cycle_length={OBJECTS}, parallelism={OBJECTS}, order={order})'

    def digest(location):
        done = subprocess.run([PROGRAM, "run", "--quiet", "--output", "raw:-", plan(location)], capture_output=True)
        if done.returncode != 0:
            sys.exit(done.stderr.decode())
        return hashlib.sha256(done.stdout).hexdigest()

    if digest("slow") != digest("trouble"):
        sys.exit("the bytes differ where the server makes trouble")
    clean, hurt, asked = [], [], []
    for _ in range(pairs):
        clean.append(ours(plan("slow", "sloppy"), TROUBLED)[1])
        done = timed([PROGRAM, "run", plan("trouble", "sloppy")])[1]
        hurt.append(float(re.search(r" in ([\d.]+) s", done.stderr)[1]))
        asked.append(int(re.search(r"HTTP/1.1, ([\d,]+) requests", done.stderr)[1].replace(",", "")) / TROUBLED)
    table.row("5 % 503, 1 % reset, 1 % stalled 2 s: clean ÷ that", hurt, clean, [c / h for c, h in zip(clean, hurt)], 0.7)
    table.row("the same: requests ÷ objects", asked, [1], asked, 1.15, at_most=True)


def tls_cost(host, port, root, table, pairs, size):
    """Bytes for each second of processor time: the program's, less what it takes to start, beside a loop of SSL_read."""
    plan = f'fixed_length("https://{host}:{port}/raw/large", 65536)'
    us, theirs = [], []
    for _ in range(pairs):
        spent = []
        for text in (plan, "range(1)"):
            before = os.times()
            timed([PROGRAM, "run", text], {"SSL_CERT_FILE": root})
            after = os.times()
            spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
        us.append(spent[0] - spent[1])
        done = timed([sys.executable, "-c", RAW_READER, host, str(port), "/raw/large", root])[1]
        got, seconds = done.stdout.split()
        if int(got) < size:
            sys.exit(f"the raw reader has {got} bytes")
        theirs.append(float(seconds))
    table.row("HTTPS, bytes a processor second: ours ÷ SSL_read", us, theirs, [t / u for t, u in zip(theirs, us)], 0.9)


def hedged(server, table):
    """By the benches' own program: latencies of single ranges are nothing that `sluice run` prints."""
    bench = ROOT / "build/sluice_bench"
    if not bench.exists():
        print("hedged ranges: skipped, there is no build/sluice_bench")
        return
    with tempfile.NamedTemporaryFile(suffix=".json") as rows:
        subprocess.run([bench, "remote_hedging", "--json", rows.name], env={**os.environ, "SLUICE_BENCH_LATE": server.url("late/small-0")},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for row in json.loads(pathlib.Path(rows.name).read_text()):
            if row["figure"] is None:
                sys.exit(row["note"])
            table.row(f"{row['name']}: {row['reference']}", [0], [0], [row["figure"]], row["goal"], at_most=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pairs", type=int, default=9)
    arguments.add_argument("--json")
    chosen = arguments.parse_args()
    if nginx_server.missing():
        sys.exit(f"this machine has no {nginx_server.missing()}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o755)
        objects = folder / "objects"
        objects.mkdir()
        draw = random.Random(1)
        for i in range(OBJECTS):
            (objects / f"part-{i}").write_bytes(draw.randbytes(MIB))
        size = 256 * MIB
        (objects / "large").write_bytes(draw.randbytes(MIB) * (size // MIB))
        for i in range(TROUBLED // 2):
            (objects / f"small-{i}").write_bytes(draw.randbytes(TROUBLED_BYTES))
        certificates.make_root(folder, "root")
        certificates.make_certificate(folder, "good", "root", "IP:127.0.0.1")
        server = nginx_server.Nginx(folder, objects, ("good",), FIRST_BYTE_SECONDS)
        try:
            table = Table()
            many_objects(server, table, folder, chosen.pairs)
            one_object(server.url("raw/large"), table, "one object of 256 MiB: curl ÷ ours", chosen.pairs, size)
            one_object(server.url("slow/large"), table, "the same, first byte 50 ms: curl ÷ ours", chosen.pairs, size)
            root = str(folder / "root.pem")
            one_object(f"https://127.0.0.1:{server.tls_ports['good']}/raw/large", table, "the same over TLS: curl ÷ ours", chosen.pairs, size,
                       ("--cacert", root), {"SSL_CERT_FILE": root})
            tls_cost("127.0.0.1", server.tls_ports["good"], root, table, chosen.pairs, size)
            troubled(server, table, min(chosen.pairs, 7))
            hedged(server, table)
        finally:
            server.stop()
    for command in (["curl", "--version"], ["nginx", "-v"]):
        said = subprocess.run(command, capture_output=True, text=True)
        print((said.stdout + said.stderr).splitlines()[0])
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(table.rows, indent=1))


if __name__ == "__main__":
    main()
