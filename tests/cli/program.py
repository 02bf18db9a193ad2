# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: starting it, files to feed it, and how a script reports."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM") or str(pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "sluice")
GOLDEN = ROOT / "tests/golden"


def sluice(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, **options)


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, payload):
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload


def example(texts):
    """A tf.Example with one text a feature."""
    entries = (field(1, field(1, name) + field(2, field(1, field(1, text)))) for name, text in texts.items())
    return field(1, b"".join(entries))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def write_tfrecord(path, record):
    length = struct.pack("<Q", len(record))
    pathlib.Path(path).write_bytes(length + masked(length) + record + masked(record))


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ok(self, *arguments, **options):
        done = sluice(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fails(self, status, *arguments):
        """Its first line on standard error, of which there is one unless a plan is shown."""
        done = sluice(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("sluice: "), done.stderr)
        return done.stderr.splitlines()[0].removeprefix("sluice: ")

    def damaged_file(self):
        """The records of small golden files, one bit of data flipped in the second record."""
        whole = bytearray((GOLDEN / "examples.tfrecord").read_bytes())
        first = 16 + struct.unpack("<Q", whole[:8])[0]
        whole[first + 12] ^= 1
        pathlib.Path(self.path("damaged.tfrecord")).write_bytes(whole)
        return self.path("damaged.tfrecord"), first


def main():
    result = unittest.main(module="__main__", exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
