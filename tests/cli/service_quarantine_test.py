# SPDX-License-Identifier: Apache-2.0
"""Bad elements that workers drop: the consumer's quarantine has an entry of each, exactly once, whoever dies."""
import json
import pathlib
import signal
import subprocess
import time

from program import PROGRAM, main
from service_processes import ServiceTest

BAD = [x for x in range(3000) if x % 10 == 3]
PLAN = "range(3000) | filter(it >= 0) | map(10 / (it % 10 - 3) + it)"
GOOD = [int(10 / (x % 10 - 3)) + x for x in range(3000) if x % 10 != 3]


class ServiceQuarantine(ServiceTest):
    def setUp(self):
        super().setUp()
        self.kept = self.path("bad.jsonl")
        self.keeping = ["--on-error", "skip", "--quarantine", self.kept]

    def entries(self, path=None):
        return [json.loads(line) for line in pathlib.Path(path or self.kept).read_text().splitlines()]

    def places(self, path=None):
        """The numbers of the bad elements in the whole plan: an entry has its number in the split, and the split its elements."""
        found = []
        for entry in self.entries(path):
            first = int(entry["split"].split("elements ")[1].split(" ")[0])
            found.append(first + entry["element"])
        return found

    def service(self, workers=2):
        address = self.dispatcher("--store", f"sqlite:{self.folder.name}/meta.db")
        return address, self.workers(workers, address)

    def test_an_entry_of_a_worker_has_the_split_the_worker_and_the_place_of_the_run(self):
        address, workers = self.service(1)
        plan = f'range(9) | filter(it >= 0) | map(10 / (it - 4)) | distribute("{address}", splits=3)'
        self.assertEqual(len(self.elements(plan, *self.keeping)), 8)
        entry, = self.entries()
        self.assertEqual([entry[name] for name in ("error", "code", "stage", "element", "split", "worker", "delivered", "plan")],
                         ["10 / 0: division by zero", "invalid_argument", "map(10 / (it - 4))", 1, "split 1 (elements 3 to 5)",
                          f"worker {workers[0][1]}", 4, plan])
        self.assertIn("position", entry)
        self.assertEqual(self.elements(plan, *self.keeping, "--limit", "6"), [-2, -3, -5, -10, 10, 5])
        self.assertEqual(len(self.entries()), 1, "another run with the same bad element")
        self.assertIn(f"was dropped on worker {workers[0][1]}, in split 1 (elements 3 to 5)", self.fails(2, "replay", f"{self.kept}#0"))

    def test_each_bad_element_has_one_entry(self):
        address, _ = self.service()
        for where in (f'"{address}", ', "workers=2, "):
            for tail in ("splits=30)", 'splits=30, order=sloppy)', "splits=30, splits_at_once=4) | prefetch(2)"):
                with self.subTest(where=where, tail=tail):
                    got = self.elements(f"{PLAN} | distribute({where}{tail}", *self.keeping)
                    self.assertEqual(sorted(got), sorted(GOOD))
                    self.assertEqual(sorted(self.places()), BAD)
                    pathlib.Path(self.kept).unlink()

    def test_the_bytes_and_places_of_records_are_those_of_a_run_without_workers(self):
        names = []
        for number in range(4):
            names.append(self.path(f"{number}.txt"))
            pathlib.Path(names[-1]).write_text("".join(f"{'bad' if i % 7 == number else i}\n" for i in range(100)))
        plan = f'list_files("{self.folder.name}/?.txt") | flat_map(lines) | map(to_integer(it))'
        self.ok("run", plan, "--on-error", "skip", "--quarantine", self.path("direct.jsonl"), "--output", "null")
        address, _ = self.service()
        self.ok("run", f'{plan} | distribute("{address}", splits=4)', "--on-error", "skip", "--quarantine", self.path("over.jsonl"),
                "--output", "null")

        def shown(name):
            return sorted((entry["stage"], entry["error"], str(entry["bytes"])) for entry in self.entries(self.path(name)))

        direct = shown("direct.jsonl")
        self.assertGreater(len(direct), 50)
        self.assertEqual(shown("over.jsonl"), direct)

    def test_a_file_that_the_plan_names_is_the_consumers(self):
        address, _ = self.service()
        for where in (f'"{address}"', "workers=2"):
            with self.subTest(where=where):
                named = self.path("named.jsonl")
                plan = (f'range(3000) | filter(it >= 0) | map(10 / (it % 10 - 3), on_error=skip, quarantine="{named}") '
                        f"| map(10 / (it % 5 - 8) + it) | distribute({where}, splits=30)")
                self.assertEqual(len(self.elements(plan, "--on-error", "skip", "--quarantine", self.kept)), 2700)
                self.assertEqual(sorted(self.places(named)), BAD)
                self.assertFalse(pathlib.Path(self.kept).exists())
                self.assertEqual(len(self.elements(plan)), 2700)  # only the plan names one
                self.assertEqual(len(self.entries(named)), len(BAD))
                pathlib.Path(named).unlink()

    def test_the_limit_of_errors_is_met_at_its_element(self):
        address, _ = self.service()
        for where in (f'"{address}", ', "workers=2, "):
            with self.subTest(where=where):
                out = self.path("out.jsonl")
                self.fails(1, "run", f"{PLAN} | distribute({where}splits=30)", *self.keeping, "--errors-max", "20", "--output", out, "--quiet")
                self.assertEqual(self.places(), BAD[:20])

    def test_killed_and_paused_workers_neither_lose_an_entry_nor_write_one_twice(self):
        address, workers = self.service(3)
        plan = f'{PLAN} | sleep(500us) | distribute("{address}", splits=12, splits_at_once=4)'
        wait_for, finish = self.consume_in_steps(plan, *self.keeping)
        wait_for(200)
        workers[0][0].kill()
        wait_for(500)
        workers[1][0].send_signal(signal.SIGSTOP)
        wait_for(1200)
        self.start("worker", "--dispatcher", address)
        workers[2][0].kill()
        self.assertEqual(finish(".*"), GOOD)
        self.assertEqual(sorted(self.places()), BAD)
        self.assertGreater(len({entry["worker"] for entry in self.entries()}), 1)

    def test_a_killed_consumer_that_resumes_on_other_workers_writes_no_entry_twice(self):
        address, workers = self.service(2)
        plan = f'{PLAN} | sleep(200us) | distribute("{address}", splits=9, splits_at_once=3)'
        at, out = self.path("at.ckpt"), self.path("out.jsonl")
        options = [*self.keeping, "--output", out, "--checkpoint", at, "--every", "100", "--resume-or-start", at, "--quiet"]
        for stop_at in (300, 900, 1500):
            with subprocess.Popen([PROGRAM, "run", plan, *options], stderr=subprocess.PIPE, text=True) as consumer:
                while consumer.poll() is None and self.lines_in(out) < stop_at:
                    time.sleep(0.005)
                consumer.kill()
            workers.append(self.start("worker", "--dispatcher", address))
            workers.pop(0)[0].kill()
        self.ok("run", plan, *options)
        self.assertEqual([int(x) for x in pathlib.Path(out).read_text().split()], GOOD)
        self.assertEqual(sorted(self.places()), BAD)

    def test_consumers_of_one_job_each_store_what_was_dropped_in_their_splits(self):
        address, _ = self.service()
        plan = f'{PLAN} | distribute("{address}", splits=30, splits_at_once=2, job="shared")'
        paths = [self.path(f"bad{i}.jsonl") for i in range(2)]
        consumers = [self.consume(plan, "--on-error", "skip", "--quarantine", path) for path in paths]
        for consumer in consumers:
            consumer.communicate()
            self.assertEqual(consumer.returncode, 0)
        self.assertEqual(sorted(place for path in paths if pathlib.Path(path).exists() for place in self.places(path)), BAD)

    @staticmethod
    def lines_in(path):
        try:
            return pathlib.Path(path).read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0


if __name__ == "__main__":
    main()
