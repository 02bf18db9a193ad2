# SPDX-License-Identifier: Apache-2.0
"""Where memory cannot be had, a run ends with an error, and the process goes on to say so (tests/op/allocation_test.cpp: of which stage)."""
import resource
import subprocess

from program import PROGRAM, ProgramTest, main

LIMIT = 1_000_000_000  # of the address space; what the program takes before it runs anything is about half of it


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


class Memory(ProgramTest):
    def setUp(self):
        super().setUp()
        if subprocess.run([PROGRAM, "--version"], capture_output=True, preexec_fn=limited).returncode != 0:
            self.skipTest("a sanitizer's address space is larger than any limit")

    def test_an_allocation_that_fails_in_a_stage_ends_the_run_and_not_the_process(self):
        for plan in ("group_by_reducer(it, 0, state + it)", "unique(spill=\"off\")", "group_by_window(it, batch(10), 10)",
                     "shuffle(300000000)", "batch(300000000)"):
            done = subprocess.run([PROGRAM, "run", "--quiet", "--output", "null", "--memory-budget", "1TiB", f"range(300000000) | {plan}"],
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, preexec_fn=limited)
            self.assertEqual(done.returncode, 1, (plan, done.returncode, done.stderr))
            self.assertRegex(done.stderr, "resource_exhausted: " + plan.partition("(")[0], plan)


if __name__ == "__main__":
    main()
