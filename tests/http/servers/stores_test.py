# SPDX-License-Identifier: Apache-2.0
"""The program reads objects of s3:// and gs:// from servers that nobody here wrote; curl has put them there."""
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import certificates
import store_server
from program import PROGRAM, main, sluice

RECORD = 4096
MIB = 1 << 20
# What the machine has of its own is nobody's business.
BARE = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GOOGLE_", "GS_", "CLOUDSDK_", "STORAGE_"))}
BARE |= {"HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true"}


class Stores(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        draw = random.Random(20261124)
        cls.parts = {f"part-{i}": draw.randbytes(MIB) for i in range(8)}
        cls.parts["part-8"] = draw.randbytes(24 * MIB)
        (cls.folder / "parts").mkdir()
        for name, data in cls.parts.items():
            (cls.folder / "parts" / name).write_bytes(data)

    def check_parts(self, root, env):
        copy = self.folder / "copy.txt"
        plan = f'list_files("{root}/train/part-*") | interleave(fixed_length({RECORD}), cycle_length=4, parallelism=4)'
        done = sluice("run", plan, "--output", f"tfrecord:{copy}", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = copy.read_bytes()
        size = RECORD + 16
        got = sorted(hashlib.sha256(data[at + 12:at + 12 + RECORD]).digest() for at in range(0, len(data), size))
        put = sorted(hashlib.sha256(p[at:at + RECORD]).digest() for p in self.parts.values() for at in range(0, len(p), RECORD))
        self.assertEqual(got, put)

    def fails(self, words, plan, env):
        done = sluice("run", plan, env=env)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn(store_server.KEYS["AWS_SECRET_ACCESS_KEY"], done.stderr)

    @unittest.skipUnless(store_server.find("versitygw"), "no versitygw")
    def test_s3_over_http_and_over_tls(self):
        certificates.make_root(self.folder, "root")
        certificates.make_certificate(self.folder, "good", "root", "IP:127.0.0.1,DNS:localhost")
        root = self.folder / "s3"
        (root / "bucket").mkdir(parents=True)
        plain = store_server.versitygw(self.folder, root)
        self.addCleanup(plain.stop)
        url = f"http://127.0.0.1:{plain.port}"
        for name in self.parts:
            store_server.upload(f"{url}/bucket/train/{name}", self.folder / "parts" / name)
        env = {**BARE, **store_server.KEYS, "AWS_ENDPOINT_URL": url}
        self.check_parts("s3://bucket", env)
        tls = store_server.versitygw(self.folder, root, "--cert", str(self.folder / "good.pem"), "--key", str(self.folder / "good.key"))
        self.addCleanup(tls.stop)
        secure = {**env, "AWS_ENDPOINT_URL_S3": f"https://127.0.0.1:{tls.port}", "SSL_CERT_FILE": str(self.folder / "root.pem")}
        self.check_parts("s3://bucket", secure)
        untrusted = {**secure, "SSL_CERT_FILE": ""}
        self.fails(["unauthenticated", "its root is not trusted"], 'lines("s3://bucket/train/part-0")', untrusted)

        profile = self.folder / "credentials"
        profile.write_text("[mine]\n" + "".join(f"{name.lower()} = {value}\n" for name, value in store_server.KEYS.items()))
        by_profile = {**BARE, "AWS_ENDPOINT_URL": url, "AWS_PROFILE": "mine", "AWS_SHARED_CREDENTIALS_FILE": str(profile)}
        self.assertEqual(sluice("run", 'list_files("s3://bucket/**")', env=by_profile).returncode, 0)
        self.fails(["not_found", "NoSuchKey", "s3://bucket/none", "request id"], 'lines("s3://bucket/none")', env)
        self.fails(["unauthenticated", "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"], 'lines("s3://bucket/none")',
                   {**env, "AWS_SECRET_ACCESS_KEY": "wrong"})
        self.fails(["permission_denied", "the request was anonymous"], 'lines("s3://bucket/none")', {**env, "AWS_NO_SIGN_REQUEST": "1"})
        self.fails(["unauthenticated", "there are no AWS credentials"], 'lines("s3://bucket/none")', {**BARE, "AWS_ENDPOINT_URL": url})

    @unittest.skipUnless(store_server.find("fake-gcs-server"), "no fake-gcs-server")
    def test_google_cloud_storage(self):
        data = self.folder / "gcs"
        (data / "bucket" / "train").mkdir(parents=True)
        for name, content in self.parts.items():
            (data / "bucket" / "train" / name).write_bytes(content)
        server = store_server.fake_gcs(self.folder, data)
        self.addCleanup(server.stop)
        env = {**BARE, "STORAGE_EMULATOR_HOST": f"127.0.0.1:{server.port}"}
        self.check_parts("gs://bucket", env)
        self.fails(["not_found", "gs://bucket/none"], 'lines("gs://bucket/none")', env)
        self.fails(["unauthenticated", "there are no Google credentials"], 'lines("gs://bucket/none")', BARE)


    @unittest.skipUnless(store_server.find("versitygw") and store_server.find("fake-gcs-server"), "no versitygw or no fake-gcs-server")
    @unittest.skipUnless(sluice("cp", "--help").returncode == 0, "a program without cp")
    def test_what_is_written_to_one_store_is_copied_to_the_other_and_back(self):
        for name in ("out/bucket", "empty/bucket"):
            (self.folder / name).mkdir(parents=True)
        s3 = store_server.versitygw(self.folder, self.folder / "out")
        self.addCleanup(s3.stop)
        gcs = store_server.fake_gcs(self.folder, self.folder / "empty")
        self.addCleanup(gcs.stop)
        env = {**BARE, **store_server.KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3.port}", "STORAGE_EMULATOR_HOST": f"127.0.0.1:{gcs.port}"}
        count = 1_500_000  # some 11 MB: parts
        def ok(*arguments):
            done = sluice(*arguments, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        ok("run", f"range({count})", "--output", "jsonl:s3://bucket/a/numbers.jsonl")
        self.assertEqual(ok("count", "s3://bucket/a/numbers.jsonl").strip(), str(count))
        self.assertIn("s3://bucket/a/numbers.jsonl", ok("ls", "s3://bucket/**"))
        ok("cp", "s3://bucket/a/numbers.jsonl", "gs://bucket/b/numbers.jsonl")
        self.assertIn("gs://bucket/b/numbers.jsonl", ok("ls", "gs://bucket/b/"))
        ok("cp", "gs://bucket/b/numbers.jsonl", str(self.folder / "numbers.jsonl"))
        lines = (self.folder / "numbers.jsonl").read_text().splitlines()
        self.assertEqual((len(lines), lines[-1]), (count, str(count - 1)))
        ok("run", "range(100)", "--output", "jsonl:s3://bucket/shards/x.jsonl", "--shards", "3")
        self.assertEqual(ok("ls", "s3://bucket/shards/*").count("-of-00003.jsonl"), 3)


if __name__ == "__main__":
    if "no file system answers" in subprocess.run([PROGRAM, "run", 'lines("gs://x")'], capture_output=True, text=True, env=BARE).stderr:
        print("skipped: this build has no files of s3:// and gs://")
        print("0 passed, 0 failed")
    else:
        main()
