# SPDX-License-Identifier: Apache-2.0
"""Parquet by the program: head, cat, count, convert both ways, verify, describe, patterns, and outputs. Skipped where sluice was built
without Arrow C++."""
import gzip
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, lines_of, main, sluice

DATA = pathlib.Path(__file__).resolve().parents[2] / "verbs/data/parquet"
NUMBERS = DATA / "numbers.parquet"
ROWS = [{"id": i, "half": i / 2, "name": f"n{i}"} for i in range(10)]


class Parquet(ProgramTest):
    def setUp(self):
        super().setUp()
        if "Parquet                    yes" not in sluice("doctor").stdout:
            self.skipTest("this sluice was built without Arrow C++: ./dev deps formats, then build it again")

    def write(self, name, data):
        pathlib.Path(self.path(name)).write_bytes(data)
        return self.path(name)

    def test_files_are_read_by_all_verbs(self):
        self.assertEqual(lines_of(self.ok("cat", NUMBERS)), ROWS)
        self.assertEqual(lines_of(self.ok("head", NUMBERS, "-n", 2)), ROWS[:2])
        self.assertEqual(self.ok("count", NUMBERS).stdout, "10\n")
        self.assertEqual(lines_of(self.ok("select", "id", NUMBERS)), [{"id": i} for i in range(10)])
        self.assertIn("half    double  0      0.0", self.ok("describe", NUMBERS).stdout)
        self.assertIn("sound: 10 sound records", self.ok("verify", NUMBERS).stdout)
        self.assertEqual(self.ok("count", f"{DATA}/part-*.parquet").stdout.splitlines()[-1], "3 total")
        self.assertEqual(lines_of(self.ok("cat", NUMBERS, "--schema", "name: string")), [{"name": r["name"]} for r in ROWS])

    def test_a_folder_is_loaded_without_schema_and_codec(self):
        for plan, options in (("range(5000) | map({a: it, s: string(it), o: it * 0.5})", ("--shards", "3")), ("range(7)", ()),
                              ("range(5000) | map({a: it, s: [it, it]})", ("--shard-size", "8KiB")),
                              (f'parquet("{NUMBERS}")', ())):
            folder = self.path(f"out{len(plan)}")
            self.ok("run", plan, "--output", f"parquet:{folder}/", *options)
            self.assertTrue(all(p.suffix == ".parquet" for p in pathlib.Path(folder).glob("part*")))
            self.assertEqual(self.ok("compare", plan, folder).stdout[:8], "the same", plan)
            self.assertEqual(self.ok("count", f'load("{folder}")').stdout, self.ok("count", plan).stdout)
            self.ok("run", f'load("{folder}")', "--output", "null", "--limit", "4", "--checkpoint", f"{folder}.ckpt")
            rest = self.ok("run", f'load("{folder}")', "--output", "jsonl", "--resume", f"{folder}.ckpt")
            self.assertEqual(rest.stdout.splitlines(), self.ok("run", plan, "--output", "jsonl").stdout.splitlines()[4:])
        for part in pathlib.Path(folder).glob("part*"):
            part.write_bytes(part.read_bytes()[:-1])
        self.assertIn("/part", self.fails(1, "run", f'load("{folder}")', "--output", "null"))

    def test_content_is_recognized_whatever_the_name_is(self):
        path = self.write("a.tfrecord", NUMBERS.read_bytes())
        self.assertEqual(self.ok("count", path).stdout, "10\n")
        self.assertIn(f'parquet("{path}")', self.fails(1, "run", f'tfrecord("{path}")'))

    def test_the_number_of_rows_is_read_from_the_footer(self):
        damaged = bytearray(NUMBERS.read_bytes())
        damaged[4:500] = bytes(496)
        self.assertEqual(self.ok("count", self.write("a.parquet", bytes(damaged))).stdout, "10\n")

    def test_damage_names_the_file_the_row_and_the_column(self):
        done = sluice("verify", DATA / "damaged.parquet")
        self.assertEqual(done.returncode, 1)
        self.assertIn('damaged.parquet', done.stdout + done.stderr)
        self.assertIn('column "half" in row group 1', done.stdout + done.stderr)
        for name, words in (("encrypted", "encrypted files are not read"), ("cut", "cut short"), ("footer", "the footer")):
            done = sluice("verify", DATA / f"{name}.parquet")
            self.assertEqual(done.returncode, 2 if name == "encrypted" else 1, name)
            self.assertIn(words, done.stdout + done.stderr)

    def test_streams_and_compressed_files_are_refused(self):
        done = subprocess.run([PROGRAM, "cat", "-"], input=NUMBERS.read_bytes(), capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("copy it to a file", done.stderr.decode())
        self.assertIn("decompress it first", self.fails(2, "cat", self.write("a.parquet.gz", gzip.compress(NUMBERS.read_bytes()))))

    def test_conversions_keep_rows(self):
        out = self.path("out.parquet")
        for source in ("a.jsonl", "a.csv", "a.arrow"):
            middle, back = self.path(source), self.path(source + ".parquet")
            self.ok("convert", NUMBERS, middle)
            self.ok("convert", middle, back)
            self.assertEqual([list(r.values()) for r in lines_of(self.ok("cat", back))], [list(r.values()) for r in ROWS], source)
        self.ok("convert", DATA / "nested.parquet", out)
        self.assertEqual(self.ok("cat", out).stdout, self.ok("cat", DATA / "nested.parquet").stdout)
        self.ok("convert", DATA / "types.parquet", self.path("types.parquet"))
        self.assertEqual(self.ok("cat", self.path("types.parquet")).stdout, self.ok("cat", DATA / "types.parquet").stdout)

    def test_outputs_have_row_groups_shards_and_codecs(self):
        out = self.path("out.parquet")
        plan = 'range(10000) | map({id: it, text: "row " + text(it)})'
        rows = [{"id": i, "text": f"row {i}"} for i in range(10000)]
        sizes = {}
        for codec in ("automatic", "none", "gzip", "lz4", "zstd"):
            self.ok("run", plan, "--output", out, "--compression", codec)
            self.assertEqual(lines_of(self.ok("cat", out)), rows, codec)
            sizes[codec] = pathlib.Path(out).stat().st_size
        self.assertEqual(sizes["automatic"], sizes["zstd"])
        self.assertLess(sizes["zstd"], sizes["none"])
        self.ok("run", plan, "--output", self.path("g.parquet"), "--row-group-size", "64KiB")
        self.assertEqual(lines_of(self.ok("cat", self.path("g.parquet"))), rows)
        self.assertNotEqual(pathlib.Path(self.path("g.parquet")).stat().st_size, sizes["zstd"])
        self.ok("run", plan + " | batch(7)", "--output", out)
        self.assertEqual(lines_of(self.ok("cat", out)), rows)
        self.ok("run", plan, "--output", self.path("s.parquet"), "--shards", 3)
        self.assertEqual(lines_of(self.ok("cat", self.path("s-00001-of-00003.parquet"))), rows[1::3])
        self.ok("run", plan, "--output", self.path("t.parquet"), "--shard-size", "20KiB")
        self.assertEqual(lines_of(self.ok("cat", self.path("t-*.parquet"))), rows)
        self.ok("run", "range(0)", "--output", self.path("e.parquet"))
        self.assertEqual(self.ok("count", self.path("e.parquet")).stdout, "0\n")

    def test_rows_that_are_decoded_ahead_keep_order_places_and_errors(self):
        big, mark, count = self.path("big.parquet"), self.path("job.ckpt"), 200_000
        self.ok("run", f'range({count}) | map({{id: it * 7919 % 100003, text: "row " + text(it)}})', "--output", big)
        ids = [i * 7919 % 100003 for i in range(count)]
        for plan in (f'parquet("{big}") | map(id)', f'parquet("{big}") | batch(1000) | unbatch | map(id)'):
            for options in ([], ["--memory-budget", "16MiB"]):
                self.assertEqual(lines_of(self.ok("run", plan, "--output", "jsonl", *options)), ids, (plan, options))
            self.assertEqual(lines_of(self.ok("run", plan + " | skip(150000) | take(3)", "--output", "jsonl")), ids[150_000:150_003])
            self.ok("run", plan, "--limit", 120_000, "--checkpoint", mark, "--output", self.path("out.jsonl"))
            rest = self.ok("run", plan, "--resume", mark, "--output", "jsonl")
            self.assertEqual(lines_of(rest), ids[120_000:], plan)
        data = bytearray(pathlib.Path(big).read_bytes())
        at = len(data) - 3000  # in the last page of the texts, which are the last column
        data[at:at + 64] = bytes(64)
        damaged = sluice("run", f'parquet("{self.write("damaged.parquet", bytes(data))}") | map({{id, text}})', "--output", "jsonl")
        self.assertNotEqual(damaged.returncode, 0)
        self.assertIn('column "text" in row group 0', damaged.stderr)
        rows = lines_of(damaged)
        self.assertGreater(len(rows), count // 2)
        self.assertEqual([r["id"] for r in rows], ids[:len(rows)])
        self.assertIn(f"record {len(rows)}:", damaged.stderr)

    def test_an_interrupted_output_continues_between_row_groups(self):
        out, mark = self.path("out.parquet"), self.path("job.ckpt")
        command = ["run", "range(5000) | map({id: it})", "--output", out, "--checkpoint", mark, "--resume-or-start", mark]
        self.ok(*command, "--limit", 2000)
        self.ok(*command, "--limit", 4500)
        self.ok(*command)
        self.assertEqual(lines_of(self.ok("cat", out)), [{"id": i} for i in range(5000)])

    def test_bad_options_are_explained(self):
        self.assertIn("applies to Parquet", self.fails(2, "run", "range(3)", "--output", self.path("a.csv"), "--row-group-size", "1MiB"))
        self.assertIn("not compressed as a whole", sluice("run", "range(3)", "--output", self.path("a.parquet.gz")).stderr)
        self.assertIn("needs a path", self.fails(2, "run", "range(3)", "--output", "parquet"))


if __name__ == "__main__":
    main()
