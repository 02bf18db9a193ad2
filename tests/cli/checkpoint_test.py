# SPDX-License-Identifier: Apache-2.0
"""`sluice checkpoint`: a checkpoint in words, differences, and other numbers of consumers."""
import json

from program import ProgramTest, main

PLAN = "range(100) | shuffle(10, seed=1) | shard({n}, {i}) | batch(4)"


class Checkpoints(ProgramTest):
    def elements(self, *arguments):
        return [x for line in self.ok("run", *arguments, "--output", "jsonl", "--quiet").stdout.splitlines() for x in json.loads(line)]

    def test_reshard(self):
        at = self.folder.name
        got = []
        for i in range(2):
            got += self.elements(PLAN.format(n=2, i=i), "--seed", "7", "--limit", str(3 + i), "--checkpoint", f"{at}/{i}.ckpt")
        names = self.ok("checkpoint", "reshard", f"{at}/0.ckpt", f"{at}/1.ckpt", "--plan", PLAN.format(n=2, i=1), "--to", "3", "-o",
                        f"{at}/next").stdout
        self.assertEqual(names.splitlines()[2], f"{at}/next/00002-of-00003.ckpt: shard(3, 2)")
        for i in range(3):
            got += self.elements(PLAN.format(n=3, i=i), "--resume", f"{at}/next/0000{i}-of-00003.ckpt")
        self.assertEqual(sorted(got), list(range(100)))
        self.assertIn("shard(2, 1) is missing", self.fails(1, "checkpoint", "reshard", f"{at}/0.ckpt", "--plan", PLAN.format(n=2, i=0), "--to", "3",
                                                            "-o", at))

    def test_show_and_diff(self):
        at = self.folder.name
        plan = PLAN.format(n=2, i=0)
        for n in (3, 4):
            self.ok("run", plan, "--seed", "7", "--limit", str(n), "--output", "null", "--checkpoint", f"{at}/{n}.ckpt")
        shown = self.ok("checkpoint", "show", f"{at}/3.ckpt", "--plan", plan).stdout
        self.assertIn(f"plan: {plan}\nseed: 7\n", shown)
        self.assertIn("position: batch(4): element 3 is next", shown)
        self.assertIn("another plan", self.fails(1, "checkpoint", "show", f"{at}/3.ckpt", "--plan", "range(3)"))
        self.ok("checkpoint", "diff", f"{at}/3.ckpt", f"{at}/3.ckpt")
        with open(f"{at}/text", "w", encoding="utf-8") as file:
            file.write("no checkpoint\n")
        self.assertIn("no checkpoint", self.fails(1, "checkpoint", "show", f"{at}/text"))
        self.assertIn("checkpoint reshard needs the plan", self.fails(2, "checkpoint", "reshard", f"{at}/3.ckpt"))
        self.assertIn("two files", self.fails(2, "checkpoint", "diff", f"{at}/3.ckpt"))


if __name__ == "__main__":
    main()
