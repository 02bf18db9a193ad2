# SPDX-License-Identifier: Apache-2.0
"""--transport grpc: the roles and consumers over gRPC, and its health checks."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from program import PROGRAM, main
from service_processes import ServiceTest

ROWS = pathlib.Path(__file__).resolve().parents[1] / "verbs"
MODULE = pathlib.Path(PROGRAM).parent / "libsluice-grpc-transport.so"


@unittest.skipUnless(MODULE.exists(), "this build has no module of gRPC")
class ServiceGrpc(ServiceTest):
    def health(self, address):
        """The body of the answer to grpc.health.v1.Health/Check for the whole server."""
        return subprocess.run(["curl", "--http2-prior-knowledge", "--silent", "--header", "content-type: application/grpc", "--header",
                               "te: trailers", "--data-binary", "@-", f"http://{address}/grpc.health.v1.Health/Check"],
                              input=bytes(5), capture_output=True).stdout

    def test_roles_and_consumers_talk_grpc(self):
        _, dispatcher = self.start("dispatcher", "--transport", "grpc")
        _, worker = self.start("worker", "--dispatcher", dispatcher, "--transport", "grpc")
        plan = f'range(3000) | filter(it % 3 == 0) | distribute("{dispatcher}", splits=5)'
        self.assertEqual(self.elements(plan, "--transport", "grpc"), list(range(0, 3000, 3)))
        self.assertIn(worker, self.ok("status", dispatcher, "--transport", "grpc").stdout)
        self.assertEqual(self.ok("register", "range(3)", "--dispatcher", dispatcher, "--dataset-id", "three", "--transport", "grpc").stdout,
                         "three\n")
        registered = f'from_dataset_id("{dispatcher}", "three")'
        self.assertIn("3 elements", self.ok("explain", registered, "--transport", "grpc").stdout)

    def test_a_consumer_of_the_other_transport_fails_with_what_to_do(self):
        over_grpc = self.dispatcher("--transport", "grpc")
        over_tcp = self.dispatcher()
        plan = 'range(3) | distribute("{}", patience=300ms)'
        message = self.fails(1, "run", plan.format(over_grpc))
        self.assertIn(f"{over_grpc}: it speaks gRPC, and this process sluice's own protocol over TCP; start all dispatchers, workers and "
                      "consumers of a service with the same --transport", message)
        message = self.fails(1, "run", plan.format(over_tcp), "--transport", "grpc")
        self.assertIn(f"{over_tcp}: call register_dataset: it does not speak gRPC; start all dispatchers, workers and consumers of a service "
                      "with the same --transport", message)

    def test_a_server_that_cannot_listen_reports_the_reason(self):
        address = self.dispatcher("--transport", "grpc")
        refused = lambda status, at: self.fails(status, "dispatcher", "--transport", "grpc", "--listen", at)
        self.assertIn(f"{address}: listen: Address already in use", refused(75, address))
        self.assertIn("no-such-host.invalid: look up: ", refused(75, "no-such-host.invalid:0"))
        self.assertIn("this machine has no address 192.0.2.1", refused(2, "192.0.2.1:0"))
        self.assertIn("listen: No such file or directory", refused(75, f"unix:{self.path('none/s')}"))

    def test_a_unix_socket_stays_with_the_server_that_listens_and_a_stale_one_is_replaced(self):
        path = f"unix:{self.path('s')}"
        serve = ("dispatcher", "--transport", "grpc", "--listen", path)
        first = subprocess.Popen([PROGRAM, *serve], stdout=subprocess.PIPE, text=True)
        self.processes.append(first)
        self.assertEqual(first.stdout.readline(), f"listening on {path}\n")
        self.assertIn(f"{path}: listen: Address already in use", self.fails(75, *serve))
        self.assertIn("0 datasets", self.ok("status", path, "--transport", "grpc").stdout)
        first.kill()
        first.wait()
        self.assertTrue(os.path.exists(self.path("s")))
        second = subprocess.Popen([PROGRAM, *serve], stdout=subprocess.PIPE, text=True)
        self.processes.append(second)
        self.assertEqual(second.stdout.readline(), f"listening on {path}\n")

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_a_worker_that_drains_does_not_serve(self):
        dispatcher = self.dispatcher("--transport", "grpc")
        worker, address = self.start("worker", "--dispatcher", dispatcher, "--transport", "grpc", "--patience", "1h")
        plan = f'range(1000000) | sleep(1ms) | distribute("{dispatcher}", splits=2)'
        consumer = self.consume(plan, "--transport", "grpc")
        consumer.stdout.readline()
        worker.send_signal(signal.SIGTERM)
        self.wait_until(lambda: self.health(address) == b"\0\0\0\0\x02\x08\x02")  # NOT_SERVING
        self.assertIsNone(worker.poll())

    def test_a_registered_plan_is_read_over_grpc(self):
        _, dispatcher = self.start("dispatcher", "--transport", "grpc")
        self.start("worker", "--dispatcher", dispatcher, "--transport", "grpc")
        self.ok("register", "range(30) | filter(it % 2 == 0)", "--dispatcher", dispatcher, "--dataset-id", "even", "--transport", "grpc")
        self.assertEqual(self.elements(f'from_dataset_id("{dispatcher}", "even")', "--transport", "grpc"), list(range(0, 30, 2)))

    def test_killed_workers_lose_nothing_over_grpc(self):
        options = "--transport", "grpc"
        _, dispatcher = self.start("dispatcher", *options)
        workers = [self.start("worker", "--dispatcher", dispatcher, *options)[0] for _ in range(3)]
        plan = f'range(6000) | filter(it >= 0) | sleep(500us) | distribute("{dispatcher}", splits=12, splits_at_once=4)'
        wait_for, finish = self.consume_in_steps(plan, *options)
        wait_for(300)
        workers[0].kill()
        wait_for(600)
        workers[1].send_signal(signal.SIGSTOP)
        wait_for(2100)
        self.start("worker", "--dispatcher", dispatcher, *options)
        workers[2].kill()
        self.assertEqual(finish(".*"), list(range(6000)))

    def test_rows_of_all_verbs_yield_their_elements_over_grpc(self):
        """A sample: of the plans of each table that the program can run and split, the first two, as over TCP."""
        options = "--transport", "grpc"
        services = [(self.service(), ()), (self.service(*options), options)]
        verbs = set()
        for table in sorted(ROWS.glob("*.tsv")):
            tried = 0
            for row in table.read_text().splitlines():
                plan, kind, *_ = [*row.split("\t"), ""]
                if kind != "elements" or "distribute" in plan or tried == 2:
                    continue
                (over_tcp, _), (over_grpc, why) = (self.run_of(f'{plan} | distribute("{address}", splits=3)', *how)
                                                   for address, how in services)
                self.assertEqual(over_grpc, over_tcp, f"{plan}\n{why}")
                if over_tcp is not None:
                    tried += 1
                    verbs.add(table.stem)
        self.assertGreater(len(verbs), 40)

    def service(self, *options):
        address = self.dispatcher(*options)
        for _ in range(2):
            self.start("worker", "--dispatcher", address, *options)
        return address

    @staticmethod
    def run_of(plan, *options):
        """The elements of a plan, None if the program cannot run it so; and its messages."""
        done = subprocess.run([PROGRAM, "run", plan, "--limit", "50", "--output", "jsonl", "--quiet", "--seed", "1", *options], capture_output=True,
                              text=True, cwd=ROWS.parents[1])
        return sorted(done.stdout.splitlines()) if done.returncode == 0 else None, f"status {done.returncode}: {done.stderr}"

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_both_roles_answer_health_checks(self):
        _, dispatcher = self.start("dispatcher", "--transport", "grpc")
        _, worker = self.start("worker", "--dispatcher", dispatcher, "--transport", "grpc")
        for address in (dispatcher, worker):
            self.assertEqual(self.health(address), b"\0\0\0\0\x02\x08\x01")  # a frame with the status SERVING

    def test_another_transport_is_refused(self):
        self.assertIn("expects tcp or grpc", self.fails(2, "dispatcher", "--transport", "smoke"))


if __name__ == "__main__":
    main()
