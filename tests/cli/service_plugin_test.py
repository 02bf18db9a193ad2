# SPDX-License-Identifier: Apache-2.0
"""--plugin in the service: the dispatcher, the workers and who registers a plan load functions; an error names who lacks one."""
import pathlib
import socket
import tempfile
import unittest

from plugin_test import COMPILER, compiled
from program import main
from service_processes import ServiceTest

MINE = """
#include <cstdint>
#include <sluice/sluice.hpp>
SLUICE_FUNCTION(sq7, [](std::int64_t n) { return n * n + 7; });
"""
LATER = """
#include <cstdint>
#include <sluice/sluice.hpp>
SLUICE_FUNCTION_VERSION(sq7, 2, [](std::int64_t n) { return n * n + 8; });
"""


@unittest.skipUnless(COMPILER, "no compiler")
class ServicePlugins(ServiceTest):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.plugin = "--plugin", compiled(pathlib.Path(cls.kept.name, "mine.so"), MINE)
        cls.later = "--plugin", compiled(pathlib.Path(cls.kept.name, "later.so"), LATER)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_a_plan_with_its_functions_runs_on_workers(self):
        address = self.dispatcher(*self.plugin)
        self.workers(1, address, *self.plugin)
        self.assertEqual(self.elements(f'range(3) | map(sq7) | distribute("{address}")', *self.plugin), [7, 8, 11])

    def test_a_plan_with_its_functions_is_registered_and_read(self):
        address = self.dispatcher(*self.plugin)
        self.workers(1, address, *self.plugin)
        self.ok("register", "range(3) | map(sq7)", "--dispatcher", address, "--dataset-id", "mine", *self.plugin)
        source = f'from_dataset_id("{address}", "mine")'
        self.assertEqual(self.elements(source, *self.plugin), [7, 8, 11])
        message = self.fails(1, "run", source)
        self.assertIn("this program cannot read the plan", message)
        self.assertIn("there is no function sq7", message)

    def test_a_worker_with_another_version_of_a_function_is_refused(self):
        address = self.dispatcher(*self.plugin)
        self.workers(1, address, *self.later)
        message = self.fails(1, "run", f'range(3) | map(sq7) | distribute("{address}")', *self.plugin)
        self.assertIn(f"the worker on {socket.gethostname()} reads another plan", message)
        self.assertIn("a function of the plan has another version", message)
        self.ok("register", "range(3) | map(sq7)", "--dispatcher", address, "--dataset-id", "mine", *self.plugin)
        message = self.fails(1, "run", f'from_dataset_id("{address}", "mine")', *self.later)
        self.assertIn("this program reads another plan", message)

    def test_an_error_names_the_process_that_lacks_a_function(self):
        without = self.dispatcher()
        self.workers(1, without, *self.plugin)
        message = self.fails(1, "run", f'range(3) | map(sq7) | distribute("{without}")', *self.plugin)
        self.assertIn(f"the dispatcher on {socket.gethostname()} cannot read the plan", message)
        self.assertIn("there is no function sq7", message)
        self.assertIn("--plugin PATH", message)
        address = self.dispatcher(*self.plugin)
        self.workers(1, address)
        message = self.fails(1, "run", f'range(3) | map(sq7) | distribute("{address}")', *self.plugin)
        self.assertIn(f"the worker on {socket.gethostname()} cannot read the plan", message)
        self.assertIn("there is no function sq7", message)


if __name__ == "__main__":
    main()
