# SPDX-License-Identifier: Apache-2.0
"""Indexes of files: what they skip, and that a damaged or stale one never gives wrong elements."""
import json
import os
import pathlib
import struct

from program import ProgramTest, crc32c, main, masked, sluice

FORMATS = ["tfrecord", "lines", "csv", "jsonl"]


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


class IndexTest(ProgramTest):
    """Files of 3,000 elements, of which the framing is not trivial: quotes with line ends, blank lines, a header."""
    N = 3000

    def make(self, kind, name="a"):
        rows = []
        if kind == "csv":
            body = "n,text\n" + "".join(f'{k},"x{k}\n, ""y"""\n' if k % 3 == 0 else f"{k},t\n" for k in range(self.N))
            self.reader = 'csv("PATH", "n: int64, text: string", header=true)'
        elif kind == "jsonl":
            body = "".join(f'{{"n": {k}}}\n' + ("\n" if k % 5 == 0 else "") for k in range(self.N))
            self.reader = 'jsonl("PATH", "n: int64")'
        elif kind == "lines":
            body = "".join(f"line {k}\n" for k in range(self.N - 1)) + "the last without an end"
            self.reader = 'lines("PATH")'
        else:
            body = b"".join(map(record, self.records()))
            self.reader = 'tfrecord("PATH")'
        path = self.path(name)
        pathlib.Path(path).write_bytes(body if isinstance(body, bytes) else body.encode())
        return path

    @classmethod
    def records(cls):
        if not hasattr(cls, "made"):
            cls.made = [b"%d" % k for k in range(cls.N)]
        return cls.made

    def plan(self, path, *stages, **options):
        given = "".join(f", {k}={v}" for k, v in options.items())
        return " | ".join([self.reader.replace("PATH", path)[:-1] + given + ")", *stages])

    def index(self, kind, path):
        options = ["--from", kind] + (["--schema", "n: int64, text: string"] if kind == "csv" else [])
        return self.ok("index", path, *options)

    def elements(self, *arguments):
        done = self.ok("run", *arguments, "--output", "jsonl")
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_skips_with_an_index_give_the_same_elements(self):
        for kind in FORMATS:
            path = self.make(kind)
            whole, _ = self.elements(self.plan(path))
            self.assertEqual(len(whole), self.N, kind)
            made = self.index(kind, path)
            self.assertIn("a.sluice-index: 3,000 elements", made.stdout)
            for skip in [0, 1, 511, 512, 513, 1000, 2047, 2998, 2999, 3000, 5000]:
                got, warned = self.elements(self.plan(path, f"skip({skip})", "take(5)"))
                self.assertEqual(got, whole[skip:skip + 5], (kind, skip))
                self.assertNotIn("warning", warned)
            got, _ = self.elements(self.plan(path, "shard(3, 1)", "skip(700)"))
            self.assertEqual(got, whole[1::3][700:], kind)
            got, _ = self.elements(self.plan(path, "skip(600)", "shuffle(10, seed=3)", "skip(600)", "take(9)"))
            expected, _ = self.elements(self.plan(path, "skip(600)", "shuffle(10, seed=3)", "skip(600)", "take(9)", index="none"))
            self.assertEqual(got, expected)
            self.assertEqual(self.ok("count", self.plan(path)).stdout.strip(), "3000")
            # Parsed on several workers, batched into columns, and resumed.
            if kind in ("csv", "jsonl"):
                got, _ = self.elements(self.plan(path, "skip(2000)", "take(5)", parallelism=3))
                self.assertEqual(got, whole[2000:2005])
                got, _ = self.elements(self.plan(path, "skip(2000)", "batch(4)", "unbatch()", "take(5)"))
                self.assertEqual(got, whole[2000:2005])
            here = self.path("here")
            plan = self.plan(path, "skip(1000)", "shuffle(7, seed=1)", "skip(900)")
            self.ok("run", plan, "--limit", 5, "--checkpoint", here, "--output", "null")
            rest, _ = self.elements(plan, "--resume", here)
            expected, _ = self.elements(plan)
            self.assertEqual(rest, expected[5:])

    def test_skipping_reads_little(self):
        """The file grows to megabytes, and the data before the place is destroyed without changing size and time."""
        path = self.path("big.tfrecord")
        self.reader = 'tfrecord("PATH")'
        data = record(b"x" * 1000)
        pathlib.Path(path).write_bytes(data * 20000)
        self.ok("index", path)
        time = os.stat(path).st_mtime_ns
        with open(path, "r+b") as f:
            f.seek(10 << 20)
            f.write(b"\xff" * (1 << 20))
        os.utime(path, ns=(time, time))
        got, _ = self.elements(self.plan(path, "skip(19000)", "take(2)"))
        self.assertEqual(got, ["x" * 1000] * 2)
        self.assertEqual(self.ok("count", path).stdout.strip(), "20000")
        self.assertIn("data_loss", self.fails(1, "run", self.plan(path, "skip(19000)", index="none")))

    def test_an_index_with_any_byte_changed_is_reported_and_not_used(self):
        for kind in ["tfrecord", "csv"]:
            self.N, n = 40, self.N  # a small index
            path = self.make(kind, "small")
            self.N = n
            self.index(kind, path)
            at = pathlib.Path(path + ".sluice-index")
            good = at.read_bytes()
            whole, _ = self.elements(self.plan(path, index="none"))
            plan = self.plan(path, "repeat(20)", "skip(700)")
            expected, _ = self.elements(self.plan(path, "repeat(20)", "skip(700)", index="none"))
            places = range(0, len(good), 67)  # record_index_test.cpp: every byte
            for i in places:
                at.write_bytes(good[:i] + bytes([good[i] ^ (1 << (i % 8))]) + good[i + 1:])
                got, warned = self.elements(plan)
                self.assertEqual(got, expected, (kind, i))
                required = sluice("run", self.plan(path, "take(1)", index="required"))
                self.assertEqual(required.returncode, 1, (kind, i))
                self.assertIn("failed_precondition", required.stderr)
                self.assertIn("`sluice index", required.stderr)
            for size in range(0, len(good), 167):
                at.write_bytes(good[:size])
                got, warned = self.elements(plan)
                self.assertEqual(got, expected, (kind, size))

    def test_a_stale_index_is_reported_and_not_used(self):
        for kind in FORMATS:
            path = self.make(kind)
            self.index(kind, path)
            body = pathlib.Path(path).read_bytes()
            before = os.stat(path).st_mtime_ns
            changes = [(body + body[-20:] if kind != "tfrecord" else body + record(b"more"), None, "bytes when it was built"),
                       (body, before + 1, "its file was written to since")]
            for data, time, words in changes:
                pathlib.Path(path).write_bytes(data)
                if time:
                    os.utime(path, ns=(time, time))
                got, warned = self.elements(self.plan(path, "skip(2000)", "take(3)"))
                expected, silent = self.elements(self.plan(path, "skip(2000)", "take(3)", index="none"))
                self.assertEqual(got, expected)
                self.assertIn("a.sluice-index is not used: ", warned)
                self.assertIn(words, warned)
                self.assertIn("`sluice index ", warned)
                self.assertNotIn("sluice-index", silent)
                required = sluice("run", self.plan(path, "take(1)", index="required"))
                self.assertEqual(required.returncode, 1)
                self.assertIn(words, required.stderr)

    def test_an_index_of_another_framing_is_not_used(self):
        path = self.make("csv")
        self.index("csv", path)
        self.reader = 'lines("PATH")'
        got, warned = self.elements(self.plan(path, "skip(2000)", "take(3)"))
        expected, _ = self.elements(self.plan(path, "skip(2000)", "take(3)", index="none"))
        self.assertEqual(got, expected)
        self.assertIn("it was built for elements of csv with a header, delimiter ,, and the reader wants lines", warned)

    def forged(self, path, change):
        """An index with other numbers under a right checksum."""
        at = pathlib.Path(path + ".sluice-index")
        body = bytearray(at.read_bytes()[:-4])
        change(body)
        at.write_bytes(body + crc32c(bytes(body)).to_bytes(4, "little"))

    def test_a_forged_index_is_an_error_and_no_wrong_element(self):
        for kind in FORMATS:
            path = self.make(kind)
            self.index(kind, path)
            good = pathlib.Path(path + ".sluice-index").read_bytes()
            whole, _ = self.elements(self.plan(path, index="none"))
            plan = self.plan(path, "skip(2000)")
            for place in range(len(good) // 3, len(good) - 4, len(good) // 11):
                def change(body):
                    body[place] ^= 1
                pathlib.Path(path + ".sluice-index").write_bytes(good)
                self.forged(path, change)
                done = sluice("run", plan, "--output", "jsonl")
                if kind == "tfrecord":  # a place is checked by the CRC of the header there
                    self.assertTrue(done.returncode == 1 or lines(done) == whole[2000:], done.stderr)
                if done.returncode:
                    self.assertIn("data_loss", done.stderr)

    def test_required_indexes_allow_a_global_shuffle(self):
        for kind in FORMATS:
            path = self.make(kind)
            missing = sluice("run", self.plan(path, "global_shuffle(seed=3)", index="required"))
            self.assertEqual(missing.returncode, 1)
            self.assertIn("index=required", missing.stderr)
            self.index(kind, path)
            whole, _ = self.elements(self.plan(path))
            got, _ = self.elements(self.plan(path, "global_shuffle(seed=3)", index="required"))
            self.assertNotEqual(got, whole)
            self.assertEqual(sorted(map(json.dumps, got)), sorted(map(json.dumps, whole)))
            here = self.path("here")
            plan = self.plan(path, "global_shuffle(seed=3)", "batch(7)", index="required")
            self.ok("run", plan, "--limit", 100, "--checkpoint", here, "--output", "null")
            batches, _ = self.elements(plan)
            rest, _ = self.elements(plan, "--resume", here)
            self.assertEqual(rest, batches[100:])
            self.assertIn("3000 elements", self.ok("explain", self.plan(path, index="required")).stdout.replace(",", ""))

    def test_files_with_required_indexes_are_split_within(self):
        for kind in FORMATS:
            with self.subTest(kind=kind):
                paths = [self.make(kind, name) for name in (f"{kind}-1", f"{kind}-2")]
                for path in paths:
                    self.index(kind, path)
                opener = self.plan("", index="required").replace('"", ', "").replace('"n: int64', 'schema="n: int64')
                plan = f'list_files("{self.path(kind)}-?") | flat_map({opener})'
                splits = [line for line in self.ok("splits", plan, "--splits", 6).stdout.splitlines() if not line.startswith("#")]
                self.assertEqual([("skip(2000)" in s, "take(1000)" in s) for s in splits],
                                 2 * [(False, True), (False, True), (True, False)])
                whole = self.elements(plan)[0]
                self.assertEqual(len(whole), 2 * self.N)
                self.assertEqual(self.elements(f"{plan} | distribute(splits=6, workers=2)")[0], whole)
                self.assertEqual([x for s in splits for x in self.elements(s)[0]], whole)
                os.remove(paths[0] + ".sluice-index")
                self.assertIn(f"{paths[0]}.sluice-index", self.fails(1, "run", f"{plan} | distribute(splits=6)"))

    def test_splits_of_an_indexed_file_drop_the_same_bad_rows(self):
        path = self.path("bad.csv")
        with open(path, "w") as out:
            out.writelines(f"{k},{'x' if k in (3, 400) else k}\n" for k in range(1000))
        self.ok("index", path, "--no-header", "--every", 16)
        reader = 'csv("a: int64, b: int64", index=required)'.replace("csv(", "csv(schema=")
        plan = f'list_files("{path}") | flat_map({reader})'
        kept = self.elements(plan, "--on-error", "skip")[0]
        self.assertEqual(len(kept), 998)
        self.assertEqual(self.elements(f"{plan} | distribute(splits=5)", "--on-error", "skip")[0], kept)

    def test_errors_say_why_a_file_has_no_index(self):
        rows = self.path("a.npy")
        pathlib.Path(rows).write_bytes(b"\x93NUMPY\x01\x00\x36\x00" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}".ljust(53) + b"\nab")
        self.assertIn("has no index: only tfrecord, lines, csv, jsonl, tar, webdataset and fixed_length use one", self.fails(2, "index", 'npy("%s")' % rows))
        self.assertIn("range has no index", self.fails(2, "index", "range(3)"))
        self.assertIn("an index is built for a plan that only reads one file", self.fails(1, "index", "range(3) | take(2)"))
        self.assertIn("not_found", self.fails(1, "index", self.path("missing.tfrecord")))
        damaged, first = self.damaged_file()
        whole = bytearray(pathlib.Path(damaged).read_bytes())
        whole[first] ^= 1  # a damaged length
        pathlib.Path(damaged).write_bytes(whole)
        self.assertIn("data_loss", self.fails(1, "index", damaged))
        self.assertFalse(os.path.exists(damaged + ".sluice-index"))

    def test_patterns_do_not_match_indexes(self):
        for i in range(3):
            self.make("tfrecord", f"part-{i}")
        pattern = self.path("part-*")
        self.assertEqual(len(self.ok("index", pattern).stdout.splitlines()), 3)
        self.assertEqual(len(self.ok("index", pattern).stdout.splitlines()), 3)  # again
        got, _ = self.elements(f'list_files("{pattern}")')
        self.assertEqual(len(got), 3)
        got, _ = self.elements(f'list_files("{pattern}.sluice-index")')
        self.assertEqual(len(got), 3)
        got, _ = self.elements(f'list_files("{self.folder.name}/**")')
        self.assertEqual(len(got), 3)

    def test_empty_files_and_single_elements(self):
        for body, n in [(b"", 0), (b"a\n", 1), (b"a\nb", 2)]:
            path = self.path("few.txt")
            pathlib.Path(path).write_bytes(body)
            self.ok("index", path, "--from", "lines")
            self.reader = 'lines("PATH")'
            got, _ = self.elements(self.plan(path, index="required"))
            self.assertEqual(len(got), n)
            got, _ = self.elements(self.plan(path, "global_shuffle()", index="required"))
            self.assertEqual(len(got), n)
            self.assertEqual(self.ok("count", self.plan(path, index="required")).stdout.strip(), str(n))


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
