# SPDX-License-Identifier: Apache-2.0
"""ArrayRecord by the program: head, cat, count, convert, verify, describe, what the library of ArrayRecord writes, and damaged files. The
library's part is skipped where it is missing (./dev deps formats)."""
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, lines_of, main, sluice

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/verbs/data/array_record"
ZSTD = DATA / "zstd.array_record"
RECORDS = [f"r{i}" for i in range(10)]

sys.path.insert(0, str(ROOT / ".cache/formats"))
try:
    from array_record.python import array_record_module as library
except ImportError:
    library = None


class ArrayRecord(ProgramTest):
    def write(self, name, data):
        pathlib.Path(self.path(name)).write_bytes(data)
        return self.path(name)

    def test_files_are_read_by_all_verbs(self):
        self.assertEqual(lines_of(self.ok("cat", ZSTD)), RECORDS)
        self.assertEqual(lines_of(self.ok("head", ZSTD, "-n", 2)), RECORDS[:2])
        self.assertEqual(self.ok("count", ZSTD).stdout, "10\n")
        self.assertIn("10", self.ok("describe", ZSTD).stdout)
        self.assertIn("sound: 10 sound records", self.ok("verify", ZSTD).stdout)
        self.assertIn(f'array_record("{ZSTD}")', self.ok("explain", ZSTD).stdout)
        self.ok("convert", ZSTD, self.path("a.bagz"))
        self.assertEqual(lines_of(self.ok("cat", self.path("a.bagz"))), RECORDS)

    def test_content_is_recognized_whatever_the_name_is(self):
        self.assertEqual(self.ok("count", self.write("a.bin", ZSTD.read_bytes())).stdout, "10\n")

    def test_damage_names_the_file_and_the_record(self):
        done = sluice("verify", DATA / "damaged.array_record")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the hash of the chunk's data is wrong", done.stdout + done.stderr)
        self.assertIn("not documented", self.fails(2, "cat", DATA / "transposed.array_record"))

    def test_outputs_are_read_back(self):
        for how in ((), ("--compression", "none")):
            self.ok("run", f'array_record("{ZSTD}") | repeat(3000)', "--output", self.path("a.array_record"), *how)
            self.assertEqual(lines_of(self.ok("cat", self.path("a.array_record"))), RECORDS * 3000)
            if library:
                reader = library.ArrayRecordReader(self.path("a.array_record"))
                self.assertEqual(reader.num_records(), 30000)
                self.assertEqual([r.decode() for r in reader.read_all()], RECORDS * 3000)

    def test_an_output_continues_after_its_checkpoint(self):
        whole, cut = self.path("whole.array_record"), self.path("cut.array_record")
        plan = f'array_record("{ZSTD}") | repeat(200)'
        self.ok("run", plan, "--output", whole)
        self.ok("run", plan, "--output", cut, "--checkpoint", self.path("ckpt"), "--limit", "777")
        self.ok("run", plan, "--output", cut, "--checkpoint", self.path("ckpt"))
        self.assertEqual(pathlib.Path(whole).read_bytes(), pathlib.Path(cut).read_bytes())

    def test_what_the_library_writes_is_read(self):
        if not library:
            self.skipTest("no library of ArrayRecord: ./dev deps formats")
        draw = random.Random(31)
        for trial in range(40):
            records = [draw.randbytes(draw.choice((0, 1, 40, 5000, 70000))) for _ in range(draw.randrange(60))]
            codec = draw.choice(("uncompressed", "zstd:3", "brotli:2", "snappy"))
            path = self.path(f"t{trial}")
            to = library.ArrayRecordWriter(path, f"group_size:{draw.choice((1, 1, 3, 100))},{codec},"
                                                 f"pad_to_block_boundary:{draw.choice(('true', 'false'))}")
            for r in records:
                to.write(r)
            to.close()
            self.ok("run", f'array_record("{path}", read_bytes={draw.choice((1, 5000, 262144))}B)', "--output", self.path("out.bag"))
            sizes = [len(r) for r in records]
            data = pathlib.Path(self.path("out.bag")).read_bytes()
            self.assertEqual(data[:sum(sizes)], b"".join(records), codec)
            self.assertEqual(lines_of(self.ok("run", f'array_record("{path}") | map(length(it))', "--output", "jsonl")), sizes)

    def test_every_changed_byte_gives_an_error_or_the_same_records(self):
        good = ZSTD.read_bytes()
        used = [i for i in range(len(good)) if good[i] or i < 600 or 65536 <= i < 66000]
        paths = []
        for at in used[::3]:
            flipped = bytearray(good)
            flipped[at] ^= 1 << (at % 8)
            paths.append(self.write(f"d{at:06}.array_record", bytes(flipped)))
        for at in range(0, 700, 50):
            paths.append(self.write(f"d{at:06}-cut.array_record", good[:at]))
        plan = f'list_files("{self.path("d*.array_record")}") | flat_map(array_record) | with_options(on_error=skip)'
        done = subprocess.run([PROGRAM, "run", plan, "--output", "jsonl"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertLessEqual({line.strip('"') for line in done.stdout.splitlines()}, set(RECORDS))
        self.assertGreater(len(paths), 100)


if __name__ == "__main__":
    main()
