# SPDX-License-Identifier: Apache-2.0
"""Compression between workers and consumers as processes, over a link that is slower than both of them, however slow they are."""
import contextlib
import pathlib
import re
import socket
import threading
import time

from program import main
from service_processes import ServiceTest

PART, NUMBERS = 65_536, 4_000_000
SUM = "map({n: it}) | group_by(0, {count: count(), sum: sum(n)})"


def sleeps(process):
    """Whether all threads of a process wait, or it has ended."""
    try:
        return all(p.read_text().rsplit(")", 1)[1].split()[0] in "SDZ" for p in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat"))
    except OSError:  # a thread has ended meanwhile
        return False


class Relay:
    """Passes connections on to a worker. With `slow`, what comes back passes in parts. After each of them the link is closed until
    both processes wait for it, and then for four times as long again: so it is the limit, whatever else this machine does."""

    LEAST = 0.01  # seconds; keeps the rate of a fast machine below that of every codec

    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.door.getsockname()[1]
        self.bytes, self.lock, self.open, self.slow = 0, threading.Lock(), [], ()

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
            for s in (there, client):  # small buffers, so that both sides feel the link
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            there.connect(worker)
            threading.Thread(target=self.copy, args=(client, there, False), daemon=True).start()
            threading.Thread(target=self.copy, args=(there, client, True), daemon=True).start()

    def copy(self, source, sink, is_limited):
        try:
            while part := source.recv(PART):
                if not is_limited:
                    sink.sendall(part)
                    continue
                with self.lock:
                    self.bytes += len(part)
                    sink.sendall(part)
                    self.close_link()
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one of the two is gone
            for s in (source, sink):
                with contextlib.suppress(OSError):
                    s.shutdown(socket.SHUT_RDWR)

    def close_link(self):
        if not self.slow:
            return
        began = time.monotonic()
        while not all(sleeps(p) for p in self.slow):
            time.sleep(0.0005)
        time.sleep(max(self.LEAST, 4 * (time.monotonic() - began)))


class Compression(ServiceTest):
    def setUp(self):
        super().setUp()
        self.at = self.dispatcher()
        self.relay = Relay()
        port = self.free_address().rsplit(":", 1)[1]
        # Consumers reach the worker through the relay.
        self.worker, _ = self.start("worker", "--dispatcher", self.at, "--listen", f"127.0.0.1:{port}", "--address", self.relay.address)
        self.relay.serve(f"127.0.0.1:{port}")
        self.wait_until(lambda: self.relay.address in self.alive_workers(self.at))

    def tearDown(self):
        super().tearDown()
        for s in [self.relay.door, *self.relay.open]:
            s.close()

    def read(self, n, options):
        """The sum of n numbers, and the bytes that have come through the relay."""
        self.relay.bytes = 0
        total = self.finish(self.begin(n, options))
        return total, self.relay.bytes

    def begin(self, n, options):
        plan = f'range({n}) | filter(it >= 0) | map(it % 1000)'
        return self.consume(f'{plan} | distribute("{self.at}", splits=4, splits_at_once=1, max_outstanding=1MiB{options}) | {SUM}')

    def shown(self):
        return [c for w in self.status(self.at)["workers"] for c in w.get("compression", [])]

    def test_over_a_slow_link_fewer_bytes_travel(self):
        consumer = self.begin(NUMBERS, "")
        self.relay.slow = (self.worker, consumer)
        total = self.finish(consumer)
        self.relay.slow = ()
        self.assertEqual(total, [{"key": 0, "count": NUMBERS, "sum": sum(range(1000)) * NUMBERS // 1000}])
        self.assertLess(self.relay.bytes, 0.7 * 8 * NUMBERS)

    def test_the_status_shows_that_a_slow_link_is_compressed(self):
        # Without an end, so that the figures are those of a link in use. Now and then frames are sent as they are, for a trial.
        consumer = self.begin(10**15, "")
        self.relay.slow = (self.worker, consumer)
        self.wait_until(lambda: [c["codec"] for c in self.shown()] == ["zstd"])
        first = self.shown()[0]
        self.wait_until(lambda: self.shown()[0]["raw_bytes"] > first["raw_bytes"] + (32 << 20))
        last = self.shown()[0]
        self.assertLess(last["sent_bytes"] - first["sent_bytes"], 0.7 * (last["raw_bytes"] - first["raw_bytes"]))
        self.assertGreater(last["link_bytes_per_second"], 0)  # tests/service/compressed_frames_test.cpp checks the number
        self.wait_until(lambda: re.search(r"to .*: zstd since the link is slow \(.*/s\), .* sent as .*", self.ok("status", self.at).stdout))

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
