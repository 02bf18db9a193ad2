# SPDX-License-Identifier: Apache-2.0
"""Jobs that are stopped and started again: one command line for each life, signals, and outputs that are not forgotten."""
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM, ProgramTest, lines_of, main, sluice


def default_signals():
    """Under nohup, or in the background of a shell, they are ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Job(ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = pathlib.Path(self.path("out"))
        self.here = self.path("here")

    def names(self):
        return sorted(p.name for p in pathlib.Path(self.folder.name).iterdir())

    def start(self, *arguments, preexec_fn=default_signals, **options):
        running = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   preexec_fn=preexec_fn, **options)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running


class Resume(Job):
    def test_a_resume_that_forgets_the_output_is_refused_and_loses_nothing(self):
        plan = "range(1000)"
        self.ok("run", plan, "--limit", 10, "--output", f"jsonl:{self.out}", "--checkpoint", self.here)
        before = pathlib.Path(self.here).read_bytes()
        for options in ([], ["--new-output"]):
            why = self.fails(1, "run", plan, "--resume", self.here, "--checkpoint", self.here, "--limit", 10, *options)
            self.assertIn(f"continue with --output jsonl:{self.out}, or drop the rest with --output null", why)
            self.assertEqual(pathlib.Path(self.here).read_bytes(), before)
        self.ok("run", plan, "--resume", self.here, "--output", f"jsonl:{self.out}")
        self.assertEqual(self.out.read_text(), "".join(f"{i}\n" for i in range(1000)))
        self.ok("run", plan, "--resume", self.here, "--output", "null")   # who says so means it
        # A run that wrote nothing may be gone on with as it was begun.
        self.ok("run", plan, "--limit", 10, "--checkpoint", self.here)
        self.ok("run", plan, "--resume", self.here)

    def test_what_is_no_checkpoint_or_damaged_is_told_with_its_file(self):
        self.ok("run", "range(9)", "--limit", 3, "--output", "null", "--checkpoint", self.here)
        good = pathlib.Path(self.here).read_bytes()
        for wrong in (b"xx", good[:-1], good[:-1] + bytes([good[-1] ^ 1])):
            pathlib.Path(self.here).write_bytes(wrong)
            self.assertIn(self.here, self.fails(1, "run", "range(9)", "--resume", self.here, "--output", "null"))

    def test_a_checkpoint_that_was_cut_says_so_with_its_size(self):
        for output in ("null", f"jsonl:{self.out}"):
            self.ok("run", "range(99)", "--limit", 3, "--output", output, "--checkpoint", self.here)
            good = pathlib.Path(self.here).read_bytes()
            for size in (9, 30, len(good) - 1):
                pathlib.Path(self.here).write_bytes(good[:size])
                why = self.fails(1, "run", "range(99)", "--resume", self.here, "--output", output)
                if size == 9 and good.startswith(b"sluice\x05"):   # shorter than the beginning of every checkpoint
                    self.assertIn("was cut short: its 9 bytes", why)
                else:
                    self.assertRegex(why, rf"^data_loss: {re.escape(self.here)}: the checkpoint is damaged.* cut short.* {size} bytes")
                self.assertNotIn("in no format", why)
                if size >= 30:
                    self.assertIn(f"is a checkpoint of sluice: the plan of its run continues from it, by sluice run 'PLAN' --resume {self.here}",
                                  self.fails(2, "head", self.here))
            os.remove(self.here)

    def test_a_resume_that_forgets_standard_output_in_a_file_is_refused(self):
        with open(self.out, "w") as out:
            subprocess.run([PROGRAM, "run", "range(9)", "--limit", "3", "--output", "jsonl", "--checkpoint", self.here, "--quiet"], stdout=out,
                           check=True, timeout=60)
        self.assertIn("continue with --output jsonl:-, or drop", self.fails(1, "run", "range(9)", "--resume", self.here))

    def test_the_seed_of_the_checkpoint_may_be_said_again_and_no_other(self):
        plan = "range(50) | shuffle(50)"
        whole = lines_of(self.ok("run", plan, "--seed", 5, "--output", "jsonl"))
        first = lines_of(self.ok("run", plan, "--seed", 5, "--output", "jsonl", "--limit", 20, "--checkpoint", self.here))
        again = ["run", plan, "--output", "jsonl", "--resume", self.here]
        for seed in ([], ["--seed", 5]):
            self.assertEqual(first + lines_of(self.ok(*again, *seed)), whole)
        self.assertIn(f"--seed 6 is not the seed of the checkpoint {self.here}, 5: leave out --seed", self.fails(2, *again, "--seed", 6))

    def test_one_command_line_serves_every_life(self):
        job = ["run", "range(100) | shuffle(50)", "--seed", 5, "--output", f"jsonl:{self.out}", "--limit", 30, "--checkpoint", self.here,
               "--resume-or-start", self.here]
        self.assertIn(f"{self.here} does not exist: starting at the beginning", self.ok(*job).stderr)
        for _ in range(4):
            self.assertNotIn("starting", self.ok(*job).stderr)
        self.assertEqual(self.out.read_text(), sluice("run", "range(100) | shuffle(50)", "--seed", 5, "--output", "jsonl").stdout)
        self.assertEqual(self.names(), ["here", "out"])
        # What is there and no checkpoint is not passed over.
        pathlib.Path(self.here).write_text("")
        self.assertIn("data_loss", self.fails(1, *job))
        self.assertIn("Is a directory", self.fails(2, "run", "range(3)", "--resume-or-start", self.folder.name))


class Names(Job):
    """Nothing that is not complete has the final name."""
    PLAN = "range(1000) | map(if(it < 500, it, 1000 / (it - it)))"   # fails at element 500
    PART = "".join(f"{i}\n" for i in range(500))

    def part(self):
        return pathlib.Path(f"{self.out}.partial")

    def test_an_error_leaves_the_part_with_a_checkpoint_and_nothing_without(self):
        for every in ([], ["--every", 100]):
            done = sluice("run", self.PLAN, "--output", f"jsonl:{self.out}", "--checkpoint", self.here, *every)
            self.assertEqual(done.returncode, 1)
            self.assertIn("ended by an error after 500 elements", done.stderr)
            self.assertIn(f"--resume {self.here} resumes it", done.stderr)
            self.assertRegex(done.stderr.splitlines()[0], "^sluice: .*at element 500")
            self.assertEqual((self.names(), self.part().read_text()), (["here", "out.partial"], self.PART))
            again = sluice("run", self.PLAN, "--output", f"jsonl:{self.out}", "--checkpoint", self.here, "--resume", self.here)
            self.assertEqual((again.returncode, self.names(), self.part().read_text()), (1, ["here", "out.partial"], self.PART))
            for name in (self.here, self.part()):
                os.unlink(name)
        self.assertEqual(sluice("run", self.PLAN, "--output", f"jsonl:{self.out}").returncode, 1)
        self.assertEqual(self.names(), [])
        self.out.write_text("kept")
        self.assertEqual(sluice("run", self.PLAN, "--output", f"jsonl:{self.out}", "--checkpoint", self.here).returncode, 1)
        self.assertEqual((self.out.read_text(), self.part().read_text()), ("kept", self.PART))

    def test_shards_that_take_turns_are_parts_too(self):
        job = ["run", self.PLAN, "--output", f"jsonl:{self.out}", "--shards", 2, "--checkpoint", self.here]
        self.assertEqual(sluice(*job).returncode, 1)
        self.assertEqual(self.names(), ["here", "out-00000-of-00002.partial", "out-00001-of-00002.partial"])

    def test_a_limit_ends_a_run_that_is_complete(self):
        for output, end in (("csv", ".csv"), ("jsonl", ".jsonl.gz"), ("arrow", ".arrow"), ("npy", ".npy")):
            out = self.path("limited" + end)
            plan, job = "range(100)", ["--output", f"{output}:{out}", "--checkpoint", self.here]
            self.ok("run", plan, *job, "--limit", 10)
            self.assertEqual(self.ok("count", "--read", out).stdout, "10\n")
            # The next life adds to it. While it does, and if it does not end, the file is a part.
            stopped = self.path("stopped")
            bad = "range(100) | map(if(it < 20, it, 100 / (it - it)))"
            self.ok("run", bad, "--output", f"{output}:{stopped}", "--checkpoint", stopped + ".ckpt", "--limit", 10)
            failed = sluice("run", bad, "--output", f"{output}:{stopped}", "--checkpoint", stopped + ".ckpt", "--resume", stopped + ".ckpt")
            self.assertEqual(failed.returncode, 1, failed.stderr)
            self.assertEqual((os.path.exists(stopped), os.path.exists(stopped + ".partial")), (False, True), output)
            self.ok("run", plan, *job, "--resume", self.here)
            self.assertEqual(self.ok("count", "--read", out).stdout, "100\n")
            for name in self.names():
                os.unlink(self.path(name))

    def test_a_life_without_a_checkpoint_that_fails_leaves_a_complete_output_as_it_was(self):
        bad = "range(100) | map(if(it < 20, it, 100 / (it - it)))"
        self.ok("run", bad, "--output", f"jsonl:{self.out}", "--checkpoint", self.here, "--limit", 10)
        before = self.out.read_text()
        self.assertEqual(sluice("run", bad, "--output", f"jsonl:{self.out}", "--resume", self.here).returncode, 1)
        self.assertEqual((self.names(), self.out.read_text()), (["here", "out"], before))

    def test_a_finished_job_run_again_says_that_it_is_complete(self):
        job = ["run", "range(100)", "--output", f"jsonl:{self.out}", "--checkpoint", self.here, "--resume-or-start", self.here]
        self.assertNotIn("complete", self.ok(*job).stderr)
        whole = self.out.read_text()
        for _ in range(2):
            done = self.ok(*job)
            self.assertEqual(done.stderr, f"complete: the checkpoint {self.here} is at the end of the plan, and nothing was left to do\n")
            self.assertEqual((self.names(), self.out.read_text()), (["here", "out"], whole))
        self.assertEqual(self.ok(*job, "--quiet").stderr, "")
        rows, table = self.path("rows.jsonl"), self.path("rows.csv")
        self.ok("run", "range(9) | map({a: it})", "--quiet", "--output", f"jsonl:{rows}")
        for said in (False, True):
            self.assertEqual("nothing was left to do" in self.ok("convert", rows, table, "--checkpoint", self.path("c")).stderr, said)


class Signals(Job):
    ENDLESS = "range(3) | repeat(-1)"

    def begun(self, *arguments, **options):
        running = self.start("run", self.ENDLESS, "--output", f"jsonl:{self.out}", "--checkpoint", self.here, *arguments, **options)
        while not os.path.exists(f"{self.out}.partial"):
            self.assertIsNone(running.poll())
        return running

    def test_a_terminal_that_is_closed_ends_a_run_as_a_request_to_terminate_does(self):
        running = self.begun()
        for _ in range(3):   # the kernel sends it, and so does the shell
            running.send_signal(signal.SIGHUP)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 129, said)
        self.assertEqual(self.names(), ["here", "out.partial"])
        self.assertIn(f"interrupted after ", said.decode())
        self.assertIn(f"{self.out}.partial and the checkpoint {self.here} contain the finished part: the same command with --resume {self.here} resumes it",
                      said.decode())
        written = pathlib.Path(f"{self.out}.partial").read_text().split()
        again = lines_of(self.ok("run", self.ENDLESS, "--output", "jsonl", "--resume", self.here, "--new-output", "--limit", 1))
        self.assertEqual(again, [len(written) % 3])

    def test_a_request_to_terminate_that_comes_with_a_hangup_leaves_a_checkpoint(self):
        running = self.begun()
        running.send_signal(signal.SIGHUP)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        self.assertIn(running.returncode, (129, 143))
        self.assertEqual(self.names(), ["here", "out.partial"])

    def test_under_nohup_a_closed_terminal_ends_nothing(self):
        def ignoring_hangups():
            default_signals()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        running = self.begun(preexec_fn=ignoring_hangups)
        running.send_signal(signal.SIGHUP)
        length = lambda: os.stat(f"{self.out}.partial").st_size
        before = length()
        while length() == before:   # it writes on
            self.assertIsNone(running.poll())
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 143)

    def test_a_run_that_waits_for_a_silent_pipe_leaves_at_once(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for io in ("uring", "threads"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(io=io, number=number):
                    fastest = 9.0
                    for _ in range(50):   # the machine may be busy: one answer that did not wait for a tick is enough
                        if fastest < 0.1:
                            break
                        running = self.start("run", f'lines("{fifo}")', "--io", io, "--quiet")
                        with open(fifo, "wb", buffering=0) as writer:   # returns once the reader has opened it
                            writer.write(b"a line\nhalf a")
                            self.wait_until_taken(writer)
                            asked = time.monotonic()
                            running.send_signal(number)
                            running.communicate(timeout=60)
                            fastest = min(fastest, time.monotonic() - asked)
                        self.assertEqual(running.returncode, 128 + number)
                    self.assertLess(fastest, 0.1)   # a tick of the progress line is 0.2 s

    def test_a_signal_while_the_columns_of_a_query_are_inferred_ends_the_program_with_its_status(self):
        """The query never returns a row, so the run stays in the inference."""
        database = self.path("t.db")
        sqlite3.connect(database).close()
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x % 7 + 1 FROM c) SELECT x FROM c WHERE x < 0"
        plan = f'sql("{database}", "{endless}")'
        before = self.names()
        runs = {"run": ("run", plan, "--output", f"jsonl:{self.out}"),
                "run with a checkpoint": ("run", plan, "--output", f"jsonl:{self.out}", "--checkpoint", self.here),
                "resumed or started": ("run", plan, "--output", f"jsonl:{self.out}", "--checkpoint", self.here, "--resume-or-start", self.here),
                "shards and a quarantine": ("run", plan, "--output", f"jsonl:{self.out}", "--shards", 3, "--on-error", "skip", "--quarantine",
                                            self.path("bad.jsonl")),
                "convert": ("convert", plan, f"{self.out}.jsonl")}
        for name, words in runs.items():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(name=name, number=number):
                    running = self.start(*words)
                    self.wait_until_handled(running, number)
                    running.send_signal(number)
                    _, said = running.communicate(timeout=60)
                    self.assertEqual((running.returncode, said), (128 + number, b""))
                    self.assertEqual(self.names(), before)

    def test_under_nohup_a_closed_terminal_does_not_end_an_inference(self):
        database = self.path("t.db")
        sqlite3.connect(database).close()
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x % 7 + 1 FROM c) SELECT x FROM c WHERE x < 0"

        def ignoring_hangups():
            default_signals()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        running = self.start("run", f'sql("{database}", "{endless}")', preexec_fn=ignoring_hangups)
        self.wait_until_handled(running, signal.SIGTERM)
        running.send_signal(signal.SIGHUP)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 143)

    def wait_until_handled(self, running, number):
        """Until the program has blocked the signal, it has its default effect. A thread that starts blocks all for a moment."""
        blocked, until = 0, time.monotonic() + 60
        while not blocked >> (number - 1) & 1 or blocked >> (signal.SIGUSR1 - 1) & 1:
            self.assertIsNone(running.poll())
            self.assertLess(time.monotonic(), until, "the signal keeps its default effect")
            for line in pathlib.Path(f"/proc/{running.pid}/status").read_text().splitlines():
                if line.startswith("SigBlk:"):
                    blocked = int(line.split()[1], 16)

    def wait_until_taken(self, writer):
        import array
        import fcntl
        import termios
        unread = array.array("i", [1])
        while unread[0]:
            fcntl.ioctl(writer, termios.FIONREAD, unread)


if __name__ == "__main__":
    main()
