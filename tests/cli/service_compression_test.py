# SPDX-License-Identifier: Apache-2.0
"""Compression between workers and consumers as processes: the option, the bytes that travel, and what the status shows."""
import contextlib
import socket
import threading

from program import main
from service_processes import ServiceTest

PART, NUMBERS = 65_536, 500_000
SUM = "map({n: it}) | group_by(0, {count: count(), sum: sum(n)})"
SUM_OF_NUMBERS = [{"key": 0, "count": NUMBERS, "sum": sum(range(1000)) * NUMBERS // 1000}]


class Relay:
    """Passes connections on to a worker, and counts the bytes that come back."""

    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.door.getsockname()[1]
        self.bytes, self.lock, self.open = 0, threading.Lock(), []

    def serve(self, worker):
        host, port = worker.rsplit(":", 1)
        threading.Thread(target=self.accept, args=((host, int(port)),), daemon=True).start()

    def accept(self, worker):
        while True:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            there = socket.socket()
            self.open += [client, there]
            there.connect(worker)
            threading.Thread(target=self.copy, args=(client, there, False), daemon=True).start()
            threading.Thread(target=self.copy, args=(there, client, True), daemon=True).start()

    def copy(self, source, sink, is_counted):
        try:
            while part := source.recv(PART):
                if is_counted:
                    with self.lock:
                        self.bytes += len(part)
                sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one of the two is gone
            for s in (source, sink):
                with contextlib.suppress(OSError):
                    s.shutdown(socket.SHUT_RDWR)


class Compression(ServiceTest):
    def setUp(self):
        super().setUp()
        self.at = self.dispatcher()
        self.relay = Relay()
        port = self.free_address().rsplit(":", 1)[1]
        # Consumers reach the worker through the relay.
        self.start("worker", "--dispatcher", self.at, "--listen", f"127.0.0.1:{port}", "--address", self.relay.address)
        self.relay.serve(f"127.0.0.1:{port}")
        self.wait_until(lambda: self.relay.address in self.alive_workers(self.at))

    def tearDown(self):
        super().tearDown()
        for s in [self.relay.door, *self.relay.open]:
            s.close()

    def read(self, n, options):
        """The sum of n numbers, and the bytes that have come through the relay."""
        self.relay.bytes = 0
        plan = f'range({n}) | filter(it >= 0) | map(it % 1000)'
        total = self.elements(f'{plan} | distribute("{self.at}", splits=4, splits_at_once=1, max_outstanding=1MiB{options}) | {SUM}')
        return total, self.relay.bytes

    def shown(self):
        return [c for w in self.status(self.at)["workers"] for c in w.get("compression", [])]

    # Whether a link is slow beside its worker depends on the machine: tests/service/compressed_frames_test.cpp has slow and fast links
    # in virtual time.
    def test_automatic_compression_sends_no_more_bytes_than_none(self):
        total, plain = self.read(NUMBERS, ", compression=none")
        self.assertEqual(total, SUM_OF_NUMBERS)
        total, received = self.read(NUMBERS, "")
        self.assertEqual(total, SUM_OF_NUMBERS)
        self.assertLess(received, 1.01 * plain)
        self.wait_until(lambda: [c["is_forced"] for c in self.shown()] == [False])
        shown = self.shown()[0]
        self.assertLessEqual(shown["sent_bytes"], shown["raw_bytes"])

    def test_none_and_zstd_are_obeyed(self):
        total, plain = self.read(NUMBERS, ", compression=none")
        self.assertEqual(total, SUM_OF_NUMBERS)
        self.assertGreaterEqual(plain, 4_000_000)
        total, packed = self.read(NUMBERS, ", compression=zstd")
        self.assertEqual(total, SUM_OF_NUMBERS)
        self.assertLess(packed, plain / 3)
        self.wait_until(lambda: [c["is_forced"] for c in self.shown()] == [True])
        self.assertRegex(self.ok("status", self.at).stdout, r"to .*: zstd always, .* sent as .*")
        self.assertIn("compression expects automatic, none, zstd or lz4, and is gzip",
                      self.fails(2, "run", "range(3) | distribute(compression=gzip)"))


if __name__ == "__main__":
    main()
