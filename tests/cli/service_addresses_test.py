# SPDX-License-Identifier: Apache-2.0
"""Servers at addresses that are in use, and dispatchers over one store."""
import subprocess

from program import PROGRAM, main
from service_processes import ServiceTest


class Addresses(ServiceTest):
    def store(self):
        return "--store", f"sqlite:{self.path('meta.db')}"

    def start_watched(self, *arguments):
        """A server whose standard error can be read."""
        process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process, process.stdout.readline().split()[-1]

    def test_a_dispatcher_that_cannot_listen_leaves_the_store_to_the_one_that_works(self):
        _, address = self.start("dispatcher", *self.store())
        self.assertIn("in use", self.fails(75, "dispatcher", *self.store(), "--listen", address))
        registered = self.ok("register", "range(3)", "--dispatcher", address, "--dataset-id", "three")  # is written to the store
        self.assertEqual(registered.stdout, "three\n")

    def test_the_older_of_two_dispatchers_over_one_store_ends_with_an_error(self):
        older, address = self.start_watched("dispatcher", *self.store())
        _, later = self.start("dispatcher", *self.store())
        _, errors = older.communicate()
        self.assertEqual(older.returncode, 1)
        self.assertIn(f"dispatcher {address} with --store {self.store()[1]} ends: another dispatcher has taken over the store; give each "
                      "dispatcher a store of its own", errors)
        self.assertEqual(self.ok("register", "range(3)", "--dispatcher", later, "--dataset-id", "three").stdout, "three\n")


if __name__ == "__main__":
    main()
