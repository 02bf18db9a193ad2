# SPDX-License-Identifier: Apache-2.0
"""Indexes of compressed files and of archives: skips, resumes, at(i), counts and splits begin at a seek point, and the
elements are those that are read without an index."""
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tarfile
import unittest
import zlib

from program import ProgramTest, crc32c, main, sluice

READERS = {
    "lines": 'lines("PATH")',
    "csv": 'csv("PATH", "n: int64, text: string", header=true)',
    "jsonl": 'jsonl("PATH", "n: int64, text: string")',
    "tfrecord": 'tfrecord("PATH")',
    "fixed_length": 'fixed_length("PATH", record_bytes=200, header_bytes=7)',
    "tar": 'tar("PATH")',
    "webdataset": 'webdataset("PATH")',
}
N = 24_000


def parts_of(data, n):
    """Cuts at places that are not those of elements."""
    size = len(data) // n + 1
    return [data[i:i + size] for i in range(0, len(data), size)]


def zstd(data):
    return subprocess.run(["zstd", "-q", "-3", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


PACKERS = {
    "gz": gzip.compress,  # one member: places within it
    "gz-members": lambda data: b"".join(map(gzip.compress, parts_of(data, 9))),
    "zz": zlib.compress,
    "bz2": lambda data: b"".join(map(bz2.compress, parts_of(data, 9))),
    "xz": lambda data: b"".join(lzma.compress(part, preset=0) for part in parts_of(data, 9)),
}
if shutil.which("zstd"):
    PACKERS["zst"] = lambda data: b"".join(map(zstd, parts_of(data, 9)))


class CompressedIndexTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        random.seed(5)
        cls.texts = ["%06d %s" % (k, random.randbytes(90).hex()) for k in range(N)]
        cls.bodies = {}

    def body(self, kind):
        """About 5 MB of elements of this kind, plain."""
        if kind in self.bodies:
            return self.bodies[kind]
        if kind == "csv":
            text = "n,text\n" + "".join(f'{k},"{t}\n, ""y"""\n' if k % 3 == 0 else f"{k},{t}\n" for k, t in enumerate(self.texts))
        elif kind == "jsonl":
            text = "".join(json.dumps({"n": k, "text": t}) + "\n" for k, t in enumerate(self.texts))
        elif kind in ("tar", "webdataset"):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for k, t in enumerate(self.texts[:3000]):
                    if k % 100 == 0:
                        folder = tarfile.TarInfo(f"folder {k}")
                        folder.type = tarfile.DIRTYPE
                        tar.addfile(folder)
                    name = f"{k:05}.txt" if k % 7 else f"{'long' * 40}/{k:05}.txt"
                    for end in ("", ".cls"):
                        info = tarfile.TarInfo(name + end)
                        info.size = len(t)
                        tar.addfile(info, io.BytesIO(t.encode()))
            self.bodies[kind] = out.getvalue()
            return self.bodies[kind]
        elif kind == "fixed_length":
            text = "header\n" + "".join(t.ljust(200, ".") for t in self.texts)
        else:
            text = "".join(t + "\n" for t in self.texts)
        if kind == "tfrecord":
            pathlib.Path(self.path("texts")).write_text(text)
            self.ok("run", f'lines("{self.path("texts")}")', "--output", "tfrecord:" + self.path("records"))
            self.bodies[kind] = pathlib.Path(self.path("records")).read_bytes()
        else:
            self.bodies[kind] = text.encode()
        return self.bodies[kind]

    def make(self, kind, packing, name=None):
        path = self.path(f"{name or kind}.{packing}")
        pathlib.Path(path).write_bytes(PACKERS[packing](self.body(kind)))
        return path

    def plan(self, kind, path, *stages, **options):
        given = "".join(f", {k}={v}" for k, v in options.items())
        return " | ".join([READERS[kind].replace("PATH", path)[:-1] + given + ")", *stages])

    def elements(self, *arguments):
        done = self.ok("run", *arguments, "--output", "jsonl")
        self.assertNotIn("warning", done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def read_bytes(self, plan):
        """How many bytes of the file a run of this plan reads."""
        report = self.path("report.json")
        self.ok("run", plan, "--output", "null", "--report", f"json:{report}")
        stages = json.loads(pathlib.Path(report).read_text())["run"]["stages"]
        return max(s.get("read_bytes", 0) for s in stages)

    def check(self, kind, packing):
        path = self.make(kind, packing)
        whole = self.elements(self.plan(kind, path))
        n = len(whole)
        self.assertGreaterEqual(n, 3000)
        self.assertIn(f"{n:,} elements", self.ok("index", self.plan(kind, path)).stdout)
        for skip in (0, 511, 512, n // 2, n - 700, n - 1, n, n + 5):
            self.assertEqual(self.elements(self.plan(kind, path, f"skip({skip})", "take(5)")), whole[skip:skip + 5], (kind, packing, skip))
        self.assertEqual(self.elements(self.plan(kind, path, "shard(3, 1)", "skip(700)", "take(9)")), whole[1::3][700:709])
        self.assertEqual(self.elements(self.plan(kind, path, f"skip({n - 600})", "shuffle(10, seed=3)", "take(9)")),
                         self.elements(self.plan(kind, path, f"skip({n - 600})", "shuffle(10, seed=3)", "take(9)", index="none")))
        self.assertEqual(self.ok("count", self.plan(kind, path)).stdout.strip(), str(n))
        self.assertEqual(self.ok("count", self.plan(kind, path, index="required")).stdout.strip(), str(n))
        here = self.path("here")
        for stop in (n // 3, n - 50):
            plan = self.plan(kind, path, "shuffle(7, seed=1)", "batch(3)")
            self.ok("run", plan, "--limit", stop // 3, "--checkpoint", here, "--output", "null")
            rest = self.elements(plan, "--resume", here)
            self.assertEqual(rest, self.elements(self.plan(kind, path, "shuffle(7, seed=1)", "batch(3)", index="none"))[stop // 3:])
        return path, whole

    def test_every_format_and_every_packing(self):
        cases = [(kind, packing) for kind in READERS for packing in ("gz", "zst") if packing in PACKERS]
        cases += [("lines", packing) for packing in PACKERS]
        for kind, packing in dict.fromkeys(cases):
            with self.subTest(kind=kind, packing=packing):
                self.check(kind, packing)

    def test_plain_archives_and_records_of_one_size(self):
        for kind in ("tar", "webdataset", "fixed_length"):
            path = self.path(kind)
            pathlib.Path(path).write_bytes(self.body(kind))
            whole = self.elements(self.plan(kind, path))
            self.ok("index", self.plan(kind, path))
            for skip in (0, 600, 2990, len(whole) - 1, len(whole)):
                self.assertEqual(self.elements(self.plan(kind, path, f"skip({skip})", "take(5)")), whole[skip:skip + 5], kind)
            got = self.elements(self.plan(kind, path, "global_shuffle(seed=3)", index="required"))
            self.assertNotEqual(got, whole)
            self.assertEqual(sorted(map(json.dumps, got)), sorted(map(json.dumps, whole)))

    def test_seeks_read_little(self):
        for packing in PACKERS:
            path = self.make("lines", packing)
            size = os.path.getsize(path)
            plan = self.plan("lines", path, f"skip({N - 10})", "take(3)")
            before = self.read_bytes(plan)
            self.assertGreater(before, size * 0.9)
            self.ok("index", path, "--from", "lines")
            self.assertLess(self.read_bytes(plan), size * 0.55, packing)
            self.assertEqual(self.elements(plan), self.texts[N - 10:N - 7])

    def test_resumes_read_little(self):
        path = self.make("lines", "gz")
        plan, here = self.plan("lines", path), self.path("here")
        self.ok("run", plan, "--limit", N - 20, "--checkpoint", here, "--output", "null")
        damaged = bytearray(pathlib.Path(path).read_bytes())
        self.ok("index", path, "--from", "lines")
        time = os.stat(path).st_mtime_ns
        damaged[200_000] ^= 0xff  # neither size nor time show it, and nothing before the point is read
        pathlib.Path(path).write_bytes(damaged)
        os.utime(path, ns=(time, time))
        self.assertEqual(self.elements(plan, "--resume", here), self.texts[N - 20:])
        os.remove(path + ".sluice-index")
        self.assertIn("data_loss", self.fails(1, "run", plan, "--resume", here, "--output", "null"))

    def test_damage_behind_a_point_is_found(self):
        path = self.make("lines", "gz")
        self.ok("index", path, "--from", "lines")
        time = os.stat(path).st_mtime_ns
        bad = bytearray(pathlib.Path(path).read_bytes())
        bad[-8] ^= 1  # the checksum of the member
        pathlib.Path(path).write_bytes(bad)
        os.utime(path, ns=(time, time))
        self.assertIn("checksum", self.fails(1, "run", self.plan("lines", path, f"skip({N - 10})"), "--output", "null"))

    def test_random_access_and_splits(self):
        for packing in ("gz", "gz-members"):
            path = self.make("lines", packing)
            self.ok("index", path, "--from", "lines")
            whole = self.texts
            plan = self.plan("lines", path, "global_shuffle(seed=3)", "batch(7)", index="required")
            batches = self.elements(plan)
            self.assertEqual(sorted(x for b in batches for x in b), sorted(whole))
            here = self.path("here")
            self.ok("run", plan, "--limit", 1000, "--checkpoint", here, "--output", "null")
            self.assertEqual(self.elements(plan, "--resume", here), batches[1000:])
            opener = self.plan("lines", "", index="required").replace('"", ', "")
            parts = f'list_files("{path}") | flat_map({opener})'
            splits = [s for s in self.ok("splits", parts, "--splits", 4).stdout.splitlines() if not s.startswith("#")]
            self.assertEqual(len(splits), 4)
            self.assertEqual([x for s in splits for x in self.elements(s)], whole)
            self.assertEqual(self.elements(f"{parts} | distribute(splits=4, workers=2)"), whole)

    def test_the_first_complete_read_builds_an_index(self):
        for kind, packing in (("lines", "gz"), ("csv", "gz-members"), ("jsonl", None), ("tfrecord", None), ("tar", None), ("lines", "zz")):
            path = self.make(kind, packing) if packing else self.path(kind)
            if not packing:
                pathlib.Path(path).write_bytes(self.body(kind))
            at = pathlib.Path(path + ".sluice-index")
            whole = self.elements(self.plan(kind, path))
            self.elements(self.plan(kind, path, "take(100)", index="build"))
            self.elements(self.plan(kind, path))
            self.assertFalse(at.exists())  # not complete, and not asked for
            self.assertEqual(self.elements(self.plan(kind, path, index="build")), whole)
            self.assertTrue(at.exists(), kind)
            built = at.read_bytes()
            self.assertEqual(self.elements(self.plan(kind, path, f"skip({len(whole) - 9})", index="required")), whole[-9:])
            self.assertEqual(self.elements(self.plan(kind, path, "skip(2000)", "take(3)", index="build")), whole[2000:2003])
            self.elements(self.plan(kind, path, index="build"))
            self.assertEqual(at.read_bytes(), built)  # it is not built again
            at.write_bytes(built[:-1])
            batches = self.elements(self.plan(kind, path, "batch(10)", index="build"))  # rows in columns
            self.assertEqual(len(batches), (len(whole) + 9) // 10)
            self.assertEqual(self.elements(self.plan(kind, path, "skip(2100)", "take(3)", index="required")), whole[2100:2103])
            os.remove(at)

    def test_an_index_is_built_of_all_elements_or_not_at_all(self):
        path = self.path("bad.jsonl")
        rows = ['{"n": %d}\n' % k for k in range(1000)]
        pathlib.Path(path).write_text("".join(rows[:500]) + "nonsense\n" + "".join(rows[500:]))
        plan = 'jsonl("%s", "n: int64", index=build)' % path
        self.ok("run", plan, "--on-error", "skip", "--output", "null")
        self.fails(1, "run", plan, "--output", "null")
        broken = self.path("a.tfrecord")
        body = bytearray(self.body("tfrecord"))
        body[200 * 1000] ^= 1
        pathlib.Path(broken).write_bytes(body)
        self.ok("run", 'tfrecord("%s", index=build)' % broken, "--on-error", "skip", "--output", "null")
        self.assertFalse(os.path.exists(broken + ".sluice-index"))
        taken = self.path("taken.txt")
        pathlib.Path(taken).write_text("a\nb\n")
        os.mkdir(taken + ".sluice-index")
        done = self.ok("run", 'lines("%s", index=build)' % taken, "--output", "jsonl")
        self.assertEqual(done.stdout.split(), ['"a"', '"b"'])
        self.assertIn("was written", done.stderr)

    def test_an_index_with_any_byte_changed_or_cut_off_is_not_used(self):
        body = "".join(t + "\n" for t in self.texts[:2000]).encode()
        path = self.path("few.gz")
        pathlib.Path(path).write_bytes(b"".join(map(gzip.compress, parts_of(body, 4))))
        self.ok("index", path, "--from", "lines", "--every", 500)
        at = pathlib.Path(path + ".sluice-index")
        good = at.read_bytes()
        self.assertLess(len(good), 120)
        plan = self.plan("lines", path, "skip(1900)", "take(2)")
        for i in range(len(good)):
            for bad in (good[:i], good[:i] + bytes([good[i] ^ (1 << (i % 8))]) + good[i + 1:]):
                at.write_bytes(bad)
                done = self.ok("run", plan, "--output", "jsonl")
                self.assertEqual([json.loads(x) for x in done.stdout.splitlines()], self.texts[1900:1902])
                self.assertIn(".sluice-index is not used: ", done.stderr)
        for required in (good[:50], good[:20] + b"x" + good[21:]):
            at.write_bytes(required)
            self.assertIn("failed_precondition", self.fails(1, "run", self.plan("lines", path, index="required"), "--output", "null"))

    def test_forged_points_never_yield_other_elements_unnoticed(self):
        """Other numbers under a right checksum: an error, or the right elements."""
        path = self.make("lines", "gz-members")
        self.ok("index", path, "--from", "lines")
        at = pathlib.Path(path + ".sluice-index")
        good = at.read_bytes()[:-4]
        whole, errors = self.texts[N - 600:N - 597], 0
        for i in list(range(len(good) - 60, len(good))):
            body = bytearray(good)
            body[i] ^= 1
            at.write_bytes(body + crc32c(bytes(body)).to_bytes(4, "little"))
            done = sluice("run", self.plan("lines", path, f"skip({N - 600})"), "--output", "jsonl")
            if done.returncode:
                errors += 1
                self.assertRegex(done.stderr, "data_loss|failed_precondition")
            else:
                self.assertEqual([json.loads(x) for x in done.stdout.splitlines()][:3], whole, i)
        self.assertGreater(errors, 5)

    def test_a_changed_file_is_read_without_its_index(self):
        path = self.make("lines", "gz-members")
        self.ok("index", path, "--from", "lines")
        pathlib.Path(path).write_bytes(pathlib.Path(path).read_bytes() + gzip.compress(b"one more\n"))
        done = self.ok("run", self.plan("lines", path, f"skip({N})"), "--output", "jsonl")
        self.assertEqual(json.loads(done.stdout), "one more")
        self.assertIn("bytes when it was built", done.stderr)

    @unittest.skipUnless(shutil.which("zstd"), "no zstd")
    def test_a_file_of_one_frame_says_so(self):
        path = self.path("one.zst")
        pathlib.Path(path).write_bytes(zstd(self.body("lines")))
        self.assertIn("can only be inflated from its start", self.ok("index", path, "--from", "lines").stderr)
        self.assertEqual(self.elements(self.plan("lines", path, f"skip({N - 3})")), self.texts[N - 3:])
        self.assertEqual(self.ok("count", self.plan("lines", path, index="required")).stdout.strip(), str(N))

    def test_an_index_of_the_packed_bytes_is_another_one(self):
        path = self.make("fixed_length", "gz")
        self.ok("index", self.plan("fixed_length", path))
        raw = 'fixed_length("%s", record_bytes=1, compression=none)' % path
        done = self.ok("run", raw + " | skip(5000) | take(1)", "--output", "null")
        self.assertNotIn("is not used", done.stderr)  # it seeks by itself
        done = self.ok("run", f'lines("{path}", compression=none) | skip(5000) | take(1)', "--output", "null")
        self.assertIn("it was built for elements of fixed_length, 200 bytes behind 7 and before 0 in gzip, and the reader wants lines", done.stderr)


if __name__ == "__main__":
    main()
