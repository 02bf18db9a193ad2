# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of distributed plans: another dispatcher, other workers and other limits continue; other splits are refused."""
import shutil

from program import GOLDEN, main
from service_processes import ServiceTest


class ServiceResume(ServiceTest):
    def service(self, *worker):
        """The address of a new dispatcher with one worker."""
        address = self.dispatcher()
        self.workers(1, address, *worker)
        return address

    def first(self, plan):
        """The first ten elements, and the options that resume after them."""
        at = self.path("at.ckpt")
        made = self.elements(plan, "--limit", "10", "--checkpoint", at)
        self.assertEqual(made, list(range(10)))
        return "--resume", at

    def test_a_job_resumes_with_another_dispatcher(self):
        plan = 'range(40) | filter(it >= 0) | distribute("{}", splits=4)'
        resume = self.first(plan.format(self.service()))
        address = self.service()
        self.assertEqual(self.elements(plan.format(address), *resume), list(range(10, 40)))
        self.assertEqual(self.elements(plan.format(address.replace("127.0.0.1", "localhost")), *resume), list(range(10, 40)))
        self.assertEqual(self.elements(plan.replace('"{}", ', "workers=2, ").format(), *resume), list(range(10, 40)))

    def test_a_job_resumes_with_other_settings(self):
        address = self.service("--tags", "fast")
        plan = f'range(40) | filter(it >= 0) | distribute("{address}", splits=4, {{}})'
        resume = self.first(plan.format("max_outstanding=1MiB, patience=20s"))
        for settings in ("max_outstanding=2MiB", "patience=9s", 'tags=["fast"]', "target_workers=any", "silence_max=20s", "compression=zstd",
                         "workers=3"):
            with self.subTest(settings=settings):
                self.assertEqual(self.elements(plan.format(settings), *resume), list(range(10, 40)))

    def test_a_job_with_a_name_resumes_with_other_rules(self):
        address = self.service()
        plan = f'range(40) | filter(it >= 0) | map(it + 1) | map(it - 1) | distribute("{address}", splits=4, job="{{}}", consumer="c")'
        for job, rules in (("a", ["--no-optimize"]), ("b", ["--rule", "fuse_expressions=off"])):
            with self.subTest(rules=rules):
                resume = self.first(plan.format(job))
                self.assertEqual(self.elements(plan.format(job), *resume, *rules), list(range(10, 40)))

    def test_workers_of_this_process_may_be_more_or_fewer(self):
        resume = self.first("range(40) | filter(it >= 0) | distribute(splits=4, workers=2)")
        self.assertEqual(self.elements("range(40) | filter(it >= 0) | distribute(splits=4, workers=5)", *resume), list(range(10, 40)))

    def test_what_changes_elements_or_positions_is_refused(self):
        resume = self.first("range(40) | filter(it >= 0) | distribute(splits=4, workers=2)")
        for changed in ("splits=5, workers=2", "splits=4, workers=2, splits_at_once=3", "splits=4, workers=2, mode=data"):
            with self.subTest(changed=changed):
                self.assertIn("another plan", self.fails(1, "run", f"range(40) | filter(it >= 0) | distribute({changed})", *resume))
        # The number of workers decides what each of them yields.
        at = self.path("data.ckpt")
        self.ok("run", "range(40) | distribute(mode=data, workers=2)", "--limit", "9", "--checkpoint", at)
        self.assertIn("another plan", self.fails(1, "run", "range(40) | distribute(mode=data, workers=3)", "--resume", at))

    def test_a_checkpoint_of_an_earlier_build_is_accepted(self):
        at = self.path("at.ckpt")
        shutil.copy(GOLDEN / "checkpoints/distribute_with_settings.ckpt", at)
        plan = "range(40) | filter(it % 2 == 0) | distribute(splits=4, workers=2, max_outstanding=1MiB)"
        self.assertEqual(self.elements(plan, "--resume", at, "--limit", "5", "--checkpoint", at), list(range(10, 20, 2)))
        self.assertEqual(self.elements(plan.replace("workers=2", "workers=3"), "--resume", at), list(range(20, 40, 2)))


if __name__ == "__main__":
    main()
