# SPDX-License-Identifier: Apache-2.0
"""sluice splits: the printed plans yield the elements of the plan, and the cut is shown."""
import json
import pathlib
import shlex

from program import ProgramTest, lines_of, main, sluice


def plans_of(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


class Splits(ProgramTest):
    def test_the_printed_plans_yield_the_elements_of_the_plan(self):
        for name in "abc":
            with open(self.path(f"{name}.txt"), "w") as file:
                file.write("".join(f"{name}{i}\n" for i in range(5)))
        files = f'list_files("{self.path("*.txt")}") | flat_map(lines)'
        for plan, options in (("range(30) | filter(it % 4 != 0) | map(it * 2)", ["--splits", 3]), ("zip(range(9), range(9)) | enumerate", ["--split-elements", 2]),
                              (files, []), (files, ["--split-bytes", "20"]), ("range(5) | map(it + random(100))", ["--seed", 4])):
            with self.subTest(plan=plan):
                made = []
                for line in plans_of(self.ok("splits", plan, *options).stdout):
                    one, _, how = line.partition("  # ")
                    made += lines_of(self.ok("run", one, "--output", "jsonl", *shlex.split(how)))
                seed = ["--seed", 4] if "--seed" in options else []
                self.assertEqual(made, lines_of(self.ok("run", plan, "--output", "jsonl", *seed)))

    def test_a_split_that_draws_yields_the_same_again(self):
        text = self.ok("splits", "range(40) | filter(random() < 0.5)", "--splits", 2).stdout
        self.assertIn("# random draws, or groups, are those of each split", text)
        seen = set()
        for line in plans_of(text):
            one, _, how = line.partition("  # ")
            first, again = (self.ok("run", one, "--output", "jsonl", *shlex.split(how)).stdout for _ in range(2))
            self.assertEqual(first, again)
            seen.add(tuple(int(x) % 20 for x in first.split()))
        self.assertEqual(len(seen), 2)

    def test_a_file_is_not_divided(self):
        pathlib.Path(self.path("a.txt")).write_text("1\n2\n3\n")
        text = self.ok("splits", f'lines("{self.path("a.txt")}") | map(length(it))', "--splits", 3).stdout
        self.assertIn("# 1 split", text)
        self.assertIn("# fewer than 3: only numbers", text)
        self.assertNotIn("fewer", self.ok("splits", "range(3)", "--splits", 3).stdout)

    def test_json_has_the_cut_and_the_splits(self):
        shown = json.loads(self.ok("splits", "--json", "zip(range(9) | filter(it > 1), range(4)) | batch(2)", "--splits", 2).stdout)
        self.assertEqual(shown["client"], "zip(splits(0), splits(1)) | batch(2)")
        self.assertEqual([stage["stage"] for stage in shown["client_stages"]][1], "batch(2)")
        self.assertEqual([split["plan"] for split in shown["streams"][1]["splits"]], ["range(4) | take(2)", "range(4) | skip(2) | take(2)"])

    def places(self, plan):
        """The stages of a plan, each with the place that explain names."""
        text = self.ok("explain", "--splits", plan).stdout
        return [tuple(part.strip("| ") for part in line.split("  # ")) for line in text.splitlines() if not line.startswith("#")], text

    def test_explain_shows_what_runs_upstream_and_downstream_of_distribute(self):
        stages, _ = self.places("range(10) | map(it * 2) | batch(2) | distribute(splits=3) | take(2)")
        self.assertEqual([place.split(":")[0] for _, place in stages], ["workers", "workers", "workers", "client", "client"])
        stages, text = self.places("range(10) | filter(it > 2) | batch(2) | distribute(splits=3) | take(2)")
        self.assertEqual([place.split(":")[0] for _, place in stages], ["workers", "workers", "client", "client", "client"])
        self.assertNotIn("cannot", text)
        stages, _ = self.places("range(10) | distribute(mode=off, workers=2) | take(2)")
        self.assertEqual([place for _, place in stages], ["workers, mode=off", "client", "client"])
        stages, _ = self.places("zip(range(3) | distribute(), range(3)) | batch(2)")
        self.assertEqual([place.split(":")[0] for _, place in stages], ["client", "client"])

    def test_explain_reports_what_a_run_refuses(self):
        for plan in ("range(3) | map(it, order=sloppy) | distribute()", "range(3) | map(it, order=sloppy) | distribute(mode=off)"):
            with self.subTest(plan=plan):
                self.assertIn("sloppy", self.fails(1, "run", plan))
                self.assertRegex(self.places(plan)[1], r"\n# .*sloppy order")

    def test_splits_are_those_of_the_plan_upstream_of_distribute(self):
        text = self.ok("splits", "range(12) | filter(it > 2) | distribute(splits=3) | take(2)").stdout
        self.assertIn("# 3 splits", text)
        self.assertIn("# of the plan upstream of distribute(splits=3)", text)
        self.assertEqual(plans_of(text)[0], "range(12) | take(4) | filter(it > 2)")
        self.assertIn("# 2 splits", self.ok("splits", "range(12) | distribute(splits=3)", "--splits", 2).stdout)
        self.assertIn("has no splits", self.fails(2, "splits", "range(12) | distribute(mode=off)"))
        self.assertIn("in an input of a stage", self.fails(2, "splits", "zip(range(3) | distribute(), range(3))"))

    def test_a_refusal_shows_the_stage_in_the_plan(self):
        file = self.path("plan.txt")
        pathlib.Path(file).write_text("range(30)  # map(it)\n  | map(it * 2)\n  | map(it, order=sloppy)\n  | batch(2)\n")
        message = sluice("splits", "-f", file).stderr
        self.assertIn(f"{file}:3:5: the plan cannot be split: map(it, order=sloppy) delivers in sloppy order", message)
        self.assertTrue(message.endswith("\n    | map(it, order=sloppy)\n      ^\n"), message)
        message = sluice("splits", "range(3) | map(it, order=sloppy)").stderr
        self.assertIn("column 12: the plan cannot be split", message)
        self.assertTrue(message.endswith("\n  range(3) | map(it, order=sloppy)\n             ^\n"), message)

    def test_a_run_shows_the_stage_that_prevents_splits_as_splits_does(self):
        file = self.path("plan.txt")
        pathlib.Path(file).write_text("range(30)\n  | map(it, order=sloppy)\n  | distribute(workers=2)\n")
        run, splits = (sluice(verb, "-f", file).stderr for verb in ("run", "splits"))
        self.assertIn(f"{file}:2:5: the plan cannot be split: map(it, order=sloppy)", run)
        self.assertEqual(run, splits)
        message = sluice("run", "range(3) | map(it, order=sloppy) | distribute(workers=2)").stderr
        self.assertTrue(message.endswith("\n             ^\n"), message)

    def test_more_literals_than_a_plan_writes_down_are_refused_with_the_limit(self):
        for n, status in ((7281, 0), (7282, 1)):  # of 9 bytes, in 64 KiB
            pathlib.Path(self.path("plan.txt")).write_text(f"from_tensor_slices({list(range(n))}) | distribute(workers=2)")
            done = sluice("run", "-f", self.path("plan.txt"), "--output", "null")
            self.assertEqual(done.returncode, status, done.stderr[:1000])
        self.assertIn("from_tensor_slices holds data that cannot be written down: a plan contains at most 64 KiB of literals in one stage, "
                      "where a number takes 9 bytes, and no elements of the program; write the elements to a file, and read that", done.stderr)
        self.assertNotIn("SLUICE_FUNCTION", done.stderr)

    def test_what_cannot_be_split_is_refused(self):
        for words, status, why in ((["range(3) | map(it, order=sloppy)"], 1, "sloppy order"), (['lines("-")'], 1, "standard input"),
                                   (["range(3)", "--splits", 2, "--split-bytes", 9], 2, "not both"), (["range(3)", "--splits", 0], 2, "--splits"),
                                   (["range(1000000000000)", "--split-elements", 1], 1, "more than 1000000 splits"),
                                   (["range(3)", "--visitation", "twice"], 2, "exactly_once"), ([], 2, "PLAN or --file"),
                                   ([f'list_files("{self.path("none*")}") | flat_map(lines)'], 1, "no file matches")):
            done = sluice("splits", *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(why, done.stderr)
        self.assertIn("# the plan cannot be split", self.ok("explain", "--splits", 'lines("-")').stdout)
        self.assertEqual(plans_of(self.ok("splits", "range(4) | repeat(0) | shuffle(2)").stdout), [])


if __name__ == "__main__":
    main()
