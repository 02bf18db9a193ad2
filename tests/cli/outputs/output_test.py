# SPDX-License-Identifier: Apache-2.0
"""Outputs and checkpoints of `sluice run`: they change together, whatever kills the program and whoever else writes."""
import fcntl
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, PROGRAM, ProgramTest, lines_of, main, sluice

SHIM = str(pathlib.Path(PROGRAM).parent / "libfault_shim.so")  # the loader ignores a library that does not exist
if not os.path.exists(SHIM):
    raise SystemExit(f"{SHIM} is missing: ./dev build libfault_shim.so")


def wait_until_taken(process, sent):
    """Returns once the program has taken the signal, or has ended."""
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        if not int(re.search(r"ShdPnd:\s*(\w+)", status)[1], 16) >> (sent - 1) & 1:
            return
        os.sched_yield()
RECORDS = f'tfrecord("{GOLDEN}/small.tfrecord")'


class Outputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = pathlib.Path(self.path("out"))
        self.here = self.path("here")
        self.plan = f"{RECORDS} | repeat(40) | shuffle(50, seed=3)"

    def run_to(self, *arguments, output=None, plan=None, ok=True):
        done = sluice("run", plan or self.plan, "--output", output or f"tfrecord:{self.out}", *arguments)
        if ok:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, *arguments, status=1, **options):
        done = self.run_to("--resume", self.here, *arguments, ok=False, **options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr

    def names(self):
        return sorted(p.name for p in pathlib.Path(self.folder.name).iterdir())

    def whole(self, form="tfrecord", plan=None):
        path = self.path("whole")
        self.run_to(output=f"{form}:{path}", plan=plan)
        data = pathlib.Path(path).read_bytes()
        os.remove(path)
        return data


class Formats(Outputs):
    def test_jsonl_and_raw_go_to_files_as_they_go_to_standard_output(self):
        for form in ("jsonl", "raw"):
            said = subprocess.run([PROGRAM, "run", RECORDS, "--output", form], capture_output=True, timeout=60).stdout
            self.run_to(plan=RECORDS, output=f"{form}:{self.out}")
            self.assertEqual(self.out.read_bytes(), said)
            self.assertGreater(len(said), 20)
        lines = f'lines("{GOLDEN}/unix.txt")'
        self.run_to(plan=lines, output=f"raw:{self.out}")
        self.assertEqual(self.out.read_bytes(), (GOLDEN / "unix.txt").read_bytes().replace(b"\n", b""))

    def test_the_path_minus_is_standard_output_and_no_file(self):
        for form in ("jsonl", "raw", "tfrecord"):
            expected = self.whole(form, plan=RECORDS)
            done = subprocess.run([PROGRAM, "run", RECORDS, "--output", f"{form}:-"], capture_output=True, cwd=self.folder.name, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, expected))
            self.assertEqual(self.names(), [])
        # What a checkpoint knows is the same: the rest may go on under either spelling, and to no other file.
        for first, then in (("jsonl:-", "jsonl"), ("jsonl", "jsonl:-"), ("tfrecord:-", "tfrecord:-")):
            expected = self.whole(first.split(":")[0])
            self.out.unlink(missing_ok=True)
            for output, more in ((first, ["--limit", "20"]), (then, ["--resume", self.here])):
                with open(self.out, "ab") as to:
                    done = subprocess.run([PROGRAM, "run", self.plan, "--output", output, "--checkpoint", self.here, *more],
                                          stdout=to, stderr=subprocess.PIPE, text=True, cwd=self.folder.name, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.out.read_bytes(), expected)
            self.assertEqual(self.names(), ["here", "out"])
        said = sluice("run", self.plan, "--resume", self.here).stderr
        self.assertIn("continue with --output tfrecord:-,", said)
        done = subprocess.run([PROGRAM, "run", RECORDS, "--output", "raw:./-"], capture_output=True, cwd=self.folder.name, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertIn("-", self.names())

    def test_the_mode_of_an_output_is_kept(self):
        for mode in (0o600, 0o640, 0o755):
            self.out.touch()
            self.out.chmod(mode)
            self.run_to("--limit", 5, "--checkpoint", self.here)
            self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), mode)
            self.run_to("--resume", self.here)
            self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), mode)
        pathlib.Path(self.here).chmod(0o600)
        self.run_to("--checkpoint", self.here)
        self.assertEqual(stat.S_IMODE(os.stat(self.here).st_mode), 0o600)


class Resume(Outputs):
    def test_an_output_goes_on_where_its_checkpoint_was_taken_life_after_life(self):
        for form in ("tfrecord", "jsonl", "raw"):
            expected, resume = self.whole(form), []
            for _ in range(4):
                self.run_to("--limit", 37, "--checkpoint", self.here, *resume, output=f"{form}:{self.out}")
                self.assertTrue(expected.startswith(self.out.read_bytes()))
                resume = ["--resume", self.here]
            self.run_to(*resume, "--checkpoint", self.here, output=f"{form}:{self.out}")
            self.assertEqual(self.out.read_bytes(), expected)
            self.run_to(*resume, output=f"{form}:{self.out}")   # nothing is left to do
            self.assertEqual(self.out.read_bytes(), expected)
            self.assertEqual(self.names(), ["here", "out"])

    def test_what_was_written_after_the_checkpoint_is_cut_off_and_told(self):
        self.run_to("--limit", 20, "--checkpoint", self.here)
        with open(self.out, "ab") as out:
            out.write(b"x" * 1234)
        self.assertIn("out: 1,234 bytes after the checkpoint cut off", self.run_to("--resume", self.here).stderr)
        self.assertEqual(self.out.read_bytes(), self.whole())

    def test_an_output_that_is_shorter_or_altered_or_another_is_refused_and_not_touched(self):
        self.run_to("--limit", 20, "--checkpoint", self.here)
        first = self.out.read_bytes()

        def stays_refused(words, data):
            self.out.write_bytes(data)
            said = self.refused()
            self.assertIn(words, said)
            self.assertIn("--new-output", said)
            self.assertEqual(self.out.read_bytes(), data)
        stays_refused(f"had {len(first):,} bytes: it has {len(first) - 1:,} now", first[:-1])
        stays_refused("some of these were altered since", first[:7] + b"!" + first[8:])
        self.out.write_bytes(first)
        self.out.rename(self.path("kept"))
        self.assertIn("does not exist", self.refused())
        stays_refused("this is another file", b"y" * len(first))
        stays_refused("this is another file", first + b"more")   # an input, say, that begins alike
        self.assertIn(f"does not exist, and the checkpoint continues the output {self.out}", self.refused(output="tfrecord:" + self.path("other")))
        os.remove(self.out)
        self.run_to("--resume", self.here, output="tfrecord:" + self.path("kept"))   # renamed by hand: the same file
        self.assertEqual(pathlib.Path(self.path("kept")).read_bytes(), self.whole())

    def test_a_copy_of_an_output_is_as_good(self):
        self.run_to("--limit", 20, "--checkpoint", self.here)
        shutil.copy(self.out, self.path("copy"))
        os.remove(self.out)
        self.run_to("--resume", self.here, output="tfrecord:" + self.path("copy"))
        self.assertEqual(pathlib.Path(self.path("copy")).read_bytes(), self.whole())

    def test_a_damaged_file_of_a_data_folder_is_named_with_its_size(self):
        folder = self.path("rows")
        self.ok("run", "range(1000)", "--output", folder + "/")
        os.truncate(os.path.join(folder, "part.arrow"), 100)
        self.assertIn("part.arrow: the file has 100 bytes, and the folder's manifest states",
                      self.fails(1, "run", f'load("{folder}")'))

    def test_an_output_of_another_format_is_refused(self):
        self.run_to("--limit", 20, "--checkpoint", self.here)
        self.assertIn("the checkpoint's output is tfrecord, not jsonl", self.refused(output=f"jsonl:{self.out}"))

    def test_the_rest_can_go_elsewhere(self):
        expected = self.whole()
        self.run_to("--limit", 20, "--checkpoint", self.here)
        first = self.out.read_bytes()
        self.run_to("--resume", self.here, "--new-output", output="tfrecord:" + self.path("rest"))
        self.assertEqual(first + pathlib.Path(self.path("rest")).read_bytes(), expected)
        self.run_to("--resume", self.here, output="null")
        self.assertEqual(self.out.read_bytes(), first)
        # A checkpoint without an output file: a new one is begun, what is there is left alone.
        self.run_to("--limit", 20, "--checkpoint", self.here, output="null")
        self.assertIn("by a run without an output file", self.refused())
        self.assertEqual(self.out.read_bytes(), first)
        os.remove(self.out)
        self.run_to("--resume", self.here)
        self.assertEqual(first + self.out.read_bytes(), expected)

    def test_standard_output_that_is_a_file_is_cut_back_as_well(self):
        expected = self.whole("jsonl")

        def run(*arguments, how):
            with open(self.out, how) as out:
                return subprocess.run([PROGRAM, "run", self.plan, "--output", "jsonl", *map(str, arguments)], stdout=out,
                                      stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run("--limit", 20, "--checkpoint", self.here, how="w").returncode, 0)
        with open(self.out, "ab") as out:
            out.write(b"x" * 99)
        done = run("--resume", self.here, how="a")
        self.assertIn("standard output: 99 bytes after the checkpoint cut off", done.stderr)
        self.assertEqual(self.out.read_bytes(), expected)
        # The shell emptied it: what came before the checkpoint is lost, and that is told.
        done = run("--resume", self.here, how="w")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it has 0 now", done.stderr)
        self.out.rename(self.path("first"))
        self.assertEqual(run("--resume", self.here, how="w").returncode, 0)   # another file gets the rest
        self.assertTrue(expected.endswith(self.out.read_bytes()))


class Descriptors(Outputs):
    """/dev/stdout and its like: what is open is written to where it stands; opened by name it would begin anew."""

    def shell(self, commands, **options):
        return subprocess.run(["bash", "-c", commands.replace("SLUICE", PROGRAM)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              **options)

    def test_a_path_of_a_descriptor_is_the_descriptor(self):
        for path, number in (("/dev/stdout", 1), ("/dev/stderr", 2), ("/dev/fd/1", 1), ("/proc/self/fd/1", 1), ("/dev/fd/7", 7), ("/proc/self/fd/7", 7)):
            with self.subTest(path=path):
                done = self.shell(f"(echo before; SLUICE run 'range(3)' --quiet --output jsonl:{path} {number}>&9; echo after) 9> {self.out} >&9")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.out.read_text(), "before\n0\n1\n2\nafter\n")
                self.assertEqual(self.names(), ["out"])   # no lock, no .partial

    def test_other_formats_and_pipes_do_as_well(self):
        data = (GOLDEN / "raw.tfrecord").read_bytes()
        done = self.shell(f"SLUICE run 'tfrecord(\"{GOLDEN}/raw.tfrecord\")' --quiet --output tfrecord:/dev/stdout > {self.out}")
        self.assertEqual((done.returncode, self.out.read_bytes()), (0, data))
        done = self.shell("SLUICE run 'range(3)' --quiet --output jsonl:/dev/stdout | cat; SLUICE run 'range(3)' --quiet --output jsonl:>(cat)")
        self.assertEqual(sorted(done.stdout.split()), ["0", "0", "1", "1", "2", "2"])

    def test_a_descriptor_that_was_not_given_is_refused(self):
        for number in (3, 4, 5, 9, 99):   # some of these may be the program's own
            done = sluice("run", "range(3)", "--output", f"jsonl:/dev/fd/{number}")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"sluice was started without a descriptor {number}", done.stderr)

    def test_a_resume_cuts_back_what_the_descriptor_writes_to(self):
        command = f"SLUICE run 'range(9)' --quiet --output jsonl:/dev/stdout --checkpoint {self.here}"
        self.assertEqual(self.shell(f"{command} --limit 3 > {self.out}; echo junk >> {self.out}").returncode, 0)
        self.assertEqual(self.shell(f"{command} --resume {self.here} >> {self.out}").returncode, 0)
        self.assertEqual(self.out.read_text().split(), [str(i) for i in range(9)])


class Order(Outputs):
    def test_each_step_is_durable_before_the_next_speaks_of_it(self):
        """fsync of the output, of the checkpoint, rename of it, fsync of its folder; the output's rename and folder last."""
        log = self.path("log")
        (pathlib.Path(self.folder.name) / "a").mkdir()
        (pathlib.Path(self.folder.name) / "b").mkdir()
        out, here = self.path("a/out"), self.path("b/here")
        environment = dict(os.environ, LD_PRELOAD=SHIM, SLUICE_FAULT_UNDER=self.folder.name, SLUICE_FAULT_LOG=log)

        def steps(*arguments):
            done = sluice("run", self.plan, "--output", f"tfrecord:{out}", "--checkpoint", here, *arguments, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = pathlib.Path(log).read_text().replace(self.folder.name + "/", "").splitlines()
            os.remove(log)
            return [call for call in calls if call.split()[0] in ("fsync", "rename")]
        checkpoint = ["fsync b/here.partial", "rename b/here.partial", "fsync b"]
        first = ["fsync a/out.partial", "fsync a", *checkpoint]    # the new name is durable before a checkpoint needs it
        later = ["fsync a/out.partial", *checkpoint]
        self.assertEqual(steps("--limit", 40, "--every", 20), first + later + later + ["rename a/out.partial", "fsync a"])
        # The output is complete. What adds to it takes its name away first.
        self.assertEqual(steps("--resume", here), ["rename a/out", "fsync a", *later, "rename a/out.partial", "fsync a"])


    def test_half_an_element_on_a_full_disk_is_not_counted(self):
        for call in range(1, 4):   # blocks of at most 256 elements: as many writes
            plan = f"{self.plan} | repeat(3)"
            with open(self.out, "wb") as out:
                full = subprocess.run([PROGRAM, "run", "--no-optimize", plan, "--output", "jsonl", "--checkpoint", self.here], stdout=out, stderr=subprocess.PIPE,
                                      env=dict(os.environ, LD_PRELOAD=SHIM, SLUICE_FAULT_UNDER=str(self.out),
                                               SLUICE_FAULT=f"write:{call}:short,write:{call + 1}:ENOSPC"), text=True, timeout=60)
            self.assertEqual(full.returncode, 1)
            self.assertIn("cannot write to standard output: No space left on device", full.stderr)
            self.assertFalse(self.out.read_bytes().endswith(b"\n"), "the fault came at the end of an element")
            with open(self.out, "ab") as out:
                subprocess.run([PROGRAM, "run", plan, "--output", "jsonl", "--resume", self.here], stdout=out, check=True, timeout=60,
                               stderr=subprocess.DEVNULL)
            self.assertEqual(self.out.read_bytes(), subprocess.run([PROGRAM, "run", plan, "--output", "jsonl"], capture_output=True, timeout=60).stdout)
            os.remove(self.here)


class Every(Outputs):
    def test_a_checkpoint_is_written_while_the_run_goes_on(self):
        for every in ("100", "1ms", "1.5 ms", "0.00002m"):
            with self.subTest(every=every):
                running = subprocess.Popen([PROGRAM, "run", f"{RECORDS} | repeat(-1)", "--output", f"jsonl:{self.out}",
                                            "--checkpoint", self.here, "--every", every, "--quiet"])
                while not os.path.exists(self.here):
                    self.assertIsNone(running.poll())
                running.kill()
                running.wait(60)
                os.remove(self.here)

    def test_elements_come_between_two_checkpoints_as_asked(self):
        plan = f"{RECORDS} | repeat(-1)"
        for limit, every in ((1000, 100), (777, 100), (99, 100), (100, 1)):
            log = self.path("log")
            done = sluice("run", plan, "--output", "null", "--limit", limit, "--checkpoint", self.here, "--every", every,
                          env=dict(os.environ, LD_PRELOAD=SHIM,
                                   SLUICE_FAULT_UNDER=self.folder.name, SLUICE_FAULT_LOG=log))
            self.assertEqual(done.returncode, 0, done.stderr)
            renames = pathlib.Path(log).read_text().count("rename ")
            self.assertEqual(renames, limit // every + 1)   # and one at the end
            os.remove(log)

    def killed_and_resumed(self, form, to_stdout, kills, plan):
        """Lives that are killed at random moments, and one that is not; how many had something to go on with."""
        moments = random.Random(f"{form}{to_stdout}")
        output = form if to_stdout else f"{form}:{self.out}"
        longest, resumed = 0.4, 0
        for life in range(kills + 1):
            arguments = ["--output", output, "--checkpoint", self.here, "--every", "500", "--quiet"]
            if os.path.exists(self.here):
                arguments += ["--resume", self.here]
                resumed += 1
            with open(self.out if to_stdout else os.devnull, "a" if to_stdout and "--resume" in arguments else "w") as stdout:
                running = subprocess.Popen([PROGRAM, "run", plan, *arguments], stdout=stdout, stderr=subprocess.PIPE)
                try:
                    _, said = running.communicate(timeout=moments.uniform(0, longest) if life < kills else 120)
                    self.assertEqual(running.returncode, 0, said)
                except subprocess.TimeoutExpired:
                    running.kill()
                    running.communicate()
        return resumed

    def test_sixty_kills_leave_the_output_whole_and_once(self):
        plan = f"{RECORDS} | repeat(20000) | shuffle(500, seed=3) | prefetch(2)"
        resumed = 0
        for form, to_stdout in (("jsonl", True), ("jsonl", False), ("tfrecord", False), ("raw", False)):
            expected = self.whole(form, plan)
            resumed += self.killed_and_resumed(form, to_stdout, 15, plan)
            self.assertEqual(self.out.read_bytes(), expected, form)
            self.assertEqual(self.names(), ["here", "out"])
            os.remove(self.here)
            os.remove(self.out)
        self.assertGreater(resumed, 20)   # else they died too early to show anything


class TwoWriters(Outputs):
    def start(self, *arguments):
        running = subprocess.Popen([PROGRAM, "run", f"{RECORDS} | repeat(-1)", *map(str, arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def test_the_second_writer_of_an_output_or_checkpoint_is_refused(self):
        self.run_to("--limit", 20, "--checkpoint", self.here)
        first = self.out.read_bytes()
        for arguments in (["--output", f"tfrecord:{self.out}"], ["--output", f"tfrecord:{self.out}", "--resume", self.here]):
            with self.subTest(arguments=arguments):
                plan = self.plan + " | repeat(-1)" if "--resume" not in arguments else self.plan
                running = self.start(*arguments) if "--resume" not in arguments else None
                if running:
                    while not os.path.exists(self.path("out.partial")):
                        self.assertIsNone(running.poll())
                    words = f"unavailable: {self.out}: is being written by process {running.pid}: wait until it has ended"
                    self.assertIn(words, self.run_to(ok=False).stderr)
                    self.assertIn(words, self.refused(status=75))
                    self.assertIn(words, self.run_to(output=f"jsonl:{self.out}", plan=plan, ok=False).stderr)
                    running.send_signal(signal.SIGKILL)
                    running.wait(60)
                    self.assertEqual(self.out.read_bytes(), first)
                else:
                    self.run_to("--resume", self.here)   # a dead writer keeps nobody out
                    self.assertEqual(self.out.read_bytes(), self.whole())
                    self.assertEqual(self.names(), ["here", "out"])
        running = self.start("--checkpoint", self.here)
        while not os.path.exists(self.path(".here.lock")):
            self.assertIsNone(running.poll())
        while not pathlib.Path(self.path(".here.lock")).read_text():   # the lock is there before its holder's name
            self.assertIsNone(running.poll())
        done = self.run_to("--checkpoint", self.here, ok=False)
        self.assertIn(f"{self.here}: is being written by process {running.pid}", done.stderr)

    def test_planted_links_are_not_followed(self):
        victim = pathlib.Path(self.path("victim"))
        victim.write_text("mine")
        os.symlink(victim, self.path("out.partial"))
        self.run_to("--limit", 3)
        self.assertFalse(self.out.is_symlink())
        os.symlink(victim, self.path(".other.lock"))
        self.assertEqual(self.run_to(output="tfrecord:" + self.path("other"), ok=False).returncode, 1)
        self.assertEqual(victim.read_text(), "mine")


class Streams(Outputs):
    NUMBERS = "range(1000000000)"

    def test_a_checkpoint_stands_at_what_a_reader_was_given(self):
        for reader in ("head -n 5", "head -c 3", "head -n 100000", "true"):
            with self.subTest(reader=reader):
                # The pipe is small, so that hardly more is written than is read.
                first = subprocess.run(["bash", "-c", f"{PROGRAM} run '{self.NUMBERS}' --output jsonl --checkpoint {self.here} "
                                        f"| tee {self.path('seen')} | {reader} > /dev/null; exit ${{PIPESTATUS[0]}}"],
                                       capture_output=True, text=True, timeout=60)
                self.assertEqual((first.returncode, first.stderr), (0, ""))
                seen = pathlib.Path(self.path("seen")).read_bytes()
                rest = lines_of(self.run_to("--resume", self.here, "--limit", 1, plan=self.NUMBERS, output="jsonl"))
                # tee took whole lines from write(), and may have left some in the pipe.
                self.assertGreaterEqual(rest[0], seen.count(b"\n"))
                self.assertLessEqual(rest[0], seen.count(b"\n") + 65536 // 2)
                os.remove(self.here)

    def test_what_a_pipe_accepted_and_the_rest_are_the_whole(self):
        """The reader takes all that write() accepted, and leaves in the middle of a block."""
        for text in ("range(1000000)", f"{RECORDS} | repeat(5000)", "range(200000) | shuffle(50, seed=3) | prefetch(4)",
                     "range(90000) | shuffle(10, seed=1) | batch(7) | prefetch(2)"):
            whole = subprocess.run([PROGRAM, "run", text, "--output", "jsonl"], capture_output=True, timeout=60).stdout
            ours, theirs = os.pipe()
            fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
            running = subprocess.Popen([PROGRAM, "run", text, "--output", "jsonl", "--checkpoint", self.here], stdout=theirs,
                                       stderr=subprocess.PIPE)
            os.close(theirs)
            first = os.read(ours, 1)
            running.send_signal(signal.SIGINT)
            wait_until_taken(running, signal.SIGINT)
            while chunk := os.read(ours, 65536):
                first += chunk
            os.close(ours)
            _, said = running.communicate(timeout=60)
            self.assertEqual(running.returncode, 130, said)
            rest = subprocess.run([PROGRAM, "run", text, "--output", "jsonl", "--resume", self.here], capture_output=True, timeout=60)
            self.assertTrue(first + rest.stdout == whole, f"{len(first)} and {len(rest.stdout)} of {len(whole)}")
            self.assertNotEqual(rest.stdout, b"")

    def test_one_interrupt_ends_a_run_that_nobody_reads(self):
        ours, theirs = os.pipe()
        running = subprocess.Popen([PROGRAM, "run", self.NUMBERS, "--output", "jsonl", "--checkpoint", self.here], stdout=theirs,
                                   stderr=subprocess.PIPE)
        os.close(theirs)
        os.read(ours, 1)   # it writes, and soon the pipe is full
        state = lambda: pathlib.Path(f"/proc/{running.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        deadline = time.monotonic() + 60
        full = fcntl.fcntl(ours, fcntl.F_GETPIPE_SZ) - 4096
        while self.unread(ours) < full and time.monotonic() < deadline:
            pass
        self.assertEqual(state(), "S")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        first = b""
        while chunk := os.read(ours, 65536):
            first += chunk
        os.close(ours)
        self.assertTrue(first.endswith(b"\n"))   # not half an element
        rest = lines_of(self.run_to("--resume", self.here, "--limit", 1, plan=self.NUMBERS, output="jsonl"))
        self.assertEqual(rest, [first.count(b"\n")])

    @staticmethod
    def unread(fd):
        import array
        import termios
        count = array.array("i", [0])
        fcntl.ioctl(fd, termios.FIONREAD, count)
        return count[0]

    def test_a_standard_output_that_is_closed_is_an_error(self):
        for arguments in (["run", "range(3)", "--output", "jsonl"], ["head", "range(3)"], ["cat", f"{GOLDEN}/examples.tfrecord"],
                          ["verify", f"{GOLDEN}/raw.tfrecord"], ["explain", "range(3)"], ["ops"], ["--help"], ["--version"]):
            with self.subTest(arguments=arguments):
                done = subprocess.run(["bash", "-c", '"$0" "$@" >&-', PROGRAM, *arguments], stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("cannot write to standard output: Bad file descriptor", done.stderr)
        # Who writes nothing there does not need it.
        done = subprocess.run(["bash", "-c", '"$0" "$@" >&-', PROGRAM, "run", "range(3)"], stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_standard_output_that_does_not_block_is_waited_for(self):
        many = [f"{GOLDEN}/raw.tfrecord"] * 200
        for arguments in (["run", "range(100000)", "--output", "jsonl", "--quiet"], ["verify", *many], ["ops"],
                          ["cat", *[f"{GOLDEN}/examples.tfrecord"] * 20]):
            with self.subTest(arguments=arguments[:3]):
                expected = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=60).stdout
                ours, theirs = os.pipe()
                fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
                os.set_blocking(theirs, False)
                running = subprocess.Popen([PROGRAM, *arguments], stdout=theirs, stderr=subprocess.PIPE)
                os.close(theirs)
                said = b""
                while chunk := os.read(ours, 1000):
                    said += chunk
                os.close(ours)
                _, errors = running.communicate(timeout=60)
                self.assertEqual((running.returncode, errors), (0, b""))
                self.assertTrue(said == expected)


if __name__ == "__main__":
    main()
