# SPDX-License-Identifier: Apache-2.0
"""Inputs as the program meets them: standard input, FIFOs, files that changed since a checkpoint, odd compressions."""
import bz2
import contextlib
import gzip
import json
import lzma
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import threading
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM") or str(pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "sluice")
GOLDEN = ROOT / "tests/golden"


def sluice(*arguments, stdin=b""):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, input=stdin, timeout=120)


def elements(done):
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def zlib_of_window(data, bits):
    packer = zlib.compressobj(6, zlib.DEFLATED, bits)
    return packer.compress(data) + packer.flush()


class InputsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        pathlib.Path(self.path(name)).write_bytes(data)
        return self.path(name)

    def ok(self, *arguments, stdin=b""):
        done = sluice(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done

    def fails(self, status, *arguments, stdin=b""):
        done = sluice(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stderr.decode()

    def test_standard_input_is_read_as_any_file(self):
        text = b"".join(b"line %d\n" % i for i in range(50000))
        want = [f"line {i}" for i in range(50000)]
        for packed in [text, gzip.compress(text, 1), zlib.compress(text)]:
            for io in ["threads", "auto"]:
                done = self.ok("run", 'lines("-") | prefetch(4)', "--output", "jsonl", "--io", io, stdin=packed)
                self.assertEqual(elements(done), want)
        records = (GOLDEN / "small.tfrecord").read_bytes()
        named = self.ok("run", f'tfrecord("{GOLDEN}/small.tfrecord")', "--output", "jsonl").stdout
        self.assertEqual(self.ok("run", 'tfrecord("-")', "--output", "jsonl", stdin=records).stdout, named)
        done = self.ok("run", 'fixed_length("-", record_bytes=4)', "--output", "jsonl", stdin=b"aaaabbbb")
        self.assertEqual(elements(done), ["aaaa", "bbbb"])
        self.assertEqual(elements(self.ok("run", 'lines("-")', "--output", "jsonl", stdin=b"")), [])
        self.ok("verify", "-", stdin=records)

    def test_standard_input_may_be_a_file_a_terminals_end_and_read_once_only(self):
        with open(self.write("a", b"1\n2\n"), "rb") as opened:
            done = subprocess.run([PROGRAM, "run", 'lines("-")', "--output", "jsonl"], stdin=opened, capture_output=True, timeout=60)
        self.assertEqual(elements(done), ["1", "2"])
        self.assertIn("can be read once only", self.fails(1, "run", 'lines("-") | repeat(2)', stdin=b"1\n"))

    def test_a_stream_has_no_checkpoint_and_that_is_said_first(self):
        os.mkfifo(self.path("fifo"))
        for plan in ['lines("-") | batch(2)', f'lines("{self.path("fifo")}")']:
            for option in ["--checkpoint", "--resume"]:
                why = self.fails(2, "run", plan, option, self.path("here"))
                self.assertIn("can be read once only: leave out --checkpoint and --resume", why)
        self.assertFalse(os.path.exists(self.path("here")))

    def test_an_interrupt_ends_the_wait_for_standard_input(self):
        for io in ["threads", "auto"]:
            run = subprocess.Popen([PROGRAM, "run", 'lines("-")', "--output", "jsonl", "--io", io], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            seen = threading.Event()

            def drain(pipe=run.stdout, seen=seen):
                while pipe.readline():
                    seen.set()

            drained = threading.Thread(target=drain)
            drained.start()
            run.stdin.write(b"line\n" * 100000)
            run.stdin.flush()
            self.assertTrue(seen.wait(60))  # it reads, and soon waits for more
            while run.poll() is None:
                run.send_signal(2)  # the first ends it after its block, the second ends its wait
                try:
                    run.wait(0.3)
                except subprocess.TimeoutExpired:
                    pass
            drained.join()
            self.assertEqual(run.returncode, 130, run.stderr.read())
            for pipe in (run.stdin, run.stdout, run.stderr):
                pipe.close()

    def test_fifos_are_read_to_their_end_beside_each_other(self):
        plan = []
        writers = []
        for i in range(20):  # more than the pool has threads
            name = self.path(f"fifo-{i}")
            os.mkfifo(name)
            plan.append(name)
            writers.append(threading.Thread(target=lambda n=name, k=i: pathlib.Path(n).write_bytes(b"%d\n" % k * 3000)))
        for writer in writers:
            writer.start()
        done = self.ok("run", f'list_files("{self.path("fifo-*")}") | interleave(lines, cycle_length=20, parallelism=20)',
                       "--output", "jsonl")
        for writer in writers:
            writer.join()
        self.assertEqual(sorted(elements(done)), sorted([str(i) for i in range(20) for _ in range(3000)]))

    def test_changed_inputs_are_refused_warned_of_or_ignored(self):
        for i in range(3):
            self.write(f"part-{i}", b"".join(b"%d-%02d\n" % (i, k) for k in range(100)))
        here = self.path("here")
        plan = f'list_files("{self.path("part-*")}") | interleave(lines, cycle_length=2) | repeat(2) | shuffle(5, seed=7) | batch(2)'
        self.ok("run", plan, "--limit", 10, "--checkpoint", here)
        self.ok("run", plan, "--resume", here)
        before = pathlib.Path(self.path("part-0")).read_bytes()
        self.write("part-0", b"more\n" + before)  # as long as a line, so that lines begin where the checkpoint says
        why = self.fails(1, "run", plan, "--resume", here)
        self.assertIn("failed_precondition: lines: " + self.path("part-0"), why)
        self.assertIn("--changed-inputs ignore", why)
        warned = self.ok("run", plan, "--resume", here, "--changed-inputs", "warn", "--quiet").stderr.decode()
        self.assertEqual(warned.count("sluice: warning: "), 1)
        self.assertIn("part-0: is not what the checkpoint was made with", warned)
        self.assertEqual(self.ok("run", plan, "--resume", here, "--changed-inputs", "ignore", "--quiet").stderr, b"")
        self.assertEqual(sluice("run", plan, "--changed-inputs", "never").returncode, 2)

    def test_a_file_that_came_is_refused(self):
        for i in range(3):
            self.write(f"few-{i}", b"x\n")
        files = self.path("few-*")
        for k, plan in enumerate([f'list_files("{files}") | repeat(2) | shuffle(2, seed=7)',
                                  f'list_files("{files}") | interleave(lines) | repeat(2) | shuffle(2, seed=7) | batch(1)',
                                  f'list_files("{files}") | flat_map(lines) | repeat(2) | prefetch(4)']):
            here = self.path("here")
            self.ok("run", plan, "--limit", 1, "--checkpoint", here)
            self.write(f"few-new-{k}", b"y\n")
            self.assertIn("there were %d, and there are %d" % (3 + k, 4 + k), self.fails(1, "run", plan, "--resume", here))

    def test_compression_is_told_from_what_looks_like_it(self):
        for text in [b"x^2 + 1\nx^3\n", b"x^\n", b"hC\nabc\n", b"\x78\xda\nabc\n"]:
            done = self.ok("run", f'lines("{self.write("a", text)}")', "--output", "jsonl")
            self.assertEqual(len(elements(done)), text.count(b"\n"))
        for data in [b"\x78\xda\x01\x02" * 500, b"\x1f\x8b\x08\x00" * 500, b"\x1f\x8b\x01\x02" * 500]:
            done = self.ok("run", f'fixed_length("{self.write("a", data)}", record_bytes=4)', "--output", "jsonl")
            self.assertEqual(len(elements(done)), 500)
        records = (GOLDEN / "raw.tfrecord").read_bytes()
        for bits in range(9, 16):
            path = self.write(f"window-{bits}", zlib_of_window(records, bits))
            self.assertIn(b": sound: ", self.ok("verify", path).stdout)
        refused = bytearray(gzip.compress(records))
        refused[3] |= 0x80
        self.assertIn("reserved", self.fails(1, "verify", self.write("a.gz", bytes(refused))))

    def test_every_compression_is_read_by_every_verb_and_resumed(self):
        text = b"".join(b"line %d\n" % i for i in range(30000))
        packed = {"a.bz2": bz2.compress(text), "a.xz": lzma.compress(text), "unnamed": bz2.compress(text, 1), "two.bz2": bz2.compress(text[:9]) + bz2.compress(text[9:])}
        for name, data in packed.items():
            path = self.write(name, data)
            self.assertEqual(self.ok("count", path).stdout.strip(), b"30000")
            self.assertEqual(self.ok("head", path).stdout.splitlines()[1], b'"line 1"')
            here = self.path("here")
            first = self.ok("run", f'lines("{path}")', "--limit", 12345, "--checkpoint", here, "--output", "jsonl")
            rest = self.ok("run", f'lines("{path}")', "--resume", here, "--output", "jsonl")
            self.assertEqual(elements(first) + elements(rest), text.decode().splitlines())
            cut = self.write("cut-" + name, data[:-5])
            self.assertIn(f"cut short at compressed byte {len(data) - 5}", self.fails(1, "count", cut))
        for name in ("text.zst", "text.lz4", "text.sz", "text.tool.zst", "text.tool.lz4"):
            self.assertEqual(self.ok("count", GOLDEN / "codecs" / name).stdout.strip(), b"12000")
        self.assertIn(b": sound: 2 ", self.ok("verify", "--compression", "snappy_blocks", GOLDEN / "codecs/tensorflow.tfblocks").stdout)

    def test_a_lone_carriage_return_at_the_end_is_no_line(self):
        done = self.ok("run", f'lines("{self.write("a", bytes([97, 10, 13]))}")', "--output", "jsonl")
        self.assertEqual(elements(done), ["a"])

    def test_tables_need_no_schema_and_what_is_written_is_read_again(self):
        rows = [{"name": f"row {i}", "n": i, "x": None if i % 7 == 3 else i / 4} for i in range(3000)]
        text = "name,n,x\n" + "".join(f'"row {r["n"]}",{r["n"]},{"" if r["x"] is None else r["x"]}\n' for r in rows)
        for name, data in (("a.csv", text.encode()), ("b.csv.gz", gzip.compress(text.encode()))):
            done = self.ok("run", f'csv("{self.write(name, data)}", header=true)', "--output", "jsonl")
            self.assertEqual(elements(done), rows)
            again = self.ok("run", f'jsonl("{self.write("c.jsonl", done.stdout)}")', "--output", "jsonl")
            self.assertEqual(elements(again), rows)
        database = self.path("d.db")
        with contextlib.closing(sqlite3.connect(database)) as d:
            d.execute("CREATE TABLE t(name TEXT, n INTEGER, x REAL)")
            d.executemany("INSERT INTO t VALUES(:name, :n, :x)", rows)
            d.commit()
        query = f'sql("{database}", "SELECT * FROM t ORDER BY n") | take(10)'
        self.assertEqual(elements(self.ok("run", query, "--output", "jsonl")), rows[:10])


if __name__ == "__main__":
    unittest.main()
