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

    def test_errors(self):
        at = self.folder.name
        self.ok("run", "range(9)", "--output", "null", "--checkpoint", f"{at}/c")
        self.assertIn("sluice checkpoint diff A B", self.fails(2, "compare", f"{at}/c", f"{at}/c"))
        self.assertIn("10 / (5 - it)", self.fails(1, "compare", "range(9) | map(10 / (5 - it))", "range(9) | map(10 / (5 - it))"))
        self.assertIn("no manifest", self.fails(1, "compare", at, at))


if __name__ == "__main__":
    main()
