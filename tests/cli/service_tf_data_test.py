# SPDX-License-Identifier: Apache-2.0
"""What the tests of tf.data's service state about processes: restarts, shared jobs, late consumers, fixed lists of workers.

tests/service/tf_data_tests.tsv has a row for each of those tests.
"""
import pathlib
import signal

from program import main, sluice
from service_processes import ServiceTest


def numbers(n):
    """A plan of the numbers below n that is slow enough to be interrupted, and has a split for each part of them."""
    return f"range({n}) | filter(it >= 0) | sleep(500us)"


class Sharding(ServiceTest):
    """The modes of a job, and what each guarantees if a worker restarts in its middle."""

    def files(self, n, lines):
        """The pattern of n new files of so many lines each: the numbers from 0, file after file."""
        for file in range(n):
            with open(self.path(f"part-{file}.txt"), "w") as out:
                out.writelines(f"{file * lines + i}\n" for i in range(lines))
        return f'list_files("{self.path("part-*.txt")}") | flat_map(lines) | sleep(500us)'

    def read_while_a_worker_restarts(self, plan, mode, at, warning="^$"):
        """The elements of a job on two workers of a fixed list, of which the first one restarts after `at` elements."""
        addresses = [self.free_address(), self.free_address()]
        dispatcher = self.dispatcher("--static-workers", ",".join(addresses))
        workers = [self.workers(1, dispatcher, "--listen", address)[0] for address in addresses]
        wait_for, finish = self.consume_in_steps(f'{plan} | distribute("{dispatcher}", {mode})')
        wait_for(at)
        self.restart(workers[0], "worker", "--dispatcher", dispatcher)
        return [int(x) for x in finish(warning)]

    def test_mode_off_yields_all_elements_of_each_worker_once(self):
        self.assertEqual(self.read_while_a_worker_restarts(numbers(200), "mode=off", 60), 2 * list(range(200)))

    def test_mode_dynamic_yields_each_element_once(self):
        self.assertEqual(self.read_while_a_worker_restarts(numbers(400), "mode=dynamic, splits=8", 60), list(range(400)))

    def test_mode_dynamic_with_at_most_once_drops_the_rest_of_a_split_at_most(self):
        plan = self.files(4, 100)
        warning = "^(sluice: warning: split . is lost from element .* on: its worker broke\n)?$"
        got = self.read_while_a_worker_restarts(plan, "mode=dynamic, splits_at_once=1, visitation=at_most_once", 60, warning)
        lost = sorted(set(range(400)) - set(got))
        self.assertEqual(len(got), len(set(got)))
        self.assertTrue(not lost or lost == list(range(lost[0], lost[0] // 100 * 100 + 100)), lost)

    def test_mode_dynamic_with_at_least_once_may_repeat_a_split(self):
        plan = self.files(4, 100)
        got = self.read_while_a_worker_restarts(plan, "mode=dynamic, splits_at_once=1, visitation=at_least_once", 60)
        self.assertEqual(set(got), set(range(400)))

    def test_mode_data_yields_each_element_once(self):
        got = self.read_while_a_worker_restarts(numbers(400), "mode=data", 60)
        self.assertEqual(got, list(range(0, 400, 2)) + list(range(1, 400, 2)))

    def test_mode_file_yields_each_file_once(self):
        got = self.read_while_a_worker_restarts(self.files(4, 100), "mode=file", 60)
        self.assertEqual(got, [*range(0, 100), *range(200, 300), *range(100, 200), *range(300, 400)])

    def test_mode_file_or_data_yields_each_file_or_element_once(self):
        got = self.read_while_a_worker_restarts(self.files(3, 100), "mode=file_or_data", 60)
        self.assertEqual(got, [*range(0, 100), *range(200, 300), *range(100, 200)])
        got = self.read_while_a_worker_restarts(self.files(1, 400), "mode=file_or_data", 60)
        self.assertEqual(sorted(got), sorted([*range(0, 400), *range(100, 300)]))

    def test_mode_hint_yields_each_element_once(self):
        got = self.read_while_a_worker_restarts("range(400) | shard(hint, hint) | sleep(500us)", "mode=hint", 60)
        self.assertEqual(got, list(range(0, 400, 2)) + list(range(1, 400, 2)))

    def read_while_the_dispatcher_restarts(self, plan, mode, at):
        """The elements of a job on two workers of a fixed list; the dispatcher is killed before, and after each of `at` elements."""
        addresses = [self.free_address(), self.free_address()]
        options = ["dispatcher", "--static-workers", ",".join(addresses), "--store", f"sqlite:{self.path('meta.db')}"]
        server = self.start(*options)
        for address in addresses:
            self.workers(1, server[1], "--listen", address)
        server = self.restart(server, *options)
        wait_for, finish = self.consume_in_steps(f'{plan} | distribute("{server[1]}", {mode}, job="j", consumer="c")')
        for n in at:
            wait_for(n)
            server = self.restart(server, *options)
        got = [int(x) for x in finish()]
        job, = self.status(server[1])["iterations"]
        self.assertEqual((job["done"], job["assigned"]), (2, 2), "each worker has one shard")
        return got

    def test_a_restarted_dispatcher_keeps_the_shards_of_its_workers(self):
        hint = "range(400) | shard(hint, hint) | sleep(500us)"
        files = [*range(0, 100), *range(200, 300), *range(100, 200), *range(300, 400)]
        by_two = [*range(0, 400, 2), *range(1, 400, 2)]
        four = self.files(4, 100)
        for mode, plan, expected in (("data", numbers(400), by_two), ("file", four, files), ("file_or_data", four, files),
                                     ("file_or_data", numbers(400), by_two), ("hint", hint, by_two)):
            with self.subTest(mode=mode, plan=plan):
                got = self.read_while_the_dispatcher_restarts(plan, f"mode={mode}", (20, 130, 260))
                self.assertEqual(got, expected)
                pathlib.Path(self.path("meta.db")).unlink()
                for extra in ("meta.db-wal", "meta.db-shm"):
                    pathlib.Path(self.path(extra)).unlink(missing_ok=True)
                self.end_all()

    def test_each_mode_reads_files(self):
        dispatcher = self.dispatcher("--static-workers", "127.0.0.1:%port%,127.0.0.1:%port%")
        self.workers(2, dispatcher)
        plan = self.files(4, 10)
        for mode in ("off", "dynamic", "file", "data", "file_or_data", "hint"):
            hint = " | shard(hint, hint)" if mode == "hint" else ""
            got = [int(x) for x in self.elements(f'{plan}{hint} | distribute("{dispatcher}", mode={mode})')]
            self.assertEqual(sorted(got), sorted((2 if mode == "off" else 1) * list(range(40))), mode)

    def test_several_workers_of_one_host_have_shards_of_their_own(self):
        dispatcher = self.dispatcher("--static-workers", ",".join(3 * ["127.0.0.1:%port%"]))
        workers = self.workers(3, dispatcher)
        self.consume(f'{numbers(1000000)} | distribute("{dispatcher}", mode=data)')
        self.wait_until(lambda: len(self.in_flight(dispatcher)) == 3)
        self.assertEqual(sorted(self.in_flight(dispatcher)), sorted(address for _, address in workers))

    def test_a_list_of_workers_with_other_words_than_addresses_is_refused(self):
        for entry, why in (("localhost:worker", "is not HOST:PORT or HOST:%port%"), ("localhost:%port_worker%", "is not HOST:PORT"),
                           ("fake_worker", "is not HOST:PORT"), (":1", "is not HOST:PORT"), ("h:0", "is not HOST:PORT"),
                           ("h:70000", "is not HOST:PORT"), ("h:2,h:2", "is in the list twice")):
            done = sluice("dispatcher", "--static-workers", f"good:1,{entry}")
            self.assertIn(f'static worker 1, "{entry.split(",")[0]}", {why}', done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_mode_that_needs_a_list_of_workers_is_refused_without_one(self):
        dispatcher = self.dispatcher()
        for mode in ("data", "file", "file_or_data"):
            message = self.fails(1, "run", f'range(9) | distribute("{dispatcher}", mode={mode})')
            self.assertIn(f"mode '{mode}' needs a fixed list of workers", message)

    def test_a_plan_whose_parts_would_differ_is_refused(self):
        slow = "range(9) | map(it, parallelism=4, order=sloppy)"
        for plan in (slow, "range(9) | map(it, parallelism=4) | with_options(order=sloppy)",
                     'list_files("*.txt") | flat_map(lines | map(it, parallelism=4, order=sloppy))'):
            for mode in ("off", "dynamic", "data", "file", "file_or_data"):
                message = self.fails(1, "run", f"{plan} | distribute(mode={mode})")
                self.assertRegex(message, r"^failed_precondition: (column \d+: )?the plan cannot be .*sloppy order.*use order=deterministic")
        self.assertEqual(self.elements(f"{slow} | distribute(mode=off, visitation=at_least_once) | count_elements"), [9])
        for stage in ("cache", "snapshot"):
            message = self.fails(1, "run", f'range(9) | filter(it > 1) | {stage}("{self.path("kept")}") | batch(2) | distribute')
            self.assertIn("keeps all elements on disk, and each split has some of them; place it after distribute", message)

    def test_a_shard_waits_for_its_worker_and_others_do_not_run_it(self):
        address = self.free_address()
        dispatcher = self.dispatcher("--static-workers", address)
        self.workers(2, dispatcher)
        consumer = self.consume(f'range(100) | distribute("{dispatcher}", mode=data)')
        self.wait_until(lambda: self.in_flight(dispatcher) == [""])
        self.workers(1, dispatcher, "--listen", address)
        self.assertEqual(self.finish(consumer), list(range(100)))
        self.consume(f'{numbers(1000000)} | distribute("{dispatcher}", mode=data)')
        self.wait_until(lambda: self.in_flight(dispatcher))
        self.assertEqual(self.in_flight(dispatcher), [address])


class Restarts(ServiceTest):
    """Dispatchers and workers that stop, restart, come late, and are added or removed."""

    def setUp(self):
        super().setUp()
        self.store = ("--store", f"sqlite:{self.path('meta.db')}")
        self.server = self.start("dispatcher", *self.store)
        self.address = self.server[1]

    def restart_dispatcher(self):
        self.server = self.restart(self.server, "dispatcher", *self.store)

    def restart_worker(self, worker):
        return self.restart(worker, "worker", "--dispatcher", self.address)

    def test_workers_deliver_while_the_dispatcher_is_gone(self):
        self.workers(1, self.address)
        wait_for, finish = self.consume_in_steps(f'{numbers(200)} | distribute("{self.address}", mode=off)')
        wait_for(20)
        self.server[0].kill()
        self.server[0].wait()
        wait_for(200)
        self.server = self.start("dispatcher", *self.store, "--listen", self.address)
        self.assertEqual(finish(), list(range(200)))

    def test_a_dispatcher_restarts_before_the_first_element(self):
        consumer = self.consume(f'range(100) | distribute("{self.address}", mode=off)')
        self.wait_until(lambda: self.status(self.address)["iterations"])
        self.restart_dispatcher()
        self.workers(1, self.address)
        self.assertEqual(self.finish(consumer), list(range(100)))

    def test_a_dispatcher_restarts_in_the_middle_of_each_mode(self):
        self.workers(2, self.address)
        for name, mode, expected in (("off", "mode=off", 2 * list(range(200))), ("dynamic", "splits=9", list(range(200)))):
            wait_for, finish = self.consume_in_steps(f'{numbers(200)} | distribute("{self.address}", {mode})')
            wait_for(60)
            self.restart_dispatcher()
            self.assertEqual(finish(), expected)

    def test_a_dispatcher_restarts_in_several_epochs(self):
        self.workers(1, self.address)
        wait_for, finish = self.consume_in_steps(f'{numbers(100)} | repeat(5) | distribute("{self.address}", splits=4)')
        for elements in (50, 250, 450):
            wait_for(elements)
            self.restart_dispatcher()
        self.assertEqual(finish(), 5 * list(range(100)))

    def test_a_dispatcher_restarts_between_two_jobs(self):
        self.workers(1, self.address)
        for _ in range(2):
            self.assertEqual(self.elements(f'range(100) | distribute("{self.address}", mode=off)'), list(range(100)))
            self.restart_dispatcher()

    def test_jobs_that_wait_for_workers_survive_restarts_of_the_dispatcher(self):
        consumers = []
        for n in range(10, 15):
            consumers.append(self.consume(f'range({n}) | distribute("{self.address}", mode=off)'))
            self.wait_until(lambda: len(self.status(self.address)["iterations"]) == len(consumers))
            self.restart_dispatcher()
        self.workers(1, self.address)
        self.assertEqual([self.finish(c) for c in consumers], [list(range(n)) for n in range(10, 15)])

    def test_dispatcher_and_workers_restart_before_and_while_a_job_is_read(self):
        workers = self.workers(2, self.address)
        self.restart_dispatcher()
        workers = [self.restart_worker(w) for w in workers]
        wait_for, finish = self.consume_in_steps(f'{numbers(200)} | distribute("{self.address}", mode=off)')
        wait_for(60)
        self.restart_dispatcher()
        workers = [self.restart_worker(w) for w in workers]
        self.assertEqual(finish(), 2 * list(range(200)))

    def test_servers_may_start_after_the_consumer(self):
        address = self.free_address()
        consumer = self.consume(f'range(10) | distribute("{address}", mode=off)')
        self.start("dispatcher", "--listen", address)
        self.workers(1, address)
        self.assertEqual(self.finish(consumer), list(range(10)))

    def test_a_worker_that_is_added_yields_its_copy_of_mode_off(self):
        self.workers(1, self.address)
        wait_for, finish = self.consume_in_steps(f'{numbers(300)} | distribute("{self.address}", mode=off)')
        wait_for(60)
        with self.paused(self.processes[-1]):
            self.workers(1, self.address)
        self.assertEqual(finish(), 2 * list(range(300)))

    def test_more_workers_are_killed_than_splits_are_read_at_once(self):
        workers = self.workers(5, self.address)
        plan = f'{numbers(500)} | distribute("{self.address}", splits=10, splits_at_once=1)'
        wait_for, finish = self.consume_in_steps(plan)
        for i, (process, _) in enumerate(workers[:4]):
            wait_for(40 * i + 20)
            process.kill()
        self.assertEqual(finish(), list(range(500)))

    def test_a_worker_restarts_at_another_address(self):
        (process, _), = self.workers(1, self.address)
        wait_for, finish = self.consume_in_steps(f'{numbers(200)} | distribute("{self.address}", splits=2)')
        wait_for(60)
        process.kill()
        process.wait()
        self.start("worker", "--dispatcher", self.address)
        self.assertEqual(finish(), list(range(200)))

    def test_the_last_of_several_workers_serves_an_endless_job(self):
        workers = self.workers(3, self.address)
        wait_for, finish = self.consume_in_steps(f'range(1) | repeat | sleep(2ms) | distribute("{self.address}") | take(60)')
        wait_for(20)
        for process, _ in workers[:2]:
            process.kill()
        self.assertEqual(finish(), 60 * [0])

    def test_a_job_keeps_its_mode_after_a_restart(self):
        self.workers(1, self.address)
        self.assertEqual(self.elements(f'range(9) | distribute("{self.address}", job="test", mode=off)'), list(range(9)))
        self.restart_dispatcher()
        message = self.fails(1, "run", f'range(9) | distribute("{self.address}", job="test")')
        self.assertIn("job 'test' reads dataset", message)
        self.assertIn("in mode 'off', and this consumer asks for dataset", message)

    def test_elements_of_8_mb_reach_a_consumer_that_waits_for_the_first_worker(self):
        plan = f'range(2000000) | map(float(it)) | batch(1000000) | distribute("{self.address}", mode=off) | map(length(it))'
        consumer = self.consume(plan)
        self.wait_until(lambda: self.status(self.address)["iterations"])
        self.workers(1, self.address)
        self.assertEqual(self.finish(consumer), [1000000, 1000000])

    def test_tf_52252_all_workers_serve_again_after_a_dispatcher_that_knows_nothing(self):
        _, address = server = self.start("dispatcher")
        workers = self.workers(3, address)
        wait_for, _ = self.consume_in_steps(f'{numbers(300)} | distribute("{address}", splits=6, splits_at_once=3)')
        wait_for(30)
        self.restart(server, "dispatcher")
        # Which of its calls the new dispatcher answers first depends on where the consumer was.
        self.assertRegex(self.processes[-2].communicate()[1], "the dispatcher has no iteration|is not registered at this dispatcher")
        self.wait_until(lambda: len(self.alive_workers(address)) == 3)
        self.consume(f'{numbers(3000000)} | distribute("{address}", splits=3, splits_at_once=3)')
        self.wait_until(lambda: len(self.in_flight(address)) == 3)
        self.assertEqual(sorted(self.in_flight(address)), sorted(where for _, where in workers))

    def test_tf_56490_every_process_ends_after_a_repeated_plan(self):
        worker, _ = self.workers(1, self.address)[0]
        self.assertEqual(self.elements(f'range(10) | distribute("{self.address}") | repeat | take(25)'), [i % 10 for i in range(25)])
        self.assertEqual(self.elements("range(10) | distribute(workers=2) | repeat | take(25)"), [i % 10 for i in range(25)])
        for process in (self.server[0], worker):  # the worker ends although its dispatcher is gone
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)


class Jobs(ServiceTest):
    """Jobs with one and with several consumers, their epochs, and their end."""

    def setUp(self):
        super().setUp()
        self.address = self.dispatcher()
        self.workers(2, self.address)

    def iterations(self, job=None):
        return [i for i in self.status(self.address)["iterations"] if job is None or i["job"] == job]

    def test_jobs_without_a_name_and_with_different_names_are_apart(self):
        plan = f'range(10) | distribute("{self.address}")'
        for _ in range(3):
            self.assertEqual(self.elements(plan), list(range(10)))
        consumers = [self.consume(p) for p in 2 * [plan] + [f'range(10) | distribute("{self.address}", job="{j}")' for j in "ab"]]
        self.assertEqual([self.finish(c) for c in consumers], 4 * [list(range(10))])

    def test_consumers_that_repeat_share_each_epoch(self):
        plan = f'range(300) | filter(it >= 0) | sleep(100us) | distribute("{self.address}", job="j", splits=10, splits_at_once=1)'
        consumers = [self.consume(f"{plan} | repeat(3)") for _ in range(2)]
        got = [self.finish(c) for c in consumers]
        self.assertEqual(sorted(got[0] + got[1]), sorted(3 * list(range(300))))

    def test_a_consumer_that_begins_late_gets_what_nobody_has(self):
        plan = f'{numbers(300)} | distribute("{self.address}", job="j", splits=30, splits_at_once=1)'
        wait_for, finish = self.consume_in_steps(plan)
        wait_for(60)
        late = self.elements(plan)
        self.assertEqual(sorted(finish() + late), list(range(300)))
        self.assertEqual(self.elements(plan), [])

    def test_a_repeat_that_begins_late_continues_with_a_later_epoch(self):
        plan = f'range(10) | distribute("{self.address}", job="j", mode=off, silence_max=1s) | repeat | take(40)'
        for _ in range(2):
            self.assertEqual(sorted(set(self.elements(plan))), list(range(10)))

    def test_consumers_of_one_job_read_a_shuffled_plan(self):
        plan = f'range(400) | shuffle(400, seed=5) | sleep(200us) | distribute("{self.address}", job="j", mode=off, splits_at_once=1)'
        consumers = [self.consume(plan) for _ in range(2)]
        got = [self.finish(c) for c in consumers]
        self.assertEqual(sorted(got[0] + got[1]), sorted(2 * list(range(400))))

    def test_one_job_has_one_plan_and_one_mode(self):
        a, b = (f'range(5) | distribute("{self.address}", job="z", mode={mode})' for mode in ("dynamic", "off"))
        self.assertIn("Use another job name", self.fails(1, "run", f"zip({a}, {b})"))
        self.assertEqual(self.elements(f'range(5) | distribute("{self.address}", job="y")'), list(range(5)))
        self.assertIn("Use another job name", self.fails(1, "run", f'range(6) | distribute("{self.address}", job="y")'))

    def test_splits_of_a_consumer_that_died_go_to_the_others(self):
        plan = f'{numbers(300)} | distribute("{self.address}", job="j", splits=30, splits_at_once=4, silence_max=300ms)'
        wait_for, _ = self.consume_in_steps(plan)
        dying = self.processes[-1]
        wait_for(20)
        dying.kill()
        dying.wait()
        self.wait_until(lambda: self.iterations("j")[0]["consumers"] == 0)
        rest = self.elements(plan.replace("silence_max=300ms", "silence_max=1h"))
        self.assertEqual(len(rest), len(set(rest)))
        self.assertEqual(rest[-10:], list(range(290, 300)))
        self.assertEqual(self.iterations("j")[0]["done"], 30)

    def test_a_job_without_a_name_is_forgotten_with_its_consumer_and_others_are_not(self):
        plan = f'{numbers(20000)} | distribute("{self.address}", splits=50'
        lasting = self.consume(f'{plan}, job="lasting", consumer="kept", silence_max=1h) | take(2000)')
        for _ in range(2):
            wait_for, _ = self.consume_in_steps(f"{plan}, silence_max=200ms)")
            wait_for(10)
            self.processes[-1].kill()
            self.wait_until(lambda: [i["job"] for i in self.iterations() if i["consumers"]] == ["lasting"])
            self.assertEqual([i["in_flight"] for i in self.iterations() if not i["consumers"]][-1], [])
        self.assertEqual(self.finish(lasting), list(range(2000)))

    def test_tags_choose_the_workers_of_each_mode(self):
        dispatcher = self.dispatcher()
        for tags in (["--tags", "gpu,fast"], ["--tags", "fast"], []):
            self.workers(1, dispatcher, *tags)
        for tags, workers in (('["fast"]', 2), ('["gpu", "fast"]', 1), ("[]", 3)):
            got = self.elements(f'range(10) | distribute("{dispatcher}", mode=off, tags={tags})')
            self.assertEqual(got, workers * list(range(10)), tags)
            self.assertEqual(self.elements(f'range(10) | distribute("{dispatcher}", tags={tags})'), list(range(10)))
        wait_for, finish = self.consume_in_steps(f'{numbers(200)} | distribute("{dispatcher}", mode=off, tags=["gpu"])')
        wait_for(20)
        with self.paused(self.processes[-1]):
            self.workers(1, dispatcher, "--tags", "new,gpu")
            self.workers(1, dispatcher, "--tags", "fast")
        self.assertEqual(finish(), 2 * list(range(200)))
        done = sluice("worker", "--dispatcher", dispatcher, "--tags", "")
        self.assertIn("a tag is empty", done.stderr)

    def test_local_workers_read_epochs(self):
        local = f'distribute("{self.address}", mode=off, target_workers=local'
        self.assertEqual(self.elements(f"range(10) | {local}) | repeat(3)"), 6 * list(range(10)))
        self.assertEqual(self.elements(f"range(10) | {local}) | prefetch(10)"), 2 * list(range(10)))
        self.assertEqual(self.elements(f"range(0) | {local})"), [])
        for target in ("local", "any", "automatic"):
            got = self.elements(f'range(10) | distribute("{self.address}", job="{target}", target_workers={target}) | repeat(3)')
            self.assertEqual(got, 3 * list(range(10)))
        plan = f'range(100) | filter(it >= 0) | sleep(200us) | distribute("{self.address}", job="j", splits=20, splits_at_once=1'
        consumers = [self.consume(f"{plan}, target_workers={target})") for target in ("local", "any")]
        got = [self.finish(c) for c in consumers]
        self.assertEqual(sorted(got[0] + got[1]), list(range(100)))

    def test_a_consumer_that_ends_does_not_wait_for_elements_that_take_long(self):
        plan = f'concatenate(range(1), range(1, 2) | sleep(1000s)) | distribute("{self.address}") | prefetch(1) | take(1)'
        self.assertEqual(self.elements(plan), [0])

    def test_a_plan_runs_on_two_services_one_after_the_other(self):
        other = self.dispatcher()
        self.workers(1, other)
        plan = (f'from_tensor_slices(["a", "bb", "ccc"]) | repeat(2) | distribute("{self.address}", mode=off)'
                f' | group_by_window(length(it), batch(2), 4) | distribute("{other}")')
        self.assertEqual(self.elements(plan), 2 * [["a", "a"]] + 2 * [["bb", "bb"]] + 2 * [["ccc", "ccc"]])

    def test_tf_47531_workers_read_lookup_tables(self):
        with open(self.path("words.txt"), "w") as words:
            words.write("salt\npepper\ntea\n")
        plan = f'from_tensor_slices(["tea", "salt", "none"]) | map(lookup(it, "{self.path("words.txt")}")) | distribute("{self.address}")'
        self.assertEqual(self.elements(plan), [2, 0, -1])

    def test_an_address_with_a_scheme_is_refused(self):
        self.assertIn("address expects HOST:PORT, without a scheme", self.fails(2, "run", f'range(3) | distribute("grp://{self.address}")'))


if __name__ == "__main__":
    main()
