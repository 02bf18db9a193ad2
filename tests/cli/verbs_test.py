# SPDX-License-Identifier: Apache-2.0
"""count, select, head of examples, plans in files, verify of many, completion, the manual page."""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile

from program import PROGRAM, ProgramTest, lines_of, main, sluice


def piped(text, *arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=text, capture_output=True, timeout=60)


class Verbs(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([PROGRAM, "sample", cls.folder.name, "--records", "30", "--shards", "3"], check=True, capture_output=True)
        cls.files = sorted(os.path.join(cls.folder.name, f) for f in os.listdir(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def test_count_counts_files_plans_and_standard_input(self):
        self.assertEqual(self.ok("count", self.files[0]).stdout, "10\n")
        self.assertEqual(self.ok("count", "range(7)").stdout, "7\n")
        self.assertEqual(self.ok("count", "--read", "range(7) | repeat(3) | skip(2)").stdout, "19\n")
        self.assertEqual(self.ok("count", *self.files).stdout.splitlines()[-1], "30 total")
        with open(self.files[1], "rb") as f:
            self.assertEqual(piped(f.read(), "count", "-").stdout, b"10\n")
        self.assertIn("has no end", self.fails(2, "count", "range(3) | repeat()"))
        self.assertIn("count needs PLANS_OR_FILES or --file", self.fails(2, "count"))

    def test_count_agrees_with_reading_where_elements_are_passed_over(self):
        for plan in ("range(100) | batch(7)", "range(100) | batch(7) | unbatch | take(93)", "range(50) | shuffle(9) | prefetch(3)",
                     "zip(range(70), range(90) | prefetch(2), range(80) | shuffle(5))", "concatenate(range(20), range(0), range(9)) | enumerate"):
            self.assertEqual(self.ok("count", "--read", plan).stdout, self.ok("count", plan).stdout, plan)

    def test_plans_of_several_inputs_run_and_go_on_from_a_checkpoint(self):
        plan = 'zip(range(40), range(1000) | shuffle(50, seed=3), concatenate(range(2), range(900))) | enumerate(start=1)'
        whole = self.ok("run", plan, "--output", "jsonl:/dev/stdout").stdout.splitlines()
        self.assertEqual(len(whole), 40)
        self.assertEqual([json.loads(line)[0] for line in whole], list(range(1, 41)))
        self.assertEqual([json.loads(line)[1][2] for line in whole][:4], [0, 1, 0, 1])
        out, place = (os.path.join(self.folder.name, name) for name in ("combined.jsonl", "combined.ckpt"))
        self.ok("run", plan, "--limit", 17, "--output", f"jsonl:{out}", "--checkpoint", place)
        self.ok("run", plan, "--resume", place, "--output", f"jsonl:{out}")
        with open(out) as f:
            self.assertEqual(f.read().splitlines(), whole)

    def test_select_prints_the_members_that_are_named(self):
        rows = [json.loads(line) for line in self.ok("select", "label,text", self.files[0], "--limit", 3).stdout.splitlines()]
        whole = [json.loads(line) for line in self.ok("cat", self.files[0]).stdout.splitlines()][:3]
        self.assertEqual(rows, [{"label": w["label"], "text": w["text"]} for w in whole])
        plan = f'tfrecord("{self.files[0]}") | parse_example("text: bytes, label: int64, values: float[16]") | batch(4)'
        columns = json.loads(self.ok("select", "label", plan, "--limit", 1).stdout)
        self.assertEqual(columns, {"label": [w["label"] for w in (json.loads(l) for l in self.ok("cat", self.files[0]).stdout.splitlines()[:4])]})

    def test_select_takes_members_of_pairs_and_tuples(self):
        def rows(*arguments):
            return [json.loads(line) for line in self.ok("select", *arguments).stdout.splitlines()]
        self.assertEqual(rows("second,first", "zip(range(2), range(9, start=5))"), [{"second": 5, "first": 0}, {"second": 6, "first": 1}])
        self.assertEqual(rows("2,0.second", "zip(zip(range(1), range(3, start=2)), range(1), range(8, start=7))"), [{"2": 7, "0.second": 2}])
        self.assertEqual(rows("second", "zip(range(1), zip(range(1), range(2)))"), [{"second": [0, 0]}])
        self.assertEqual(rows("second", "zip(range(3), range(4, start=1)) | batch(2)"), [{"second": [1, 2]}, {"second": [3]}])
        label = json.loads(self.ok("select", "label", self.files[0], "--limit", 1).stdout)["label"]
        plan = f'tfrecord("{self.files[0]}") | enumerate(start=3)'
        self.assertEqual(rows("first,second.label", plan, "--limit", 1), [{"first": 3, "second.label": label}])
        self.assertEqual(rows("second", plan, "--limit", 1)[0]["second"]["label"], label)
        for names, plan, said in (("third", "zip(range(2), range(3))", "nothing is named third; the names are first, second"),
                                  ("first.x", "zip(range(2), range(3))", "nothing is named x: int64 has no members"),
                                  ("x", "range(3)", "nothing is named x: int64 has no members"),
                                  ("x", "range(3) | window(2)", "nothing is named x: int64[] has no members"),
                                  ("x", "range(3) | batch(2)", "nothing is named x: batch<int64> has no members"),
                                  ("3", "zip(range(2), range(3), range(4)) | batch(2)", "nothing is named 3; the names are 0, 1, 2")):
            self.assertIn(said, self.fails(2, "select", names, plan))

    def test_select_refuses_names_that_are_not_there(self):
        self.assertIn("did you mean text?", self.fails(1, "select", "txt", self.files[0]))
        plan = f'tfrecord("{self.files[0]}") | parse_example("label: int64")'
        self.assertIn("did you mean label?", self.fails(2, "select", "lable", plan))

    def test_head_shows_examples_by_name_and_other_records_as_they_are(self):
        first = json.loads(self.ok("head", "-n", 1, self.files[0]).stdout)
        self.assertEqual(sorted(first), ["label", "text", "values"])
        self.assertEqual(list(json.loads(self.ok("head", "--raw", "-n", 1, self.files[0]).stdout)), ["base64"])
        plan = f'tfrecord("{self.files[0]}")'
        self.assertEqual(json.loads(self.ok("head", "-n", 1, plan).stdout), first)
        self.assertEqual(json.loads(self.ok("head", "-n", 1, plan + " | enumerate").stdout), [0, first])
        self.assertEqual(json.loads(self.ok("head", "-n", 1, f"zip({plan}, range(5), {plan} | skip(0))").stdout), [first, 0, first])
        self.assertEqual(list(json.loads(self.ok("head", "--raw", "-n", 1, plan + " | enumerate").stdout)[1]), ["base64"])
        mixed = f'concatenate({plan} | take(1), fixed_length("{self.write("bytes", "plain")}", 5))'
        self.assertEqual([json.loads(line) for line in self.ok("head", mixed).stdout.splitlines()], [first, "plain"])
        self.assertEqual(self.ok("head", self.write("blank.txt", "\ntwo\n")).stdout, '""\n"two"\n')
        texts = self.write("notes.txt", "one\ntwo\n")
        self.assertEqual(self.ok("head", texts).stdout, '"one"\n"two"\n')

    def test_head_and_count_read_tables_and_arrays_as_such(self):
        table, lines = self.write("q.csv", "a,b\n1,x\n2,\"y\nz\"\n"), self.write("q.jsonl", '{"a":1}\n\n{"a":2}\n')
        array = os.path.join(self.folder.name, "q.npy")
        self.ok("convert", "range(8)", array, "--quiet")
        counts = self.ok("count", table, lines, array).stdout.split()
        self.assertEqual(counts[::2], ["2", "2", "8", "12"])
        self.assertEqual(self.ok("head", table, "-n", 1).stdout, '{"a":1,"b":"x"}\n')
        self.assertEqual(self.ok("head", lines).stdout, '{"a":1}\n{"a":2}\n')
        self.assertEqual(self.ok("head", array, "-n", 3).stdout, "0\n1\n2\n")
        self.assertEqual(self.ok("select", "b", table, "--limit", 1).stdout, '{"b":"x"}\n')
        self.assertIn(f"""csv("{table}", header=true, parallelism=autotune)""", self.ok("explain", table).stdout)

    def test_a_plan_may_be_in_a_file_or_on_standard_input(self):
        text = "range(10)  # ten\n  | batch(4)\n"
        path = self.write("plan.sluice", text)
        for verb in (("head", "-f"), ("run", "--quiet", "--output", "jsonl", "--file")):
            self.assertEqual(self.ok(*verb, path).stdout, "[0,1,2,3]\n[4,5,6,7]\n[8,9]\n")
            self.assertEqual(piped(text.encode(), *verb, "-").stdout.decode(), "[0,1,2,3]\n[4,5,6,7]\n[8,9]\n")
        self.assertIn("batch(4)", self.ok("explain", "-f", path).stdout)
        self.assertEqual(self.ok("count", "-f", path).stdout, "3\n")

    def test_a_plan_may_be_json(self):
        text = "range(10) | batch(4) | map(length(it))"
        plan = self.ok("explain", "--json", text).stdout
        self.assertEqual(json.loads(plan)["op"], "map")
        path = self.write("plan.json", "\n " + plan)
        for given in ([plan], ["-f", path], ["@" + path], ["@" + self.write("plan.sluice", text + "\n")]):
            self.assertEqual(self.ok("run", "--quiet", "--output", "jsonl", *given).stdout, "4\n4\n2\n")
            self.assertEqual(self.ok("head", *given).stdout, "4\n4\n2\n")
            self.assertEqual(self.ok("count", *given).stdout, "3\n")
            self.assertEqual(self.ok("explain", *given).stdout, self.ok("explain", text).stdout)
        self.assertEqual(self.ok("convert", plan, "-", "--to", "jsonl", "--quiet").stdout, "4\n4\n2\n")
        self.assertIn("batch: has no siz", self.fails(2, "run", plan.replace("size", "siz")))
        self.assertIn(f"{self.write('bad.json', '{')}: ", self.fails(2, "run", "-f", os.path.join(self.folder.name, "bad.json")))
        self.assertIn("give --spec or --json, not both", self.fails(2, "explain", "--json", "--spec", text))

    def test_explain_shows_the_plan_as_it_runs_and_the_rules_that_made_it(self):
        plan = "range(99) | map(it + 1) | repeat(1) | take(9) | take(5) | shuffle(3, seed=1) | take(2)"
        as_in_cpp = ("--rule", "inject_prefetch=off", "--rule", "parallelize=off")
        said = self.ok("explain", plan, *as_in_cpp).stdout
        lines = said.splitlines()
        self.assertEqual([line.split("#")[0].strip("| ") for line in lines[:5]], ["range(99)", "take(5)", "map(it + 1)", "shuffle(3, seed=1)", "take(2)"])
        self.assertIn("; by merge_takes, push_take", lines[1])
        self.assertEqual(lines[5], "# push_take: take(2) stays after shuffle(3, seed=1): shuffle changes the order")
        written = self.ok("explain", "--written", plan).stdout
        self.assertEqual(written.splitlines()[-1], lines[-1])  # the fingerprint is that of the plan as written
        self.assertIn("repeat(1)", written)
        self.assertNotIn("; by ", written)
        self.assertEqual(self.ok("explain", "--no-optimize", plan).stdout, written)
        self.assertEqual(self.ok("explain", "--diff", plan, *as_in_cpp).stdout.splitlines(),
                         ["  range(99)", "- map(it + 1)", "- repeat(1)", "- take(9)", "  take(5)", "+ map(it + 1)", "  shuffle(3, seed=1)", "  take(2)"])
        self.assertIn("| map(it + 1)         # int64, 99 elements", self.ok("explain", "--rule", "push_take=off", plan, *as_in_cpp).stdout)
        known = json.loads(self.ok("explain", "--explain-json", plan, *as_in_cpp).stdout)
        self.assertEqual((known["written"], known["runs"]), (plan, "range(99) | take(5) | map(it + 1) | shuffle(3, seed=1) | take(2)"))
        self.assertEqual(known["stages"][0]["removed_after"], ["repeat(1)", "take(9)"])
        self.assertEqual([note["rule"] for note in known["refused"]], ["push_take"])
        back = self.ok("explain", said).stdout  # the plan that runs is plan text
        self.assertIn("| take(5)", back)
        rules = self.ok("explain", "--rules").stdout
        for rule in ("remove_noops", "merge_takes", "push_take", "merge_prefetches"):
            self.assertIn(rule, rules)
        self.assertIn("PLAN or --file", self.fails(2, "explain"))

    def test_the_program_works_ahead_where_nobody_can_observe_it(self):
        plan = "range(99) | map(it + 1) | batch(2)"
        lines = self.ok("explain", plan).stdout.splitlines()
        self.assertEqual([line.split("  #")[0].strip("| ") for line in lines[:4]], ["range(99)", "map(it + 1, parallelism=autotune)", "batch(2)", "prefetch"])
        self.assertIn("; by parallelize", lines[1])
        self.assertIn("; by inject_prefetch", lines[3])
        self.assertIn("# inject_prefetch: no prefetch at the end: sleep(1ms) paces its elements", self.ok("explain", plan + " | sleep(1ms)").stdout)
        self.assertNotIn("prefetch", self.ok("explain", "--no-optimize", plan).stdout)
        for options in ((), ("--no-optimize",), ("--rule", "inject_prefetch=off")):
            self.assertEqual(self.ok("run", "--quiet", "--output", "jsonl", plan + " | take(2)", *options).stdout, "[1,2]\n[3,4]\n")

    def test_explain_names_both_places_of_an_option_that_differs(self):
        plan = 'range(9) | with_options(cpu_budget=4, rules=["push_take=on"]) | with_options(cpu_budget=2, optimize=true)'
        said = self.ok("explain", plan, "--rule", "push_take=off", "--no-optimize").stdout
        outer, inner = "with_options(optimize=true, cpu_budget=2)", 'with_options(rules=["push_take=on"], cpu_budget=4)'
        for line in (f"# cpu_budget: {outer} decides, and not {inner} upstream of it",
                     f"# optimize: --no-optimize decides, and not {outer} in the plan",
                     f"# rule push_take: --rule push_take=off decides, and not {inner} in the plan"):
            self.assertIn(line, said.splitlines())
        self.assertNotIn("decides", self.ok("explain", plan).stdout.replace("# cpu_budget", "").replace("decides", "", 1))
        self.assertEqual(len(json.loads(self.ok("explain", "--explain-json", plan).stdout)["options"]), 1)

    def test_a_run_with_other_rules_yields_the_same_and_resumes_the_checkpoint(self):
        plan = "range(99) | map(it * 2) | repeat(1) | take(50) | take(7)"
        path = os.path.join(self.folder.name, "position")
        for save, resume in (([], ["--no-optimize"]), (["--no-optimize"], []), (["--rule", "merge_takes=off"], ["--rule=push_take=off"])):
            self.assertEqual(self.ok("run", plan, "--output", "jsonl", "--quiet", "--limit", "3", "--checkpoint", path, *save).stdout, "0\n2\n4\n")
            self.assertEqual(self.ok("run", plan, "--output", "jsonl", "--quiet", "--resume", path, *resume).stdout, "6\n8\n10\n12\n")
            os.remove(path)
        self.assertIn("NAME=on or NAME=off", self.fails(2, "run", plan, "--rule", "push_take"))
        self.assertIn("push_tke is no rule; the rules are remove_noops", self.fails(2, "run", plan, "--rule", "push_tke=off"))

    def test_a_plan_in_json_has_texts_that_are_not_utf8(self):
        text = os.fsdecode(b'range(2) | map("a\xff" + string(it))')
        path = self.write("plan.json", self.ok("explain", "--json", text).stdout)
        said = self.ok("run", "--quiet", "--output", "jsonl", "-f", path).stdout
        self.assertEqual(said, self.ok("run", "--quiet", "--output", "jsonl", text).stdout)
        self.assertEqual(len(said.splitlines()), 2)

    def test_an_error_in_a_plan_file_says_line_and_column(self):
        path = self.write("bad.sluice", "range(10)\n  | shuffl(5)\n")
        said = self.fails(2, "run", "-f", path)
        self.assertIn(f"{path}:2:5: there is no stage shuffl; did you mean shuffle?", said)
        self.assertIn("    | shuffl(5)\n      ^", sluice("run", "-f", path).stderr)
        self.assertIn("/: cannot read the plan: Is a directory", self.fails(2, "run", "-f", "/"))
        self.assertIn("no-such-file", self.fails(1, "run", "-f", os.path.join(self.folder.name, "no-such-file")))
        self.assertIn("give the plan as an argument or with --file, not both", self.fails(2, "run", "range(3)", "-f", path))

    def test_a_plan_file_without_end_is_not_read_for_ever(self):
        running = subprocess.Popen([PROGRAM, "run", "-f", "/dev/zero"], stderr=subprocess.PIPE, text=True)
        said = running.stderr.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        running.stderr.close()
        self.assertEqual((running.returncode, said), (2, "sluice: /dev/zero: has more than the 16777216 bytes that a plan may have\n"))
        self.assertLess(used.ru_maxrss, 300 << 10)   # KiB, sanitizers included

    def test_what_is_dropped_is_kept_and_can_be_looked_at(self):
        path, first = self.damaged_file()
        kept, lines = self.path("bad.tfrecord"), self.path("bad.jsonl")
        for _ in range(2):   # nothing is doubled by a second run
            self.ok("run", f'tfrecord("{path}")', "--on-error", "skip", "--quarantine", kept, "--output", "null")
            self.ok("run", f'tfrecord("{path}", on_error=skip, quarantine="{lines}")', "--output", "null")
            shown = lines_of(self.ok("cat", kept))
            self.assertEqual([(e["file"], e["record"], e["code"], e["offset"]) for e in shown], [(path, 1, "data_loss", first)])
            run = ("plan", "position", "seed", "delivered")   # differ from run to run
            entries = [{k: v for k, v in e.items() if k not in run} for e in shown]
            of_lines = [json.loads(line) for line in pathlib.Path(lines).read_text().splitlines()]
            self.assertEqual([{k: v for k, v in e.items() if k not in run} for e in of_lines], entries)
            self.assertTrue(all(k in e for k in run for e in shown + of_lines))
        self.assertIn("add --on-error skip", self.fails(2, "run", f'tfrecord("{path}")', "--quarantine", kept))
        self.assertIn("the plan reads it", self.fails(2, "run", f'tfrecord("{path}")', "--on-error", "skip", "--quarantine", path, "--quiet"))

    def test_verify_takes_a_compression_and_sums_up(self):
        done = self.ok("verify", *self.files)
        self.assertEqual(done.stdout.splitlines()[-1], "3 files: 3 sound, 0 damaged, 0 not read; 30 sound records of 4.92 kB")
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()[:-1]], self.files)
        insisted = sluice("verify", "--compression", "gzip", self.files[0])
        self.assertEqual(insisted.returncode, 1)
        self.assertIn("gzip", insisted.stderr)

    def test_counts_that_mean_nothing_are_refused(self):
        for plan, words in {"range(5) | take(-7)": "at least 0, or -1 for all, and is -7", "range(5) | skip(-2)": "at least 0",
                            "range(5) | repeat(-3)": "at least 0"}.items():
            self.assertIn(words, self.fails(2, "explain", plan))
        self.assertIn("a whole number of 0 or more, such as", self.fails(2, "head", "-n", "-5", "range(3)"))
        self.assertEqual(self.ok("head", "range(5) | take(-1) | skip(3)").stdout, "3\n4\n")

    def test_sizes_have_binary_and_decimal_units(self):
        for size, printed in {"64K": "64KiB", "64KiB": "64KiB", "1M": "1MiB", "64KB": "64000", "2MB": "2000000"}.items():
            self.assertIn(f"read_bytes={printed}", self.ok("explain", f'lines("a", read_bytes={size})').stdout)

    def completed(self, *words):
        """What bash offers for the last of the words, in a folder with two files."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name in ("a file", "plan"):
            with open(os.path.join(folder.name, name), "w"):
                pass
        ask = self.ok("completion", "bash").stdout + '\nset -u\nCOMP_WORDS=(sluice "$@"); COMP_CWORD=$#; _sluice; printf "%s\\n" ${COMPREPLY[@]+"${COMPREPLY[@]}"}'
        done = subprocess.run(["bash", "-c", ask, "bash", *words], capture_output=True, text=True, cwd=folder.name, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in done.stdout.split("\n") if line]

    def test_every_verb_is_listed(self):
        """In the help of the program, and where a verb is missing or mistyped."""
        verbs = {word for word in self.completed("") if not word.startswith("-")}
        self.assertLessEqual({"head", "run", "cache", "man"}, verbs)
        listed = re.findall(r"^  ([a-z]+) ", self.ok("--help").stdout, re.M)
        self.assertEqual(set(listed) - {"sluice"}, verbs)
        for typed in ([], ["xyzzy"]):
            message = self.fails(2, *typed)
            self.assertEqual(set(re.search(r"the verbs are (.*?);", message)[1].split(", ")), verbs, message)

    def test_completion_knows_verbs_options_and_their_values(self):
        files = ["a file", "plan"]
        for words, offered in (
                (["ver"], ["verify"]), (["run", "--mem"], ["--memory-budget"]), (["run", "--on-error", "s"], ["stop", "skip"]),
                (["run", "--io", ""], ["auto", "uring", "threads"]), (["run", "range(3)", "--changed-inputs", "w"], ["warn"]),
                (["verify", "--compression", ""], ["automatic", "none", "gzip", "zlib", "zstd", "lz4", "snappy", "snappy_blocks", "bzip2", "xz"]), (["verify", ""], files),
                (["completion", ""], ["bash", "zsh", "fish"]), (["completion", "z"], ["zsh"]), (["man", ""], []), (["ops", ""], []),
                (["run", "--limit", ""], []), (["run", ""], []), (["run", "--checkpoint", "p"], ["plan"]), (["head", "a"], ["a file"]),
                (["run", "-f", ""], files), (["select", "a,b", ""], files), (["run", "--output", "j"], ["jsonl", "jsonl:"]),
                # As bash parts the words, and as zsh does not.
                (["run", "--io", "=", "u"], ["uring"]), (["run", "--io", "="], ["auto", "uring", "threads"]), (["run", "--io=u"], ["--io=uring"]),
                (["run", "--output", "jsonl", ":"], files), (["run", "--output", "jsonl", ":", "p"], ["plan"]),
                (["run", "--output", "jsonl:p"], ["jsonl:plan"]), (["run", "--output=raw:p"], ["--output=raw:plan"])):
            with self.subTest(words=words):
                self.assertEqual(self.completed(*words), offered)

    def test_completion_within_a_plan_offers_what_the_program_can_run(self):
        self.assertEqual(self.completed("run", "'range(5) | shu"), ["'range(5) | shuffle"])
        self.assertEqual(self.completed("run", "--io", "uring", "\"range(5) | take(3)|pre"), ["\"range(5) | take(3)| prefetch"])
        self.assertEqual(self.completed("head", "'tfr"), ["'tfrecord"])
        needs_program = {line.split()[0] for line, more in self.operators() if more.endswith("  C++")}
        self.assertLessEqual({"from_elements", "generate", "transform"}, needs_program)
        offered = {word[1:] for word in self.completed("run", "'")} | {word.rsplit(" ", 1)[1] for word in self.completed("run", "'range(5) | ")}
        self.assertEqual(offered, {line.split()[0] for line, _ in self.operators()} - needs_program)
        for shell in ("zsh", "fish"):
            for name in ("from_elements", "generate", "transform"):
                self.assertNotIn(name, self.ok("completion", shell).stdout)

    def operators(self):
        lines = self.ok("ops").stdout.split("\n\n")[0].splitlines()
        return list(zip(lines[::2], lines[1::2]))

    def test_completion_scripts_are_scripts_of_their_shells(self):
        for shell, check in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
            script = self.write("script", self.ok("completion", shell).stdout)
            self.assertIn("verify", open(script).read())
            if shutil.which(shell):
                self.assertEqual(subprocess.run([shell, check, script], capture_output=True, text=True, timeout=60).stderr, "")
        fish = self.ok("completion", "fish").stdout
        for line in ("run' -l on-error -r -f -a 'stop skip'", "verify' -l compression -r -f -a 'automatic none gzip zlib zstd lz4 snappy snappy_blocks bzip2 xz'",
                     "completion' -f -a 'bash zsh fish'", "man' -f\n", "run' -l limit -r -f -d", "run' -l checkpoint -r -F -d"):
            self.assertIn(line, fish)
        self.assertIn("csh", self.fails(2, "completion", "csh"))

    def test_the_manual_page_has_every_verb_and_stage(self):
        page = self.ok("man").stdout
        for line in self.ok("ops").stdout.splitlines():
            if line and not line.startswith(" ") and "C++:" not in line and "registers" not in line and not line.startswith(("Every call", "Other names", "errors_max=", "Functions ")):
                self.assertIn(f"\\fB{line.split()[0]}\\fR", page)
        for verb in ("run", "head", "count", "select", "verify", "completion"):
            self.assertIn(f".SS {verb}\n", page)

    def test_errors_are_bold_on_a_terminal_unless_no_color_is_set(self):
        def said(**more):
            master, slave = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | more
            subprocess.run([PROGRAM, "explain", "range("], stderr=slave, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment)
            os.close(slave)
            text = os.read(master, 4096).decode()
            os.close(master)
            return text
        self.assertIn("\x1b[1;31m", said())
        self.assertNotIn("\x1b", said(NO_COLOR="1"))
        self.assertNotIn("\x1b", said(TERM="dumb"))


if __name__ == "__main__":
    main()
