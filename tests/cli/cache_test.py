# SPDX-License-Identifier: Apache-2.0
"""Caches in files: what later runs read, also after a kill; `sluice cache`."""
import json
import os
import re
import signal
import subprocess
import time

from program import PROGRAM, ProgramTest, main, sluice


class Cache(ProgramTest):
    def plan(self, name, option="", source="range(3000)"):
        return f'{source} | map(it * it) | cache("{self.folder.name}/{name}"{option})'

    def elements(self, plan, *options):
        return [int(line) for line in self.ok("run", plan, "--output", "jsonl", "--quiet", *options).stdout.split()]

    def test_show_verify_and_drop(self):
        self.assertEqual(self.elements(self.plan("a")), [x * x for x in range(3000)])
        shown = self.ok("cache", "show", f"{self.folder.name}/a").stdout
        self.assertIn("elements of type: int64\n", shown)
        self.assertRegex(shown, r"^plan: range\(3000\) \| map\(it \* it")
        self.assertRegex(shown, r"elements: 3000 of 3000, in \d+ blocks of \d+ bytes together\n$")
        self.assertRegex(self.ok("cache", "verify", f"{self.folder.name}/a").stdout, r": 3000 elements in \d+ blocks, no problems found\n$")
        self.assertEqual(self.elements(self.plan("a")), [x * x for x in range(3000)])
        with open(f"{self.folder.name}/a", "r+b") as file:
            file.seek(-60, os.SEEK_END)
            file.write(b"\x55\xaa")
        self.assertIn("the checksum of a block", self.fails(1, "cache", "verify", f"{self.folder.name}/a"))
        self.ok("cache", "drop", f"{self.folder.name}/a")
        self.assertFalse(os.path.exists(f"{self.folder.name}/a"))
        with open(f"{self.folder.name}/text", "w") as file:
            file.write("not a cache\n")
        for action in ("show", "verify", "drop"):
            self.assertIn("is no cache of sluice: cache(\"PATH\") in a plan writes one", self.fails(2, "cache", action, f"{self.folder.name}/text"))
            self.assertIn("cannot be opened", self.fails(1, "cache", action, f"{self.folder.name}/none"))
        self.assertTrue(os.path.exists(f"{self.folder.name}/text"))

    def test_another_plan_is_refused_with_both_and_replaced_on_request(self):
        self.elements(self.plan("b"))
        message = self.fails(1, "run", self.plan("b", source="range(5)"))
        self.assertIn("another plan, `range(3000) | map(it * it", message)
        self.assertIn("this one is `range(5) | map(it * it", message)
        self.assertEqual(self.elements(self.plan("b", ", on_mismatch=rebuild", "range(5)")), [0, 1, 4, 9, 16])
        self.assertEqual(self.elements(self.plan("b", source="range(5)")), [0, 1, 4, 9, 16])

    def test_a_killed_run_leaves_its_blocks_and_no_lock(self):
        plan = self.plan("c", source="range(3000) | sleep(1ms)")
        with subprocess.Popen([PROGRAM, "run", plan, "--quiet"], stderr=subprocess.DEVNULL) as killed:
            while not os.path.exists(f"{self.folder.name}/c") or os.path.getsize(f"{self.folder.name}/c") < 2000:
                self.assertIsNone(killed.poll())
                time.sleep(0.01)
            self.assertIn("another process writes this cache", self.fails(75, "cache", "drop", f"{self.folder.name}/c"))
            killed.send_signal(signal.SIGKILL)
        kept = self.ok("cache", "show", f"{self.folder.name}/c").stdout
        self.assertRegex(kept, r"elements: [1-9]\d*, and perhaps more to come")
        self.assertEqual(self.elements(plan), [x * x for x in range(3000)])
        self.assertRegex(self.ok("cache", "show", f"{self.folder.name}/c").stdout, "elements: 3000 of 3000")

    def test_another_writer_is_waited_for_or_refused(self):
        for order in ("", ", parallelism=2, order=sloppy"):
            cache, pipe, report = (self.path(f"{name}{len(order)}") for name in ("cache", "pipe", "report"))
            os.mkfifo(pipe)
            source = f'lines("{pipe}") | map(length(it){order})'  # only the writer can read it
            expected = [n % 50 for n in range(1500)]
            with subprocess.Popen([PROGRAM, "run", f'{source} | cache("{cache}")', "--quiet"]) as writer, open(pipe, "w") as lines:
                lines.writelines("x" * n + "\n" for n in expected[:1200])
                lines.flush()
                while not re.search(r"elements: [1-9]", sluice("cache", "show", cache).stdout):
                    self.assertIsNone(writer.poll())
                    time.sleep(0.01)
                message = self.fails(75, "run", f'{source} | cache("{cache}", other_writer=fail)')
                self.assertIn("another process writes this cache, and has not written element ", message)
                self.assertIn("write other_writer=wait or other_writer=compute", message)
                waits = [PROGRAM, "run", f'{source} | cache("{cache}", other_writer=wait)', "--output", "jsonl", "--quiet", "--report", f"json:{report}"]
                with subprocess.Popen(waits, stdout=subprocess.PIPE, text=True) as waiter:
                    if not order:
                        self.assertEqual(waiter.stdout.readline(), "0\n")  # what is there is read at once
                    lines.writelines("x" * n + "\n" for n in expected[1200:])
                    lines.close()
                    got = waiter.stdout.read().split()
                self.assertEqual((writer.wait(), waiter.returncode), (0, 0))
            self.assertEqual(sorted(map(int, got)), sorted(expected if order else expected[1:]))
            with open(report) as file:
                stages = json.load(file)["run"]["stages"]
            self.assertEqual(sum(s["elements"] for s in stages if s["name"].startswith(("lines", "map"))), 0)
            self.assertEqual(len(self.elements(f'{source} | cache("{cache}")')), 1500)


if __name__ == "__main__":
    main()
