# SPDX-License-Identifier: Apache-2.0
"""Dispatchers, workers and consumers as processes: exact delivery while they are killed, paused and restarted."""
import json
import random
import re
import signal
import subprocess
import time

from program import PROGRAM, main
from service_processes import ServiceTest


class Service(ServiceTest):
    def test_addresses_status_and_a_clean_end(self):
        file = f"{self.folder.name}/address"
        dispatcher, address = self.start("dispatcher", "--address-file", file)
        with open(file) as written:
            self.assertEqual(written.read(), address + "\n")
        worker, where = self.start("worker", "--dispatcher", address, "--tags", "fast,local")
        plan = f'range(100) | filter(it % 3 == 0) | distribute("{address}", splits=5, job="thirds", consumer="one") | batch(10)'
        self.assertEqual(self.ok("run", plan, "--output", "jsonl", "--quiet").stdout.split("\n")[0], "[0,3,6,9,12,15,18,21,24,27]")
        status = json.loads(self.ok("status", address, "--json").stdout)
        self.assertEqual([w["worker"] for w in status["workers"]], [where])
        self.assertEqual(status["workers"][0]["tags"], ["fast", "local"])
        self.assertEqual([(i["job"], i["done"], i["listed"]) for i in status["iterations"]], [("thirds", 5, 5)])
        self.assertIn("job thirds (dynamic): 5 of 5 splits done", self.ok("status", address).stdout)
        for process in (worker, dispatcher):
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)
        message = self.fails(75, "run", f'range(3) | distribute("{address}", patience=50ms)')
        self.assertIn(f"dispatcher {address} was not reached in", message)

    def test_what_cannot_be_served_is_refused_with_its_reason(self):
        _, address = self.start("dispatcher")
        self.assertIn("--store: expects sqlite:PATH", self.fails(2, "dispatcher", "--store", "redis:x"))
        self.assertIn("worker needs --dispatcher", self.fails(2, "worker"))
        plan = f'range(9) | distribute("{address}", job="a")'
        other = f'range(8) | distribute("{address}", job="a")'
        self.start("worker", "--dispatcher", address)
        self.assertEqual(self.elements(plan), list(range(9)))
        self.assertIn("job", self.fails(1, "run", other))
        message = self.fails(1, "run", f'range(9) | distribute("{address}", mode=data)')
        self.assertIn("needs a fixed list of workers", message)

    def test_an_error_of_an_element_names_the_worker_and_the_split(self):
        _, address = self.start("dispatcher")
        _, where = self.start("worker", "--dispatcher", address)
        plan = 'range(9) | filter(it >= 0) | map(10 / (it - 4)) | distribute({}splits=3)'
        place = "split 1 (elements 3 to 5)"
        message = self.fails(1, "run", plan.format(f'"{address}", '))
        self.assertIn(f"map(10 / (it - 4)) at element 1: 10 / 0: division by zero, on worker {where}, {place}", message)
        self.assertRegex(self.fails(1, "run", plan.format("workers=2, ")), r"division by zero, on worker \d in this process, " + re.escape(place))
        dropped = self.ok("run", plan.format(f'"{address}", '), "--on-error", "skip", "--output", "null").stderr
        self.assertIn(f"division by zero, on worker {where}, {place}", dropped)

    def test_two_live_consumers_of_one_name_are_an_error_of_the_first(self):
        _, address = self.start("dispatcher")
        self.start("worker", "--dispatcher", address)
        self.start("worker", "--dispatcher", address)
        plan = f'range(600) | filter(it >= 0) | sleep(2ms) | distribute("{address}", splits=6, splits_at_once=2, job="train", consumer="rank")'
        first = self.consume(plan)
        first.stdout.readline()
        self.assertEqual(self.elements(plan), list(range(600)))
        errors = first.communicate()[1]
        self.assertNotEqual(first.returncode, 0)
        self.assertIn("consumer 'rank' of job 'train' is in use by another live consumer", errors)
        self.assertIn("Give each consumer of a job a name of its own", errors)

    def test_patience_ends_the_wait_for_a_silent_consumer_of_the_job(self):
        _, address = self.start("dispatcher")
        self.start("worker", "--dispatcher", address)
        plan = f'range(200) | filter(it >= 0) | sleep(10ms) | distribute("{address}", splits=2, splits_at_once=1, job="j"'
        first = self.consume(f'{plan}, consumer="rank0")')
        first.stdout.readline()
        with self.paused(first):
            message = self.fails(75, "run", f'{plan}, consumer="rank1", patience=1s)', "--output", "null")
        self.assertRegex(message, r"no split has come for \d+ ms: 1 split is with other consumers: split 0 has been with rank0 for \d+ s, "
                                  r"and that consumer was silent for the last \d+ s; silence_max=")

    def test_workers_in_one_process_are_bounded(self):
        message = self.fails(2, "run", "range(10) | distribute(workers=100000)")
        self.assertIn("workers must be at most 1024, and is 100000", message)
        self.assertEqual(self.elements("range(10) | distribute(workers=1024)"), list(range(10)))

    def test_status_is_repeated_in_whole_lines_without_sequences_of_terminals(self):
        address = self.dispatcher()
        for options in (["--watch", "--json"], ["--watch"]):
            watching = subprocess.Popen([PROGRAM, "status", address, *options], stdout=subprocess.PIPE)
            self.processes.append(watching)
            first = [watching.stdout.readline() for _ in range(4)]
            self.assertNotIn(b"\x1b", b"".join(first))
            if "--json" in options:
                self.assertEqual([json.loads(line)["datasets"] for line in first], [0] * 4)
            else:
                self.assertEqual(first[2], b"\n")
                self.assertEqual(first[3], first[0])
            watching.stdout.close()
            self.assertNotEqual(watching.wait(), None)  # nobody reads any more

    def test_a_store_and_an_address_that_cannot_work_are_refused(self):
        self.assertIn(f"{self.folder.name} is a folder; name a file in it", self.fails(2, "dispatcher", "--store", f"sqlite:{self.folder.name}"))
        for address, why in (("foo", "write foo:7700"), ("foo:0", "write foo:%port%"), (":%port%", "expects a host and a port"),
                             ("http://foo:%port%", "expects a host and a port")):
            with self.subTest(address=address):
                self.assertIn(why, self.fails(2, "worker", "--dispatcher", "127.0.0.1:1", "--address", address))

    def test_a_worker_that_is_stopped_in_an_outage_reports_no_call(self):
        dispatcher, address = self.start("dispatcher")
        worker = subprocess.Popen([PROGRAM, "worker", "--dispatcher", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(worker)
        worker.stdout.readline()
        self.wait_until(lambda: self.alive_workers(address))
        dispatcher.send_signal(signal.SIGSTOP)
        self.assertIn("does not answer", worker.stderr.readline())
        worker.send_signal(signal.SIGTERM)
        rest = worker.communicate()[1]
        self.assertEqual(worker.returncode, 0)
        self.assertNotIn("stopped", rest)

    def test_tags_and_targets_choose_the_workers(self):
        _, address = self.start("dispatcher")
        _, plain = self.start("worker", "--dispatcher", address)
        plan = 'range(50) | filter(it >= 0) | distribute("{}", splits=9, job="{}", patience={}, {})'
        message = self.fails(75, "run", plan.format(address, "a", "100ms", 'tags=["gpu", "big"]'))
        self.assertIn("the job asks for any worker with the tags gpu, big; registered: " + plain, message)
        self.assertIn("no tags", message)
        self.assertRegex(message, r", split 0 \(elements 0 to 5\), which consumer consumer-\w+ has had for \d+ ms")
        message = self.fails(75, "run", plan.format(address, "b", "100ms", "target_workers=remote"))
        self.assertRegex(message, r"the job asks for remote workers, and the consumer's host is (.*); registered: .* .host \1, no tags")
        message = self.fails(1, "run", "range(10) | shard(hint, hint)")
        self.assertIn("has numbers on workers only: run the plan with distribute(mode=hint)", message)
        _, tagged = self.start("worker", "--dispatcher", address, "--tags", "big,gpu,new")
        self.assertEqual(self.elements(plan.format(address, "c", "9s", 'tags=["gpu", "big"]')), list(range(50)))
        self.assertEqual(self.elements(plan.format(address, "d", "9s", "target_workers=local")), list(range(50)))
        self.assertEqual(self.elements(plan.format(address, "e", "9s", "target_workers=any")), list(range(50)))

    def test_workers_that_are_killed_and_paused_lose_nothing(self):
        _, address = self.start("dispatcher", "--store", f"sqlite:{self.folder.name}/meta.db")
        workers = [self.start("worker", "--dispatcher", address)[0] for _ in range(3)]
        plan = f'range(6000) | filter(it >= 0) | sleep(500us) | distribute("{address}", splits=12, splits_at_once=4)'
        wait_for, finish = self.consume_in_steps(plan)
        wait_for(300)
        workers[0].kill()
        wait_for(600)
        workers[1].send_signal(signal.SIGSTOP)
        wait_for(2100)
        self.start("worker", "--dispatcher", address)
        workers[2].kill()
        self.assertEqual(finish(), list(range(6000)))

    def test_a_dispatcher_that_is_killed_continues_with_its_store(self):
        store = f"sqlite:{self.folder.name}/meta.db"
        dispatcher, address = self.start("dispatcher", "--store", store)
        self.start("worker", "--dispatcher", address)
        plan = f'range(3000) | filter(it >= 0) | sleep(300us) | distribute("{address}", splits=30, splits_at_once=2, job="j", consumer="c")'
        wait_for, finish = self.consume_in_steps(plan)
        for kills in range(3):
            wait_for(300 + 300 * kills)
            dispatcher.kill()
            dispatcher.wait()
            dispatcher, again = self.start("dispatcher", "--store", store, "--listen", address)
            self.assertEqual(again, address)
        self.assertEqual(finish(), list(range(3000)))

    def test_splits_in_flight_are_read_to_their_end_while_the_dispatcher_is_stopped(self):
        dispatcher, address = self.start("dispatcher")
        self.start("worker", "--dispatcher", address)
        plan = f'range(1200) | filter(it >= 0) | sleep(2ms) | distribute("{address}", splits=12, splits_at_once=4)'
        wait_for, finish = self.consume_in_steps(plan)
        wait_for(20)
        with self.paused(dispatcher):
            wait_for(400)  # four splits of 100 elements
        self.assertEqual(finish(".*"), list(range(1200)))

    def test_consumers_of_one_job_share_its_elements(self):
        _, address = self.start("dispatcher")
        for _ in range(2):
            self.start("worker", "--dispatcher", address)
        plan = f'range(2000) | filter(it >= 0) | sleep(100us) | distribute("{address}", splits=40, splits_at_once=2, job="shared")'
        consumers = [self.consume(plan) for _ in range(3)]
        parts = [[int(x) for x in c.communicate()[0].split()] for c in consumers]
        self.assertEqual(sorted(x for part in parts for x in part), list(range(2000)))

    def test_a_consumer_that_ends_early_gives_its_splits_back(self):
        """Unless a checkpoint can continue it. Others of its job read them, and an anonymous job is gone."""
        address = self.dispatcher()
        self.workers(1, address)
        plan = f'range(300) | sleep(1ms) | distribute("{address}", splits=30'
        for _ in range(3):
            self.ok("run", plan + ")", "--limit", "5", "--output", "null")
        self.assertEqual(self.status(address)["iterations"], [])
        self.ok("run", plan + ', job="shared") | take(5)', "--output", "null")
        rest = self.ok("run", plan + ', job="shared")', "--output", "jsonl").stdout.split()
        self.assertEqual(sorted(map(int, rest)), list(range(300)))
        # A saved position is continued exactly.
        begun = self.ok("run", plan + ', job="saved")', "--limit", "5", "--output", "jsonl:" + self.path("a.jsonl"), "--checkpoint", self.path("c"))
        self.assertEqual(self.status(address)["iterations"][-1]["consumers"], 1, begun.stderr)

    def test_a_killed_consumer_resumes_exactly_even_with_a_new_dispatcher(self):
        """The new one has another address and an empty store: it learns the splits from the checkpoint."""
        drawn, restarts = random.Random(7), 0
        for trial in range(3):
            checkpoint, out = f"{self.folder.name}/{trial}.ckpt", f"{self.folder.name}/{trial}.jsonl"
            options = ("--output", out, "--checkpoint", checkpoint, "--every", "100", "--resume-or-start", checkpoint, "--quiet")
            service, starts = [], 0
            while True:
                for process in service:
                    process.kill()
                    process.wait()
                dispatcher, address = self.start("dispatcher", "--store", f"sqlite:{self.folder.name}/{trial}-{starts}.db")
                service = [dispatcher, self.start("worker", "--dispatcher", address)[0]]
                starts += 1
                plan = f'range(2000) | filter(it >= 0) | sleep(200us) | distribute("{address}", splits=9, splits_at_once=3)'
                with subprocess.Popen([PROGRAM, "run", plan, *options], stderr=subprocess.PIPE, text=True) as consumer:
                    at = drawn.randrange(1, 1500 if starts == 1 else 2500)  # the first one is killed
                    while consumer.poll() is None and self.lines_in(out) < at:
                        time.sleep(0.005)
                    consumer.kill()
                    consumer.wait()
                    if consumer.returncode == 0:
                        break
                    self.assertEqual(consumer.returncode, -signal.SIGKILL, consumer.stderr.read())
            restarts += starts - 1
            with open(out) as lines:
                self.assertEqual([int(x) for x in lines], list(range(2000)))
        self.assertGreater(restarts, 0)

    @staticmethod
    def lines_in(path):
        try:
            with open(path, "rb") as file:
                return file.read().count(b"\n")
        except FileNotFoundError:
            return 0


if __name__ == "__main__":
    main()
