# SPDX-License-Identifier: Apache-2.0
"""Files whose records are found by number, over HTTP: bagz, array_record, mds, and Parquet. Answers that fail are asked for again; a small
budget suffices for the first three."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from program import lines_of, main, sluice
from served import ServedTest

COUNT = 20_000
TEXT = "x" * 500
PLAN = f'range({COUNT}) | map(text(it) + "{TEXT}")'


class RecordFiles(ServedTest):
    def write(self, kind):
        """Writes a file of 10 MB, and returns the plan that reads it over HTTP."""
        names = {"bagz": "a.bag", "array_record": "a.array_record", "mds": "m/", "parquet": "a.parquet"}
        out = f"{kind}:{self.served / names[kind]}" + ("/" if kind == "mds" else "")
        plan = {"mds": f'range({COUNT}) | map({{id: it, text: "{TEXT}"}})',
                "parquet": f'range({COUNT * 10}) | map({{id: (it * 7919) % 1000003, half: random(), text: text(it)}})'}.get(kind, PLAN)
        options = {"mds": ["--shard-size", "4MiB"], "parquet": ["--compression", "none", "--row-group-size", "1MiB"]}
        self.ok("run", plan, "--output", out, *options.get(kind, ["--compression", "none"]))
        return f'{kind}("{self.url(names[kind]).rstrip("/")}")'

    def rows_of(self, plan):
        return lines_of(self.ok("run", plan, "--output", "jsonl"))

    def test_answers_that_fail_are_asked_for_again(self):
        for kind in ("bagz", "array_record", "mds", "parquet"):
            with self.subTest(kind=kind):
                plan = self.write(kind)
                whole = self.rows_of(plan)
                failed = []

                def fault(n):
                    how = "busy" if n % 4 == 1 else "cut" if n % 5 == 2 else None
                    failed.extend([how] if how else [])
                    return how
                self.server.fault = fault
                self.assertEqual(self.rows_of(plan), whole)
                self.assertIn("busy", failed)
                self.server.fault = lambda n: None
            for p in self.served.iterdir():
                p.rename(self.path(p.name))

    def test_random_records_are_read_by_their_ranges(self):
        """Every read of another megabyte would send a hundred times as much."""
        for kind in ("bagz", "array_record", "mds"):
            with self.subTest(kind=kind):
                plan = self.write(kind)
                self.server.sent.clear()
                self.assertEqual(len(self.rows_of(f"{plan} | global_shuffle(seed=1) | take(10)")), 10)
                self.assertLess(sum(self.server.sent), 1 << 20, self.server.sent)
            for p in self.served.iterdir():
                p.rename(self.path(p.name))

    def test_a_small_budget_suffices(self):
        for kind in ("bagz", "array_record", "mds"):
            with self.subTest(kind=kind):
                plan = self.write(kind)
                report = self.path("report.json")
                local = plan.replace(self.url(""), f"{self.served}/")
                for reader in (plan, local, f"{local} | global_shuffle(seed=1)"):
                    done = sluice("run", reader, "--output", "null", "--memory-budget", "8MiB", "--report", f"json:{report}")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    memory = json.loads(pathlib.Path(report).read_text())["run"]["memory"]
                    self.assertLess(memory["peak_bytes"], 12 << 20, reader)
                    self.assertLess(memory["process_peak_bytes"], 96 << 20, reader)
            for p in self.served.iterdir():
                p.rename(self.path(p.name))


if __name__ == "__main__":
    main()
