# SPDX-License-Identifier: Apache-2.0
"""Files of http:// through every verb that reads, and what is said where nothing can be written; local patterns, ls and cp beside them."""
import base64
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, PROGRAM, lines_of, main, sluice
from served import ServedTest


class Remote(ServedTest):
    def error_where_a_server_says(self, said, *arguments):
        done = sluice("cat", f"{self.answering(said)}/small.txt", "--io-timeout", "1s", *arguments)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_what_a_server_says_moves_no_terminal(self):
        said = self.error_where_a_server_says(b"HTTP/1.1 403 \x1b[31mRED\x1b[0m\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\x1b[5m")
        self.assertIn("RED", said)
        self.assertNotIn("\x1b", said)

    def test_a_redirect_that_is_not_followed_is_the_servers(self):
        for to, told in (("file:///etc/x", "the server redirects to file:///etc/x, which is not accepted: it begins with neither"),
                         ("s3://b/x", "the server redirects to s3://b/x, which is not accepted: "),
                         ("http://bob:hunter2@h/x", "the server redirects to http://***@h/x, which is not accepted: it has a user"),
                         ("", "without a Location")):
            field = f"Location: {to}\r\n" if to else ""
            said = self.error_where_a_server_says(f"HTTP/1.1 302 Found\r\n{field}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
            self.assertIn(told, said)
            self.assertNotIn("is no URL", said)
            self.assertNotIn("hunter2", said)

    def test_a_server_that_says_nothing_in_time_is_told_with_the_option_that_gives_it_longer(self):
        self.assertIn("--io-timeout", self.error_where_a_server_says(None))
        busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        self.assertIn("--io-timeout", self.error_where_a_server_says(busy))

    def test_verbs_read_urls_as_they_read_files(self):
        data = (GOLDEN / "examples.tfrecord").read_bytes()
        for name, packed in {"examples.tfrecord": data, "nameless": data, "examples.tfrecord.gz": gzip.compress(data)}.items():
            url = self.serve(name, packed)
            for verb in (["head", "-n", "3"], ["cat"], ["count"]):
                local = self.ok(*verb, GOLDEN / "examples.tfrecord").stdout
                said = self.ok(*verb, url).stdout
                self.assertEqual(said.replace(url, ""), local.replace(str(GOLDEN / "examples.tfrecord"), ""), (name, verb))
            self.assertIn("sound", self.ok("verify", url).stdout)

    def test_codecs_and_whole_objects(self):
        self.server.ranges = False
        for file in sorted((GOLDEN / "codecs").iterdir()):
            if file.suffix not in (".zst", ".lz4", ".bz2", ".xz", ".sz", ".gz"):
                continue
            url = self.serve(file.name, file.read_bytes())
            local, said = sluice("count", file), sluice("count", url)
            self.assertEqual((said.returncode, said.stdout), (local.returncode, local.stdout), file.name)

    def test_damage_behind_a_url_is_found_where_it_is(self):
        damaged, first = self.damaged_file()
        url = self.serve("damaged.tfrecord", pathlib.Path(damaged).read_bytes())
        done = sluice("verify", url)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{url} at byte {first}", done.stderr)

    def test_columns_are_inferred_from_urls(self):
        url = self.serve("a.csv", b"name,n\nx,1\ny,2\n")
        packed = self.serve("b.csv.gz", gzip.compress(b"name,n\nx,1\ny,2.5\n"))
        lines = self.serve("c.jsonl", b'{"a": 1}\n{"a": 2}\n')
        self.assertEqual(lines_of(self.ok("run", f'csv("{url}", header=true)', "--output", "jsonl")),
                         [{"name": "x", "n": 1}, {"name": "y", "n": 2}])
        self.assertIn("n: double", self.ok("explain", f'csv("{packed}", header=true)').stdout)
        self.assertEqual(lines_of(self.ok("run", f'jsonl("{lines}")', "--output", "jsonl")), [{"a": 1}, {"a": 2}])
        self.assertEqual(lines_of(self.ok("convert", url, "-", "--to", "jsonl")), [{"name": "x", "n": 1}, {"name": "y", "n": 2}])
        self.assertIn("nothing.csv", self.fails(1, "run", f'csv("{self.url("nothing.csv")}")'))

    def test_a_schema_is_guessed_from_a_url(self):
        url = self.serve("examples.tfrecord", (GOLDEN / "examples.tfrecord").read_bytes())
        self.assertEqual(self.ok("convert", url, "-", "--to", "jsonl", "--quiet").stdout,
                         self.ok("convert", GOLDEN / "examples.tfrecord", "-", "--to", "jsonl", "--quiet").stdout)

    def test_nothing_is_read_where_nothing_can_be_written(self):
        url = self.serve("a.txt", b"1\n2\n")
        self.server.asked.clear()
        out = self.url("out.jsonl")
        self.assertEqual(self.fails(2, "run", f'lines("{url}")', "--output", out), f"unimplemented: {out}: nothing can be written over HTTP")
        self.assertEqual(self.server.asked, [])
        self.assertIn("cannot be added to", self.fails(2, "run", "range(3)", "--output", out, "--checkpoint", self.path("c")))
        self.assertIn("a checkpoint is a local file", self.fails(2, "run", "range(3)", "--output", self.path("o.jsonl"), "--checkpoint", out))
        self.assertIn("exists", self.fails(2, "convert", url, url, "--to", "raw"))
        self.assertIn("written last", self.fails(2, "run", "range(3)", "--output", self.url("a.npy")))
        self.assertIn("no file system answers for s9://", self.fails(2, "run", "range(3)", "--output", "s9://b/a.jsonl"))
        self.assertFalse(os.path.exists(self.path("o.jsonl")))
        self.assertIn("a local folder", self.fails(2, "sample", self.url("folder")))
        self.assertIn("a local file", self.fails(2, "run", "range(3)", "--on-error", "skip", "--quarantine", self.url("q.jsonl")))

    def test_urls_are_listed_and_copied(self):
        data = random.Random(7).randbytes(11_000_000)
        url = self.serve("a.bin", data)
        self.assertIn("11000000", self.ok("ls", url).stdout)
        said = lines_of(self.ok("ls", "--json", url))
        self.assertEqual((said[0]["path"], said[0]["size"]), (url, len(data)))
        self.assertTrue(said[0]["version"])
        self.assertIn("not_found", sluice("ls", self.url("nothing")).stderr)
        for ranges in (True, False):
            self.server.ranges = ranges
            self.server.asked.clear()
            to = self.path(f"copy{ranges}/")
            self.assertIn("1 file of 11,000,000 bytes", self.ok("cp", url, to, "--verify").stderr)
            self.assertEqual(pathlib.Path(to, "a.bin").read_bytes(), data)
            self.assertGreater(len(self.server.asked), 1 if ranges else 0)
        failed = self.fails(2, "cp", to + "a.bin", url, "--overwrite")
        self.assertIn("nothing can be written over HTTP", failed)
        self.assertIn("exists: name another file, or add --overwrite", self.fails(2, "cp", url, to))


if __name__ == "__main__":
    main()
