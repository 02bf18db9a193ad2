# SPDX-License-Identifier: Apache-2.0
"""What plans and files cost at most: time in proportion to a schema, an error instead of a stack that overflows, and memory within the
budget and 64 MiB."""
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys

from program import PROGRAM, ProgramTest, example, main, sluice, write_tfrecord

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
        "zip": lambda n: "zip(" * ((n - 1) // 2) + "range(1)" + ", range(1)) | map(it[0])" * ((n - 1) // 2),
        "sample_from_datasets": lambda n: "sample_from_datasets([" * ((n - 1) // 2) + "range(1)" + ", range(1)])" * ((n - 1) // 2),
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
                path.write_text(plan(most))
                for arguments in (("explain", "--json"), ("run", "--quiet", "--output", "null")):
                    done = self.on_stack(kib, *arguments, "-f", path)
                    self.assertEqual(done.returncode, 0, (kib, name, arguments, done.returncode, done.stderr[-300:]))


class Memory(ProgramTest):
    """The peak of the process is at most the budget and 64 MiB, whatever the plan."""

    # Its own process has little memory: what a parent has at the time of the fork counts as the child's peak.
    MEASURED = """if True:
        import os, sys
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execv(sys.argv[1], sys.argv[1:])
        _, status, used = os.wait4(child, 0)
        print(os.waitstatus_to_exitcode(status), used.ru_maxrss)"""

    def peak_mib(self, *arguments):
        """The exit status, the peak, and standard error."""
        done = subprocess.run([sys.executable, "-S", "-E", "-c", self.MEASURED, PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        status, kib = map(int, done.stdout.split())
        return status, kib / 1024, done.stderr

    def setUp(self):
        super().setUp()
        if self.peak_mib("--version")[1] > 16:
            self.skipTest("this program itself takes more than 16 MiB, as one with a sanitizer does")

    def check(self, plan, errors, budgets=(16, 64, 256)):
        """Runs the plan. `errors`: by budget, what may be said there."""
        path = pathlib.Path(self.path("plan.txt"))
        path.write_text(plan)
        for budget in budgets:
            for _ in range(3):
                status, peak, said = self.peak_mib("run", "--quiet", "--output", "null", "--workers", 2, "--memory-budget", f"{budget}MiB", "-f", path)
                # Memory that another worker frees returns to the allocator when its owner runs, which a busy machine delays.
                if peak <= budget + 64:
                    break
            self.assertLessEqual(peak, budget + 64, (plan[:100], budget, said[-300:]))
            self.assertEqual(status, 1 if errors.get(budget) else 0, (plan[:100], budget, status, said[-300:]))
            self.assertRegex(said, errors.get(budget) or "^$", (plan[:100], budget))

    def test_the_stages_of_a_plan_are_charged(self):
        whole = "resource_exhausted: the plan: what its stages hold alone takes more than the memory budget of 16.0 MiB"
        self.check("concatenate(" + ", ".join(["range(1)"] * 40_000) + ")", {16: whole})

    def test_a_plan_of_many_stages_is_not_tuned_and_the_report_says_so(self):
        path = pathlib.Path(self.path("plan.txt"))
        path.write_text("concatenate(" + ", ".join(["range(1) | prefetch(1)"] * 2000) + ")")
        done = sluice("run", "--no-optimize", "--report", "-f", str(path))
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.assertIn("knobs: not tuned: the plan has more than 1024 stages\n", done.stderr)

    def test_groups_of_a_million_keys_are_refused_in_time(self):
        refused = "resource_exhausted: group_by_window.*what its groups hold alone takes more than the memory budget"
        for key in ("it", "string(it)"):
            self.check(f"range(1000000) | group_by_window({key}, batch(10), 10)", dict.fromkeys((16, 64, 256), refused))

    def test_a_quote_that_is_not_closed_is_found_in_bounded_memory(self):
        signs = "resource_exhausted: csv: .*line 2: a row has more than 4 Mi delimiters, quotes and line ends; perhaps a quote is not closed"
        pathlib.Path(self.path("signs.csv")).write_text('a,b\n"' + ",\n" * 12_000_000)
        self.check(f'csv("{self.path("signs.csv")}", schema="a: int64, b: int64", header=true)', dict.fromkeys((16, 64, 256), signs))
        status, peak, said = self.peak_mib("explain", f'csv("{self.path("signs.csv")}", header=true)')
        self.assertEqual((status, peak < 80), (1, True), (status, peak, said))
        words = "resource_exhausted: csv: .*(line 2: a row is longer than 16 MiB; perhaps a quote is not closed|does not fit into the memory budget)"
        pathlib.Path(self.path("words.csv")).write_text('a,b\n"' + "some words, " * 1_800_000)
        self.check(f'csv("{self.path("words.csv")}", schema="a: int64, b: int64", header=true)', dict.fromkeys((16, 64, 256), words))

    def test_columns_of_a_query_are_inferred_without_their_values(self):
        database = sqlite3.connect(self.path("t.db"))
        database.execute("CREATE TABLE t(a INTEGER, b BLOB, c REAL)")
        database.execute("INSERT INTO t VALUES (1, zeroblob(100000000), NULL), (NULL, zeroblob(100000000), 0.5)")
        database.commit()
        database.close()
        plan = lambda query: f'sql("{self.path("t.db")}", "{query}")'
        status, peak, said = self.peak_mib("explain", plan("SELECT * FROM t"))
        self.assertEqual((status, peak < 80), (0, True), (status, peak, said))
        for query, row in (("SELECT * FROM t", "{a: int64?, b: string, c: double?}"),
                           ("SELECT length(b), a, a FROM t -- all;", "{\"length(b)\": int64, a: int64?, a_2: int64?}"),
                           ("SELECT a, length(b) AS n FROM t ORDER BY c LIMIT 1;", "{a: int64, n: int64}"),
                           ("PRAGMA table_info(t)", "{cid: int64, name: string, type: string, notnull: int64, dflt_value: string?, pk: int64}")):
            self.assertIn(row, self.ok("explain", plan(query)).stdout)

    def test_an_ordered_query_is_inferred_without_a_sorted_copy_of_its_result(self):
        """Where files cannot grow, SQLite cannot sort the rows of a query, which it does in a temporary file."""
        database = sqlite3.connect(self.path("t.db"))
        database.execute("CREATE TABLE t(a INTEGER, b TEXT)")
        text = "some text of a row " * 10
        database.executemany("INSERT INTO t VALUES (?, ?)", ((i * 7919 % 100003, text) for i in range(60_000)))
        database.execute("INSERT INTO t VALUES (NULL, 'the first row of the order')")
        database.commit()
        database.close()

        def without_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        def limited(*arguments):
            return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
                                  restore_signals=False, preexec_fn=without_files)

        for end in ("ORDER BY a", "ORDER BY a;", "ORDER BY a -- by a", "ORDER BY a, b DESC /* both */ ;\n"):
            plan = f'sql("{self.path("t.db")}", "SELECT a, b FROM t {end}")'.replace("\n", "\\n")
            done = limited("explain", plan)
            self.assertEqual(done.returncode, 0, (end, done.stderr))
            self.assertIn("{a: int64?, b: string}", done.stdout)
        done = limited("run", "--quiet", "--output", "null", f'sql("{self.path("t.db")}", "SELECT a, b FROM t ORDER BY a")')
        self.assertEqual(done.returncode, 75, done.stderr)   # the run itself sorts all rows, in a file that cannot be written
        # No other rows are examined than those of the query.
        for end, row in (("LIMIT 3", "a: int64?"), ("LIMIT 1", "a: string?"), ("LIMIT 1 OFFSET 1", "a: int64"), ("LIMIT 1, 3", "a: int64"),
                         ("LIMIT 0", "a: string"), ("LIMIT '1'", "a: string?"), ("LIMIT 100 OFFSET 60000", "a: int64")):
            said = self.ok("explain", f'sql("{self.path("t.db")}", "SELECT a FROM t ORDER BY a {end}")').stdout
            self.assertIn("{" + row + "}", said, end)

    def test_a_zip_of_a_thousand_readers_keeps_to_the_budget(self):
        pathlib.Path(self.path("lines.txt")).write_text("".join(f"line {i} of the file\n" for i in range(20_000)))
        self.check("zip(" + ", ".join([f'lines("{self.path("lines.txt")}")'] * 1000) + ") | take(3000)", {})


if __name__ == "__main__":
    main()
