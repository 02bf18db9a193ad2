# SPDX-License-Identifier: Apache-2.0
"""Dispatchers, workers and consumers as processes, which tests start, kill, pause and restart."""
import contextlib
import json
import signal
import socket
import subprocess
import time

from program import PROGRAM, ProgramTest


class ServiceTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.processes = []

    def tearDown(self):
        self.end_all()
        super().tearDown()

    def end_all(self):
        """Kills the processes that were started."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        self.processes = []

    def start(self, *arguments):
        """A server, and the address that it prints."""
        process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        line = process.stdout.readline()
        self.assertRegex(line, r"^listening on .*:\d+\n$")
        return process, line.split()[-1]

    def dispatcher(self, *options):
        """The address of a new dispatcher."""
        return self.start("dispatcher", *options)[1]

    def workers(self, n, dispatcher, *options):
        """New workers, as pairs of process and address, registered in this order."""
        started = []
        for _ in range(n):
            started.append(self.start("worker", "--dispatcher", dispatcher, *options))
            self.wait_until(lambda: started[-1][1] in self.alive_workers(dispatcher))
        return started

    def restart(self, server, *arguments):
        """Kills a server, and starts it again at its address."""
        process, address = server
        process.kill()
        process.wait()
        again = self.start(*arguments, "--listen", address)
        self.assertEqual(again[1], address)
        return again

    def alive_workers(self, dispatcher):
        return [w["worker"] for w in self.status(dispatcher)["workers"] if w["is_alive"]]

    def consume(self, plan, *options):
        """A consumer whose elements are read at its end."""
        consumer = subprocess.Popen([PROGRAM, "run", plan, "--output", "jsonl", "--quiet", *options], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
        self.processes.append(consumer)
        return consumer

    def finish(self, consumer):
        """The elements of a consumer that has succeeded."""
        out, errors = consumer.communicate()
        self.assertEqual((consumer.returncode, errors), (0, ""))
        return [json.loads(line) for line in out.splitlines()]

    def consume_in_steps(self, plan, *options):
        """A function that waits until a consumer has delivered so many elements, and one that returns all of them at its end."""
        consumer = self.consume(plan, *options)
        lines = []

        def wait_for(n):
            while len(lines) < n and (line := consumer.stdout.readline()):
                lines.append(line)
            self.assertGreaterEqual(len(lines), n, consumer.stderr.read() if len(lines) < n else "")

        def finish(warning="^$"):
            lines.extend(consumer.stdout)
            errors = consumer.stderr.read()
            self.assertRegex(errors, warning)
            self.assertEqual(consumer.wait(), 0)
            return [json.loads(line) for line in lines]

        return wait_for, finish

    def elements(self, plan, *options):
        return [json.loads(line) for line in self.ok("run", plan, "--output", "jsonl", "--quiet", *options).stdout.splitlines()]

    def status(self, dispatcher):
        return json.loads(self.ok("status", dispatcher, "--json").stdout)

    @contextlib.contextmanager
    def paused(self, process):
        process.send_signal(signal.SIGSTOP)
        yield
        process.send_signal(signal.SIGCONT)

    def in_flight(self, dispatcher):
        """The addresses of the workers that read splits."""
        return [split["worker"] for i in self.status(dispatcher)["iterations"] for split in i["in_flight"]]

    @staticmethod
    def wait_until(holds):
        while not holds():
            time.sleep(0.005)

    @staticmethod
    def free_address():
        """An address at which nothing listens yet."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{s.getsockname()[1]}"
