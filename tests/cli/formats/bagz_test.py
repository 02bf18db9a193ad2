# SPDX-License-Identifier: Apache-2.0
"""Bagz by the program: head, cat, count, convert both ways, verify, describe, shards, outputs that the library of Bagz reads, and damaged
files. The library's part is skipped where it is missing (./dev deps formats)."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, lines_of, main, sluice
from riegeli_files import zeros

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/verbs/data/bagz"
NUMBERS = DATA / "numbers.bagz"
RECORDS = [f"r{i}" for i in range(10)]

sys.path.insert(0, str(ROOT / ".cache/formats"))
try:
    import bagz
except ImportError:
    bagz = None


class Bagz(ProgramTest):
    def write(self, name, data):
        pathlib.Path(self.path(name)).write_bytes(data)
        return self.path(name)

    def library(self):
        if not bagz:
            self.skipTest("no library of Bagz: ./dev deps formats")
        return bagz

    def test_files_are_read_by_all_verbs(self):
        self.assertEqual(lines_of(self.ok("cat", NUMBERS)), RECORDS)
        self.assertEqual(lines_of(self.ok("head", NUMBERS, "-n", 2)), RECORDS[:2])
        self.assertEqual(self.ok("count", NUMBERS).stdout, "10\n")
        self.assertIn("10", self.ok("describe", NUMBERS).stdout)
        self.assertIn("sound: 10 sound records", self.ok("verify", NUMBERS).stdout)
        self.assertIn(f'bagz("{NUMBERS}")', self.ok("explain", NUMBERS).stdout)
        self.assertEqual(lines_of(self.ok("cat", DATA / "numbers.bag")), RECORDS)

    def test_a_bag_of_a_robot_is_no_bagz_file(self):
        path = self.write("robot.bag", b"#ROSBAG V2.0\n" + bytes(range(256)))
        self.assertNotIn("bagz(", self.fails(2, "cat", path))

    def test_damage_names_the_file_and_the_record(self):
        done = sluice("verify", DATA / "frame.bagz")
        self.assertEqual(done.returncode, 1)
        self.assertIn("record 4: the record is no zstd frame", done.stdout + done.stderr)
        done = sluice("verify", DATA / "cut.bagz")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cut short", done.stdout + done.stderr)

    def bag_of(self, name, records):
        ends = [sum(map(len, records[:i + 1])) for i in range(len(records))]
        return self.write(name, b"".join(records) + struct.pack(f"<{len(ends)}Q", *ends))

    def test_records_whose_frames_state_no_size_are_within_the_budget(self):
        path = self.bag_of("large.bagz", [zeros(1 << 30), b""])
        said = self.fails(1, "run", f'bagz("{path}")', "--memory-budget", "64MiB", "--output", "null",
                          "--report", f"json:{self.path('report.json')}")
        self.assertIn("a piece of 1073741824 bytes", said)
        run = json.loads(pathlib.Path(self.path("report.json")).read_text())["run"]
        self.assertLess(run["memory"]["process_peak_bytes"], 128 << 20)
        sizes = [0, 1, 65535, 65536, 65537, 300000, 40_000_000]
        path = self.bag_of("sizes.bagz", [zeros(n) for n in sizes])
        done = self.ok("run", f'bagz("{path}") | map(length(it))', "--memory-budget", "64MiB", "--output", "jsonl")
        self.assertEqual(lines_of(done), sizes)
        whole = self.path("whole")
        self.ok("run", f'bagz("{path}")', "--output", f"raw:{whole}")
        self.assertEqual(pathlib.Path(whole).read_bytes(), bytes(sum(sizes)))

    def test_a_file_that_cannot_be_read_is_named_where_numbers_are_needed(self):
        for path, words in ((self.path("missing.bagz"), "not_found"), (DATA / "cut.bagz", "cut short")):
            self.assertIn(words, self.fails(1, "run", f'bagz("{path}") | skip(2) | global_shuffle()'))

    def test_outputs_are_read_back(self):
        for name in ("out.bagz", "out.bag", "bagz:other"):
            path = self.path(name.removeprefix("bagz:"))
            out = name.replace("other", path) if ":" in name else path
            self.ok("run", f'bagz("{DATA}/sizes.bagz")', "--output", out)
            plan = f'bagz("{path}") | map(length(it))'
            self.assertEqual(lines_of(self.ok("run", plan, "--output", "jsonl")), [0, 1, 3000, 0, 70000])
        self.assertLess(os.path.getsize(self.path("out.bagz")), 2000)
        self.assertGreater(os.path.getsize(self.path("out.bag")), 73000)
        self.ok("convert", NUMBERS, self.path("a.tfrecord"))
        self.ok("convert", self.path("a.tfrecord"), self.path("b.bagz"))
        self.assertEqual(pathlib.Path(self.path("b.bagz")).read_bytes(), NUMBERS.read_bytes())

    def test_shards_are_read_as_one_sequence(self):
        self.ok("run", f'bagz("{NUMBERS}")', "--output", self.path("out.bagz"), "--shards", "3")
        got = lines_of(self.ok("run", f'bagz("{self.path("out@3.bagz")}")', "--output", "jsonl"))
        self.assertEqual(got, RECORDS[0::3] + RECORDS[1::3] + RECORDS[2::3])
        self.assertEqual(got, lines_of(self.ok("cat", self.path("out-*-of-00003.bagz"))))

    def test_an_output_continues_after_its_checkpoint(self):
        whole, cut = self.path("whole.bagz"), self.path("cut.bagz")
        plan = f'bagz("{NUMBERS}") | repeat(200)'
        self.ok("run", plan, "--output", whole)
        self.ok("run", plan, "--output", cut, "--checkpoint", self.path("ckpt"), "--limit", "777")
        self.ok("run", plan, "--output", cut, "--checkpoint", self.path("ckpt"))
        self.assertEqual(pathlib.Path(whole).read_bytes(), pathlib.Path(cut).read_bytes())

    def test_a_compressed_output_is_refused(self):
        self.assertIn("each record is a zstd frame", self.fails(1, "run", "range(3) | map(text(it))", "--output",
                                                                self.path("a.bagz"), "--compression", "gzip"))
        self.assertIn("bagz takes records", self.fails(2, "run", "range(3)", "--output", self.path("a.bagz")))

    def test_the_library_reads_what_is_written(self):
        library = self.library()
        self.ok("run", f'bagz("{DATA}/sizes.bagz")', "--output", self.path("out.bagz"))
        self.assertEqual(list(library.Reader(self.path("out.bagz"))), list(library.Reader(str(DATA / "sizes.bagz"))))
        self.ok("run", f'bagz("{NUMBERS}")', "--output", self.path("p.bag"), "--shards", "2")
        self.assertEqual(sorted(library.Reader(self.path("p@2.bag"))), [r.encode() for r in RECORDS])

    def test_what_the_library_writes_is_read(self):
        library = self.library()
        draw = random.Random(31)
        for trial in range(40):
            records = [draw.randbytes(draw.choice((0, 1, 40, 5000))) for _ in range(draw.randrange(60))]
            apart = trial % 3 == 0
            placement = library.LimitsPlacement.SEPARATE if apart else library.LimitsPlacement.TAIL
            path = self.path(f"t{trial}.{'bagz' if trial % 2 else 'bag'}")
            with library.Writer(path, library.Writer.Options(limits_placement=placement)) as to:
                for r in records:
                    to.write(r)
            plan = f'bagz("{path}", separate_limits={str(apart).lower()}, read_bytes={draw.choice((1, 300, 65536))}B)'
            self.ok("run", plan, "--output", self.path("out.bag"))
            self.assertEqual(list(library.Reader(self.path("out.bag"))), records, plan)

    def test_verbs_know_the_names_of_shards(self):
        self.ok("run", "range(10) | map(string(it))", "--output", self.path("t.bagz"), "--shards", "4", "--quiet")
        plan = lines_of(self.ok("run", f'bagz("{self.path("t@4.bagz")}")', "--output", "jsonl"))
        for name in (self.path("t@4.bagz"), self.path("t@*.bagz")):
            self.assertEqual(lines_of(self.ok("head", name)), plan)
            self.assertEqual(lines_of(self.ok("cat", name)), plan)
            self.assertEqual([line.split()[0] for line in self.ok("count", name).stdout.splitlines()], ["3", "3", "2", "2", "10"])
            self.assertEqual(self.ok("verify", name).stdout.count("sound: "), 4)
            self.assertIn("10 rows", self.ok("describe", name).stdout)
            self.ok("convert", name, self.path("o.jsonl"), "--overwrite", "--quiet")
            self.assertEqual(len(pathlib.Path(self.path("o.jsonl")).read_text().splitlines()), 10)
            self.assertEqual([line.split()[-1][-21:] for line in self.ok("ls", name).stdout.splitlines()],
                             [f"t-0000{i}-of-00004.bagz" for i in range(4)])
            self.assertEqual(len(lines_of(self.ok("ls", "--json", name))), 4)
        self.assertIn("t-00000-of-00005.bagz", self.fails(1, "ls", self.path("t@5.bagz")))
        self.ok("cp", self.path("t@4.bagz"), self.path("copies/"))
        self.assertEqual(len(list(pathlib.Path(self.path("copies")).iterdir())), 4)
        for verb in ("head", "cat", "count"):
            self.assertIn("t-00000-of-00005.bagz", self.fails(1, verb, self.path("t@5.bagz")))
        pathlib.Path(self.path("t-00002-of-00004.bagz")).rename(self.path("t@9.bagz"))   # a file with this very name
        self.assertEqual(len(lines_of(self.ok("head", self.path("t@9.bagz")))), 2)
        self.assertIn("the set of 4 shards lacks", self.fails(1, "head", self.path("t@*.bagz")))

    def test_every_changed_byte_gives_an_error_or_records(self):
        for name in ("numbers.bagz", "numbers.bag"):
            good = (DATA / name).read_bytes()
            damaged = []
            for at in range(len(good)):
                flipped = bytearray(good)
                flipped[at] ^= 1 << (at % 8)
                damaged += [bytes(flipped), good[:at]]
            paths = [self.write(f"d{i}.{name.rsplit('.')[-1]}", data) for i, data in enumerate(damaged)]
            # All of them in one run: the errors are dropped, and none may end it. A file that is cut is dropped as a whole.
            suffix = name.rsplit(".")[-1]
            plan = f'list_files("{self.path("d*." + suffix)}") | flat_map(bagz) | with_options(on_error=skip)'
            done = subprocess.run([PROGRAM, "run", plan, "--output", "null"], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.assertGreater(len(paths), 100)


if __name__ == "__main__":
    main()
