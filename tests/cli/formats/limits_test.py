#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An element above a limit is that element's error: it is dropped where bad elements are, and checksums are checked before limits."""
import io
import json
import os
import pathlib
import struct
import sys
import tarfile
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest, lines_of, main, sluice, write_tfrecord, field


def chunk(name, data, crc=None):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data) if crc is None else crc)


def png(width, height, rows=b"", crc=None):
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head, crc) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GOOD = png(1, 1, b"\0\x07")
WIDE = png(1 << 20, 1)


class Limits(ProgramTest):
    def write(self, name, data):
        path = pathlib.Path(self.path(name))
        path.write_bytes(data)
        return path

    def dropped(self, plan, good, said, times=1):
        """The plan stops at the element, and drops it under every policy that drops."""
        stopped = sluice("run", "--quiet", "--output", "jsonl", plan)
        self.assertEqual(stopped.returncode, 1, stopped.stderr)
        self.assertIn("resource_exhausted", stopped.stderr)
        self.assertIn(said, stopped.stderr)
        bad = self.path("bad.jsonl")
        for how, options in ((plan, ["--on-error", "skip"]), (plan + " | ignore_errors", []), (plan, ["--on-error", f"quarantine({bad})"])):
            done = self.ok("run", "--output", "jsonl", how, *options)
            self.assertEqual(lines_of(done), good, (how, options))
            self.assertIn(f"{times} bad element", done.stderr)
        entries = [json.loads(line) for line in pathlib.Path(bad).read_text().splitlines()]
        self.assertEqual([e["code"] for e in entries], ["resource_exhausted"] * times)
        self.assertIn(said, entries[0]["error"])
        os.unlink(bad)

    def test_one_image_above_the_limits_ends_nothing(self):
        self.write("1.png", GOOD)
        self.write("2.png", WIDE)
        self.write("3.png", GOOD)
        plan = f'list_files("{self.folder.name}/*.png") | map(decode_image(read_file(it)))'
        self.dropped(plan, [[[[7]]]] * 2, "a side is above the limit")
        self.dropped(plan + " | batch(2)", [[[[[7]]], [[[7]]]]], "a side is above the limit")
        self.write("2.png", WIDE)
        self.dropped(f'list_files("{self.folder.name}/*.png") | filter(length(decode_image(read_file(it))) == 1) | count_elements', [2],
                     "a side is above the limit")

    def test_the_checksum_of_a_header_comes_before_the_limits(self):
        path = self.write("flipped.png", png(1 << 20, 1, crc=zlib.crc32(b"IHDR" + struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))))
        done = sluice("run", "--quiet", f'list_files("{path}") | map(decode_image(read_file(it)))')
        self.assertEqual(done.returncode, 1)
        self.assertIn("data_loss", done.stderr)
        self.assertIn("the checksum of the header (IHDR) is wrong", done.stderr)
        self.assertNotIn("resource_exhausted", done.stderr)

    def test_a_long_line_of_json(self):
        path = self.write("long.jsonl", b'{"a":1}\n{"a":2,"b":"' + b"x" * (17 << 20) + b'"}\n{"a":3}\n')
        self.dropped(f'jsonl("{path}", "a: int64")', [{"a": 1}, {"a": 3}], "longer than 16 MiB")
        self.dropped(f'jsonl("{path}", "a: int64") | batch(2)', [{"a": [1, 3]}], "longer than 16 MiB")

    def test_a_stray_quote_in_csv(self):
        rows = b"".join(b"%d,x\n" % i for i in range(2000000))
        path = self.write("quote.csv", b'a,b\n1,y\n2,"stray\n3,z\n' + rows)
        plan = f'csv("{path}", "a: int64, b: bytes", header=true) | take(4) | map(a)'
        self.dropped(plan, [1, 3, 0, 1], "a quote is not closed")

    def test_a_pax_header_above_the_limit_takes_its_member_along(self):
        def archive(comment):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as to:
                for name in ("a.txt", "b" * 150 + ".txt", "c.txt"):
                    info = tarfile.TarInfo(name)
                    info.size = 3
                    if name.startswith("b"):
                        info.pax_headers = {"comment": "x" * comment}
                    to.addfile(info, io.BytesIO(b"abc"))
            return out.getvalue()
        path = self.write("pax.tar", archive(2 << 20))
        self.dropped(f'tar("{path}") | map(name)', ["a.txt", "c.txt"], "an extended header of")
        self.dropped(f'webdataset("{path}") | map(key)', ["c"], "an extended header of")   # a sample that ends at damage is lost
        names = lines_of(self.ok("run", "--quiet", "--output", "jsonl", f'tar("{self.write("small.tar", archive(100))}") | map(name)'))
        self.assertEqual(names, ["a.txt", "b" * 150 + ".txt", "c.txt"])

    def test_members_above_the_limits(self):
        path = self.path("bomb.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, size in (("a", 5), ("bomb", 3 << 20), ("c", 5)):
                archive.writestr(name, bytes(size))
        self.dropped(f'zip_members("{path}", inflated_bytes_max=100000) | map(name)', ["a", "c"], "inflated_bytes_max")
        header = bytearray(tarfile.TarInfo("huge").tobuf())
        info = tarfile.TarInfo("huge")
        info.size = 3 << 30
        huge = self.path("huge.tar")
        with open(huge, "wb") as out:
            out.write(info.tobuf())
            out.seek(512 + (3 << 30))
            small = tarfile.TarInfo("small")
            out.write(small.tobuf() + bytes(1024))
        self.dropped(f'tar("{huge}") | map(name)', ["small"], "more than 2147483648")

    def test_the_budget_ends_a_run_under_every_policy(self):
        path = self.path("large.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros", bytes(150 << 20))
        read = f'zip_members("{path}")'
        for plan, options in ((read, []), (read, ["--on-error", "skip"]), (read, ["--on-error", f"quarantine({self.path('q.jsonl')})"]),
                              (read + " | ignore_errors", []),
                              ("range(10000000) | shuffle(10000000) | ignore_errors", [])):
            done = sluice("run", "--quiet", plan, "--memory-budget", "16MiB", *options)
            self.assertEqual((done.returncode, "resource_exhausted" in done.stderr), (1, True), (plan, options, done.stderr))

    def test_examples_with_context_are_no_examples(self):
        """ExampleListWithContext of TensorFlow Ranking: examples = 1, context = 2."""
        feature = lambda name, number: field(1, field(1, name) + field(2, field(3, field(1, bytes([number])))))
        for name in (b"q", b"\xff\xfe"):
            example = field(1, feature(name, 7) + feature(b"r", 8))
            path = self.path("elwc.tfrecord")
            write_tfrecord(path, field(1, example) + field(1, example) + field(2, example))
            for verb in ("cat", "head"):
                shown = lines_of(self.ok(verb, path))
                self.assertEqual(list(shown[0]) if isinstance(shown[0], dict) else "a text", ["base64"] if isinstance(shown[0], dict) else "a text")
            self.assertNotEqual(sluice("select", "q", path).returncode, 0)
            self.ok("convert", path, self.path("o.jsonl"), "--quiet", "--overwrite")
            self.assertNotIn('"q"', pathlib.Path(self.path("o.jsonl")).read_text())


if __name__ == "__main__":
    main()
