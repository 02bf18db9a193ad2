# SPDX-License-Identifier: Apache-2.0
"""What users type who know SQL, jq, data frames or other programs: read as the verb that they mean, or answered with it."""
import pathlib
import subprocess

from program import PROGRAM, ProgramTest, lines_of, main

CSV = "id,first name,city,score,ok\n1,Ann,Rome,2.5,true\n2,Bob,Oslo,,False\n3,Cid,Rome,1.5,TRUE\n"


class Words(ProgramTest):
    def setUp(self):
        super().setUp()
        self.csv = self.path("people.csv")
        pathlib.Path(self.csv).write_text(CSV)
        self.plan = f'csv("{self.csv}", header=true)'

    def made(self, stages):
        return lines_of(self.ok("run", f"{self.plan} | {stages}", "--output", "jsonl", "--quiet"))

    def refused(self, *arguments):
        return self.fails(2, *arguments)

    def test_words_with_one_meaning_are_read(self):
        for stages, wanted in [("limit(2) | map(id)", [1, 2]), ("head(1) | map(id)", [1]), ("offset(2) | map(id)", [3]),
                               ("where(id > 1) | map(id)", [2, 3]), ("map(city) | distinct", ["Rome", "Oslo"]),
                               ("map(city) | distinct()", ["Rome", "Oslo"]), ("select(id) | limit(1)", [{"id": 1}]),
                               ("select(id, city) | limit(1)", [{"id": 1, "city": "Rome"}]),
                               ("select(id, n = length(city)) | limit(1)", [{"id": 1, "n": 4}]),
                               ("select(`first name`) | limit(1)", [{"first name": "Ann"}]),
                               ("sample(1.0) | map(id)", [1, 2, 3]), ("sample(0.0)", [])]:
            with self.subTest(stages=stages):
                self.assertEqual(self.made(stages), wanted)

    def test_a_sample_is_about_the_share(self):
        made = lines_of(self.ok("run", "range(10000) | sample(0.1, seed=7)", "--output", "jsonl", "--quiet"))
        self.assertEqual(made, lines_of(self.ok("run", "range(10000) | filter(random() < 0.1, seed=7)", "--output", "jsonl", "--quiet")))
        self.assertTrue(800 < len(made) < 1200, len(made))

    def test_range_has_the_order_of_tensorflow(self):
        self.assertEqual(lines_of(self.ok("run", "range(1, 4)", "--output", "jsonl", "--quiet")), [1, 2, 3])
        self.assertEqual(lines_of(self.ok("run", "range(10, 4, -3)", "--output", "jsonl", "--quiet")), [10, 7])
        self.assertIn("range(4, start=1)", self.ok("explain", "range(1, 4)").stdout)

    def test_columns_of_any_name(self):
        self.assertEqual(self.made("map(`first name`)"), ["Ann", "Bob", "Cid"])
        self.assertEqual(self.made("filter(`first name` == \"Bob\") | map({`first name`, x: id})"), [{"first name": "Bob", "x": 2}])
        self.assertEqual(self.made("group_by(`first name`, {n: count()}) | take(1)"), [{"first name": "Ann", "n": 1}])
        printed = self.ok("explain", "--written", f"{self.plan} | map({{`first name`, n: it.`first name`}})").stdout
        self.assertIn("map({`first name`, n: `first name`})", printed)
        schema = "id: int, `first name`: str, city: text, score: float64?, ok: boolean"
        rows = lines_of(self.ok("run", f'csv("{self.csv}", "{schema}", header=true)', "--output", "jsonl", "--quiet"))
        self.assertEqual(rows[1], {"id": 2, "first name": "Bob", "city": "Oslo", "score": None, "ok": False})

    def test_booleans_are_inferred(self):
        self.assertIn("ok: bool", self.ok("explain", self.plan).stdout)
        self.assertEqual(self.made("filter(ok) | map(id)"), [1, 3])

    def test_describe(self):
        lines = self.ok("describe", self.csv).stdout.splitlines()
        self.assertEqual(lines[0], "3 rows")
        self.assertEqual([line.split() for line in lines[1:]],
                         [["column", "type", "nulls", "min", "max"], ["id", "int64", "0", "1", "3"],
                          ["first", "name", "string", "0", '"Ann"', '"Cid"'], ["city", "string", "0", '"Oslo"', '"Rome"'],
                          ["score", "double?", "1", "1.5", "2.5"], ["ok", "bool", "0", "false", "true"]])
        self.assertEqual(self.ok("describe", "range(5)").stdout.split(), "5 rows column type nulls min max it int64 0 0 4".split())
        pathlib.Path(self.path("empty.csv")).write_text("a,b\n")
        self.assertEqual(self.ok("describe", self.path("empty.csv")).stdout.splitlines()[0], "0 rows")

    def test_numbers_of_lines(self):
        self.assertEqual(len(lines_of(self.ok("head", "-2", self.csv))), 2)
        self.assertEqual(len(lines_of(self.ok("head", self.csv, "-2"))), 2)
        self.assertEqual(len(lines_of(self.ok("head", "--limit", 2, self.csv))), 2)
        self.assertEqual(len(lines_of(self.ok("select", "id", self.csv, "-1"))), 1)

    def test_the_pipe_that_a_message_shows_sorts_and_joins(self):
        """Runs the command as it is printed."""
        python = pathlib.Path.home() / ".cache/sluice-oracles/bin/python"
        if subprocess.run([str(python), "-c", "import duckdb, pyarrow"], capture_output=True).returncode if python.exists() else True:
            self.skipTest("DuckDB and pyarrow are not installed in ~/.cache/sluice-oracles")
        pathlib.Path(self.path("b.csv")).write_text("id,x\n1,one\n3,three\n")
        for stage, wanted in [("sort(score)", "Cid"), ("join(b)", "three")]:
            message = self.refused("run", f"{self.plan} | {stage}")
            shown = message[message.index("sluice run 'csv"):]
            shown = shown[:shown.index('"', shown.index("duckdb -c ") + len('duckdb -c "')) + 1]
            # The package has no program duckdb.
            shown = shown.replace("sluice run", f"{PROGRAM} run").replace(
                "duckdb -c", f"{python} -c 'import duckdb, sys; duckdb.sql(sys.argv[1]).show()'")
            done = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, cwd=self.folder.name, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(wanted, done.stdout)


main()
