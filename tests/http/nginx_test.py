# SPDX-License-Identifier: Apache-2.0
"""The program reads objects from an nginx that nobody here wrote; curl reads the same bytes."""
import hashlib
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import certificates
import nginx_server
from program import PROGRAM, main, sluice

RECORD = 16 << 10
MIB = 1 << 20


def records(path):
    """Those of a TFRecord file."""
    data = pathlib.Path(path).read_bytes()
    at, found = 0, []
    while at < len(data):
        n = struct.unpack_from("<Q", data, at)[0]
        found.append(data[at + 12:at + 12 + n])
        at += 16 + n
    return found


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        cls.objects = root / "objects"
        cls.objects.mkdir()
        os.chmod(root, 0o755)
        draw = random.Random(20261124)
        cls.bytes = {f"part-{i}": draw.randbytes(MIB) for i in range(64)}
        cls.bytes["large"] = draw.randbytes(40 * MIB)
        cls.bytes["empty"] = b""
        for name, data in cls.bytes.items():
            (cls.objects / name).write_bytes(data)
        names = "IP:127.0.0.1,DNS:localhost"
        certificates.make_root(root, "root")
        certificates.make_root(root, "stranger")
        certificates.make_certificate(root, "good", "root", names)
        certificates.make_certificate(root, "expired", "root", names, days=-1)
        certificates.make_certificate(root, "other", "root", "DNS:elsewhere.example,IP:127.0.0.2")
        certificates.make_certificate(root, "unknown", "stranger", names)
        cls.server = nginx_server.Nginx(root, cls.objects, ("good", "expired", "other", "unknown"))
        cls.addClassCleanup(cls.server.stop)
        cls.root = root

    def read(self, plan, status=0, env=None):
        copy = self.root / "copy.tfrecord"
        done = sluice("run", plan, "--output", f"tfrecord:{copy}", env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return records(copy) if status == 0 else done.stderr

    def check_object(self, url, name, env=None, curl=()):
        got = b"".join(self.read(f'fixed_length("{url}", {RECORD})', env=env))
        self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(self.bytes[name]).digest())
        theirs = subprocess.run(["curl", "-sSfL", *curl, url], capture_output=True, check=True).stdout
        self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(theirs).digest())

    def parts(self, place, options=""):
        names = "\n".join(self.server.url(f"{place}/part-{i}") for i in range(64))
        listed = self.root / "names.txt"
        listed.write_text(names + "\n")
        return f'lines("{listed}") | interleave(fixed_length({RECORD}), cycle_length=64, parallelism=64{options})'

    def check_parts(self, got):
        expected = [self.bytes[f"part-{i}"][at:at + RECORD] for i in range(64) for at in range(0, MIB, RECORD)]
        self.assertEqual(sorted(map(hash, got)), sorted(map(hash, expected)))

    def test_a_large_object_an_empty_one_and_one_byte_for_byte_as_curl_reads_it(self):
        self.check_object(self.server.url("raw/large"), "large")
        self.check_object(self.server.url("raw/part-0"), "part-0")
        self.assertEqual(self.read(f'fixed_length("{self.server.url("raw/empty")}", {RECORD})'), [])

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

    def test_what_does_not_exist_names_itself(self):
        said = self.read(f'lines("{self.server.url("raw/none")}")', status=1)
        self.assertIn("not_found", said)
        self.assertIn(self.server.url("raw/none"), said)
        self.assertIn("404 Not Found", said)

    def test_an_object_that_is_replaced_while_it_is_read_is_an_error(self):
        changing = self.objects / "changing"
        changing.write_bytes(self.bytes["large"])
        def replace():
            time.sleep(1)
            other = self.objects / "other"
            other.write_bytes(bytes(len(self.bytes["large"])))
            other.replace(changing)
        replacing = threading.Thread(target=replace)
        replacing.start()
        said = self.read(f'fixed_length("{self.server.url("slow/changing")}", {RECORD}, reads_in_flight=1)', status=1)
        replacing.join()
        self.assertIn("failed_precondition", said)
        self.assertIn("has changed since it was opened", said)

    def test_tls_with_a_private_root(self):
        url = f"https://127.0.0.1:{self.server.tls_ports['good']}/raw/large"
        trusted = {"SSL_CERT_FILE": str(self.root / "root.pem")}
        self.check_object(url, "large", env=trusted, curl=("--cacert", str(self.root / "root.pem")))
        self.check_object(url.replace("127.0.0.1", "localhost"), "large", env=trusted, curl=("--cacert", str(self.root / "root.pem")))

    def test_certificates_that_do_not_hold_are_refused_and_say_why(self):
        trusted = {"SSL_CERT_FILE": str(self.root / "root.pem")}
        for name, words in (("expired", "it has expired ("), ("other", "it is for another host (elsewhere.example)"),
                            ("unknown", "its root is not among those that are trusted")):
            with self.subTest(name):
                url = f"https://127.0.0.1:{self.server.tls_ports[name]}/raw/part-0"
                said = self.read(f'fixed_length("{url}", {RECORD})', status=1, env=trusted)
                self.assertIn("unauthenticated", said)
                self.assertIn(words, said)
                self.assertIn(url, said)
        untrusted = self.read(f'lines("https://127.0.0.1:{self.server.tls_ports["good"]}/raw/part-0")', status=1)
        self.assertIn("its root is not among those that are trusted", untrusted)
        missing = self.read(f'lines("https://127.0.0.1:{self.server.tls_ports["good"]}/raw/part-0")', status=1, env={"SSL_CERT_FILE": "/none.pem"})
        self.assertIn("SSL_CERT_FILE names /none.pem", missing)
        plain = self.read(f'lines("https://127.0.0.1:{self.server.port}/raw/part-0")', status=1, env=trusted)
        self.assertIn("there is no handshake", plain)


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
