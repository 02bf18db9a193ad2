# SPDX-License-Identifier: Apache-2.0
"""`sluice compare`: the first element in which two plans, files or folders differ."""
from program import ProgramTest, main, sluice


class Compare(ProgramTest):
    def test_equal_outputs_in_several_formats_and_numbers_of_threads(self):
        at = self.folder.name
        plan = "range(3000) | shuffle(50, seed=1) | map({n: it, s: string(it)})"
        self.ok("run", plan, "--output", f"{at}/a.jsonl", "--workers", "1")
        self.ok("run", plan, "--output", f"csv:{at}/b/", "--shards", "3", "--workers", "2")
        same = self.ok("compare", f"{at}/a.jsonl", f"{at}/b").stdout
        self.assertRegex(same, r"^the same 3000 elements in the same order; digest of their texts [0-9a-f]{16}\n$")
        for parallelism in (1, 4, 16):
            other = f"range(3000) | shuffle(50, seed=1) | map({{n: it, s: string(it)}}, parallelism={parallelism}) | prefetch(8)"
            self.assertEqual(self.ok("compare", plan, other, "--workers", "2").stdout, same)
        self.assertEqual(self.ok("compare", "range(99) | shuffle(9)", "range(99) | shuffle(9)", "--seed", "4").stdout[:11], "the same 99")

    def test_the_first_difference(self):
        done = sluice("compare", "range(900) | map(it * it)", "range(900) | map(if(it == 700, 0, it * it))")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (1, "element 700 is the first that differs"))
        self.assertTrue(done.stdout.splitlines()[1].endswith(": 490000"), done.stdout)
        done = sluice("compare", "range(3)", "range(300)")
        self.assertEqual(done.stdout, "element 3 is the first that differs\nrange(3): ends after 3 elements\nrange(300): 3\n")
        done = sluice("compare", "range(0)", "range(0)")
        self.assertIn("the same 0 elements", done.stdout)

    def test_reports_and_checkpoints_of_runs(self):
        at = self.folder.name
        plan = "range(3000) | shuffle(50, seed=1) | map({n: it, s: string(it)}) | batch(3)"
        for workers in ("1", "2"):
            self.ok("run", plan, "--output", "null", "--workers", workers, "--order-fingerprint", "--limit", "900", "--report",
                    f"json:{at}/{workers}.json", "--checkpoint", f"{at}/{workers}.ckpt")
        same = self.ok("compare", f"{at}/1.json", f"{at}/2.json").stdout
        self.assertRegex(same, r"^the same 900 elements in the same order; order fingerprint [0-9a-f]{16}\n$")
        self.assertEqual(self.ok("compare", f"{at}/1.ckpt", f"{at}/2.json").stdout, same)
        self.assertIn(f"order fingerprint: {same.split()[-1]}, of 900 elements; of 2700 rows", self.ok("checkpoint", "show", f"{at}/1.ckpt").stdout)
        text = self.ok("run", plan, "--output", "null", "--order-fingerprint").stderr
        self.ok("run", plan, "--output", "null", "--resume", f"{at}/1.ckpt", "--report", f"json:{at}/rest.json")  # without the option
        rest = sluice("compare", f"{at}/1.json", f"{at}/rest.json")
        self.assertEqual((rest.returncode, rest.stdout.splitlines()[0]), (1, "the first 896 elements are the same"))
        self.assertIn(rest.stdout.splitlines()[2].removeprefix(f"{at}/rest.json: "), text)
        self.ok("run", plan.replace("string(it)", 'if(it == 700, "", string(it))'), "--output", "null", "--order-fingerprint", "--report",
                f"json:{at}/other.json")
        other = sluice("compare", f"{at}/rest.json", f"{at}/other.json")
        self.assertEqual((other.returncode, other.stdout.splitlines()[0]), (1, "the first difference is among the elements 240 to 255"))
        self.ok("run", plan.replace("seed=1", "seed=2").replace(" | batch(3)", ""), "--output", "null", "--order-fingerprint", "--report",
                f"json:{at}/b.json")
        self.ok("run", plan.replace(" | batch(3)", ""), "--output", "null", "--order-fingerprint", "--report", f"json:{at}/a.json")
        self.assertIn("the same elements, in different orders", sluice("compare", f"{at}/a.json", f"{at}/b.json").stdout)
        self.assertIn("is no report or checkpoint", self.fails(2, "compare", f"{at}/a.json", "range(3)"))
        self.ok("run", "range(9)", "--output", "null", "--report", f"json:{at}/none.json")
        self.assertIn("none.json is a report without an order fingerprint", self.fails(2, "compare", f"{at}/a.json", f"{at}/none.json"))
        with open(f"{at}/a.json", encoding="utf-8") as file:
            report = file.read()
        with open(f"{at}/a.json", "w", encoding="utf-8") as file:
            file.write(report.replace('"ordered":"', '"ordered":"x'))
        self.assertIn("the report is damaged", self.fails(1, "compare", f"{at}/a.json", f"{at}/b.json"))

    def test_errors(self):
        at = self.folder.name
        self.ok("run", "range(9)", "--output", "null", "--checkpoint", f"{at}/c")
        self.assertIn("sluice checkpoint diff A B", self.fails(2, "compare", f"{at}/c", f"{at}/c"))
        self.assertIn("10 / (5 - it)", self.fails(1, "compare", "range(9) | map(10 / (5 - it))", "range(9) | map(10 / (5 - it))"))
        self.assertIn("a folder that --output DIR/ has written is compared as a whole", self.fails(2, "compare", at, at))


if __name__ == "__main__":
    main()
