# SPDX-License-Identifier: Apache-2.0
"""The program reads objects from an nginx that nobody here wrote; curl reads the same bytes."""
import hashlib
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import nginx_server
from objects_of_server import Objects, RECORD
from program import PROGRAM, main


class NginxTest(Objects, unittest.TestCase):
    slow = "slow"

    @staticmethod
    def start(folder, objects, certificates):
        return nginx_server.Nginx(folder, objects, certificates)

    def test_sixty_four_objects_whose_first_byte_takes_50_ms_are_read_at_once(self):
        plan = self.parts("slow")
        self.check_parts(self.read(plan))
        before = len(self.server.requests())
        self.check_parts(self.read(plan))
        self.assertLessEqual(len(self.server.requests()) - before, 64 + 4)

    def test_one_request_in_ten_is_refused_and_nobody_notices(self):
        self.check_parts(self.read(self.parts("flaky")))
        self.assertTrue(any(" 503 " in line for line in self.server.requests()))

    def test_a_rate_limit_takes_its_time(self):
        began = time.monotonic()
        got = self.read(f'fixed_length("{self.server.url("limited/large")}", {RECORD})')
        self.assertEqual(hashlib.sha256(b"".join(got)).digest(), hashlib.sha256(self.bytes["large"]).digest())
        self.assertGreater(time.monotonic() - began, 1)

    def test_a_server_that_would_compress_is_asked_not_to(self):
        self.check_object(self.server.url("packed/part-2"), "part-2")

    def test_redirects_and_servers_without_ranges(self):
        self.check_object(self.server.url("moved/large"), "large")
        self.check_object(self.server.url("whole/large"), "large")

    def test_tls_that_nobody_trusts_or_speaks(self):
        missing = self.read(f'lines("https://127.0.0.1:{self.server.tls_ports["good"]}/raw/part-0")', status=1, env={"SSL_CERT_FILE": "/none.pem"})
        self.assertIn("SSL_CERT_FILE names /none.pem", missing)
        plain = self.read(f'lines("https://127.0.0.1:{self.server.port}/raw/part-0")', status=1)
        self.assertIn("the handshake failed", plain)


if __name__ == "__main__":
    lacking = nginx_server.missing()
    if lacking:
        print(f"skipped: this machine has no {lacking}")
        print("0 passed, 0 failed")
    elif "https://127" not in subprocess.run([PROGRAM, "run", 'lines("https://127.0.0.1:1/none")', "--io-timeout", "2s"], capture_output=True, text=True).stderr:
        print("skipped: this build has no files of http://")
        print("0 passed, 0 failed")
    else:
        main()
