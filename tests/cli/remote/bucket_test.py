# SPDX-License-Identifier: Apache-2.0
"""s3:// through the verbs of the program: folders in listings, patterns in readers, one message per cause; servers that do not answer."""
import json
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from bucket import BucketTest
from program import main, sluice


def closed_port():
    """The address of a port at which nobody listens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


class Bucket(BucketTest):
    def setUp(self):
        super().setUp()
        self.store.objects = {name: text.encode() for name, text in {
            "readme.txt": "hello\n", "day-1/a.csv": "id,city\n1,Bonn\n", "day-1/b.csv": "city,id,note\nRome,2,x\n",
            "day-2/c.csv": "id,city\n3,Oslo\n", "day-2/deep/d.csv": "id,city\n4,Lima\n"}.items()}

    def listed(self, *arguments):
        return [json.loads(line)["path"] for line in self.ok_there("ls", "--json", *arguments).stdout.splitlines()]

    def test_ls_shows_folders_of_keys_beside_objects(self):
        whole = ["s3://bucket/day-1/", "s3://bucket/day-2/", "s3://bucket/readme.txt"]
        for root in ("s3://bucket/", "s3://bucket", "s3://bucket/*"):
            self.assertEqual(self.listed(root), whole, root)
        inside = ["s3://bucket/day-2/c.csv", "s3://bucket/day-2/deep/"]
        for folder in ("s3://bucket/day-2/", "s3://bucket/day-2"):
            self.assertEqual(self.listed(folder), inside, folder)
        self.assertEqual(self.listed("s3://bucket/readme.txt"), ["s3://bucket/readme.txt"])
        self.assertIn("day-1/", self.ok_there("ls", "s3://bucket/").stdout)

    def test_ls_of_nothing_is_an_error_that_names_it(self):
        for path in ("s3://bucket/none", "s3://bucket/none/", "s3://other/"):
            done = self.run_there("ls", path)
            self.assertEqual((done.returncode, done.stdout), (1, ""), path)
            self.assertIn(path.rstrip("/"), done.stderr)

    def test_readers_and_verbs_read_patterns_of_remote_paths(self):
        rows = self.ok_there("run", 'csv("s3://bucket/day-*/*.csv", header=true)', "--output", "jsonl", "--quiet").stdout
        self.assertEqual([json.loads(r) for r in rows.splitlines()], [
            {"id": 1, "city": "Bonn", "note": None}, {"id": 2, "city": "Rome", "note": "x"}, {"id": 3, "city": "Oslo", "note": None}])
        self.assertEqual(self.ok_there("run", 'lines("s3://bucket/**.txt") | count_elements', "--output", "jsonl", "--quiet").stdout, "1\n")
        self.assertEqual(self.ok_there("count", "s3://bucket/day-1/*.csv").stdout.splitlines()[-1], "2 total")
        self.assertIn('"city":"Oslo"', self.ok_there("head", "s3://bucket/day-2/*.csv").stdout)
        self.assertIn("4 files: 4 sound", self.ok_there("verify", "s3://bucket/**/*.csv").stdout)
        self.assertEqual(self.ok_there("select", "city", "s3://bucket/day-1/*.csv").stdout, '{"city":"Bonn"}\n{"city":"Rome"}\n')
        self.assertIn("3 rows", self.ok_there("describe", "s3://bucket/day-?/*.csv").stdout)
        done = self.run_there("run", 'csv("s3://bucket/week-*/*.csv", header=true)')
        self.assertEqual(done.returncode, 1)
        self.assertIn("s3://bucket/week-*/*.csv", done.stderr)

    def test_one_cause_has_one_message_and_the_number_of_a_request_comes_last(self):
        files = []
        for name in "abcd":
            files.append(self.path(name + ".txt"))
            with open(files[-1], "w") as f:
                f.write(name)
        done = self.run_there("cp", *files, "s3://none/", "--workers", "1")
        self.assertEqual(done.returncode, 1)
        said = done.stderr.splitlines()
        self.assertEqual(len(said), 4, done.stderr)
        self.assertIn("NoSuchBucket", said[0])
        self.assertRegex(said[0], r"\(request id R\d+\)$")
        for line, name in zip(said[1:], "bcd"):
            self.assertEqual(line, f"sluice: s3://none/{name}.txt: the same error as of s3://none/a.txt")

    def test_a_run_into_a_bucket_resumes_after_its_last_complete_object(self):
        self.store.objects, self.store.puts_left = {}, 5
        command = ["run", "range(100000) | map({id: it})", "--output", "s3://bucket/out/part.jsonl", "--shard-size", "100KiB",
                   "--checkpoint", self.path("c"), "--resume-or-start", self.path("c"), "--every", "5000"]
        done = self.run_there(*command)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("AccessDenied", done.stderr)
        self.assertEqual(len(self.store.objects), 5)
        kept = dict(self.store.objects)
        self.store.puts_left = -1
        self.ok_there(*command)
        rows = b"".join(self.store.objects[key] for key in sorted(self.store.objects))
        self.assertEqual(rows, b"".join(b'{"id":%d}\n' % i for i in range(100000)))
        self.assertEqual({k: self.store.objects[k] for k in kept}, kept)
        self.assertEqual(len(self.store.written), len(self.store.objects), "no object was written twice")

    def test_an_object_that_grows_has_no_checkpoint(self):
        done = self.run_there("run", "range(3)", "--output", "s3://bucket/o.jsonl", "--checkpoint", self.path("c"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--shard-size", done.stderr)

    def test_a_server_that_was_never_reached_ends_with_its_address_and_advice(self):
        at = closed_port()
        for verb, path in (("count", f"http://{at}/x.tfrecord"), ("head", f"http://{at}/x.csv"), ("ls", "s3://bucket/"),
                           ("cat", "s3://bucket/x.jsonl")):
            done = sluice(verb, path, env={**self.environment, "AWS_ENDPOINT_URL": f"http://{at}"})
            self.assertEqual(done.returncode, 75, done.stderr)
            self.assertIn(f"{at}: connect: Connection refused", done.stderr)
            self.assertIn("check the host and the port", done.stderr)
            self.assertRegex(done.stderr, r"sluice: warning: .* attempt \d of 8 follows in \d+\.\d s", verb)

    def test_attempts(self):
        at = closed_port()
        for verb in ("count", "head", "cat", "verify", "describe", "ls", "explain"):
            done = sluice(verb, f"http://{at}/x.csv", "--attempts", "1")
            self.assertEqual(done.returncode, 75, (verb, done.stderr))
            self.assertIn("attempt 1: ", done.stderr, verb)
            self.assertNotIn("warning", done.stderr, verb)
        done = sluice("head", f"http://{at}/x.csv", "--attempts", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--attempts", done.stderr)


if __name__ == "__main__":
    main()
