# SPDX-License-Identifier: Apache-2.0
"""Outputs that are whole or not there, and files that would be two of a run's files at once: its output, an input, what keeps bad elements."""
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, lines_of, main, sluice

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def default_signals():
    """Under nohup, or in the background of a shell, they are ignored."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


class Whole(ProgramTest):
    SLOW = "counter() | rate_limit(elements_per_second=1000)"

    def setUp(self):
        super().setUp()
        self.out = pathlib.Path(self.path("whole.csv"))

    def names(self):
        return sorted(p.name for p in pathlib.Path(self.folder.name).iterdir())

    def interrupted(self, number, *arguments, begun=None):
        """Its standard error, after a signal that comes when the output has been begun."""
        running = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=default_signals)
        self.addCleanup(running.kill)
        begun = begun or f"{self.out}.partial"
        while not os.path.exists(begun) or os.stat(begun).st_size == 0:
            self.assertIsNone(running.poll())
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + number, said)
        return said


class Interrupts(Whole):
    PLAN = "range(1000000000)"

    def test_an_interrupted_run_leaves_what_stood_there(self):
        for number in SIGNALS:
            for arguments in (["convert", self.PLAN, self.out, "--overwrite"], ["run", self.PLAN, "--output", self.out]):
                with self.subTest(number=number, verb=arguments[0]):
                    self.out.write_text("complete\n" * 1000)
                    said = self.interrupted(number, *arguments, "--quiet")
                    self.assertEqual(said.splitlines(), [f"sluice: {self.out}: interrupted, so the incomplete output is removed; "
                                                         "with --checkpoint FILE it would be kept and could be resumed"])
                    self.assertEqual(self.out.read_text(), "complete\n" * 1000)
                    self.assertEqual(self.names(), ["whole.csv"])

    def test_where_nothing_stood_there_is_nothing(self):
        self.interrupted(signal.SIGINT, "convert", self.PLAN, self.out)
        self.assertEqual(self.names(), [])
        shards = [self.path(f"whole-0000{i}-of-00002.csv") for i in range(2)]
        self.interrupted(signal.SIGTERM, "run", self.PLAN, "--output", self.out, "--shards", 2, begun=shards[1] + ".partial")
        self.assertEqual(self.names(), [])

    def test_with_a_checkpoint_the_part_stays_and_is_gone_on_with(self):
        here = self.path("here")
        said = self.interrupted(signal.SIGINT, "run", self.PLAN, "--output", self.out, "--checkpoint", here)
        self.assertNotIn("removed", said)
        self.assertEqual(self.names(), ["here", "whole.csv.partial"])
        part = pathlib.Path(f"{self.out}.partial")
        rows = len(part.read_text().splitlines())
        # A life without a checkpoint of its own: what it adds is of no use, and goes.
        first = part.read_bytes()
        said = self.grown_and_interrupted("run", self.PLAN, "--output", self.out, "--resume", here)
        self.assertIn("interrupted, so the part after the checkpoint is removed", said)
        self.assertEqual((self.names(), part.read_bytes()), (["here", "whole.csv.partial"], first))
        self.assertGreaterEqual(len(first.splitlines()), rows)
        self.ok("run", self.PLAN, "--output", self.out, "--resume", here, "--limit", 5)
        added = self.out.read_bytes()[len(first):].split()
        self.assertEqual(added, [str(len(first.splitlines()) - 1 + i).encode() for i in range(5)])

    def grown_and_interrupted(self, *arguments):
        part = pathlib.Path(f"{self.out}.partial")
        before = part.stat().st_size
        running = subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True, preexec_fn=default_signals)
        self.addCleanup(running.kill)
        while part.stat().st_size == before:
            self.assertIsNone(running.poll())
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        return said

    def test_an_interrupted_stream_has_what_was_written(self):
        running = subprocess.Popen([PROGRAM, "run", self.PLAN, "--output", "csv", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = running.stdout.read(6)
        running.send_signal(signal.SIGINT)
        rest, said = running.communicate(timeout=60)
        self.assertEqual((running.returncode, said), (130, b""))
        self.assertTrue((first + rest).endswith(b"\n"))


class OneFileTwice(Whole):
    def setUp(self):
        super().setUp()
        self.bad = self.path("bad.jsonl")
        pathlib.Path(self.bad).write_text('{"a":1}\n{"a":\n{"a":3}\n')

    def test_bad_elements_are_not_kept_under_a_name_that_is_taken(self):
        os.symlink("q.csv", self.path("link.csv"))
        here = self.path("here")
        for kept, more in (("q.csv", []), ("q.csv.partial", []), (".q.csv.lock", []), ("./q.csv", []), ("link.csv", []),
                           ("here", ["--checkpoint", here]), ("here.partial", ["--checkpoint", here]),
                           ("q-00001-of-00003.csv", ["--shards", 3]), ("q-00002-of-00003.csv.partial", ["--shards", 3]),
                           ("q-00007.csv", ["--shard-size", "1MiB"]), ("bad.jsonl", [])):
            for policy in (["--on-error", "skip", "--quarantine", self.path(kept)], ["--on-error", f"quarantine({self.path(kept)})"]):
                with self.subTest(kept=kept, policy=policy):
                    before = self.names()
                    why = self.fails(2, "convert", self.bad, self.path("q.csv"), "--schema", "a: int64", *policy, *more)
                    self.assertIn(f"bad elements cannot be stored in {self.path(kept)}", why)
                    self.assertEqual(self.names(), before)
        plan = f'jsonl("{self.bad}", "a: int64", on_error=skip, quarantine="{self.path("q.csv")}")'
        self.assertIn("it is the output", self.fails(2, "run", plan, "--output", self.path("q.csv")))
        self.assertIn("the plan reads it", self.fails(2, "count", f'jsonl("{self.bad}", "a: int64")', "--on-error", f"quarantine:{self.bad}"))

    def test_bad_elements_and_good_ones_are_kept_apart(self):
        for kept in ("q.csv.bad.jsonl", "a.jsonl"):
            self.ok("convert", self.bad, self.path("q.csv"), "--schema", "a: int64", "--overwrite", "--on-error", f"quarantine:{self.path(kept)}")
            self.assertEqual(pathlib.Path(self.path("q.csv")).read_text(), "a\n1\n3\n")
            self.assertEqual(len(pathlib.Path(self.path(kept)).read_text().splitlines()), 1)

    def test_a_place_where_nothing_can_be_kept_is_told_before_anything_is_read(self):
        good = self.path("good.jsonl")
        pathlib.Path(good).write_text('{"a":1}\n')
        for kept, words in ((self.path("nothing/q.jsonl"), "does not exist"), ("/dev/full", "not a regular file"),
                            (self.folder.name, "Is a directory"), (f"{good}/q", "Not a directory"), (self.bad, "has other content"),
                            (self.path("n" * 300), "File name too long")):
            status = 2 if words in ("has other content", "not a regular file", "Is a directory", "File name too long") else 1   # of the arguments, or of the file system
            for verb in (["convert", good, self.out], ["count", good, "--read"], ["head", good], ["cat", good], ["select", "a", good]):
                with self.subTest(kept=kept, verb=verb[0]):
                    self.assertIn(words, self.fails(status, *verb, "--on-error", "skip", "--quarantine", kept))
            plan = f'jsonl("{good}", on_error=skip, quarantine="{kept}")'
            self.assertIn(words, self.fails(status, "run", plan, "--output", self.out))
        self.assertEqual(self.names(), ["bad.jsonl", "good.jsonl"])
        self.ok("convert", good, self.out, "--on-error", "skip", "--quarantine", self.path("q.jsonl"))
        self.assertEqual(self.names(), ["bad.jsonl", "good.jsonl", "whole.csv"])   # nothing was bad: no file

    def test_a_run_does_not_replace_what_it_reads(self):
        text = pathlib.Path(self.path("a.txt"))
        text.write_text("one\ntwo\n")
        os.symlink("a.txt", self.path("link.txt"))
        for plan in (f'lines("{text}")', f'lines("{self.path("./a.txt")}") | take(1)', f'list_files("{self.path("*.txt")}") | interleave(lines)',
                     f'lines("{self.path("link.txt")}")', f'concatenate(lines("{self.bad}"), lines("{text}"))'):
            with self.subTest(plan=plan):
                done = sluice("run", plan, "--output", text)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(f"{text} is the output and an input of the plan", done.stderr)
                self.assertEqual(text.read_text(), "one\ntwo\n")
        self.ok("run", f'list_files("{self.path("*.jsonl")}") | interleave(lines)', "--output", self.path("new.txt"))
        self.assertIn("which it would replace", self.fails(2, "convert", text, text, "--overwrite"))
        self.assertEqual(text.read_text(), "one\ntwo\n")


if __name__ == "__main__":
    main()
