# SPDX-License-Identifier: Apache-2.0
"""Relative paths of a plan that a service runs are those of the consumer's folder, wherever its workers were started."""
import os
import pathlib
import subprocess

from program import PROGRAM, main
from service_processes import ServiceTest


class ServicePaths(ServiceTest):
    def setUp(self):
        super().setUp()
        for folder, text in (("here", "a\nb\n"), ("there", "WRONG\n")):
            os.mkdir(self.path(folder))
            pathlib.Path(self.path(folder), "t.txt").write_text(text)
            pathlib.Path(self.path(folder), "u.txt").write_text(text)
        self.at = self.dispatcher_there()

    def dispatcher_there(self):
        before = os.getcwd()
        os.chdir(self.path("there"))
        try:
            at = self.dispatcher()
            self.workers(1, at)
            return at
        finally:
            os.chdir(before)

    def run_here(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.path("here"), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)

    def lines(self, plan):
        done = self.run_here("run", plan, "--output", "lines", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_a_path_is_that_of_the_consumer(self):
        self.assertEqual(self.lines(f'lines("t.txt") | distribute("{self.at}")'), ["a", "b"])
        self.assertEqual(self.lines(f'lines("./t.txt") | distribute("{self.at}", mode=off)'), ["a", "b"])
        self.assertEqual(self.lines(f'concatenate(lines("t.txt"), lines("u.txt")) | distribute("{self.at}")'), ["a", "b", "a", "b"])

    def test_a_pattern_is_that_of_the_consumer(self):
        self.assertEqual(self.lines(f'list_files("*.txt") | flat_map(lines) | distribute("{self.at}")'), ["a", "b", "a", "b"])
        self.assertEqual(self.lines(f'list_files("t.*,u.*") | flat_map(lines) | distribute("{self.at}")'), ["a", "b", "a", "b"])

    def test_a_folder_with_marks_of_patterns_is_no_pattern(self):
        os.rename(self.path("here"), self.path("h[1],*"))
        os.mkdir(self.path("h1,x"))
        os.symlink("h[1],*", self.path("here"))
        self.assertEqual(self.lines(f'list_files("*.txt") | flat_map(lines) | distribute("{self.at}")'), ["a", "b", "a", "b"])

    def test_a_file_that_an_expression_reads_is_that_of_the_consumer(self):
        plan = f'range(1) | map(string(length(read_file("t.txt")))) | distribute("{self.at}")'
        self.assertEqual(self.lines(plan), ["4"])

    def test_a_registered_plan_reads_the_files_of_its_folder(self):
        done = self.run_here("register", 'lines("t.txt")', "--dispatcher", self.at, "--dataset-id", "words")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.elements(f'from_dataset_id("{self.at}", "words")'), ["a", "b"])

    def test_a_file_that_a_worker_lacks_is_named_with_the_worker(self):
        worker = self.alive_workers(self.at)[0]
        message = self.fails(1, "run", f'lines("/none/t.txt") | distribute("{self.at}")')
        self.assertIn(f"/none/t.txt: cannot open: No such file or directory, on worker {worker}", message)


if __name__ == "__main__":
    main()
