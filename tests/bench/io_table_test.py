# SPDX-License-Identifier: Apache-2.0
"""bench/io_table.py over a bench that only pretends: what it makes of figures, goals, and of what cannot be measured."""
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import stat
import sys
import tempfile
import unittest
from unittest import mock

TABLE = pathlib.Path(__file__).resolve().parent.parent.parent / "bench/io_table.py"
spec = importlib.util.spec_from_file_location("io_table", TABLE)
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)

PRETENDER = """#!{python}
import json, sys
rows = {rows!r}
if "--json" in sys.argv:
    open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(rows.get(sys.argv[1], [])))
else:
    print("compiler X; here an addition takes 0.5 ns")
"""


def row(name, reference, figure, **more):
    return {"name": name, "reference": reference, "figure": figure, "quartiles": [figure * 0.9, figure * 1.1] if figure else None, **more}


class IoTable(unittest.TestCase):
    def printed(self, rows, *arguments, missing=""):
        """What it prints, whether it is content, and its JSON."""
        with tempfile.TemporaryDirectory() as folder:
            bench, out = pathlib.Path(folder, "bench"), os.path.join(folder, "rows.json")
            bench.write_text(PRETENDER.format(python=sys.executable, rows=rows))
            bench.chmod(bench.stat().st_mode | stat.S_IXUSR)
            text = io.StringIO()
            with mock.patch.object(table, "BENCH", bench), mock.patch.object(table.nginx_server, "missing", lambda: missing), \
                    mock.patch.object(sys, "argv", ["io_table.py", "--json", out, *arguments]), contextlib.redirect_stdout(text):
                code = table.main()
            return text.getvalue(), code, json.loads(pathlib.Path(out).read_text())

    def test_a_figure_is_held_against_its_goal_from_its_side(self):
        peak = {"a_memory": [row("peak memory, map in parallel by 64", "the budget", -7.0)]}
        text, code, rows = self.printed(peak, "--only", "17")
        self.assertEqual((code, rows[0]["ok"], rows[0]["goal"]), (0, True, "≤ 64"))
        peak["a_memory"][0]["figure"] = 65.0
        text, code, rows = self.printed(peak, "--only", "17")
        self.assertEqual((code, rows[0]["ok"]), (1, False))
        self.assertIn("MISSED", text)

    def test_processor_time_is_the_inverse_of_the_scans_speed(self):
        scan = {"tfrecord_scan": [row("tfrecord, both CRCs, 10 KB", "tuned loop over read()", 0.8)]}
        _, code, rows = self.printed(scan, "--only", "16")
        self.assertAlmostEqual(rows[0]["figure"], 1.25)
        self.assertLess(rows[0]["spread"][0], rows[0]["spread"][1])
        self.assertEqual(code, 1)

    def test_a_bench_that_fails_or_has_no_such_row_is_no_success(self):
        text, code, rows = self.printed({"io_threads": [{"name": "io_threads", "reference": "", "figure": None, "note": "the answers differ"}]},
                                        "--only", "15")
        self.assertEqual((code, rows), (1, []))
        self.assertIn("FAILED: the answers differ", text)
        self.assertIn("FAILED: the bench has no such row", text)

    def test_what_takes_a_server_is_skipped_where_there_is_none(self):
        text, code, rows = self.printed({}, "--only", "9,10", missing="nginx")
        self.assertEqual((code, rows), (0, []))
        self.assertIn("skipped: this machine has no nginx", text)

    def test_every_goal_has_a_row(self):
        self.assertEqual({r[0] for r in table.ROWS}, set(range(1, 18)))


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
