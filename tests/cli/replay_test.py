# SPDX-License-Identifier: Apache-2.0
"""`sluice replay`: a dropped element again, from the entry of a quarantine alone."""
import json
import pathlib

from program import ProgramTest, main, sluice


class Replay(ProgramTest):
    def dropped(self, plan, name="bad.jsonl", *options):
        path = f"{self.folder.name}/{name}"
        self.ok("run", plan, "--on-error", f"quarantine:{path}", "--output", "null", *options)
        return path

    def replayed(self, entry, *options, status=1):
        done = sluice("replay", entry, *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status != 2 else done.stderr

    def test_the_steps_of_one_element(self):
        for name in ("bad.jsonl", "bad.tfrecord"):
            path = self.dropped("range(50) | map(it * 10) | shuffle(9) | map(1 / (it - 30)) | batch(4) | prefetch(2)", name)
            lines = self.replayed(f"{path}#0").splitlines()
            self.assertEqual(lines[0], "plan: range(50) | map(it * 10) | shuffle(9) | map(1 / (it - 30)) | batch(4) | prefetch(2)")
            stages = [line for line in lines[2:-1] if not line.startswith(" ")]
            self.assertEqual(stages, ["range", "map(it * 10)", "shuffle", "map(1 / (it - 30))"])
            self.assertIn("  left:    element 3: 30", lines)
            self.assertIn("  failed:  invalid_argument: 1 / 0: division by zero", lines)
            self.assertEqual(lines[-1], "the element has failed again, with the same error")

    def test_runs_on_two_workers_and_resumed_ones(self):
        plan = "range(60000) | shuffle(50) | map(1 / (it % 10000), parallelism=4) | prefetch(8)"
        path = self.dropped(plan, "bad.jsonl", "--limit", "30000", "--checkpoint", f"{self.folder.name}/c", "--workers", "2")
        self.ok("run", plan, "--on-error", f"quarantine:{path}", "--output", "null", "--resume", f"{self.folder.name}/c", "--workers", "2")
        entries = pathlib.Path(path).read_text().splitlines()
        self.assertEqual(len(entries), 6)
        for k in range(6):
            self.assertIn("with the same error", self.replayed(f"{path}#{k}", "--workers", "2"))

    def test_a_mended_element_another_error_and_a_changed_file(self):
        data = pathlib.Path(self.folder.name, "a.txt")
        data.write_text("1\nx\n3\n")
        path = self.dropped(f'lines("{data}") | map(to_number(it))')
        self.assertIn("same error", self.replayed(f"{path}#0"))
        data.write_text("1\nyy\n3\n")
        self.assertIn("changed", self.replayed(f"{path}#0", status=2))
        self.assertIn("with another error", self.replayed(f"{path}#0", "--changed-inputs", "ignore"))
        data.write_text("1\n22\n3\n")
        self.assertIn("does not fail any more", self.replayed(f"{path}#0", "--changed-inputs", "ignore", status=0))
        data.rename(data.with_name("b.txt"))
        self.assertEqual(sluice("replay", f"{path}#0").returncode, 1)  # the file is missing

    def test_what_cannot_be_replayed(self):
        path = self.dropped("range(3) | map(1 / it)")
        self.assertIn("#0'", self.replayed(path, status=2))
        self.assertIn("one entry, with number 0", self.replayed(f"{path}#1", status=2))
        other = pathlib.Path(self.folder.name, "other.jsonl")
        other.write_text('{"x":1}\n')
        self.assertIn("no file of bad elements", self.replayed(f"{other}#0", status=2))
        entry = json.loads(pathlib.Path(path).read_text())
        for change, text in ({"plan": "range(3) | map(unknown_function)"}, "cannot be read"), ({"plan": "range(4) | map(1 / it)"}, "another plan"), \
                ({"plan": ""}, "no plan"), ({"position": "x"}, "no checkpoint"):
            other.write_text(json.dumps({**entry, **change}, separators=(",", ":")) + "\n")
            self.assertIn(text, sluice("replay", f"{other}#0").stderr)
        del entry["position"]
        other.write_text(json.dumps(entry, separators=(",", ":")) + "\n")
        self.assertIn("no position", self.replayed(f"{other}#0", status=2))
        self.assertIn("another plan", self.replayed(f"{path}#0", "--plan", "range(9)", status=2))


if __name__ == "__main__":
    main()
