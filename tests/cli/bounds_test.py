# SPDX-License-Identifier: Apache-2.0
"""What plans and files cost at most: time in proportion to a schema, an error instead of a stack that overflows, and memory within the
budget and 64 MiB."""
import pathlib
import resource
import subprocess

from program import PROGRAM, ProgramTest, example, main, write_tfrecord

FIELDS = 100_000


class Schemas(ProgramTest):
    """A pairwise comparison of so many names takes minutes, and fails by the time that a test has."""

    def setUp(self):
        super().setUp()
        self.names = [f"feature_number_{i}" for i in range(FIELDS)]
        self.schema = ", ".join(f"{name}: bytes" for name in self.names)

    def plan(self, text):
        path = pathlib.Path(self.path("plan.txt"))
        path.write_text(text)
        return "-f", path

    def test_a_schema_of_100_000_features_reads_records_that_have_them_in_another_order(self):
        write_tfrecord(self.path("r.tfrecord"), example({name.encode(): b"x" for name in reversed(self.names[:2000])}))
        optional = ", ".join(f"{name}: bytes?" for name in self.names)
        done = self.ok("run", "--quiet", "--output", "jsonl", *self.plan(f'tfrecord("{self.path("r.tfrecord")}") | parse_example("{optional}")'))
        self.assertEqual((done.stdout.count('"x"'), done.stdout.count("null")), (2000, FIELDS - 2000))

    def test_a_csv_file_of_100_000_columns_is_read_by_a_schema_in_another_order(self):
        pathlib.Path(self.path("t.csv")).write_text(",".join(reversed(self.names)) + "\n" + ",".join(str(i) for i in range(FIELDS)) + "\n")
        done = self.ok("run", "--quiet", "--output", "jsonl", *self.plan(f'csv("{self.path("t.csv")}", schema="{self.schema}", header=true)'))
        self.assertTrue(done.stdout.startswith('{"feature_number_0":"%d"' % (FIELDS - 1)), done.stdout[:80])

    def test_lines_of_100_000_members_are_read_in_any_order(self):
        forth = "{" + ",".join(f'"{name}":1' for name in self.names) + "}\n"
        back = "{" + ",".join(f'"{name}":1' for name in reversed(self.names)) + "}\n"
        pathlib.Path(self.path("t.jsonl")).write_text(forth + back)
        done = self.ok("run", "--quiet", "--output", "jsonl", f'jsonl("{self.path("t.jsonl")}")')
        self.assertEqual(done.stdout, 2 * forth)

    def test_a_plan_over_100_000_fields_is_explained(self):
        for plan in (f'tfrecord("none") | parse_example("{self.schema}") | take(5)', f'csv("none", schema="{self.schema}") | batch(2)'):
            self.assertIn("feature_number_99999", self.ok("explain", *self.plan(plan)).stdout)


class Stacks(ProgramTest):
    """Functions over plans recurse by their depth. On a small stack the depth has a smaller limit, and plans at the limit work."""

    PLANS = {
        "map": lambda n: "range(3)" + " | map(it + 1)" * (n - 1),
        "parallel map": lambda n: "range(3)" + " | map(it, parallelism=2)" * (n - 1),
        "prefetch": lambda n: "range(3)" + " | prefetch(2)" * (n - 1),
        "concatenate": lambda n: "concatenate(" * (n - 1) + "range(1)" + ", range(1))" * (n - 1),
        "zip": lambda n: "zip(" * (n // 2) + "range(1)" + ", range(1)) | map(it[0])" * (n // 2),
        "flat_map": lambda n: "range(1) | flat_map(" * (n // 2 - 1) + "range(1)" + ")" * (n // 2 - 1),
    }

    def on_stack(self, kib, *arguments):
        def limited():
            resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, kib << 10))

        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, preexec_fn=limited)

    def setUp(self):
        super().setUp()
        if self.on_stack(256, "explain", "range(3)").returncode != 0:
            self.skipTest("this program does not start with a stack of 256 KiB")

    def test_plans_that_a_stack_has_no_room_for_are_refused(self):
        for kib, most in ((256, 32), (1024, 224)):
            for name, plan in self.PLANS.items():
                path = pathlib.Path(self.path("plan.txt"))
                path.write_text(plan(990))
                for verb in ("explain", "run"):
                    done = self.on_stack(kib, verb, "-f", path)
                    self.assertEqual(done.returncode, 2, (kib, name, verb, done.returncode, done.stderr[-300:]))
                    self.assertRegex(done.stderr, f"more than {most} stages deep, and this thread's stack of [0-9]+ KiB has room for no more", (kib, name))

    def test_the_largest_plans_of_a_small_stack_run(self):
        for kib, most in ((256, 32), (1024, 224)):
            for name, plan in self.PLANS.items():
                path = pathlib.Path(self.path("plan.txt"))
                path.write_text(plan(most if name != "concatenate" else min(most, 100)))
                for arguments in (("explain", "--json"), ("run", "--quiet", "--output", "null")):
                    done = self.on_stack(kib, *arguments, "-f", path)
                    self.assertEqual(done.returncode, 0, (kib, name, arguments, done.returncode, done.stderr[-300:]))


if __name__ == "__main__":
    main()
