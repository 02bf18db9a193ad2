# SPDX-License-Identifier: Apache-2.0
"""`sluice convert`, and the formats of `sluice run --output`: read back by Python's own csv, json, gzip and by a reader of npy."""
import ast
import csv
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, PROGRAM, ProgramTest, lines_of, main, sluice

EXAMPLES = GOLDEN / "examples.tfrecord"
SCHEMA = "text: bytes, label: int64"


def read_npy(path):
    """As NumPy's format says it: the header's fields, and the values' bytes."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length, = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0
    return ast.literal_eval(data[10:10 + length].decode()), data[10 + length:]


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


class Converted(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ok("sample", self.path("data"), "--records", 90, "--shards", 3)
        self.shards = sorted(str(p) for p in pathlib.Path(self.path("data")).iterdir())
        self.examples = [e for shard in self.shards for e in lines_of(self.ok("cat", shard))]

    def convert(self, *arguments):
        return self.ok("convert", *arguments, "--quiet")

    def names(self):
        return sorted(p.name for p in pathlib.Path(self.folder.name).iterdir() if p.name != "data")

    def lines_in(self, name):
        data = pathlib.Path(self.path(name)).read_bytes()
        return [json.loads(line) for line in (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()]


class Files(Converted):
    def test_shards_without_rows_fit_those_that_have_some(self):
        for suffix in ("csv", "jsonl"):
            with self.subTest(suffix=suffix):
                self.ok("run", "range(2) | map({a: it, b: string(it)})", "--output", self.path(f"s.{suffix}"), "--shards", 4)
                self.ok("convert", self.path(f"s-*.{suffix}"), self.path(f"{suffix}.out.jsonl"))
                self.assertEqual(pathlib.Path(self.path(f"{suffix}.out.jsonl")).read_text(), '{"a":0,"b":"0"}\n{"a":1,"b":"1"}\n'
                                 if suffix == "jsonl" else '{"a":0,"b":0}\n{"a":1,"b":1}\n')

    def test_tf_examples_become_lines_of_json_and_are_the_same(self):
        done = self.ok("convert", *self.shards, self.path("a.jsonl"))
        self.assertIn("schema, inferred from 90 records", done.stderr)
        self.assertEqual(self.lines_in("a.jsonl"), self.examples)
        self.convert(*self.shards, self.path("a.jsonl.gz"))
        self.assertEqual(self.lines_in("a.jsonl.gz"), self.examples)

    def test_tf_examples_become_csv_that_python_reads(self):
        self.convert(*self.shards, self.path("a.csv.gz"), "--schema", SCHEMA)
        with gzip.open(self.path("a.csv.gz"), "rt", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows, [{"text": e["text"], "label": str(e["label"])} for e in self.examples])
        why = self.fails(2, "convert", self.shards[0], self.path("b.csv"), "--quiet")
        self.assertIn("values is float[16]", why)
        self.assertEqual(self.names(), ["a.csv.gz"])

    def test_arrow_and_tf_examples_go_into_each_other(self):
        self.convert(*self.shards, self.path("a.arrow"))
        self.convert(self.path("a.arrow"), self.path("b.tfrecord.gz"))
        self.convert(self.path("b.tfrecord.gz"), self.path("c.arrow"))
        self.assertEqual(lines_of(self.ok("cat", self.path("b.tfrecord.gz"))), self.examples)
        for name in ("a", "c"):
            self.convert(self.path(name + ".arrow"), self.path(name + ".jsonl"))
        self.assertEqual(self.lines_in("a.jsonl"), self.lines_in("c.jsonl"))

    def test_compressed_arrow_files_are_read_as_plain_ones(self):
        for name in ("a.arrow.gz", "b.arrow"):
            self.ok("run", "range(3) | map({a: it, b: string(it)})", "--quiet", "--output", self.path(name))
        rows = [{"a": a, "b": str(a)} for a in range(3)]
        gzip.decompress(pathlib.Path(self.path("a.arrow.gz")).read_bytes())
        for name in ("a.arrow.gz", "b.arrow"):
            self.assertEqual(lines_of(self.ok("cat", self.path(name))), rows)
            self.assertEqual(self.ok("count", self.path(name)).stdout, "3\n")
            self.assertIn("3 sound records", self.ok("verify", self.path(name)).stdout)
            self.convert(self.path(name), self.path(name + ".jsonl"))
            self.assertEqual(self.lines_in(name + ".jsonl"), rows)
        self.ok("verify", self.path("a.arrow.gz"), "--compression", "gzip")

    @unittest.skipUnless(shutil.which("zstd"), "no zstd here")
    def test_zstd_outputs_of_every_format_are_read_by_zstd_itself_and_read_back(self):
        rows = 'range(3000) | map({id: it, text: string(it)})'
        texts = 'range(3000) | map(string(it))'
        for plan, output in ((rows, "jsonl:%s/a.jsonl"), (rows, "csv:%s/a.csv"), (rows, "example:%s/a.tfrecord"), (rows, "arrow:%s/a.arrow"),
                             (texts, "lines:%s/a.txt"), (texts, "tfrecord:%s/b.tfrecord"), (texts, "raw:%s/a.raw")):
            to = output % self.folder.name
            plain = to.partition(":")[2]
            self.ok("run", plan, "--output", to)
            self.ok("run", plan, "--output", to + ".zst")
            unpacked = subprocess.run(["zstd", "-dc", plain + ".zst"], capture_output=True, check=True).stdout
            self.assertEqual(unpacked, pathlib.Path(plain).read_bytes(), output)
            self.assertLess(os.path.getsize(plain + ".zst"), len(unpacked))
            if not to.startswith("raw"):
                self.assertEqual(self.ok("count", plain + ".zst").stdout, "3000\n", output)
        self.ok("run", rows, "--output", f"jsonl:{self.path('named.bin')}", "--compression", "zstd")
        self.assertEqual(subprocess.run(["zstd", "-dc", self.path("named.bin")], capture_output=True, check=True).stdout,
                         pathlib.Path(self.path("a.jsonl")).read_bytes())
        self.assertEqual(subprocess.run(["zstd", "-dc"], capture_output=True, check=True, input=subprocess.run(
            [PROGRAM, "run", "range(0)", "--output", "jsonl:-", "--compression", "zstd"], capture_output=True, check=True).stdout).stdout, b"")

    def test_the_buffers_of_arrow_are_compressed_by_lz4_and_zstd(self):
        plan = "range(3000) | map({a: it, b: string(it)})"
        self.ok("run", plan, "--quiet", "--output", self.path("a.arrow"))
        plain = pathlib.Path(self.path("a.arrow"))
        for codec in ("lz4", "zstd"):
            packed = pathlib.Path(self.path(codec + ".arrow"))
            self.convert(plain, packed, "--compression", codec)
            self.assertTrue(packed.read_bytes().startswith(b"\xff\xff\xff\xff"))
            self.assertLess(packed.stat().st_size, plain.stat().st_size * 0.8)
            self.assertEqual(self.ok("cat", packed).stdout, self.ok("cat", plain).stdout)
            self.assertRegex(self.ok("verify", packed).stdout, "3,?000 sound records")
        why = self.fails(2, "run", "range(3)", "--output", self.path("b.jsonl"), "--compression", "lz4")
        self.assertIn("compresses the buffers of Arrow and the pages of Parquet: this output is jsonl", why)

    def test_the_types_of_arrow_files_stay(self):
        data = GOLDEN.parent / "verbs/data"
        self.convert(data / "arrow_temporal.arrow", self.path("again.arrow"))
        table = self.ok("describe", data / "arrow_temporal.arrow").stdout
        self.assertRegex(table, r"zoned +timestamp\[us, Europe/Berlin\]\? +1 +-1 +1577836800\n")
        self.assertRegex(table, r"d32 +date32\? +1 +-1 +18262\n")
        self.assertEqual(self.ok("describe", self.path("again.arrow")).stdout, table)
        self.assertEqual(self.ok("count", data / "arrow_lz4.feather").stdout, "200\n")
        self.assertIn("200 sound records", self.ok("verify", data / "arrow_zstd.feather").stdout)
        why = self.fails(2, "cat", data / "arrow_unread.arrow")
        self.assertIn('column "price" is of type decimal128(5, 2), which is not read', why)
        self.assertIn('schema="n: int64?, s: string?"', why)

    def test_records_stay_as_they_are_between_tfrecords(self):
        self.convert(*self.shards, self.path("a.tfrecord"))
        whole = b"".join(pathlib.Path(s).read_bytes() for s in self.shards)
        self.assertEqual(pathlib.Path(self.path("a.tfrecord")).read_bytes(), whole)
        # Records that are no tf.Examples are texts.
        self.convert(GOLDEN / "raw.tfrecord", self.path("raw.jsonl"))
        self.assertEqual(self.lines_in("raw.jsonl"), lines_of(self.ok("head", "--raw", "-n", 1000, GOLDEN / "raw.tfrecord")))

    def test_lines_of_text_and_plans_are_inputs_too(self):
        pathlib.Path(self.path("a.txt")).write_text('one\ntwo, "three"\n')
        self.convert(self.path("a.txt"), self.path("a.csv"))
        self.assertEqual(read_csv(self.path("a.csv")), [["value"], ["one"], ['two, "three"']])
        self.convert("range(5) | enumerate", self.path("n.csv"))
        self.assertEqual(pathlib.Path(self.path("n.csv")).read_text(), "first,second\n0,0\n1,1\n2,2\n3,3\n4,4\n")

    def test_lines_stay_lines(self):
        pathlib.Path(self.path("a.txt")).write_text("one\n\ntwo\nthree\n")
        for of, to in (("a.txt", "b.txt"), ("b.txt", "c.txt.gz"), ("c.txt.gz", "d.tfrecord"), ("d.tfrecord", "e.txt"), ("a.txt", "f.txt")):
            self.convert(self.path(of), self.path(to))
        for name in "bef":
            self.assertEqual(pathlib.Path(self.path(name + ".txt")).read_text(), "one\n\ntwo\nthree\n")
        self.assertEqual(self.convert(self.path("a.txt"), "-", "--to", "lines").stdout, "one\n\ntwo\nthree\n")
        self.assertEqual(self.convert(self.path("a.txt"), "-", "--to", "raw").stdout, "onetwothree")
        why = self.fails(1, "convert", 'range(2) | map(if(it == 0, "one", "two\\nthree"))', self.path("g.txt"), "--quiet")
        self.assertIn("a text with a line end in it is no line", why)
        self.assertIn("the format raw", why)

    def test_arrays_become_npy(self):
        plan = f'tfrecord("{self.shards[0]}") | parse_example("values: float[4,4], label: int64")'
        for member, expected in (("values", ("<f4", (30, 4, 4))), ("label", ("<i8", (30,)))):
            path = self.path(member + ".npy")
            self.convert(f"{plan} | map({member})", path)
            header, values = read_npy(path)
            self.assertEqual((header["descr"], header["shape"], header["fortran_order"]), (*expected, False))
            form = {"<f4": "f", "<i8": "q"}[header["descr"]]
            found = [x[0] for x in struct.iter_unpack("<" + form, values)]
            whole = [e[member] for e in self.examples[:30]]
            whole = [v for row in whole for v in row] if member == "values" else whole
            self.assertEqual(found, [struct.unpack("<f", struct.pack("<f", v))[0] if form == "f" else v for v in whole])

    def test_what_csv_and_jsonl_hold_becomes_tf_examples(self):
        for kind, schemas in (("csv", [[], ["--schema", SCHEMA]]), ("jsonl", [[], ["--schema", "text: string, label: int64"]])):
            self.convert(*self.shards, self.path("a." + kind), "--schema", SCHEMA)
            for schema in schemas:
                self.convert(self.path("a." + kind), self.path(kind + ".tfrecord"), "--overwrite", *schema)
                self.assertEqual(lines_of(self.ok("cat", self.path(kind + ".tfrecord"))),
                                 [{"label": e["label"], "text": e["text"]} for e in self.examples])

    def test_a_member_that_only_later_lines_have_is_not_lost_unsaid(self):
        path, out = pathlib.Path(self.path("late.jsonl")), self.path("late.csv")
        path.write_text('{"a":1}\n' * 3000 + '{"a":2,"b":"x"}\n')
        why = self.fails(1, "convert", path, out, "--quiet")
        self.assertIn('line 3001: the member "b" is not in the schema; the schema was inferred from the file\'s first lines (at most 100)', why)
        self.assertIn('such as "a: int64, b: string?"', why)
        self.assertFalse(pathlib.Path(out).exists())
        self.convert(path, out, "--schema", "a: int64, b: string?")
        self.assertEqual(read_csv(out)[-2:], [["1", ""], ["2", "x"]])
        self.convert(path, out, "--schema", "a: int64", "--overwrite")
        self.assertEqual(read_csv(out)[-1], ["2"])

    def test_a_value_that_later_rows_have_is_told_with_a_schema_for_it(self):
        path, out = pathlib.Path(self.path("late.csv")), self.path("late.tfrecord")
        path.write_text("a,b\n" + "1,x\n" * 150 + "2.5,y\n")
        why = self.fails(1, "convert", path, out, "--quiet")
        self.assertIn("line 152: column a: \"2.5\" is no int64; the schema was inferred from the file's first rows (at most 100)", why)
        self.assertIn("such as \"a: double, b: bytes = ''\"", why)
        self.convert(path, out, "--schema", "a: double, b: bytes = ''")

    def test_empty_texts_of_csv_are_read_as_they_were_written(self):
        path, table, again = pathlib.Path(self.path("a.jsonl")), self.path("a.csv"), self.path("b.jsonl")
        rows = [{"a": "", "b": None}, {"a": "x", "b": ""}, {"a": "", "b": "y"}]
        path.write_text("".join(json.dumps(r) + "\n" for r in rows))
        self.convert(path, table)
        self.assertEqual(pathlib.Path(table).read_text(), 'a,b\n"",\nx,""\n"",y\n')
        self.convert(table, again, "--schema", "a: string, b: string?")
        self.assertEqual(self.lines_in("b.jsonl"), rows)

    def test_npy_is_read_and_written_again(self):
        self.convert("range(100)", self.path("a.npy"))
        self.convert(self.path("a.npy"), self.path("b.npy"))
        self.assertEqual(pathlib.Path(self.path("a.npy")).read_bytes(), pathlib.Path(self.path("b.npy")).read_bytes())


    def test_npy_becomes_what_has_no_tensors(self):
        self.convert("range(5) | map(double(it) / 2)", self.path("a.npy"))
        self.convert(self.path("a.npy"), self.path("a.csv"))
        self.assertEqual(pathlib.Path(self.path("a.csv")).read_text(), "value\n0.0\n0.5\n1.0\n1.5\n2.0\n")
        self.convert(self.path("a.npy"), self.path("a.arrow"))
        self.convert(self.path("a.arrow"), self.path("a.jsonl"))
        self.assertEqual(self.lines_in("a.jsonl"), [0, 0.5, 1, 1.5, 2])
        self.convert("range(3000) | map(to_tensor([[it, 1], [2, it]]))", self.path("b.npy"))
        for limit in (1100, 1100, 3000):
            self.convert(self.path("b.npy"), self.path("b.arrow"), "--checkpoint", self.path("here"), "--limit", limit)
        self.convert(f'from_arrow("{self.path("b.arrow")}") | unbatch', self.path("b.jsonl"))
        self.assertEqual(self.lines_in("b.jsonl"), [[[i, 1], [2, i]] for i in range(3000)])
        why = self.fails(1, "convert", "range(2) | map(to_tensor(if(it == 0, [1], [1, 2])))", self.path("c.arrow"), "--quiet")
        self.assertIn("row 1 is int32[2], the rows before are int32[1]", why)
        self.assertIn("without an element the shape", self.fails(1, "convert", "range(0) | map(to_tensor([it]))", self.path("d.arrow"), "--quiet"))

    def test_whole_doubles_stay_doubles(self):
        for verb, options in (("jsonl", ""), ("csv", ", header=true")):
            path = self.path("a." + verb)
            self.convert("range(3) | map({x: double(it), y: float(it) * 1e30f, z: it})", path)
            said = self.ok("explain", "--spec", f'{verb}("{path}"{options})').stdout
            self.assertEqual(said, "{x: float64, y: float64, z: int64}\n")
            self.assertIn("1e+30", pathlib.Path(path).read_text())

    def test_an_array_without_rows_keeps_its_type(self):
        header = str({"descr": "<f8", "fortran_order": False, "shape": (0, 3)}).encode().ljust(117) + b"\n"
        empty = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        pathlib.Path(self.path("e.npy")).write_bytes(empty)
        self.convert(self.path("e.npy"), self.path("o.npy"))
        found, values = read_npy(self.path("o.npy"))
        self.assertEqual((found["descr"], found["shape"], values), ("<f8", (0, 3), b""))


class Outputs(Converted):
    def test_shards_take_turns_or_end_by_their_size(self):
        self.convert("range(100)", self.path("a.jsonl"), "--shards", 3)
        self.assertEqual(self.names(), [f"a-0000{k}-of-00003.jsonl" for k in range(3)])
        for k, name in enumerate(self.names()):
            self.assertEqual(self.lines_in(name), list(range(100))[k::3])
        self.convert("range(100)", self.path("b{shard:02d}.csv"), "--shard-size", "100")
        names = [n for n in self.names() if n.startswith("b")]
        self.assertEqual(names, ["b00.csv", "b01.csv", "b02.csv", "b03.csv"])   # 320 bytes, and a header in each
        rows = [row for n in names for row in read_csv(self.path(n))]
        self.assertEqual([int(r[0]) for r in rows if r != ["value"]], list(range(100)))
        self.assertIn("--shard-size", self.fails(2, "convert", "range(3)", self.path("c.csv"), "--shards", 2, "--shard-size", 5))

    def test_an_output_that_is_there_is_replaced_only_if_that_is_said(self):
        path = self.path("a.jsonl")
        pathlib.Path(path).write_text("precious\n")
        self.assertIn("a.jsonl exists", self.fails(2, "convert", "range(3)", path))
        self.assertEqual(pathlib.Path(path).read_text(), "precious\n")
        self.convert("range(3)", path, "--overwrite")
        self.assertEqual(self.lines_in("a.jsonl"), [0, 1, 2])

    def test_the_same_command_goes_on_from_its_checkpoint(self):
        for name in ("a.csv.gz", "b.jsonl", "c.npy"):
            here = self.path(name + ".here")
            for limit in ("30", "1", "1000"):
                self.convert("range(100)", self.path(name), "--checkpoint", here, "--limit", limit)
        self.assertEqual(gzip.decompress(pathlib.Path(self.path("a.csv.gz")).read_bytes()).decode().split(), ["value", *map(str, range(100))])
        self.assertEqual(self.lines_in("b.jsonl"), list(range(100)))
        header, values = read_npy(self.path("c.npy"))
        self.assertEqual((header["shape"], values), ((100,), struct.pack("<100q", *range(100))))

    def test_standard_output_needs_a_format(self):
        self.assertEqual(self.convert("range(3)", "-", "--to", "csv").stdout, "value\n0\n1\n2\n")
        self.assertIn("choose its format with --to", self.fails(2, "convert", "range(3)", "-"))
        self.assertIn("no stream", self.fails(2, "convert", "range(3)", "-", "--to", "npy"))
        done = sluice("run", "range(3)", "--output", "csv", "--quiet")
        self.assertEqual(done.stdout, "value\n0\n1\n2\n")

    def test_a_run_tells_the_format_by_the_name_too(self):
        self.ok("run", "range(3) | enumerate", "--output", self.path("a.tfrecord"))
        self.assertEqual(lines_of(self.ok("cat", self.path("a.tfrecord"))), [{"first": i, "second": i} for i in range(3)])
        why = self.fails(2, "run", "range(3) | enumerate", "--output", "tfrecord:" + self.path("a.tfrecord"))
        self.assertIn("the format example writes structures", why)
        self.ok("run", "range(3)", "--output", "example:" + self.path("b.bin"), "--compression", "gzip")
        self.assertEqual(lines_of(self.ok("cat", self.path("b.bin"))), [{"value": i} for i in range(3)])


class Refused(Converted):
    def test_bad_arguments_are_told(self):
        here = self.path("x.jsonl")
        for arguments, words in ((["range(3)"], "convert needs an input and an output"),
                                 ([self.shards[0], "range(3)", here], "range(3) is no file: several inputs are files"),
                                 (["range(3)", self.path("x.xml")], "sluice writes no .xml files; names end in .jsonl, .csv"),
                                 (["range(3)", here, "--schema", "a: int64"], "--schema says what a file holds"),
                                 ([self.shards[0], here, "--schema", "a int64"], "parse_example"),
                                 ([self.shards[0], here, "--from", "xml"], "--from"),
                                 ([self.shards[0], self.path("x.npy"), "--quiet"], "npy holds one array"),
                                 (["range(3) | map(string(it))", self.path("x.npy")], "texts would all be as wide as the longest")):
            self.assertIn(words, self.fails(2, "convert", *arguments))
        for arguments in (["no-such-file", here], [self.shards[0], "no-such-file", here]):
            self.assertIn("not_found: no-such-file: no such file", self.fails(1, "convert", *arguments))
        self.assertEqual(self.names(), [])

    def test_damage_is_told_with_its_place_and_leaves_no_output(self):
        damaged, offset = self.damaged_file()
        for out in ("x.jsonl", "x.tfrecord", "x.csv"):
            why = self.fails(1, "convert", damaged, self.path(out), "--quiet")
            self.assertIn("damaged.tfrecord at byte", why)
            self.assertEqual(self.names(), ["damaged.tfrecord"])
        self.convert(damaged, self.path("x.tfrecord"), "--on-error", "skip")
        whole = len(lines_of(self.ok("head", "-n", 10000, EXAMPLES)))
        self.assertEqual(self.ok("count", self.path("x.tfrecord")).stdout.strip(), str(whole - 1))

    def test_a_schema_that_does_not_fit_the_records_is_told(self):
        why = self.fails(1, "convert", self.shards[0], self.path("x.jsonl"), "--schema", "colour: bytes", "--quiet")
        self.assertIn("colour", why)
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    main()
