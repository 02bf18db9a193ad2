# SPDX-License-Identifier: Apache-2.0
"""The options that say what a file holds: the same for every verb that reads files, and for standard input."""
import gzip
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, example, lines_of, main, sluice, write_tfrecord

# Each verb that reads files, with the arguments after which the file and the options stand.
VERBS = {"head": [], "cat": [], "count": [], "describe": [], "select": ["a"], "verify": [], "explain": [], "convert": []}
OPTIONS = ("--from", "--schema", "--delimiter", "--no-header", "--escape", "--infer")


class FileTest(ProgramTest):
    def write(self, name, text):
        path = pathlib.Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def piped(self, data, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], input=data if isinstance(data, bytes) else data.encode(), capture_output=True, timeout=120)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def arguments(self, verb, file, *options):
        out = [self.path("out.jsonl"), "--overwrite", "--quiet"] if verb == "convert" else []
        return [verb, *VERBS[verb], file, *out, *options]

    def broken(self, *arguments):
        """What a run prints that meets bad data, after the elements before it."""
        done = sluice(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def rows(self, file, *options):
        return lines_of(self.ok("head", file, *options))


class FormatOptions(FileTest):
    def test_every_verb_has_the_same_options(self):
        for verb in VERBS:
            said = self.ok(verb, "--help").stdout
            for option in OPTIONS:
                self.assertRegex(said, rf"(?m)^ +{option}\b", (verb, option))
        for verb in ("run", "ls", "cp"):
            self.assertNotIn("--delimiter", self.ok(verb, "--help").stdout)

    def test_every_verb_reads_by_them(self):
        path = self.write("data.csv", "1;x\n2;y\n")
        options = ("--no-header", "--schema", "a: int64, b: string", "--delimiter", ";")
        for verb in VERBS:
            self.ok(*self.arguments(verb, path, *options))
        self.assertEqual(self.rows(path, *options), [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
        self.assertEqual([json.loads(line) for line in pathlib.Path(self.path("out.jsonl")).read_text().splitlines()], [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
        self.assertEqual(lines_of(self.ok("select", "b", path, *options)), [{"b": "x"}, {"b": "y"}])
        self.assertEqual(self.ok("count", path, "--no-header").stdout, "2\n")
        self.assertIn('delimiter=";"', self.ok("explain", path, *options).stdout)
        self.assertIn("sound: 2 sound records", self.ok("verify", path, *options).stdout)
        self.assertIn("2 rows", self.ok("describe", path, *options).stdout)

    def test_an_option_that_the_format_does_not_have_is_refused(self):
        files = {"JSON lines": self.write("a.jsonl", '{"a":1}\n'), "lines of text": self.write("a.txt", "a\n")}
        for words, path in files.items():
            for verb in VERBS:
                for option in (["--delimiter", ";"], ["--no-header"], ["--escape", "\\"]):
                    done = sluice(*self.arguments(verb, path, *option))
                    said = done.stderr
                    self.assertEqual(done.returncode, 2, said)
                    self.assertIn(f"{option[0]} applies to CSV, and {path} is read as {words}", said, verb)
        self.assertIn("--infer applies to CSV and JSON lines", self.fails(2, "head", files["lines of text"], "--infer", 5))
        self.assertIn("--schema applies to", self.fails(2, "head", files["lines of text"], "--schema", "a: int64"))
        self.assertIn("give --infer or --schema, not both", self.fails(2, "cat", files["JSON lines"], "--infer", 5, "--schema", "a: int64"))
        for verb in VERBS:
            if verb in ("cat", "verify"):
                continue  # they take no plans
            said = self.fails(2, *self.arguments(verb, "range(3)", "--delimiter", ";"))
            self.assertIn("--delimiter says what a file holds, and range(3) is a plan", said, verb)

    def test_delimiters_and_escapes(self):
        self.assertEqual(self.rows(self.write("a.csv", "a#b\n1#2\n"), "--delimiter", "#"), [{"a": 1, "b": 2}])
        for tab in ("tab", "\\t", "\t"):
            self.assertEqual(self.rows(self.write("b", "a\tb\n1\t2\n"), "--from", "csv", "--delimiter", tab), [{"a": 1, "b": 2}])
        self.assertEqual(self.rows(self.write("c.csv", 'a,b\n"x \\" y",1\nc\\,d,2\n'), "--escape", "\\"), [{"a": 'x " y', "b": 1}, {"a": "c,d", "b": 2}])
        self.assertIn("sound: 2 sound", self.ok("verify", self.path("c.csv"), "--escape", "\\").stdout)
        self.broken("verify", self.path("c.csv"))
        self.assertIn("expects one character", self.fails(2, "head", self.path("c.csv"), "--delimiter", "::"))

    def test_the_delimiter_is_detected_where_csv_is_named(self):
        self.assertEqual(self.rows(self.write("rows", "a;b\n1;2\n"), "--from", "csv"), [{"a": 1, "b": 2}])

    def test_a_schema_parses_tf_examples_in_every_verb(self):
        write_tfrecord(self.path("a.tfrecord"), example({b"a": b"x", b"b": b"y"}))
        for verb in ("head", "cat"):
            self.assertEqual(lines_of(self.ok(verb, self.path("a.tfrecord"), "--schema", "b: bytes")), [{"b": "y"}], verb)

    def test_infer_is_the_number_of_rows(self):
        for name, text in (("late.csv", "a\n" + "1\n" * 150 + "1.5\n"), ("late.jsonl", '{"a":1}\n' * 150 + '{"a":1.5}\n')):
            path = self.write(name, text)
            self.assertIn("line 15", self.broken("cat", path))
            self.assertIn("line 15", self.broken("cat", path, "--infer", 150))
            for rows in ("151", "all"):
                self.assertEqual(lines_of(self.ok("cat", path, "--infer", rows))[-1], {"a": 1.5})
            packed = self.write(name + ".gz", gzip.compress(text.encode()))
            self.assertEqual(len(lines_of(self.ok("cat", packed, "--infer", "all"))), 151)
        for wrong in ("0", "-1", "some"):
            self.assertIn("expects a number of rows from 1 on, or all", self.fails(2, "cat", self.path("late.csv"), f"--infer={wrong}"))

    def test_inference_of_all_rows_reads_beyond_the_first_piece(self):
        path = self.write("long.csv", "n,text\n" + f"1,{'x' * 1000}\n" * 5000 + "0.5,y\n")
        self.assertEqual(lines_of(self.ok("cat", path, "--infer", "all"))[-1], {"n": 0.5, "text": "y"})
        path = self.write("long.jsonl", (json.dumps({"n": 1, "text": "x" * 1000}) + "\n") * 5000 + '{"n":0.5}\n')
        self.assertEqual(lines_of(self.ok("cat", path, "--infer", "all"))[-1], {"n": 0.5, "text": None})

    def test_policies_apply_to_the_rows_that_inference_reads(self):
        files = {self.write("bad.csv", "a,b\n1,2\n1\n3,4\n"): ("line 3", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
                 self.write("bad.jsonl", '{"a":1}\n{bad\n{"a":3}\n'): ("line 2", [{"a": 1}, {"a": 3}])}
        for path, (where, rows) in files.items():
            for verb in ("head", "cat"):
                stopped = sluice(verb, path)
                self.assertEqual(stopped.returncode, 1, stopped.stderr)
                self.assertEqual(lines_of(stopped), rows[:1])
                self.assertIn(where, stopped.stderr)
                self.assertEqual(lines_of(self.ok(verb, path, "--on-error", "skip")), rows)
                kept = self.path("kept.jsonl")
                pathlib.Path(kept).unlink(missing_ok=True)
                self.assertEqual(lines_of(self.ok(verb, path, "--on-error", f"quarantine({kept})")), rows)
                self.assertEqual(len(pathlib.Path(kept).read_text().splitlines()), 1)
            self.ok("convert", path, self.path("o.csv"), "--overwrite", "--quiet", "--on-error", "skip")
            self.assertEqual(self.ok("count", path, "--on-error", "skip").stdout, "2\n")
            self.assertIn(where, self.broken("verify", path))


class StandardInput(FileTest):
    def test_it_is_detected_like_files(self):
        write_tfrecord(self.path("a.tfrecord"), example({b"a": b"x"}))
        table = "a,b\n1,x\n2,y\n"
        self.ok("convert", self.write("t.csv", table), self.path("t.arrow"), "--quiet")
        rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
        inputs = {table: rows, table.replace(",", "\t"): rows, table.replace(",", ";"): rows, '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n': rows,
                  pathlib.Path(self.path("t.arrow")).read_bytes(): rows, pathlib.Path(self.path("a.tfrecord")).read_bytes(): [{"a": "x"}],
                  "no, this is prose\nand, so is this\n": ["no, this is prose", "and, so is this"]}
        for data, wanted in inputs.items():
            raw = data if isinstance(data, bytes) else data.encode()
            for given in (raw, gzip.compress(raw)):
                for verb in ("head", "cat"):
                    done = self.piped(given, verb, "-")
                    self.assertEqual((done.returncode, lines_of(done)), (0, wanted), (verb, data, done.stderr))
                self.assertEqual(self.piped(given, "count", "-").stdout, f"{len(wanted)}\n", data)
                self.assertEqual(self.piped(given, "verify", "-").returncode, 0, data)
            # the same bytes in a file whose name shows nothing
            self.assertEqual(lines_of(self.ok("head", self.write("unnamed", raw))), wanted)
            if isinstance(wanted[0], dict):
                self.assertEqual(lines_of(self.piped(raw, "select", "a", "-")), [{"a": r["a"]} for r in wanted])
                self.assertEqual(self.piped(raw, "describe", "-").returncode, 0)

    def test_a_file_on_standard_input_is_detected_too(self):
        path = self.write("t", "a,b\n1,x\n")
        with open(path, "rb") as data:
            done = subprocess.run([PROGRAM, "head", "-"], stdin=data, capture_output=True, text=True, timeout=60)
        self.assertEqual(lines_of(done), [{"a": 1, "b": "x"}])

    def test_what_inference_has_not_seen_is_an_error_and_not_dropped(self):
        done = self.piped('{"a":1}\n' * 200 + '{"a":1,"b":2}\n', "cat", "-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("b", done.stderr)

    def test_options_apply_to_it(self):
        self.assertEqual(lines_of(self.piped("1;x\n", "head", "-", "--from", "csv", "--no-header", "--delimiter", ";")), [{"c0": 1, "c1": "x"}])
        self.assertEqual(lines_of(self.piped("a,b\n1,x\n", "cat", "-", "--schema", "b: string")), [{"b": "x"}])
        self.assertIn("standard input is read as JSON lines", self.piped('{"a":1}\n', "cat", "-", "--delimiter", ";").stderr)


class SeveralFiles(FileTest):
    def test_their_columns_are_merged_by_name(self):
        a = self.write("d/1.csv", "name,age\nAda,36\n")
        b = self.write("d/2.csv", "age,name,x\n1.5,Bo,7\n")
        wanted = [{"name": "Ada", "age": 36.0, "x": None}, {"name": "Bo", "age": 1.5, "x": 7}]
        self.assertEqual(lines_of(self.ok("convert", a, b, "-", "--to", "jsonl", "--quiet")), wanted)
        pattern = self.path("d/*.csv")
        self.assertEqual(lines_of(self.ok("convert", pattern, "-", "--to", "jsonl", "--quiet")), wanted)
        self.assertEqual(lines_of(self.ok("select", "x", pattern)), [{"x": None}, {"x": 7}])
        self.assertIn("2 rows", self.ok("describe", pattern).stdout)
        self.assertEqual(lines_of(self.ok("run", f'csv("{pattern}", header=true)', "--output", "jsonl", "--quiet")), wanted)

    def test_columns_of_arrow_files_are_merged_by_name(self):
        files = ['{"a":1,"b":"x","in":{"y":1}}\n', '{"b":"z","in":{"x":2.5},"a":3}\n', '{"a":4}\n', '{"a":5,"b":"q","in":{"y":2},"c":1.5}\n']
        for n, text in enumerate(files):
            self.ok("convert", self.write(f"v/{n}.jsonl", text), self.path(f"v/{n}.arrow"), "--quiet")
        rows = {0: {"a": 1, "b": "x", "in": {"y": 1, "x": None}, "c": None}, 1: {"a": 3, "b": "z", "in": {"y": None, "x": 2.5}, "c": None},
                2: {"a": 4, "b": None, "in": None, "c": None}, 3: {"a": 5, "b": "q", "in": {"y": 2, "x": None}, "c": 1.5}}
        for pattern, plan in (("*.arrow", "unbatch"), ("*.arrow", 'map(it) | unbatch')):
            got = lines_of(self.ok("run", f'from_arrow("{self.path("v/" + pattern)}") | {plan}', "--output", "jsonl", "--quiet"))
            self.assertEqual(got, list(rows.values()))
        self.assertEqual(lines_of(self.ok("select", "c,a", self.path("v/*.arrow"))), [{"c": r["c"], "a": r["a"]} for r in rows.values()])
        pair = self.path("v/[02].arrow")
        self.assertEqual(lines_of(self.ok("run", f'from_arrow("{pair}") | unbatch | map(b)', "--output", "jsonl", "--quiet")), ["x", None])

    def test_unlike_columns_of_arrow_files_are_refused(self):
        for n, text in enumerate(['{"a":1,"b":"x"}\n', '{"a":2,"b":3}\n']):
            self.ok("convert", self.write(f"w/{n}.jsonl", text), self.path(f"w/{n}.arrow"), "--quiet")
        said = self.fails(1, "run", f'from_arrow("{self.path("w/*.arrow")}")')
        for part in (self.path("w/0.arrow"), self.path("w/1.arrow"), 'column "b" is int64, and string in', 'schema="a: int64"'):
            self.assertIn(part, said)
        self.assertEqual(lines_of(self.ok("run", f'from_arrow("{self.path("w/*.arrow")}", schema="a: int64") | unbatch', "--output", "jsonl", "--quiet")), [{"a": 1}, {"a": 2}])

    def test_unlike_columns_name_both_files(self):
        for end, one, two in ((".csv", "age\n3\n", "age\ntext\n"), (".jsonl", '{"age":3}\n', '{"age":"text"}\n')):
            a, b = self.write("u/1" + end, one), self.write("u/2" + end, two)
            for arguments in (["convert", a, b, "-", "--to", "jsonl"], ["select", "age", self.path("u/*" + end)]):
                said = self.fails(1, *arguments)
                self.assertIn(a, said)
                self.assertIn(b, said)
                self.assertIn("age", said)

    def test_a_run_over_a_pattern_resumes_in_any_file(self):
        for n in range(3):
            self.write(f"r/{n}.csv", "n\n" + "".join(f"{10 * n + k}\n" for k in range(5)))
        plan = f'csv("{self.path("r/*.csv")}", header=true)'
        for cut in (1, 5, 7, 10, 14):
            out, mark = self.path(f"o{cut}.jsonl"), self.path(f"c{cut}")
            self.ok("run", plan, "--output", out, "--limit", cut, "--checkpoint", mark, "--quiet")
            self.ok("run", plan, "--output", out, "--resume", mark, "--quiet")
            rows = [json.loads(line)["n"] for line in pathlib.Path(out).read_text().splitlines()]
            self.assertEqual(rows, [10 * n + k for n in range(3) for k in range(5)], cut)


if __name__ == "__main__":
    main()
