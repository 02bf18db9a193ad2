# SPDX-License-Identifier: Apache-2.0
"""What the program has to do with the objects of any web server, as tests: a class for each server derives from Objects and says
how it is started."""
import hashlib
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import threading
import time

import certificates
from program import example, sluice, write_tfrecord

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


def lacks_tools():
    """Of what these tests need beside a server, in words; empty: nothing."""
    return ", ".join(name for name in ("curl", "openssl") if not shutil.which(name))


class Objects:
    """Mixed into a TestCase. start(folder, objects, certificates) gives a server: url(), port, tls_ports, stop()."""
    large_mib = 40
    slow = "limited"  # a place that takes a second or two for some MiB

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
        cls.bytes["large"] = draw.randbytes(cls.large_mib * MIB)
        cls.bytes["empty"] = b""
        for name, data in cls.bytes.items():
            (cls.objects / name).write_bytes(data)
        certificates.make_all(root)
        cls.server = cls.start(root, cls.objects, ("good", "expired", "other", "unknown"))
        cls.addClassCleanup(cls.server.stop)
        cls.root = root

    def read(self, plan, status=0, env=None):
        copy = self.root / "copy.tfrecord"
        done = sluice("run", plan, "--output", f"tfrecord:{copy}", env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return records(copy) if status == 0 else done.stderr

    def curl(self, *arguments):
        return subprocess.run(["curl", "-sSL", *arguments], capture_output=True, check=True).stdout

    def check_object(self, url, name, env=None, curl=()):
        got = b"".join(self.read(f'fixed_length("{url}", {RECORD})', env=env))
        self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(self.bytes[name]).digest())
        self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(self.curl("-f", *curl, url)).digest())

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

    def test_a_range_of_an_object_has_the_bytes_that_curl_gets_for_it(self):
        url = self.server.url("raw/large")
        for first, count in ((0, 1), (1000, 7), (self.large_mib * 64 - 3, 3)):
            got = b"".join(self.read(f'fixed_length("{url}", {RECORD}) | skip({first}) | take({count})'))
            end = (first + count) * RECORD - 1
            self.assertEqual(got, self.curl("-f", "-r", f"{first * RECORD}-{end}", url))
            self.assertEqual(got, self.bytes["large"][first * RECORD:end + 1])

    def test_sixty_four_objects_are_read_at_once(self):
        self.check_parts(self.read(self.parts("raw")))

    def test_an_object_that_was_written_just_now_is_read_by_ranges_while_it_grows_old(self):
        """Versions of young objects are told in other words by some servers (Apache: W/"…" for a second)."""
        young = self.bytes["large"][:8 * MIB]
        (self.objects / "young").write_bytes(young)
        got = self.read(f'fixed_length("{self.server.url(f"{self.slow}/young")}", {RECORD}, reads_in_flight=1)')
        self.assertEqual(b"".join(got), young)

    def test_a_url_may_stand_where_a_file_may(self):
        text = self.objects / "some.txt"
        text.write_text("one\ntwo\nthree\n")
        write_tfrecord(self.objects / "one.tfrecord", example({b"text": b"hello"}))
        done = sluice("head", "--raw", self.server.url("raw/some.txt"))
        self.assertIn("two", done.stdout, done.stderr)
        self.assertEqual(sluice("count", self.server.url("raw/some.txt")).stdout, "3\n")
        self.assertEqual(sluice("verify", self.server.url("raw/one.tfrecord")).returncode, 0)
        self.assertIn("hello", sluice("cat", self.server.url("raw/one.tfrecord")).stdout)

    def test_what_does_not_exist_names_itself(self):
        said = self.read(f'lines("{self.server.url("raw/none")}")', status=1)
        self.assertIn("not_found", said)
        self.assertIn(self.server.url("raw/none"), said)
        self.assertIn("404 Not Found", said)
        self.assertIn("bytes 0-1048575, attempt 1", said)

    def test_an_object_that_is_replaced_while_it_is_read_is_an_error(self):
        changing = self.objects / "changing"
        changing.write_bytes(self.bytes["large"])
        an_hour_ago = time.time() - 3600
        os.utime(changing, (an_hour_ago, an_hour_ago))  # nginx's ETag is size and second: two versions of one second are one for it
        other = self.objects / "other"
        other.write_bytes(bytes(len(self.bytes["large"])))
        out = self.root / "out"
        out.mkdir()
        replaced = threading.Event()

        def replace():
            # Once some of it has arrived: long before all of it can have, as the server is slow.
            until = time.monotonic() + 60
            while not any(f.stat().st_size > 0 for f in out.glob("*.partial")) and time.monotonic() < until:
                time.sleep(0.02)
            other.replace(changing)
            replaced.set()

        replacing = threading.Thread(target=replace)
        replacing.start()
        done = sluice("run", f'fixed_length("{self.server.url(f"{self.slow}/changing")}", {RECORD}, reads_in_flight=1)', "--output", f"tfrecord:{out}/copy.tfrecord")
        replacing.join()
        self.assertTrue(replaced.is_set())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("failed_precondition", done.stderr)
        self.assertIn("has changed since it was opened", done.stderr)

    def test_tls_with_a_private_root(self):
        url = f"https://127.0.0.1:{self.server.tls_ports['good']}/raw/large"
        trusted = {"SSL_CERT_FILE": str(self.root / "root.pem")}
        self.check_object(url, "large", env=trusted, curl=("--cacert", str(self.root / "root.pem")))
        self.check_object(url.replace("127.0.0.1", "localhost"), "large", env=trusted, curl=("--cacert", str(self.root / "root.pem")))

    def test_certificates_that_do_not_hold_are_refused_and_say_why(self):
        trusted = {"SSL_CERT_FILE": str(self.root / "root.pem")}
        for name, words in (("expired", "it has expired ("), ("other", "it is for another host (elsewhere.example)"),
                            ("unknown", "its root is not trusted")):
            with self.subTest(name):
                url = f"https://127.0.0.1:{self.server.tls_ports[name]}/raw/part-0"
                said = self.read(f'fixed_length("{url}", {RECORD})', status=1, env=trusted)
                self.assertIn("unauthenticated", said)
                self.assertIn(words, said)
                self.assertIn(url, said)
        untrusted = self.read(f'lines("https://127.0.0.1:{self.server.tls_ports["good"]}/raw/part-0")', status=1)
        self.assertIn("its root is not trusted", untrusted)
