# SPDX-License-Identifier: Apache-2.0
"""cache("s3://…"): blocks in objects, one writer by a lease, and `sluice cache` for them."""
import os
import re
import signal
import subprocess
import time

from bucket import BucketTest
from program import PROGRAM, main

PATH = "s3://bucket/c/train.cache"


def plan(source="range(3000) | map(it * it)", option=""):
    return f'{source} | cache("{PATH}"{option})'


class ObjectCache(BucketTest):
    def elements(self, text, *options):
        return [int(line) for line in self.ok_there("run", text, "--output", "jsonl", "--quiet", *options).stdout.split()]

    def fails_there(self, code, *arguments):
        done = self.run_there(*arguments)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        return done.stderr

    def keys(self, pattern):
        return [key for key in sorted(self.store.objects) if re.fullmatch(f"c/train.cache/{pattern}", key)]

    def blocks(self):
        return self.keys(r"[0-9a-f]{16}/\d{20}")

    def lease(self):
        return self.store.objects["c/train.cache/lease"].decode()

    def start(self, text):
        return subprocess.Popen([PROGRAM, "run", text, "--quiet"], env=self.environment, stderr=subprocess.DEVNULL)

    def test_later_runs_read_the_blocks_and_make_only_the_rest(self):
        squares = [x * x for x in range(3000)]
        self.assertEqual(self.elements(plan() + " | take(1500)"), squares[:1500])
        first = {key: self.store.objects[key] for key in self.blocks()}
        self.assertGreater(len(first), 1)  # also the block in progress
        self.assertIn("free", self.lease())
        self.assertRegex(self.ok_there("cache", "show", PATH).stdout, r"elements: (1[5-9]|2\d)\d\d, and perhaps more to come, in \d+ blocks")
        self.assertEqual(self.elements(plan()), squares)
        self.assertEqual({key: self.store.objects[key] for key in first}, first)
        self.assertIn("free", self.lease())
        self.assertEqual(len(self.keys(r"[0-9a-f]{16}/end")), 1)
        written = len(self.store.written)
        self.assertEqual(self.elements(plan() + " | repeat(2)"), squares * 2)
        self.assertEqual(self.elements(plan() + " | skip(2998)"), squares[2998:])
        self.assertEqual(len(self.store.written), written)
        self.assertEqual({self.store.written.count(key) for key in self.blocks()}, {1})

    def test_without_a_fixed_order_one_pass_is_continued(self):
        text = plan("range(3000) | map(it * it, parallelism=3, order=sloppy)")
        some = self.elements(text + " | take(1500)")
        whole = self.elements(text)
        self.assertEqual(sorted(whole), [x * x for x in range(3000)])
        self.assertEqual(whole[:1500], some)
        self.assertEqual(self.elements(text), whole)

    def test_show_verify_and_drop(self):
        self.elements(plan())
        self.assertRegex(self.ok_there("cache", "show", PATH).stdout, r"plan: range\(3000\)[^§]*elements: 3000 of 3000, in \d+ blocks")
        self.assertRegex(self.ok_there("cache", "verify", PATH).stdout, r"3000 elements in \d+ blocks, no problems found")
        key = self.blocks()[1]
        right = self.store.objects[key]
        self.store.objects[key] = right[:-1] + bytes([right[-1] ^ 1])
        self.assertIn("the checksum of a block is wrong", self.fails_there(1, "cache", "verify", PATH))
        self.assertIn("the checksum of a block is wrong", self.fails_there(1, "run", plan(), "--quiet"))
        self.assertEqual(self.elements(plan(option=", on_mismatch=rebuild")), [x * x for x in range(3000)])
        self.ok_there("cache", "verify", PATH)
        self.assertEqual(self.elements(plan()), [x * x for x in range(3000)])
        del self.store.objects[self.blocks()[0]]
        self.assertIn("a block is missing", self.fails_there(1, "run", plan(), "--quiet"))
        self.ok_there("cache", "drop", PATH)
        self.assertEqual(self.keys(".*"), [])
        for action in ("show", "verify", "drop"):
            self.assertIn("there is no such cache", self.fails_there(1, "cache", action, PATH))

    def test_a_cut_or_changed_head_or_end_is_reported_and_replaced(self):
        for name in ("head", "[0-9a-f]{16}/end"):
            self.elements(plan())
            key = self.keys(name)[0]
            right = self.store.objects[key]
            for wrong in (right[:-1], right[:20], right[:40] + bytes([right[40] ^ 1]) + right[41:]):
                self.store.objects[key] = wrong
                self.assertIn("the cache is damaged", self.fails_there(1, "run", plan(), "--quiet"))
            self.assertEqual(self.elements(plan(option=", on_mismatch=rebuild")), [x * x for x in range(3000)])
            self.assertEqual(len(self.keys(r"[0-9a-f]{16}/end")), 1)  # the objects of the damaged one are gone
            self.ok_there("cache", "drop", PATH)

    def test_another_plan_is_refused_with_both_and_replaced_on_request(self):
        self.elements(plan())
        message = self.fails_there(1, "run", plan("range(5) | map(it * it)"), "--quiet")
        self.assertIn("another plan, `range(3000) | map(it * it", message)
        self.assertIn("this one is `range(5) | map(it * it", message)
        self.assertEqual(self.elements(plan("range(5) | map(it * it)", ", on_mismatch=rebuild")), [0, 1, 4, 9, 16])
        self.assertEqual(self.elements(plan("range(5) | map(it * it)")), [0, 1, 4, 9, 16])
        self.assertEqual(len(self.blocks()), 1)

    def test_of_two_processes_one_writes_each_block_and_the_other_reads_or_waits(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        source = f'lines("{pipe}") | map(length(it))'  # only the writer can read it
        expected = [n % 50 for n in range(1500)]
        with self.start(plan(source)) as writer, open(pipe, "w") as lines:
            lines.writelines("x" * n + "\n" for n in expected[:1200])
            lines.flush()
            while not self.blocks():
                self.assertIsNone(writer.poll())
                time.sleep(0.01)
            self.assertIn("another process writes this cache, and has not written element",
                          self.fails_there(75, "run", plan(source, ", other_writer=fail"), "--quiet"))
            waits = [PROGRAM, "run", plan(source, ", other_writer=wait"), "--output", "jsonl", "--quiet"]
            with subprocess.Popen(waits, stdout=subprocess.PIPE, text=True, env=self.environment) as waiter:
                self.assertEqual(waiter.stdout.readline(), "0\n")
                lines.writelines("x" * n + "\n" for n in expected[1200:])
                lines.close()
                self.assertEqual([0, *map(int, waiter.stdout.read().split())], expected)
            self.assertEqual((writer.wait(), waiter.returncode), (0, 0))
        self.assertEqual(self.elements(plan(source)), expected)
        self.assertEqual({self.store.written.count(key) for key in self.blocks()}, {1})

    def test_the_lease_of_a_killed_writer_expires_and_another_one_continues(self):
        source = "range(100) | sleep(10ms) | map(it * it)"
        with self.start(plan(source)) as killed:
            while not self.blocks():
                self.assertIsNone(killed.poll())
                time.sleep(0.01)
            killed.send_signal(signal.SIGKILL)
        self.assertIn("held", self.lease())
        kept = self.blocks()
        squares = [x * x for x in range(100)]
        self.assertEqual(self.elements(plan(source)), squares)  # computes at once
        self.assertEqual(self.elements(plan(source, ", other_writer=wait")), squares)
        self.assertIn("free", self.lease())
        self.assertEqual(set(kept) - set(self.blocks()), set())
        self.assertRegex(self.ok_there("cache", "show", PATH).stdout, "elements: 100 of 100")
        self.assertEqual({self.store.written.count(key) for key in self.blocks()}, {1})

    def test_a_server_or_scheme_without_conditional_writes_is_refused(self):
        self.store.is_conditional = False
        self.assertIn("the server ignores conditions of writes", self.fails_there(2, "run", plan(), "--quiet"))
        self.assertIn("cannot be written; write a path, or s3://bucket/key",
                      self.fails_there(2, "run", 'range(3) | cache("http://127.0.0.1:1/a")', "--quiet"))

    def test_a_refused_write_ends_the_run_or_the_caching(self):
        self.store.puts_left = 4  # the head, its probe, the lease and a block
        message = self.fails_there(1, "run", plan(), "--quiet")
        self.assertIn("Access Denied", message)
        self.store.objects.clear()
        self.store.puts_left = 4
        self.assertEqual(self.elements(plan(option=", over_budget=stop_caching")), [x * x for x in range(3000)])


if __name__ == "__main__":
    main()
