# SPDX-License-Identifier: Apache-2.0
"""Drives the program as a user does: what it prints where, and how it exits."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM") or str(pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "sluice")
GOLDEN = ROOT / "tests/golden"


def sluice(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, **options)


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ok(self, *arguments):
        done = sluice(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fails(self, status, *arguments):
        """Its first line on standard error, of which there is one unless a plan is shown."""
        done = sluice(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("sluice: "), done.stderr)
        return done.stderr.splitlines()[0].removeprefix("sluice: ")

    def damaged_file(self):
        """The records of small golden files, one bit of data flipped in the second record."""
        whole = bytearray((GOLDEN / "examples.tfrecord").read_bytes())
        first = 16 + struct.unpack("<Q", whole[:8])[0]
        whole[first + 12] ^= 1
        pathlib.Path(self.path("damaged.tfrecord")).write_bytes(whole)
        return self.path("damaged.tfrecord"), first


class Run(ProgramTest):
    def test_jsonl_is_one_element_a_line_and_nothing_else(self):
        done = self.ok("run", "range(7) | batch(3)", "--output", "jsonl")
        self.assertEqual(done.stdout, "[0,1,2]\n[3,4,5]\n[6]\n")
        self.assertIn("3 elements (7 records) in ", done.stderr)

    def test_the_report_is_the_only_thing_said_into_a_pipe(self):
        done = self.ok("run", "range(1000)", "--seed", 5)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("\r", done.stderr)
        self.assertRegex(done.stderr, r"1,000 elements in .*\npeak memory .* of .*, seed 5\n$")
        self.assertEqual(self.ok("run", "range(9)", "--quiet").stderr, "")

    def test_a_limit_ends_a_plan_without_end(self):
        self.assertEqual(lines_of(self.ok("run", "range(3) | repeat(-1)", "--limit", 7, "--output", "jsonl")), [0, 1, 2, 0, 1, 2, 0])

    def test_a_seed_decides_the_order(self):
        a, b, c = (lines_of(self.ok("run", "range(50) | shuffle(50)", "--seed", s, "--output", "jsonl")) for s in (1, 1, 2))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        self.assertEqual(sorted(c), list(range(50)))

    def test_tfrecord_output_reads_back(self):
        golden = f'tfrecord("{GOLDEN}/raw.tfrecord")'
        self.ok("run", golden, "--output", "tfrecord:" + self.path("copy.tfrecord"))
        self.assertEqual(pathlib.Path(self.path("copy.tfrecord")).read_bytes(), (GOLDEN / "raw.tfrecord").read_bytes())

    def test_tfrecord_output_may_replace_its_own_input(self):
        both = pathlib.Path(self.path("both.tfrecord"))
        both.write_bytes((GOLDEN / "raw.tfrecord").read_bytes())
        self.ok("run", f'tfrecord("{both}", read_bytes=4096) | repeat(2)', "--output", f"tfrecord:{both}")
        self.assertEqual(both.read_bytes(), (GOLDEN / "raw.tfrecord").read_bytes() * 2)
        self.assertEqual([p.name for p in both.parent.iterdir()], ["both.tfrecord"])

    def test_tfrecord_output_of_a_failed_run_is_not_there(self):
        damaged = pathlib.Path(self.path("damaged.tfrecord"))
        damaged.write_bytes((GOLDEN / "raw.tfrecord").read_bytes()[:-1])
        done = sluice("run", f'tfrecord("{damaged}")', "--output", "tfrecord:" + self.path("copy.tfrecord"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual([p.name for p in damaged.parent.iterdir()], ["damaged.tfrecord"])

    def test_tfrecord_output_to_a_full_device_is_an_error(self):
        done = sluice("run", f'tfrecord("{GOLDEN}/raw.tfrecord")', "--output", "tfrecord:/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full", done.stderr)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())

    def test_budget_workers_and_io_are_taken(self):
        done = self.ok("run", "range(10)", "--memory-budget", "64MiB", "--workers", 1, "--io", "threads")
        self.assertIn("of 64.0 MiB, 1 worker, threads", done.stderr)

    def test_a_checkpoint_goes_on_where_it_was_taken(self):
        plan, here = "range(100) | shuffle(20, seed=3)", self.path("here")
        whole = lines_of(self.ok("run", plan, "--output", "jsonl"))
        first = lines_of(self.ok("run", plan, "--output", "jsonl", "--limit", 33, "--checkpoint", here))
        rest = lines_of(self.ok("run", plan, "--output", "jsonl", "--resume", here))
        self.assertEqual(first + rest, whole)
        self.assertIn("failed_precondition", self.fails(1, "run", "range(100) | shuffle(21, seed=3)", "--resume", here))
        self.assertIn("cannot read the checkpoint", self.fails(1, "run", plan, "--resume", self.path("none")))

    def test_bad_elements_stop_the_run_or_are_passed_over(self):
        file, offset = self.damaged_file()
        plan = f'tfrecord("{file}")'
        stopped = sluice("run", plan)
        self.assertEqual(stopped.returncode, 1)
        self.assertRegex(stopped.stderr.splitlines()[-1], f"^sluice: data_loss: .*damaged.tfrecord at byte {offset}, record 1: ")
        skipped = self.ok("run", plan, "--on-error", "skip")
        self.assertIn("1 error passed over:\n  data_loss: ", skipped.stderr)

    def test_an_interrupt_stops_cleanly_and_the_rest_can_be_had(self):
        here = self.path("here")
        running = subprocess.Popen([PROGRAM, "run", "range(3) | repeat(-1)", "--output", "jsonl", "--checkpoint", here],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        taken = running.stdout.read(6)   # it runs
        running.send_signal(signal.SIGINT)
        rest, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        self.assertIn(b" elements in ", said)
        elements = (taken + rest).split()
        again = lines_of(self.ok("run", "range(3) | repeat(-1)", "--output", "jsonl", "--resume", here, "--limit", 3))
        self.assertEqual(again[0], len(elements) % 3)

    def test_a_reader_that_leaves_ends_the_run_quietly(self):
        done = subprocess.run(f"{PROGRAM} run 'range(3) | repeat(-1)' --output jsonl | head -n 2", shell=True, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("0\n1\n", ""))


class Misuse(ProgramTest):
    def test_an_error_in_a_plan_points_at_its_column(self):
        done = sluice("run", 'range(5) | shufle(10)')
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "sluice: column 12: shufle: no such stage; did you mean shuffle?\n"
                                      "  range(5) | shufle(10)\n"
                                      "             ^\n")

    def test_the_caret_counts_characters_and_shows_the_line_at_fault(self):
        done = sluice("run", 'lines("größe")\n  | takes(3)')
        self.assertEqual(done.stderr.splitlines()[1:], ["    | takes(3)", "      ^"])

    def test_each_kind_of_bad_plan_is_told(self):
        for plan, words in {
            "": "column 1",
            "range(5) |": "column 11",
            "range(5) | take(": "column 17",
            "range(5) | take": "take: needs ",
            "range(5) | take(x)": "expects a whole number, and is x",
            "range(5) | shuffle(0)": "must be at least 1, and is 0",
            "range(5) | shuffle(3, sed=1)": "shuffle: has no sed (it has buffer_size, seed",
            "range(5) | shuffle(3, seed=1, seed=2)": "given twice",
            "range(5) | map(nothing)": "no function is registered as nothing",
            "range(5) | interleave(tfrecord)": "paths (strings), and gets int64",
            "range(5) | unbatch": "expects batches, and gets int64",
            'range(5) | parse_example("a: int64")': "expects records that hold tf.Examples, and gets int64",
            'tfrecord("x") | parse_example("a: int")': '"int" is none of these',
            "shuffle(3)": "a plan starts with a source",
            "range(5) | range(3)": "takes no input",
            "tfrecord": "needs a path",
            'tfrecord("x': "column 10",
            "range(5) ; take(1)": "column 10",
        }.items():
            with self.subTest(plan=plan):
                for verb in ("run", "explain", "head"):
                    self.assertIn(words, self.fails(2, verb, plan))

    def test_bad_arguments_are_told(self):
        for arguments, words in [
            ([], "a verb is needed"),
            (["walk"], ""),
            (["run"], "PLAN is required"),
            (["verify"], "FILES is required"),
            (["run", "range(3)", "--output", "xml"], "--output is null, jsonl or tfrecord:PATH, not xml"),
            (["run", "range(3)", "--output", "tfrecord:x"], "takes records, lines or strings, and the plan gives int64"),
            (["run", "range(3)", "--memory-budget", "much"], "--memory-budget is a size such as 64MiB, not much"),
            (["run", "range(3)", "--workers", "0"], "--workers"),
            (["run", "range(3)", "--io", "magic"], "--io"),
            (["run", "range(3)", "--on-error", "cry"], "--on-error"),
            (["run", "range(3)", "--limit", "few"], "--limit"),
        ]:
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.fails(2, *arguments))

    def test_a_file_instead_of_a_plan_is_told_its_plan(self):
        file = GOLDEN / "small.tfrecord"
        self.assertIn(f"""'tfrecord("{file}")'""", self.fails(2, "run", file))
        self.assertIn(f"""'lines("{GOLDEN}/unix.txt")'""", self.fails(2, "explain", GOLDEN / "unix.txt"))


class Data(ProgramTest):
    def test_files_that_cannot_be_read_are_named(self):
        os.mkfifo(self.path("fifo"))
        for path, words in [(self.path("none"), "not_found"), (self.path("."), "directory"), (self.path("fifo"), "FIFO")]:
            done = sluice("run", f'tfrecord("{path}")')
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr.splitlines()[-1])
            self.assertIn(path, done.stderr.splitlines()[-1])

    def test_head_gives_the_first_elements_of_a_plan_or_a_file(self):
        self.assertEqual(lines_of(self.ok("head", "range(100)", "-n", 3)), [0, 1, 2])
        self.assertEqual(len(lines_of(self.ok("head", "range(100)"))), 10)
        first = (GOLDEN / "unix.txt").read_text().splitlines()[:2]
        self.assertEqual(lines_of(self.ok("head", GOLDEN / "unix.txt", "-n", 2)), first)

    def test_cat_prints_examples(self):
        plain = self.ok("cat", GOLDEN / "examples.tfrecord")
        self.assertEqual(plain.stdout, self.ok("cat", GOLDEN / "examples.tfrecord.gz").stdout)
        self.assertGreater(len(lines_of(plain)), 3)
        self.assertIsInstance(lines_of(plain)[0], dict)
        self.assertIn("the bytes are no tf.Example", sluice("cat", GOLDEN / "raw.tfrecord").stderr)

    def test_verify_finds_sound_files_sound(self):
        files = [f"{GOLDEN}/{kind}.tfrecord{end}" for kind in ("raw", "small", "empty") for end in ("", ".gz", ".zz")]
        done = self.ok("verify", *files)
        self.assertEqual([line.split(": ")[1] for line in done.stdout.splitlines()], ["sound"] * len(files))

    def test_verify_names_every_damaged_file_and_the_byte(self):
        damaged, offset = self.damaged_file()
        cut = self.path("cut.tfrecord")
        pathlib.Path(cut).write_bytes((GOLDEN / "raw.tfrecord").read_bytes()[:-1])
        done = sluice("verify", damaged, GOLDEN / "raw.tfrecord", cut, self.path("none"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split(": ")[1] for line in done.stdout.splitlines()], ["damaged", "sound", "damaged", "not read"])
        self.assertIn(f"{damaged} at byte {offset}, record 1", done.stderr)
        self.assertIn(cut + " at byte ", done.stderr)

    def test_a_flipped_bit_anywhere_is_damage(self):
        whole = (GOLDEN / "small.tfrecord").read_bytes()
        files = []
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            flipped = bytearray(whole)
            flipped[at] ^= 0x10
            files.append(self.path(f"{at}"))
            pathlib.Path(files[-1]).write_bytes(flipped)
        done = sluice("verify", *files)
        self.assertEqual(done.returncode, 1)
        self.assertEqual({line.split(": ")[1] for line in done.stdout.splitlines()}, {"damaged"})

    def test_explain_reads_back_to_itself(self):
        plan = 'list_files("a*") | interleave(tfrecord | take(3), cycle_length=4) | parse_example("x: float[2]") | batch(8)'
        said = self.ok("explain", plan).stdout
        self.assertEqual(self.ok("explain", said).stdout, said)
        self.assertIn("batch(8)", said)
        self.assertIn("order=deterministic", said)
        self.assertIn("5 elements", self.ok("explain", "range(15) | batch(3)").stdout)
        self.assertIn("without end", self.ok("explain", "range(15) | repeat(-1)").stdout)

    def test_ops_lists_the_stages_with_their_fields(self):
        said = self.ok("ops").stdout
        for words in ("shuffle", "buffer_size", 'parse_example', '"schema"', "cycle_length="):
            self.assertIn(words, said)

    def test_a_sample_is_written_once_and_sound(self):
        self.ok("sample", self.folder.name, "--records", 1000, "--shards", 3, "--seed", 1)
        files = sorted(pathlib.Path(self.folder.name).glob("sample-*.tfrecord"))
        self.assertEqual(len(files), 3)
        self.ok("verify", *files)
        self.assertIn("3 were there", self.ok("sample", self.folder.name, "--records", 1000, "--shards", 3, "--seed", 1).stderr)
        schema = "text: bytes, label: int64, values: float[16]"
        plan = f'list_files("{self.folder.name}/sample-*") | interleave(tfrecord, cycle_length=3) | parse_example("{schema}") | shuffle(100) | batch(64)'
        self.assertIn("(1,000 records)", self.ok("run", plan).stderr)


class Terminal(ProgramTest):
    def test_the_progress_line_is_shown_on_a_terminal_and_taken_away(self):
        import pty
        ours, theirs = pty.openpty()
        running = subprocess.Popen([PROGRAM, "run", "range(1000000000000)"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        said = b""
        while said.count(b"\r\x1b[K") < 2:
            said += os.read(ours, 4096)
        running.send_signal(signal.SIGINT)
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:   # the other side closed
            pass
        self.assertEqual(running.wait(60), 130)
        self.assertRegex(said.decode(), r"\r\x1b\[K[\d,]+ records  \S+( [kMG])?/s  \S+ \wB/s  memory .* of .*  0%")
        self.assertRegex(said.decode(), r"\r\x1b\[K[\d,]+ elements in ")


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
