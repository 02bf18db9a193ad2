# SPDX-License-Identifier: Apache-2.0
"""bench/compare/run.py against programs that only pretend: it must never time a wrong answer."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent.parent.parent / "bench/compare/run.py"
spec = importlib.util.spec_from_file_location("compare_run", RUN)
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)

# Prints an answer, and notes every call: argv[1] its log, argv[2] what differs from the usual answer.
PRETENDER = """
import json, sys
open(sys.argv[1], "a").write(" ".join(sys.argv[3:]) + "\\n")
print("a line that is not the answer")
print(json.dumps({"system": "x", "elements": 10, "batches": 1, "label_sum": 5, "digest": "00", "seconds": 1.0, "cpu_seconds": 1.0,
                  "versions": {"tensorflow": "0"}, **json.loads(sys.argv[2])}))
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = os.path.join(folder.name, "log")

    def program(self, **differs):
        return [sys.executable, "-c", PRETENDER, self.log, json.dumps(differs)]

    def calls(self):
        return pathlib.Path(self.log).read_text().splitlines()

    def test_a_ratio_is_the_median_of_the_pairs(self):
        row = run.compare("vectorised", self.program(seconds=0.1), self.program(seconds=0.8, cpu_seconds=3.0), ["f"], pairs=3)
        self.assertEqual((row["figure"], row["ok"], row["cpu_ratio"]), (8.0, True, 3.0))
        self.assertEqual(len(self.calls()), 2 + 2 * 3)

    def test_a_goal_that_is_missed_is_said_so(self):
        self.assertFalse(run.compare("per_record", self.program(seconds=0.1), self.program(seconds=9.9), ["f"], pairs=1)["ok"])
        self.assertTrue(run.compare("per_record", self.program(seconds=0.1), self.program(seconds=10.1), ["f"], pairs=1)["ok"])

    def test_different_answers_are_never_timed(self):
        for differs in ({"elements": 11}, {"batches": 2}, {"label_sum": 6}, {"digest": "01"}):
            row = run.compare("vectorised", self.program(seconds=0.0001, **differs), self.program(), ["f"], pairs=3)
            self.assertEqual((row["figure"], row["ok"]), (None, False))
            self.assertIn(next(iter(differs)), row["note"])
            self.assertFalse([c for c in self.calls() if "--skip-answer" in c])

    def test_a_program_that_fails_stops_the_comparison(self):
        with self.assertRaises(SystemExit) as stopped:
            run.compare("vectorised", ["/bin/false"], self.program(), ["f"], pairs=1)
        self.assertIn("/bin/false", str(stopped.exception))

    def test_without_tensorflow_it_says_so_and_succeeds(self):
        with tempfile.TemporaryDirectory() as folder:  # a module of that name which cannot be imported
            pathlib.Path(folder, "tensorflow.py").write_text("raise ImportError('not here')")
            alone = {"PATH": os.environ["PATH"], "PYTHONPATH": folder, "SLUICE_TF_PYTHON": ""}
            done = subprocess.run([sys.executable, RUN], env=alone, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("skipped: TensorFlow cannot be imported", done.stdout)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed > 0)
