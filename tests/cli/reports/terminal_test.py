# SPDX-License-Identifier: Apache-2.0
"""What is shown on a terminal: tables of head, --help, errors, progress; and the report as JSON."""
import base64
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, PROGRAM, ProgramTest, lines_of, main, sluice
from terminal import run_on_terminal

VERBS = ("run", "convert", "head", "describe", "count", "select", "cat", "verify", "ls", "cp", "explain", "splits", "cache", "checkpoint", "compare", "replay", "dispatcher", "worker",
         "status", "register", "ops", "doctor", "top", "completion", "man", "sample")


def columns_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Table(ProgramTest):
    def shown(self, *words, columns=80, status=0):
        done, text = run_on_terminal([PROGRAM, *words], columns, cwd=self.folder.name)
        self.assertEqual(done, status, text)
        for line in text.splitlines():
            self.assertLessEqual(columns_of(line), columns, line)
        return text

    def table(self, rows, *words, **options):
        path = self.path("rows.jsonl")
        pathlib.Path(path).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return self.shown("head", path, *words, **options).splitlines()

    def test_a_table_on_a_terminal_and_lines_elsewhere(self):
        pathlib.Path(self.path("p.csv")).write_text("id,first name,score\n1,Ann,2.5\n12,Bob,\n")
        self.assertEqual(self.shown("head", "p.csv").splitlines(),
                         ["id  first name  score", "──  ──────────  ─────", " 1  Ann           2.5", "12  Bob          none"])
        lines = [{"id": 1, "first name": "Ann", "score": 2.5}, {"id": 12, "first name": "Bob", "score": None}]
        self.assertEqual(lines_of(self.ok("head", self.path("p.csv"))), lines)
        self.assertEqual([json.loads(line) for line in self.shown("head", "p.csv", "--output", "jsonl").splitlines()], lines)
        self.assertEqual(self.ok("head", self.path("p.csv"), "--output", "csv").stdout, "id,first name,score\n1,Ann,2.5\n12,Bob,\n")
        self.assertEqual(self.ok("head", self.path("p.csv"), "--output", "table").stdout, self.shown("head", "p.csv"))
        self.assertEqual(self.shown("head", "range(0)"), "no elements\n")
        self.assertEqual(self.shown("head", "range(2)").splitlines(), ["value", "─────", "    0", "    1"])
        self.assertEqual(self.shown("head", "zip(range(2), range(2) | map(string(it)))").splitlines()[2:], ["    0  0", "    1  1"])

    def test_long_and_nested_values_are_shortened(self):
        rows = [{"n": i, "text": "lorem ipsum " * i, "list": list(range(i)), "inner": {"a": i, "b": {"c": "x" * i}}, "empty": "",
                 "bytes": {"base64": base64.b64encode(bytes([255] * (i * 1000))).decode()}} for i in range(1, 7)]
        for columns in (40, 80, 120, 300):
            self.table(rows, columns=columns)   # checks the width of each line
        first, rule, *lines = self.table(rows, columns=300)[:8]
        self.assertEqual(first.split(), ["n", "text", "list", "inner", "empty", "bytes"])
        self.assertIn("[0, 1, 2, 3, … 6 values]", lines[5])
        self.assertIn('{a: 6, b: {c: "xxxxxx"}}', lines[5])
        self.assertIn("<6,000 bytes>", lines[5])
        self.assertIn('  ""  ', lines[5])
        self.assertIn("…", self.table(rows)[2 + 4])
        self.assertIn("--output jsonl prints whole values", self.table(rows)[-1])
        many = self.table([{f"column_{k}": k for k in range(30)}])
        self.assertRegex(" ".join(many[3:]), r"\(\d+ more columns: .*column_29; --output jsonl prints whole values\)")
        self.assertEqual(self.shown("head", "range(1) | map({t: to_tensor([[1.5, 2.5]]), n: it})").splitlines()[2].split(), ["float64[1,2]", "0"])

    def test_numbers_stand_right_and_wide_characters_count(self):
        lines = self.table([{"n": n, "name": name, "x": x} for n, name, x in ((1, "山田太郎", -1.5), (1000, "é😀", None), (-20, "e\u0301", 10.25))])
        self.assertEqual(lines[2:], ["   1  山田太郎   -1.5", "1000  é😀        none", " -20  e\u0301         10.25"])
        self.assertEqual({columns_of(line) for line in lines}, {columns_of(lines[0])})

    def test_no_control_characters_of_data_reach_a_terminal(self):
        nasty = "\x1b[31m\x07\x7f\u009b1m\u202e\u2066\r\b\t\n"
        path = self.path("nasty.jsonl")
        pathlib.Path(path).write_text(json.dumps({nasty: nasty, "b": [nasty], "c": {nasty: nasty}}) + "\n")
        for words in (["head", path], ["head", path, "--output", "jsonl"], ["head", path, "--output", "csv"], ["cat", path], ["select", "b", path],
                      ["describe", path], ["explain", f'jsonl("{path}")'], ["head", path, "--images", self.path("x")]):
            with self.subTest(words=words[:4]):
                done, text = run_on_terminal([PROGRAM, *words], 200)
                text = re.sub(r"\x1b\[(K|[0-9;]*m(?=sluice:|\x1b| |$))", "", text)
                controls = {c for c in text if (c < " " and c not in "\n") or "\x7f" <= c < "\xa0" or c in "\u202e\u2066"} - {"\t", "\r"}
                self.assertEqual(controls, set(), (words, text))
        row = lines_of(self.ok("cat", path))[0]
        done, text = run_on_terminal([PROGRAM, "cat", path], 200)
        self.assertEqual(json.loads(text), row)   # escaped, and not changed

    def test_rows_before_an_error_are_shown(self):
        pathlib.Path(self.path("late.csv")).write_text("a\n" + "1\n" * 150 + "x\n")
        done, text = run_on_terminal([PROGRAM, "head", "-n", "999", self.path("late.csv")])
        self.assertEqual(done, 1)
        self.assertEqual(text.splitlines()[:3], ["a", "─", "1"])
        self.assertIn("line 152", text)


class Help(ProgramTest):
    def help_of(self, *words, columns=80):
        done, text = run_on_terminal([PROGRAM, *words, "--help"], columns)
        self.assertEqual(done, 0)
        return text

    def test_help_has_groups_and_three_examples_and_fits(self):
        for verb in ((), *((verb,) for verb in VERBS)):
            for columns in (40, 80, 120):
                with self.subTest(verb=verb, columns=columns):
                    text = self.help_of(*verb, columns=columns)
                    body, examples = text.split("\nExamples:\n")
                    self.assertEqual(len([line for line in examples.splitlines() if line.startswith("  ") and "sluice" in line]), 3)
                    for line in body.splitlines():   # a word may be longer than a narrow line
                        self.assertTrue(columns_of(line) <= columns or len(line.split()) <= 3, line)
                    if columns == 80:
                        self.assertLessEqual(max(map(columns_of, text.splitlines())), 80)
                        self.assertEqual(text, sluice(*verb, "--help").stdout)   # 80 where the width is not known
        self.assertEqual(re.findall(r"^(\w[\w ]+):$", self.help_of(), re.M), ["Look at data", "Process data", "Several machines", "This program", "Options", "Examples"])
        self.assertEqual(re.findall(r"^(\w[\w ]+):$", self.help_of("run"), re.M),
                         ["Arguments", "Options", "Plan", "Output", "Bad elements", "Resuming", "Reports", "Resources", "Examples"])
        for verb in VERBS:
            self.assertRegex(self.help_of(), rf"\n  {verb} +\w")
            self.assertIn(f"Usage: sluice {verb} ", self.help_of(verb))

    def test_options_of_several_verbs_are_in_a_group_that_is_meant_for_them(self):
        """Options that no group names are in Options: there are few, and only --limit and --seed are of several verbs."""
        verbs_of = {}
        for verb in VERBS:
            for option in set(re.findall(r"--[a-z-]+", self.help_of(verb).split("\nOptions:\n")[1].split("\n\n")[0])):
                verbs_of.setdefault(option, []).append(verb)
        self.assertEqual({option for option, verbs in verbs_of.items() if len(verbs) > 2}, {"--help", "--limit", "--seed"}, verbs_of)

    def test_plans_of_examples_are_read(self):
        """The plans of the examples parse, apart from their files and dispatchers, which do not exist."""
        for verb in VERBS:
            for line in self.help_of(verb).split("Examples:\n")[1].splitlines():
                for plan in re.findall(r"'([a-z_]+\(.*?)'(?: |$)", line):
                    with self.subTest(plan=plan):
                        done = sluice("explain", plan)
                        missing = any(words in done.stderr for words in ("not_found", "unavailable: from_dataset_id: "))
                        self.assertTrue(done.returncode == 0 or missing, done.stderr)


class Reports(ProgramTest):
    def report(self, *words, status=0):
        done = sluice(*words, "--report", "json")
        self.assertEqual(done.returncode, status, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith('{"report":"sluice"')]
        self.assertEqual(lines, done.stderr.splitlines()[-1:])
        report = json.loads(lines[0])
        self.assertEqual((report["version"], report["exit_status"]), (1, status))
        return report, done

    def test_a_finished_run(self):
        report, done = self.report("run", "range(1000) | batch(10) | prefetch(2)", "--seed", 7, "--output", "jsonl:" + self.path("o.jsonl"))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual({k: report[k] for k in ("verb", "outcome", "error", "elements", "records", "complete", "resumed", "output", "plan")},
                         {"verb": "run", "outcome": "finished", "error": None, "elements": 100, "records": 1000, "complete": True, "resumed": False,
                          "output": "jsonl:" + self.path("o.jsonl"), "plan": "range(1000) | batch(10) | prefetch(2)"})
        self.assertEqual((report["run"]["seed"], report["run"]["epoch"]), ("7", 0))
        self.assertEqual([s["name"] for s in report["run"]["stages"]], ["prefetch", "batch", "range"])
        stages = report["run"]["stages"]
        self.assertEqual(stages[1]["elements"], 100)
        self.assertEqual(stages[1]["inputs"], [stages[2]["path"]])
        self.assertIn({"name": "elements", "auto": False}, [{"name": k["name"], "auto": k["auto"]} for k in stages[0]["knobs"]])

    def test_failures_and_dropped_elements(self):
        report, done = self.report("run", "range(3) | map(6 / it)", status=1)
        self.assertTrue(done.stderr.startswith("sluice: "))
        self.assertEqual((report["outcome"], report["error"]["code"], report["error"]["stage"], report["error"]["element"]),
                         ("failed", "invalid_argument", "map(6 / it)", 0))
        report, _ = self.report("run", "range(3) | map(6 / it)", "--on-error", "skip")
        self.assertEqual((report["elements"], report["run"]["dropped"]["elements"], report["run"]["dropped"]["first"][0]["element"]), (2, 1, 0))
        report, _ = self.report("run", "range(3) | nonsense", status=2)
        self.assertEqual((report["outcome"], report["run"], report["error"]["code"]), ("failed", None, "invalid_argument"))
        report, _ = self.report("convert", self.path("none.csv"), self.path("o.jsonl"), status=1)
        self.assertEqual((report["verb"], report["error"]["code"]), ("convert", "not_found"))
        report, _ = self.report("run", f'tfrecord("{GOLDEN}/small.tfrecord")', "--limit", 1)
        self.assertEqual((report["elements"], report["complete"]), (1, True))

    def test_an_interrupted_run(self):
        out, report = self.path("o.jsonl"), self.path("r.json")
        running = subprocess.Popen([PROGRAM, "run", "counter", "--output", f"jsonl:{out}", "--checkpoint", self.path("c"), "--report", f"json:{report}", "--quiet"])
        while not os.path.exists(out + ".partial") or os.path.getsize(out + ".partial") == 0:
            self.assertIsNone(running.poll())
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(60), 143)
        said = json.loads(pathlib.Path(report).read_text())
        self.assertEqual((said["outcome"], said["exit_status"], said["complete"], said["error"]), ("interrupted", 143, False, None))
        self.assertEqual(said["elements"], len(pathlib.Path(out + ".partial").read_text().splitlines()))

    def test_a_report_in_a_file_replaces_only_reports(self):
        path, data = self.path("r.json"), self.path("a.jsonl")
        for n in (3, 4):
            done = self.ok("run", f"range({n})", "--report", f"json:{path}")
            self.assertIn(f"{n} elements in ", done.stderr)
            self.assertEqual(json.loads(pathlib.Path(path).read_text())["elements"], n)
        pathlib.Path(data).write_text('{"a":1}\n')
        self.assertIn("is no report", self.fails(2, "run", f'jsonl("{data}")', "--report", f"json:{data}"))
        self.assertEqual(pathlib.Path(data).read_text(), '{"a":1}\n')
        new = self.path("new.jsonl")
        self.assertIn("--output and --report are the same file", self.fails(2, "run", "range(3)", "--output", f"jsonl:{new}", "--report", f"json:{new}"))

    SLOW = "range(60) | rate_limit(elements_per_second=100) | map(it + 1) | prefetch(4)"

    def test_the_verdict_names_the_cause(self):
        report, _ = self.report("run", self.SLOW)
        run = report["run"]
        cause = next(s for s in run["stages"] if s["name"] == "rate_limit")
        verdict = run["verdict"]
        self.assertEqual((verdict["kind"], verdict["cause"], verdict["path"], verdict["stage"]), ("highly input-bound", "pace", cause["path"], "rate_limit"))
        for s in run["stages"]:
            self.assertAlmostEqual(s["busy_share"] + s["input_share"] + s["blocked_share"], 1)
        self.assertEqual(cause["elements_in"], 60)
        self.assertIn("pace", cause["waits_by_reason"])
        self.assertEqual({(e["from"], e["to"]) for e in run["edges"]}, {(i, s["path"]) for s in run["stages"] for i in s["inputs"]})
        self.assertEqual(run["knobs"][0]["stage"], "prefetch")

    def test_the_report_has_times_and_memory_by_size(self):
        lines = self.path("lines.txt")
        pathlib.Path(lines).write_text("".join("a," * (50_000 if i % 10 == 0 else 50) + "\n" for i in range(1200)))
        plan = f'lines("{lines}") | rate_limit(elements_per_second=4000, burst=1) | map(length(split(it, ",")))'
        report, _ = self.report("run", plan)
        split, _, read = report["run"]["stages"]
        sizes = [c["bytes_max"] for c in split["by_size"]]
        self.assertEqual(sizes, sorted(sizes))
        self.assertIn(256, sizes)
        self.assertIn(256 << 10, sizes)
        by_size = {c["bytes_max"]: c["element_seconds"] for c in split["by_size"]}
        self.assertGreater(by_size[256 << 10], by_size[256])
        self.assertEqual((split["element_bytes"], split["element_deviation_bytes"], split["largest_element_bytes"]), (8, 0, 8))
        self.assertGreater(read["element_deviation_bytes"], 0)
        self.assertGreaterEqual(read["largest_element_bytes"], 100_000)
        self.assertRegex(self.ok("run", plan, "--report").stderr, r"\ntime by size:\n  map\(.*: .*s for an element of up to 256 B \(.* of up to 256 KiB \(")
        report, _ = self.report("run", "range(1000)")
        self.assertEqual([c["bytes_max"] for c in report["run"]["stages"][0]["by_size"]], [64])

    def test_the_report_as_text_begins_with_the_verdict(self):
        for words in (["--report", self.SLOW], [self.SLOW, "--report"], [self.SLOW, "--report", "full"], ["--report", "--seed", 1, self.SLOW]):
            lines = self.ok("run", *words).stderr.splitlines()
            self.assertRegex(lines[0], "^highly input-bound: the consumer waits .* of the time; the cause is rate_limit: ")
            self.assertRegex(lines[1], "^  stage +elements .* busy +input +blocked")
            self.assertEqual([line.split()[1] for line in lines if line.startswith("* ")], ["rate_limit"])
            self.assertTrue(any("60 elements in " in line for line in lines))
        self.assertIn("expects full, text, json or json:FILE", self.fails(2, "run", "range(3)", "--report", "jsn"))

    def test_the_report_advises_with_figures_of_the_run(self):
        made = "range(1000000) | map({a: float(it) / 3, b: sqrt(float(it)) * 5}) | filter(a < b * 1000)"
        lines = self.ok("run", f"{made} | shuffle(100) | repeat(40)", "--report", "--seed", 1).stderr.splitlines()
        advice = [line for line in lines if line.startswith("advice: ")]
        self.assertEqual(len(advice), 1, lines)
        self.assertRegex(advice[0], r"filter\(a < b \* 1000\) makes the same 999999 elements in each of 40 epochs, in .*s; cache\(\) after it keeps them in memory \(7.63 MiB")
        with open(self.path("wide.txt"), "w") as wide:
            wide.writelines("a" * 60_000 + f",{i}\n" for i in range(300))
        lines = self.ok("run", f'lines("{self.path("wide.txt")}") | shuffle(100) | map(split(it, ",")[1])', "--report").stderr.splitlines()
        self.assertRegex("\n".join(lines), r"\nadvice: map\(.*\) makes elements of \d+ B from those of 5\d\.\d KiB that shuffle\(100\) holds; "
                         r"upstream of it, the buffer needs .* KiB and not .* MiB, but its errors come at other elements\n")
        lines = self.ok("run", f"{made} | shuffle(100) | repeat(1)", "--report").stderr.splitlines()
        self.assertEqual([line for line in lines if line.startswith("advice: ")], [])

    def test_the_report_is_repeated(self):
        done = self.ok("run", self.SLOW, "--report", "json", "--report-every", "200ms")
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertEqual(lines[-1]["outcome"], "finished")
        self.assertGreater(len(lines), 1)
        for line in lines[:-1]:
            self.assertEqual((line["outcome"], line["exit_status"], line["plan"]), ("running", None, lines[-1]["plan"]))
            self.assertIn("verdict", line["run"])
        self.assertEqual(sorted(line["elements"] for line in lines), [line["elements"] for line in lines])

    def test_the_fields_are_documented(self):
        page = (pathlib.Path(__file__).resolve().parents[3] / "docs/report.md").read_text()
        report, _ = self.report("run", "range(100) | map(6 / it) | prefetch(2)", "--on-error", "skip")

        def names(value):
            if isinstance(value, dict):
                for name, inner in value.items():
                    yield name
                    yield from names(inner)
            elif isinstance(value, list):
                for inner in value:
                    yield from names(inner)
        self.assertEqual([name for name in set(names(report)) if f"`{name}`" not in page], [])

    def test_errors_come_first_and_no_report_is_empty(self):
        done = sluice("run", 'tfrecord("none")')
        self.assertRegex(done.stderr, r"\Asluice: not_found: [^\n]*\n\Z")
        done = sluice("run", "range(200) | map(6 / (it - 100))")
        self.assertRegex(done.stderr, r"\Asluice: invalid_argument: [^\n]*\n100 elements in ")
        self.assertRegex(sluice("cp", self.path("none"), self.path("b")).stderr, r"\Asluice: [^\n]*\n\Z")
        self.assertIn("0 elements in ", self.ok("run", "range(0)").stderr)   # nothing failed: it is a result

    def test_progress_in_a_log(self):
        running = subprocess.Popen([PROGRAM, "run", "counter", "--progress", "plain", "--progress-every", "1ms"], stderr=subprocess.PIPE, text=True)
        lines = [running.stderr.readline() for _ in range(3)]
        running.send_signal(signal.SIGINT)
        lines += running.communicate(timeout=60)[1].splitlines(True)
        for line in lines[:3]:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  [\d,]+ records  .*/s  memory .* of .*\n$")
        self.assertNotIn("\r", "".join(lines))
        self.assertEqual(run_on_terminal([PROGRAM, "run", "range(10)", "--progress", "none", "--quiet"]), (0, ""))


if __name__ == "__main__":
    main()
