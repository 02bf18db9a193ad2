# SPDX-License-Identifier: Apache-2.0
"""Datasets that one program registers with a dispatcher, and others read by their ids (sluice register, from_dataset_id)."""
from program import main
from service_processes import ServiceTest


class Datasets(ServiceTest):
    def setUp(self):
        super().setUp()
        self.store = ("--store", f"sqlite:{self.path('meta.db')}")
        self.server = self.start("dispatcher", *self.store)
        self.address = self.server[1]
        self.workers(2, self.address)

    def register(self, plan, *options):
        return self.ok("register", plan, "--dispatcher", self.address, *options).stdout.strip()

    def source(self, dataset_id, *arguments):
        return f"from_dataset_id({', '.join([chr(34) + self.address + chr(34), chr(34) + dataset_id + chr(34), *arguments])})"

    def test_a_registered_plan_is_read_by_its_id_as_often_as_wanted(self):
        given = self.register("range(10) | map(it * it)")
        self.assertRegex(given, "^d[0-9a-f]{16}$")
        self.assertEqual(self.register("range(10) | map(it * it)"), given)
        self.assertNotEqual(self.register("range(10) | map(it + it)"), given)
        for _ in range(2):
            self.assertEqual(self.elements(self.source(given) + " | batch(5)"), [[0, 1, 4, 9, 16], [25, 36, 49, 64, 81]])

    def test_an_id_of_ones_own_names_one_plan(self):
        self.assertEqual(self.register("range(4)", "--dataset-id", "train-v3"), "train-v3")
        self.assertEqual(self.register("range(4)", "--dataset-id", "train-v3"), "train-v3")
        message = self.fails(1, "register", "range(5)", "--dispatcher", self.address, "--dataset-id", "train-v3")
        self.assertRegex(message, "^already_exists: dataset 'train-v3' is registered with the fingerprint .*Use another dataset id")
        self.assertEqual(self.elements(self.source("train-v3")), [0, 1, 2, 3])

    def test_elements_of_several_members_have_their_types_without_a_schema(self):
        with open(self.path("a.csv"), "w") as out:
            out.write("name,n\nx,1\ny,2\n")
        given = self.register(f'csv("{self.path("a.csv")}", header=true) | filter(n > 0)')
        self.assertEqual(self.elements(self.source(given) + " | map({name, twice: n * 2})"),
                         [{"name": "x", "twice": 2}, {"name": "y", "twice": 4}])

    def test_a_plan_may_end_with_stages_that_run_in_the_consumer(self):
        given = self.register("range(100) | shuffle(10, seed=1) | batch(7)")
        self.assertEqual(self.elements(self.source(given)), self.elements("range(100) | shuffle(10, seed=1) | batch(7)"))

    def test_the_size_of_a_registered_plan_is_known(self):
        given = self.register("range(30) | batch(7)")
        self.assertEqual(self.elements(self.source(given) + " | assert_cardinality(5) | count_elements"), [5])
        self.assertRegex(self.ok("explain", self.source(given)).stdout, "distribute.*batch<int64>, 5 elements")

    def test_the_plan_prints_as_the_plan_that_was_registered(self):
        given = self.register("range(10) | map(it * it)")
        printed = self.ok("explain", "--written", self.source(given, 'job="a"')).stdout
        self.assertIn(f'distribute("{self.address}", job="a")', printed)
        self.assertNotIn("from_dataset_id", printed)

    def test_consumers_of_one_job_share_the_elements(self):
        given = self.register("range(400) | filter(it >= 0) | sleep(200us)")
        consumers = [self.consume(self.source(given, 'job="shared"', "splits=16", "splits_at_once=2", f'consumer="{i}"'))
                     for i in range(2)]
        parts = [self.finish(c) for c in consumers]
        self.assertEqual(sorted(parts[0] + parts[1]), list(range(400)))

    def test_each_mode_reads_a_registered_plan(self):
        given = self.register("range(20) | filter(it >= 0)")
        self.assertEqual(sorted(self.elements(self.source(given, "mode=off"))), sorted(2 * list(range(20))))
        message = self.fails(2, "run", self.source(given, "mode=hint"))
        self.assertIn("mode=hint needs a stage shard(hint, hint) upstream", message)
        hinted = self.register("range(20) | shard(hint, hint)")
        self.assertIn("shard(hint, hint) needs mode=hint", self.fails(2, "run", self.source(hinted)))

    def test_a_dispatcher_that_restarts_knows_its_datasets(self):
        given = self.register("range(5)")
        self.register("range(6)", "--dataset-id", "six")
        self.server = self.restart(self.server, "dispatcher", *self.store)
        self.assertEqual(self.elements(self.source(given)), list(range(5)))
        self.assertEqual(self.elements(self.source("six")), list(range(6)))

    def test_a_checkpoint_resumes_exactly(self):
        given = self.register("range(100) | filter(it % 3 == 0)")
        job = ("--checkpoint", self.path("job.ckpt"), "--output", "jsonl", "--quiet")
        first = self.ok("run", self.source(given), "--limit", "10", *job).stdout
        second = self.ok("run", self.source(given), "--resume", self.path("job.ckpt"), "--output", "jsonl", "--quiet").stdout
        self.assertEqual([int(x) for x in (first + second).split()], list(range(0, 100, 3)))

    def test_what_is_not_there_or_cannot_be_sent_is_refused_with_its_reason(self):
        message = self.fails(1, "run", self.source("nothing"))
        self.assertIn("dataset 'nothing' is not registered at this dispatcher", message)
        self.assertIn("dataset_id is missing", self.fails(2, "run", f'from_dataset_id("{self.address}", "")'))
        self.assertIn("without a scheme", self.fails(2, "run", 'from_dataset_id("http://h:1", "a")'))
        message = self.fails(2, "run", f'from_dataset_id("{self.address}")')
        self.assertIn("from_dataset_id: needs a dataset_id", message)
        nobody = self.free_address()
        message = self.fails(75, "run", f'from_dataset_id("{nobody}", "a", patience=50ms)')
        self.assertIn(f"dispatcher {nobody} was not reached in", message)
        self.assertIn("register needs --dispatcher", self.fails(2, "register", "range(3)"))
        self.assertIn("register needs PLAN or --file", self.fails(2, "register", "--dispatcher", self.address))


if __name__ == "__main__":
    main()
