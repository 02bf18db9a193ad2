# SPDX-License-Identifier: Apache-2.0
"""ArrayRecord by the program: head, cat, count, convert, verify, describe, what the library of ArrayRecord writes, and damaged files. The
library's part is skipped where it is missing (./dev deps formats)."""
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, lines_of, main, sluice
from riegeli_files import RiegeliFile

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

    def peak_of(self, status, path, *options):
        """The peak of the process in a run with a budget of 64 MiB."""
        said = self.fails(status, "run", f'array_record("{path}")', "--memory-budget", "64MiB", "--output", "null",
                          "--report", f"json:{self.path('report.json')}", *options)
        run = json.loads(pathlib.Path(self.path("report.json")).read_text())["run"]
        return said, run["memory"]["process_peak_bytes"]

    def test_sizes_of_chunks_that_wrap_together_take_the_room_of_each(self):
        file = RiegeliFile()
        big = 3 << 20
        first = file.packed(1, big)
        second = file.stored([b"x"], (1 << 64) - big)
        path = self.write("wraps", file.ended(file.stored(file.footer([(first, big, 1), (second, 1, 1)]))))
        said = self.fails(1, "run", f'array_record("{path}") | map(length(it))', "--output", "null")
        self.assertIn("record 1: a piece of 18446744073706405888 bytes", said)

    def test_a_footer_that_states_too_much_takes_no_memory(self):
        sound = RiegeliFile()
        at = sound.stored([b"r"])
        chunks = sound.footer([(at, 1, 1)])
        stated, bombs, empties = [RiegeliFile() for _ in range(3)]
        for file in (stated, bombs, empties):
            file.stored([b"r"])
        files = {
            "stated": stated.ended(stated.stored(chunks, 1 << 32)),
            "bomb": bombs.ended(bombs.packed(1, 1 << 30)),
            "empties": empties.ended(empties.packed(1 << 27, 0)),
            "postscript": sound.ended(sound.stored(chunks), 1 << 32),
        }
        for name, data in files.items():
            said, peak = self.peak_of(1, self.write(name, data))
            self.assertIn("more than the file can have", said, name)
            self.assertLess(peak, 128 << 20, name)

    def test_a_footer_at_the_beginning_of_a_large_file_is_not_read(self):
        file = RiegeliFile()
        begin = file.ended(file.stored(file.footer([])))
        path = self.path("sparse")
        with open(path, "wb") as to:
            to.write(begin[:100])
            to.seek((2 << 30) - 65536)
            to.write(begin[-65536:])
        said, peak = self.peak_of(1, path)
        self.assertIn("its footer would be at byte 64, of 2147483648", said)
        self.assertLess(peak, 128 << 20)

    def test_many_records_in_a_chunk_count_toward_the_budget(self):
        file = RiegeliFile()
        n = 10_000_000
        chunk = file.packed(n, 0)
        path = self.write("empty", file.ended(file.stored(file.footer([(chunk, 0, n)]))))
        said, peak = self.peak_of(1, path)
        self.assertIn("is needed at once, and does not fit into the memory budget of 64MiB", said)
        self.assertLess(peak, 128 << 20)
        done = self.ok("run", f'array_record("{path}") | batch({n}) | map(length(it))', "--output", "jsonl")
        self.assertEqual(lines_of(done), [n])

    def test_a_file_that_cannot_be_read_is_named_where_numbers_are_needed(self):
        cut = self.write("cut", ZSTD.read_bytes()[:-1])
        for path, words in ((self.path("missing"), "not_found"), (cut, "cut short")):
            self.assertIn(words, self.fails(1, "run", f'array_record("{path}") | global_shuffle()'))

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
