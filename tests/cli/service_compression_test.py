# SPDX-License-Identifier: Apache-2.0
"""Compression between workers and consumers as processes, over a link whose rate a relay limits."""
import contextlib
import socket
import threading
import time

from program import main
from service_processes import ServiceTest

BYTES_PER_SECOND = 4_000_000
PART = 16_384
SUM = "map({n: it}) | group_by(0, {count: count(), sum: sum(n)})"


class Relay:
    """Passes connections on to a worker; what comes back from it is limited to a rate, over all connections."""

    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.door.getsockname()[1]
        self.bytes, self.free_at, self.lock, self.open = 0, 0.0, threading.Lock(), []

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
            for s in (there, client):  # small buffers, so that the rate is felt
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            there.connect(worker)
            threading.Thread(target=self.copy, args=(client, there, False), daemon=True).start()
            threading.Thread(target=self.copy, args=(there, client, True), daemon=True).start()

    def copy(self, source, sink, is_limited):
        try:
            while part := source.recv(PART):
                if is_limited:
                    with self.lock:
                        self.bytes += len(part)
                        begin = max(time.monotonic(), self.free_at)
                        self.free_at = begin + len(part) / BYTES_PER_SECOND
                    time.sleep(max(0, begin - time.monotonic()))
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

    def test_a_slow_link_is_compressed_and_the_status_shows_it(self):
        total, received = self.read(8_000_000, "")
        self.assertEqual(total, [{"key": 0, "count": 8_000_000, "sum": sum(range(1000)) * 8000}])
        self.assertLess(received, 0.7 * 64_000_000)
        self.wait_until(lambda: [c["codec"] for c in self.shown()] == ["zstd"])  # with the next heartbeat
        shown = self.shown()
        self.assertGreater(shown[0]["raw_bytes"], shown[0]["sent_bytes"])
        self.assertGreater(shown[0]["link_bytes_per_second"], 1_000_000)
        self.assertRegex(self.ok("status", self.at).stdout, r"to .*: zstd since the link is slow \(.*/s\), .* sent as .*")

    def test_none_and_zstd_are_obeyed(self):
        total, plain = self.read(500_000, ", compression=none")
        self.assertEqual(total, [{"key": 0, "count": 500_000, "sum": sum(range(1000)) * 500}])
        self.assertGreaterEqual(plain, 4_000_000)
        total, packed = self.read(500_000, ", compression=zstd")
        self.assertEqual(total, [{"key": 0, "count": 500_000, "sum": sum(range(1000)) * 500}])
        self.assertLess(packed, plain / 3)
        self.wait_until(lambda: [c["is_forced"] for c in self.shown()] == [True])
        self.assertIn("compression expects automatic, none, zstd or lz4, and is gzip",
                      self.fails(2, "run", "range(3) | distribute(compression=gzip)"))


if __name__ == "__main__":
    main()
