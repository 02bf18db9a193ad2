# SPDX-License-Identifier: Apache-2.0
"""Drives the program as a user does: what it prints where, and how it exits."""
import os
import pathlib
import signal
import subprocess
import unittest

from program import GOLDEN, PROGRAM, ProgramTest, example, lines_of, main, sluice, write_tfrecord


class Run(ProgramTest):
    def test_jsonl_is_one_element_a_line_and_nothing_else(self):
        done = self.ok("run", "range(7) | batch(3)", "--output", "jsonl")
        self.assertEqual(done.stdout, "[0,1,2]\n[3,4,5]\n[6]\n")
        self.assertIn("3 elements (7 records) in ", done.stderr)

    def test_the_report_is_the_only_thing_said_into_a_pipe(self):
        done = self.ok("run", "range(1000)", "--seed", 5)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("\r", done.stderr)
        self.assertRegex(done.stderr, r"1,000 elements in .*\npeak memory .* of .*, process .* MiB, .*, seed 5\nno output was requested: add --output "
                                       r"jsonl to print the elements\n$")
        self.assertEqual(self.ok("run", "range(9)", "--quiet").stderr, "")

    def test_a_table_says_what_each_stage_did(self):
        done = self.ok("run", "range(1000) | skip(10) | batch(3) | prefetch(4)", "--quiet", "--stages")
        head, *stages = done.stderr.splitlines()
        self.assertRegex(head, r"^stage +elements +skipped")
        self.assertEqual([line.split()[0] for line in stages], ["prefetch", "batch", "skip", "range"])
        self.assertRegex(stages[3], r"^range +990 +10\b")
        self.assertRegex(stages[1], r"^batch +330\b")
        self.assertRegex(stages[0], r"^prefetch +330\b.* elements=4$")
        self.assertEqual(len({len(line) for line in stages[1:]}), 1)

    def test_the_table_of_stages_shows_the_memory_of_each(self):
        done = self.ok("run", "range(200000) | shuffle(50000, seed=1) | map(it + 1) | shuffle(1000, seed=2)", "--quiet", "--stages", "--rule", "inject_prefetch=off",
                       "--rule", "parallelize=off")
        head, *stages = done.stderr.splitlines()
        self.assertRegex(head, r" memory$")
        column = [line[head.rindex("memory") - 2:].strip() for line in stages]
        self.assertRegex(column[0], r"^[\d.]+ kB$")
        self.assertEqual(column[1], "")
        self.assertRegex(column[2], r"^(1\.\d+ MB|\d{3} kB)$")
        self.assertEqual(column[3], "")

    def test_the_report_says_who_held_the_memory(self):
        done = self.ok("run", "range(200000) | shuffle(100000, seed=1) | prefetch(16)")
        self.assertRegex(done.stderr, r"peak memory [0-9.]+ MiB of .*iB \(shuffle [0-9.]+ MiB, prefetch .*\), process [0-9.]+ MiB,")

    def test_held_memory_beyond_the_budget_names_who_holds_what(self):
        done = sluice("run", "range(200000) | shuffle(50000, seed=1) | shuffle(50000, seed=2)", "--memory-budget", "1MiB")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"resource_exhausted: shuffle: with the buffer more is held than the memory budget of 1.0 MiB: "
                                      r"shuffle 1.\d MiB in 2 places; lower buffer_size, or cycle_length .*, or raise the memory budget")

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

    def test_tfrecord_output_does_not_replace_its_own_input(self):
        both = pathlib.Path(self.path("both.tfrecord"))
        both.write_bytes((GOLDEN / "raw.tfrecord").read_bytes())
        plan = f'tfrecord("{both}", read_bytes=4096) | repeat(2)'
        self.assertIn("is the output and an input of the plan", self.fails(2, "run", plan, "--output", f"tfrecord:{both}"))
        self.assertEqual(both.read_bytes(), (GOLDEN / "raw.tfrecord").read_bytes())
        self.assertIn("which it would replace", self.fails(2, "convert", plan, both, "--to", "tfrecord", "--overwrite", "--quiet"))
        self.assertEqual(both.read_bytes(), (GOLDEN / "raw.tfrecord").read_bytes())
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

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "one core")
    def test_workers_are_the_cores_that_the_process_may_use(self):
        core = min(os.sched_getaffinity(0))
        done = self.ok("run", "range(10)", preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.assertIn("1 worker,", done.stderr)

    def test_budget_workers_and_io_are_taken(self):
        done = self.ok("run", "range(10)", "--memory-budget", "64MiB", "--workers", 1, "--io", "threads")
        self.assertRegex(done.stderr, r"of 64.0 MiB \(prefetch .*\), process .* MiB, 1 worker, threads")

    def test_a_checkpoint_goes_on_where_it_was_taken(self):
        plan, here = "range(100) | shuffle(20, seed=3)", self.path("here")
        whole = lines_of(self.ok("run", plan, "--output", "jsonl"))
        first = lines_of(self.ok("run", plan, "--output", "jsonl", "--limit", 33, "--checkpoint", here))
        rest = lines_of(self.ok("run", plan, "--output", "jsonl", "--resume", here))
        self.assertEqual(first + rest, whole)
        self.assertIn("failed_precondition", self.fails(1, "run", "range(100) | shuffle(21, seed=3)", "--resume", here))
        self.assertIn("cannot read the checkpoint", self.fails(1, "run", plan, "--resume", self.path("none")))

    def test_bad_elements_stop_the_run_or_are_dropped(self):
        file, offset = self.damaged_file()
        plan = f'tfrecord("{file}")'
        stopped = sluice("run", plan)
        self.assertEqual(stopped.returncode, 1)
        self.assertRegex(stopped.stderr.splitlines()[0], f"^sluice: data_loss: .*damaged.tfrecord at byte {offset}, record 1: ")
        skipped = self.ok("run", plan, "--on-error", "skip")
        self.assertIn("1 bad element dropped:\n  data_loss: ", skipped.stderr)
        self.assertIn("  by stage: tfrecord: 1\n", skipped.stderr)

    def test_the_plan_says_which_stages_drop_bad_elements(self):
        file, offset = self.damaged_file()
        whole = lines_of(self.ok("run", f'tfrecord("{file}")', "--on-error", "skip", "--output", "jsonl"))
        self.assertGreater(len(whole), 1)
        for plan, stages in ((f'tfrecord("{file}", on_error=skip, errors_max=2)', "tfrecord: 1 (errors_max 2)"),
                             (f'tfrecord("{file}") | ignore_errors', "ignore_errors: 1, tfrecord: 1"),
                             (f'list_files("{file}") | interleave(tfrecord, parallelism=2, on_error=skip)', "interleave: 1, tfrecord: 1"),
                             (f'list_files("{file}") | flat_map(tfrecord(on_error=skip)) | prefetch(2)', "tfrecord: 1")):
            with self.subTest(plan=plan):
                done = self.ok("run", plan, "--output", "jsonl", "--workers", 2)
                self.assertEqual(lines_of(done), whole)
                self.assertRegex(done.stderr, f"1 bad element dropped:\n  data_loss: .*damaged.tfrecord at byte {offset}, record 1: ")
                self.assertIn(f"  by stage: {stages}\n", done.stderr)
                here = self.path("here")
                first = lines_of(self.ok("run", plan, "--output", "jsonl", "--limit", 2, "--checkpoint", here))
                self.assertEqual(first + lines_of(self.ok("run", plan, "--output", "jsonl", "--resume", here)), whole)
        for plan, limit in ((f'tfrecord("{file}", on_error=stop) | ignore_errors', None),
                            (f'tfrecord("{file}") | ignore_errors(errors_max=0)',
                             "; one more than errors_max=0 of ignore_errors, which ignore_errors(errors_max=…) in the plan raises"),
                            (f'tfrecord("{file}", on_error=skip, errors_max=0) | prefetch(2)',
                             "; one more than errors_max=0 of tfrecord, which on_error=skip, errors_max=… in the plan raises")):
            with self.subTest(plan=plan):
                done = sluice("run", plan, "--output", "jsonl", "--on-error", "skip")
                self.assertEqual((done.returncode, lines_of(done)), (1, whole[:1]))
                self.assertNotIn("dropped", done.stderr)
                last = done.stderr.splitlines()[0]
                self.assertRegex(last, f"^sluice: data_loss: .*damaged.tfrecord at byte {offset}, record 1: ")
                self.assertEqual(last.endswith(limit) if limit else "errors_max" not in last, True, last)

    def test_stages_of_one_name_are_numbered_in_reports(self):
        file, _ = self.damaged_file()
        plan = f'concatenate(tfrecord("{GOLDEN}/raw.tfrecord"), tfrecord("{file}"), tfrecord("{file}") | take(3)) | skip(1)'
        said = self.ok("run", plan, "--on-error", "skip", "--stages").stderr
        self.assertIn("  by stage: tfrecord #2: 1, tfrecord #3: 1\n", said)
        table = [line for line in said.split("\nstage ")[1].splitlines()[1:]]
        self.assertEqual([" ".join(line.split("  ")[0 if line[0] != " " else 1].split()) for line in table],
                         ["skip", "concatenate", "tfrecord #1", "tfrecord #2", "take", "tfrecord #3"])

    def test_a_run_ends_at_the_first_error_beyond_errors_max_of_all_stages_together(self):
        file, offset = self.damaged_file()
        whole = lines_of(self.ok("run", f'tfrecord("{file}")', "--on-error", "skip", "--output", "jsonl"))
        twice = f'concatenate(tfrecord("{file}"), tfrecord("{file}"))'
        policies = ((twice, ["--on-error", "skip"]), (f"{twice} | prefetch(2)", ["--on-error", "skip"]),
                    (f"{twice} | ignore_errors", []), (f'tfrecord("{file}", on_error=skip) | repeat(2)', []),
                    (f'list_files("{file},{file}") | flat_map(tfrecord(on_error=skip))', []))
        for plan, policy in policies:
            with self.subTest(plan=plan):
                done = self.ok("run", plan, *policy, "--errors-max", 2, "--output", "jsonl")
                self.assertEqual(lines_of(done), whole + whole)
                self.assertIn("2 bad elements dropped", done.stderr)
                done = sluice("run", plan, *policy, "--errors-max", 1, "--output", "jsonl")
                self.assertEqual((done.returncode, lines_of(done)), (1, whole + whole[:1]))
                self.assertIn("1 bad element dropped:\n", done.stderr)   # the one that ended the run was not
                self.assertRegex(done.stderr.splitlines()[0], f"^sluice: data_loss: .*damaged.tfrecord at byte {offset}, record 1: "
                                                               r".*; one more than errors_max=1 of the run, which --errors-max raises")
                done = sluice("run", plan, *policy, "--errors-max", 0, "--output", "jsonl")
                self.assertEqual((done.returncode, lines_of(done)), (1, whole[:1]))
        for policy in ([], ["--on-error", "stop"]):
            self.assertIn("this run stops at the first bad one", self.fails(2, "run", f'tfrecord("{file}")', *policy, "--errors-max", 5))
        self.assertIn("--errors-max", self.fails(2, "run", twice, "--on-error", "skip", "--errors-max", -1))

    def test_explain_shows_which_policy_is_in_force(self):
        said = self.ok("explain", "range(9, on_error=stop) | take(4, on_error=skip, errors_max=2) | repeat(2) | ignore_errors | skip(1)").stdout
        lines = [line.split("; ", 1)[1] for line in said.splitlines() if "; " in line]
        self.assertEqual(lines, ["stop=9, start=0, step=1, on_error=stop", "elements=4, on_error=skip, errors_max=2",
                                 "times=2, on_error=skip by ignore_errors", "errors_max=-1, errors_share=1, share_after=100", "elements=1"])

    def test_an_interrupt_stops_cleanly_and_the_rest_can_be_had(self):
        here = self.path("here")
        running = subprocess.Popen([PROGRAM, "run", "range(3) | repeat(-1)", "--output", "jsonl", "--checkpoint", here],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        taken = running.stdout.read(6)   # it runs
        running.send_signal(signal.SIGINT)
        rest, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        self.assertRegex(said, b"elements? in ")
        elements = (taken + rest).split()
        again = lines_of(self.ok("run", "range(3) | repeat(-1)", "--output", "jsonl", "--resume", here, "--limit", 3))
        self.assertEqual(again[0], len(elements) % 3)

    def test_texts_that_are_not_utf8_look_the_same_everywhere_and_like_nothing_else(self):
        file = self.path("odd.tfrecord")
        write_tfrecord(file, example({b"k\xff": b"\xff", b"plain": "\xff".encode(), b"base64:a/8=": b"x"}))
        told = lines_of(self.ok("cat", file))
        self.assertEqual(told, [{"base64:a/8=": {"base64": "/w=="}, "plain": "\xff", "base64:YmFzZTY0OmEvOD0=": "x"}])
        bare = self.path("bare.txt")
        pathlib.Path(bare).write_bytes(b"\xff\n\xc3\xbf\n")
        self.assertEqual(lines_of(self.ok("head", bare, "--from", "lines")), [{"base64": "/w=="}, "\xff"])

    def test_floats_that_json_lacks_are_the_same_words_everywhere(self):
        plan = f'tfrecord("{GOLDEN}/examples.tfrecord") | parse_example("values: float[]") | take(9)'
        parsed = sluice("run", plan, "--on-error", "skip", "--output", "jsonl").stdout
        for text in (parsed, self.ok("cat", GOLDEN / "examples.tfrecord").stdout):
            for word in ('"NaN"', '"Infinity"', '"-Infinity"'):
                self.assertIn(word, text)

    def test_a_resumed_run_that_fails_leaves_the_output_as_the_checkpoint_has_it(self):
        here, out, whole = self.path("here"), pathlib.Path(self.path("out.tfrecord")), self.path("whole.tfrecord")
        source = pathlib.Path(self.path("in.tfrecord"))
        source.write_bytes((GOLDEN / "raw.tfrecord").read_bytes())
        plan = f'tfrecord("{source}")'
        self.ok("run", plan, "--output", f"tfrecord:{whole}")
        self.ok("run", plan, "--output", f"tfrecord:{out}", "--limit", 3, "--checkpoint", here)
        first = out.read_bytes()
        again = ["run", plan, "--output", f"tfrecord:{out}", "--resume", here, "--changed-inputs", "ignore"]
        source.write_bytes(source.read_bytes()[:-1])
        self.assertEqual(sluice(*again).returncode, 1)
        self.assertEqual(out.read_bytes(), first)
        source.write_bytes((GOLDEN / "raw.tfrecord").read_bytes())
        self.ok(*again)
        self.assertEqual(out.read_bytes(), pathlib.Path(whole).read_bytes())
        self.assertEqual(sorted(p.name for p in out.parent.iterdir()), ["here", "in.tfrecord", "out.tfrecord", "whole.tfrecord"])

    def test_a_checkpoint_at_an_error_goes_on_once_it_is_mended(self):
        here, out = self.path("here"), pathlib.Path(self.path("out.tfrecord"))
        file, _ = self.damaged_file()
        plan = f'tfrecord("{file}")'
        self.assertEqual(sluice("run", plan, "--output", f"tfrecord:{out}", "--checkpoint", here).returncode, 1)
        self.assertEqual(len(self.ok("head", f"{out}.partial", "-n", 100).stdout.splitlines()), 1)
        again = sluice("run", plan, "--resume", here, "--output", "null")
        self.assertEqual(again.returncode, 1)
        self.assertIn("record 1: ", again.stderr)
        pathlib.Path(file).write_bytes((GOLDEN / "examples.tfrecord").read_bytes())
        refused = sluice("run", plan, "--output", f"tfrecord:{out}", "--resume", here)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--changed-inputs ignore", refused.stderr)
        self.ok("run", plan, "--output", f"tfrecord:{out}", "--resume", here, "--changed-inputs", "ignore")
        self.assertEqual(out.read_bytes(), (GOLDEN / "examples.tfrecord").read_bytes())

    def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_run(self):
        done = sluice("run", "range(3)", "--output", "jsonl", "--checkpoint", "/nodir/x")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nodir/x: cannot create", done.stderr)

    def test_a_checkpoint_that_is_a_directory_or_endless_is_told(self):
        self.assertIn("cannot read the checkpoint: Is a directory", self.fails(2, "run", "range(3)", "--resume", "/"))
        self.assertIn("too long for a checkpoint", self.fails(1, "run", "range(3)", "--resume", "/dev/zero"))

    def test_a_request_to_terminate_is_told_from_an_interrupt(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            running = subprocess.Popen([PROGRAM, "run", "range(3) | repeat(-1)", "--output", "jsonl"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
            running.stdout.read(6)
            running.send_signal(number)
            running.communicate(timeout=60)
            self.assertEqual(running.returncode, status)

    def test_output_that_does_not_arrive_is_an_error(self):
        for arguments in (["verify", GOLDEN / "raw.tfrecord"], ["ops"], ["explain", "range(3)"], ["head", "range(3)"],
                          ["cat", GOLDEN / "examples.tfrecord"], ["--help"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertIn("cannot write to standard output", done.stderr)

    def test_closed_standard_files_are_not_taken_for_ours(self):
        out = self.path("out.tfrecord")
        done = subprocess.run(f"""{PROGRAM} run 'tfrecord("{GOLDEN}/raw.tfrecord")' --output tfrecord:{out} <&- >&- 2>&-""", shell=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(pathlib.Path(out).read_bytes(), (GOLDEN / "raw.tfrecord").read_bytes())

    def test_a_reader_that_leaves_ends_the_run_quietly(self):
        done = subprocess.run(f"{PROGRAM} run 'range(3) | repeat(-1)' --output jsonl | head -n 2", shell=True, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("0\n1\n", ""))


class Misuse(ProgramTest):
    def test_an_error_in_a_plan_points_at_its_column(self):
        done = sluice("run", 'range(5) | shufle(10)')
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "sluice: column 12: there is no stage shufle; did you mean shuffle?\n"
                                      "  range(5) | shufle(10)\n"
                                      "             ^\n")

    def test_the_caret_counts_characters_and_shows_the_line_at_fault(self):
        done = sluice("run", 'lines("größe")\n  | takes(3)')
        self.assertEqual(done.stderr.splitlines()[1:], ["    | takes(3)", "      ^"])

    def test_each_kind_of_bad_plan_is_told(self):
        for plan, words in {
            "": "the plan is empty",
            "range(5) |": "column 11",
            "range(5) | take(": "column 17",
            "range(5) | take": "take: needs ",
            "range(5) | take(x)": "expects a whole number, and is x",
            "range(5) | shuffle(0)": "must be at least 1, and is 0",
            "range(5) | shuffle(3, sed=1)": "shuffle: has no sed; did you mean seed?",
            "range(5) | shuffle(3, seed=1, seed=2)": "given twice",
            "range(5) | map(nothing)": "there is no function nothing",
            "range(5) | interleave(tfrecord)": "paths (strings), and gets int64",
            "zip(range(5))": "column 1: zip: needs two inputs or more",
            "zip(range(5), 3)": "zip: takes no more values, and found 3",
            "range(5) | zip(range(5), range(6))": "takes no input",
            "concatenate(range(5), range(5) | batch(2))": "input 2 gives batch<int64> where the first gives int64",
            "range(5) | unbatch": "expects batches, and gets int64",
            'range(5) | parse_example("a: int64")': "expects records that hold tf.Examples, or batches of them, and gets int64",
            'tfrecord("x") | parse_example("a: date")': 'found "date"',
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
            (["walk"], "there is no verb walk"),
            (["walk", "--help"], "there is no verb walk"),
            (["--help", "walk"], "there is no verb walk"),
            (["walk", "--version"], "there is no verb walk"),
            (["run"], "run needs PLAN or --file"),
            (["verify"], "verify needs FILES"),
            (["run", "range(3)", "--output", "xml"], "--output xml: xml is neither a format nor a path with a known suffix; write jsonl, csv, raw or lines to print"),
            (["run", "range(3)", "--output", "tfrecord:x"], "takes records, lines or strings, and the plan gives int64"),
            (["run", "range(3)", "--memory-budget", "much"], "--memory-budget: expects a size such as 64MiB, and is \"much\""),
            (["run", "range(3)", "--memory-budget", ""], "--memory-budget: expects a size such as 64MiB, and is \"\""),
            (["run", "range(3)", "--memory-budget=", "--quiet"], "--memory-budget"),
            (["run", "range(3)", "--workers", "0"], "--workers"),
            (["run", "range(3)", "--io", "magic"], "--io"),
            (["run", "range(3)", "--on-error", "cry"], "--on-error"),
            (["run", "range(3)", "--limit", "few"], "--limit: expects a whole number, such as 1000, and is \"few\""),
            (["run", "range(3)", "--limit", "-1"], "--limit: expects a whole number"),
            (["run", "range(3)", "--limit", "9" * 23], "--limit: expects a whole number"),
            (["run", "range(3)", "--limit", ""], "--limit: expects a whole number"),
            (["run", "range(3)", "--seed", "9" * 23], "--seed: expects a whole number"),
            (["run", "range(3)", "--seed", "-1"], "--seed: expects a whole number"),
            (["head", "range(3)", "-n", "-1"], "-n: expects a whole number of 0 or more"),
            (["sample", self.path("x"), "--records", "-1"], "--records: expects a whole number"),
            (["sample", self.path("x"), "--shards", "0"], "--shards: expects a whole number from 1 to 99999"),
            (["run", "range(3)", "--checkpoint", ""], "--checkpoint: expects a path"),
            (["run", "range(3)", "--resume", "x", "--resume-or-start", "x"], "--resume-or-start"),
            (["run", "range(3)", "--every", "5"], "--every is the interval of --checkpoint FILE: add --checkpoint"),
            (["run", "range(3)", "--new-output"], "--new-output belongs to a resumed run: add --resume job.ckpt"),
            *[(["run", "range(3)", "--checkpoint", "x", "--every", every], "--every: expects a number of elements such as 5000 or a time")
              for every in ("", "0", "0s", "-1", "5x", "1.5", "1.s.", ".", "s", " ", "5 ", "nan", "infs", "0.0s", "1e3s", "0.0000000001s",
                            "9" * 23, "9999999h", "9" * 400 + "s")],
            *[(["run", "range(3)", "--output", output], words)
              for output, words in (("null:x", "there is no format null; the formats are jsonl, csv"), ("tfrecord", "write --output tfrecord:PATH"),
                                    ("tfrecord:", "tfrecord: has no path after the colon"), ("jsonl:", "or --output jsonl to print"),
                                    ("raw:", "write --output raw:PATH"), ("", "--output is empty"))],
            (["run", "range(3)", "--output", "raw"], "takes records, lines or strings, and the plan gives int64"),
            (["run", 'lines("x")', "--output", "tfrecord:" + self.path("x"), "--checkpoint", self.path("./x")],
             "--output and --checkpoint are the same file"),
            (["run", 'lines("x")', "--output", "tfrecord:" + self.path("x"), "--resume", self.path("x")],
             "--output and --resume are the same file"),
            (["run", 'lines("x")', "--output", "raw:" + self.path("x"), "--checkpoint", self.path("x.partial")],
             f"{self.path('x.partial')} is the name of {self.path('x')} while that is written: choose another"),
            (["run", 'lines("x")', "--output", "raw:" + self.path("x.partial"), "--checkpoint", self.path("x")],
             f"{self.path('x.partial')} is the name of {self.path('x')} while that is written: choose another"),
        ]:
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.fails(2, *arguments))

    def test_an_io_back_end_that_is_none_is_told_before_anything_runs(self):
        for verb in (["run", "range(3)"], ["head", "range(3)"], ["cat", "x"], ["verify", "x"]):
            done = sluice(*verb, env=dict(os.environ, SLUICE_IO="nonsense"))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn('SLUICE_IO: "nonsense" is no I/O back end', done.stderr)

    def test_what_is_no_plan_but_a_path_is_told_as_one(self):
        pathlib.Path(self.path("a.txt")).write_text("x\n")
        for path, words in {
            "shufle": "there is no stage shufle; did you mean shuffle?",
        }.items():
            for verb in ("head", "run", "explain"):
                self.assertIn(words, self.fails(2, verb, path))
        for verb, suggested in (("head", "head"), ("run", "head"), ("explain", "explain")):
            self.assertIn(f"is a folder: sluice ls {self.folder.name} lists it; name a file, or a pattern, as in: sluice {suggested} "
                          f"'{self.folder.name}/*.txt'", self.fails(2, verb, self.folder.name))
        for path in ("nope.txt", "xyzzyplugh"):
            # no file could stand there
            self.assertIn(f"expects a plan, such as 'tfrecord(\"a.tfrecord\") | batch(32)', and {path} is neither a plan nor a file",
                          self.fails(2, "run", path))
            for verb in ("head", "count", "describe", "explain"):
                self.assertIn(f"not_found: {path}: no such file (and it is no plan", self.fails(1, verb, path))

    def test_a_pattern_instead_of_a_plan_is_told_the_plan_that_reads_what_it_matches(self):
        for name, text, reader in (("a.csv", "n,s\n1,x\n", 'csv("{}", header=true)'),
                                   ("a.jsonl", '{"n": 1}\n', 'jsonl("{}")'), ("a.txt", "x\n", 'lines("{}")')):
            pathlib.Path(self.path(name)).write_text(text)
            pattern = self.path("*." + name.split(".")[1])
            plan = reader.format(pattern)
            with self.subTest(pattern=pattern):
                self.assertIn(f" is a pattern of files; use: sluice head '{pattern}', or sluice run '{plan}' --output jsonl",
                              self.fails(2, "run", pattern))
                self.assertIn(f'list_files("{pattern}")', self.ok("explain", pattern).stdout)
            self.assertEqual(self.ok("head", plan).stdout, self.ok("head", pattern).stdout)
        self.ok("convert", self.path("a.csv"), self.path("a.arrow"))
        plan = f"""from_arrow("{self.path('*.arrow')}") | unbatch"""
        self.assertIn(plan, self.fails(2, "run", self.path("*.arrow")))
        self.assertEqual(self.ok("head", plan).stdout, '{"n":1,"s":"x"}\n')

    def test_a_pattern_where_a_path_stands_is_told_who_reads_it(self):
        for plan in ('tfrecord("x/*.tfrecord")', 'csv("x/*.csv", header=true)'):
            self.assertRegex(self.fails(1, "head", plan), r"no file matches (the|this) pattern")
        self.assertIn("tfrecord: a source takes no input: interleave(tfrecord) opens one for each path that comes",
                      self.fails(2, "run", 'list_files("x/*") | tfrecord'))

    def test_head_of_a_pattern_goes_on_in_the_next_file(self):
        for name, rows in (("1.csv", "n\n1\n2\n"), ("2.csv", "n\n3\n4\n")):
            pathlib.Path(self.path(name)).write_text(rows)
        lines = ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']
        for n in range(6):
            self.assertEqual(self.ok("head", "-n", n, self.path("*.csv")).stdout.splitlines(), lines[:n])
        for verb in ("head", "run", "explain"):
            self.assertIn("nothing-*", self.fails(1, verb, self.path("nothing-*.csv")))

    def test_head_of_a_pattern_reads_each_file_as_what_it_is(self):
        write_tfrecord(self.path("1.tfrecord"), example({b"text": b"a"}))
        write_tfrecord(self.path("2.tfrecord"), b"plain")
        pathlib.Path(self.path("3.csv")).write_text("")
        pathlib.Path(self.path("4.csv")).write_text("n\n7\n")
        self.assertEqual(self.ok("head", self.path("*")).stdout.splitlines(), ['{"text":"a"}', '"plain"', '{"n":7}'])

    def test_columns_count_characters(self):
        done = sluice("run", 'lines("größe") | €')
        self.assertEqual(done.stderr.splitlines(), ["sluice: column 18: no plan has the character '€' here",
                                                    '  lines("größe") | €', " " * 19 + "^"])

    def test_the_caret_stands_under_the_value_at_fault(self):
        for plan, at in {"range(9) | batch(4, drop_remainder=10)": "10)", "range(9) | batch(-200)": "-200)"}.items():
            said = sluice("run", plan).stderr.splitlines()
            self.assertEqual(said[2].index("^") - 2, plan.index(at))

    def test_of_a_long_plan_what_is_around_the_error_is_shown(self):
        done = sluice("run", "range(5)" + " | take(3)" * 500 + " | tak€(1)" + " | take(3)" * 500)
        line, caret = done.stderr.splitlines()[1:]
        self.assertLess(len(line), 120)
        self.assertTrue(line.startswith("  …") and line.endswith("…"), line)
        self.assertEqual(line[caret.index("^")], "€")

    def test_a_file_instead_of_a_plan_is_told_its_plan(self):
        file = GOLDEN / "small.tfrecord"
        self.assertIn(f"""'tfrecord("{file}")'""", self.fails(2, "run", file))
        self.assertIn(f"""lines("{GOLDEN}/unix.txt")""", self.ok("explain", GOLDEN / "unix.txt").stdout)


class Data(ProgramTest):
    def test_files_that_cannot_be_read_are_named(self):
        for path, words in [(self.path("none"), "not_found"), (self.path("."), "directory"), ("/dev/null", "character device")]:
            done = sluice("run", f'tfrecord("{path}")')
            self.assertEqual(done.returncode, 2 if words == "directory" else 1)
            self.assertIn(words, done.stderr.splitlines()[0])
            self.assertIn(path, done.stderr.splitlines()[0])

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

    def test_verify_finds_sound_files_sound(self):
        files = [f"{GOLDEN}/{kind}.tfrecord{end}" for kind in ("raw", "small", "empty") for end in ("", ".gz", ".zz")]
        done = self.ok("verify", *files)
        self.assertEqual([line.split(": ")[1] for line in done.stdout.splitlines()[:-1]], ["sound"] * len(files))

    def test_verify_names_every_damaged_file_and_the_byte(self):
        damaged, offset = self.damaged_file()
        cut = self.path("cut.tfrecord")
        pathlib.Path(cut).write_bytes((GOLDEN / "raw.tfrecord").read_bytes()[:-1])
        done = sluice("verify", damaged, GOLDEN / "raw.tfrecord", cut, self.path("none"))
        self.assertEqual(done.returncode, 1)   # damage in any file wins
        self.assertEqual([line.split(": ")[1] for line in done.stdout.splitlines()[:-1]], ["damaged", "sound", "damaged", "not read"])
        self.assertIn(f"{damaged} at byte {offset}, record 1", done.stderr)
        self.assertIn(cut + " at byte ", done.stderr)

    def test_verify_tells_files_that_cannot_be_opened_from_damage(self):
        for path in (self.path("none"), self.path("."), self.path("none/none")):
            done = sluice("verify", GOLDEN / "raw.tfrecord", path)
            self.assertEqual(done.returncode, 2 if path == self.path(".") else 1, done.stderr)
            self.assertEqual([line.split(": ")[1] for line in done.stdout.splitlines()[:-1]], ["sound", "not read"])

    def test_a_flipped_bit_anywhere_is_damage(self):
        whole = (GOLDEN / "small.tfrecord").read_bytes()
        files = []
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            flipped = bytearray(whole)
            flipped[at] ^= 0x10
            files.append(self.path(f"{at}.tfrecord"))
            pathlib.Path(files[-1]).write_bytes(flipped)
        done = sluice("verify", *files)
        self.assertEqual(done.returncode, 1)
        self.assertEqual({line.split(": ")[1] for line in done.stdout.splitlines()[:-1]}, {"damaged"})

    def test_explain_tells_the_spec_bounds_and_what_options_say(self):
        self.assertEqual(self.ok("explain", "--spec", "range(9) | map({label: it, x: [1.5, it]}) | batch(2)").stdout, "{label: int64[?], x: float64[?,?]}\n")
        self.assertEqual(self.ok("explain", "--spec", "zip(range(9), range(9) | map(string(it)))").stdout, "(int64, string)\n")
        self.assertEqual(self.ok("explain", "--spec", "from_tensor_slices([[1, 2], [3, 4]]) | batch(2)").stdout, "int64[?,2]\n")
        # Where a stage downstream has bad elements dropped there may be fewer, but of numbers, which are never bad.
        fewer = self.ok("explain", "range(10) | take(9) | map(it / (it % 2)) | batch(3) | ignore_errors()").stdout.splitlines()
        self.assertEqual([line.partition("# ")[2].split(";")[0].split(", ", 1)[1] for line in fewer[:5]],
                         ["10 elements", "9 elements", "at most 9 elements", "at most 3 elements", "at most 3 elements"])
        self.assertIn(", 10 elements", self.ok("explain", "range(10) | map(it, on_error=stop) | ignore_errors()").stdout.splitlines()[1])
        self.assertIn("at most 15 elements", self.ok("explain", "range(15) | filter(it > 3) | take_while(it < 9)").stdout)
        for stage, size in (("assert_cardinality(3)", ", 3 elements"), ("reduce(0, state + it)", ", 1 element"),
                            ("count_elements", ", 1 element"), ("pad_to_cardinality(9)", ", 9 elements")):
            shown = self.ok("explain", f"range(5) | map(6 / (it - 9)) | ignore_errors | {stage}").stdout
            line = next(l for l in shown.splitlines() if l.startswith("| " + stage.split("(")[0]))
            self.assertIn(size, line)
            self.assertNotIn("at most", line)
        said = self.ok("explain", "range(9) | map(it + 1, parallelism=2) | with_options(on_error=skip) | with_options(on_error=stop, order=sloppy)").stdout
        self.assertIn("order=sloppy by with_options", said)
        self.assertIn("on_error=stop by with_options", said)

    def test_explain_reads_back_to_itself(self):
        plan = 'list_files("a*") | interleave(tfrecord | take(3), cycle_length=4) | parse_example("x: float[2]") | batch(8)'
        said = self.ok("explain", "--written", plan).stdout
        self.assertEqual(self.ok("explain", "--written", said).stdout, said)
        self.assertIn("batch(8)", said)
        self.assertIn("order=deterministic", said)
        self.assertIn("5 elements", self.ok("explain", "range(15) | batch(3)").stdout)
        self.assertIn("without end", self.ok("explain", "range(15) | repeat(-1)").stdout)
        many = self.ok("explain", "--written", "range(3)|repeat(9223372036854775807)|repeat(9223372036854775807)").stdout
        self.assertEqual(many.count("more elements than can be counted"), 2)
        wide = "range(9223372036854775807, start=-9223372036854775808)"
        self.assertIn("more elements than can be counted", self.ok("explain", wide).stdout)

    def test_ops_lists_the_stages_with_their_fields(self):
        said = self.ok("ops").stdout
        for words in ("shuffle", "buffer_size", 'parse_example', '"schema"', "cycle_length="):
            self.assertIn(words, said)
        stages = said.split("\n")
        alone = [stages[i - 1].split()[0] for i, line in enumerate(stages) if line.endswith("  C++")]
        self.assertEqual(alone, ["from_elements", "generate", "from_channel", "transform"])
        self.assertIn("\nC++: cannot be in a plan for this program", said)
        for words in ("tap(function) is inspect(function)\n",
                      "map_and_batch(function, size, drop_remainder, parallelism, order, seed) is "
                      "map(function, parallelism, order, seed) | batch(size, drop_remainder)\n",
                      "shuffle_and_repeat(buffer_size, times, seed) is shuffle(buffer_size, seed) | repeat(times)\n",
                      "parallel_interleave(inner, cycle_length, block_length, sloppy) is "
                      "interleave(inner, cycle_length, parallelism=cycle_length, block_length, order=sloppy)\n"):
            self.assertIn("\n  " + words, said)

    def test_a_sample_is_not_taken_for_another(self):
        def asked(records, shards, seed):
            return ["sample", self.path("mix"), "--records", records, "--shards", shards, "--seed", seed]
        wanted = asked(10, 2, 1)
        self.ok(*wanted)
        for other in (asked(11, 2, 1), asked(10, 3, 1), asked(10, 2, 9)):
            self.assertIn("remove the existing sample", self.fails(2, *other))
        first = pathlib.Path(self.path("mix/sample-00000-of-00002.tfrecord"))
        first.rename(str(first) + ".partial")   # as an interrupted run leaves it
        self.assertIn("1 written, 1 existed", self.ok(*wanted).stderr)
        first.write_bytes(first.read_bytes()[:-1])
        self.assertIn(f"{first} is no shard of 10 records in 2 shards, seed 1", self.fails(2, *wanted))

    def test_a_sample_is_written_once_and_sound(self):
        self.ok("sample", self.folder.name, "--records", 1000, "--shards", 3, "--seed", 1)
        files = sorted(pathlib.Path(self.folder.name).glob("sample-*.tfrecord"))
        self.assertEqual(len(files), 3)
        self.ok("verify", *files)
        self.assertIn("3 existed", self.ok("sample", self.folder.name, "--records", 1000, "--shards", 3, "--seed", 1).stderr)
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

    def progress_of(self, *arguments):
        """The second progress line of a run that would go on."""
        import pty
        ours, theirs = pty.openpty()
        running = subprocess.Popen([PROGRAM, "run", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        said = b""
        while said.count(b"\r\x1b[K") < 3:
            said += os.read(ours, 4096)
        running.kill()
        running.wait(60)
        os.close(ours)
        return said.split(b"\r\x1b[K")[2].decode()

    def test_the_share_done_is_of_what_will_be_done(self):
        here = self.path("here")
        self.assertRegex(self.progress_of("range(1000000000000)", "--limit", 10**11), "%")
        self.assertRegex(self.progress_of("range(3) | repeat(-1)", "--limit", 10**12), "%")
        self.assertNotIn("%", self.progress_of("range(3) | repeat(-1)"))
        self.ok("run", "range(1000000000000)", "--limit", 5, "--checkpoint", here)
        self.assertNotIn("%", self.progress_of("range(1000000000000)", "--resume", here))


if __name__ == "__main__":
    main()
