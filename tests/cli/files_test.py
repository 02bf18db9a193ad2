# SPDX-License-Identifier: Apache-2.0
"""ls and cp over local files, and patterns of any depth."""
import os
import pathlib
import resource
import signal
import subprocess
import time

from program import PROGRAM, ProgramTest, lines_of, main, sluice


class Files(ProgramTest):
    def make(self, *names, data=None):
        for name in names:
            path = pathlib.Path(self.path(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(name.encode() if data is None else data)

    def listed(self, *arguments):
        return [os.path.relpath(e["path"], self.folder.name) for e in lines_of(self.ok("ls", "--json", *arguments))]

    def test_patterns_of_any_depth_are_listed_and_read(self):
        self.make("d/x.txt", "d/a/x.txt", "d/a/b/x.txt", "d/a-b/x.txt", "d/.h/x.txt", "d/a/y.csv")
        os.symlink("..", self.path("d/a/up"))
        found = ["d/a-b/x.txt", "d/a/b/x.txt", "d/a/up/x.txt", "d/a/x.txt", "d/x.txt"]
        self.assertEqual(self.listed(self.path("d/**/*.txt")), found)
        self.assertEqual(self.listed(self.path("d/**")), ["d/a-b/x.txt", "d/a/b/x.txt", "d/a/x.txt", "d/a/y.csv", "d/x.txt"])
        texts = lines_of(self.ok("run", f'list_files("{self.path("d/**/*.txt")}") | interleave(lines)', "--output", "jsonl"))
        self.assertEqual(len(texts), 5)
        self.assertIn("no file matches", self.fails(1, "ls", self.path("d/**/z")))

    def test_a_listing_has_sizes_and_times(self):
        self.make("a.txt", data=b"12345")
        os.utime(self.path("a.txt"), (1_700_000_000, 1_700_000_000))
        os.mkdir(self.path("b"))
        self.assertEqual(lines_of(self.ok("ls", "--json", self.path("*"))),
                         [{"path": self.path("a.txt"), "size": 5, "modified": "2023-11-14T22:13:20Z"}, {"path": self.path("b")}])
        self.assertEqual(self.ok("ls", self.path("a.txt")).stdout, f"{5:>14}  2023-11-14T22:13:20Z  {self.path('a.txt')}\n")
        self.assertEqual(self.listed(self.folder.name), ["a.txt", "b"])  # what is in a folder
        both = sluice("ls", self.path("nothing"), self.path("a.txt"))
        self.assertEqual(both.returncode, 1)
        self.assertIn("a.txt", both.stdout)
        self.assertIn("nothing", both.stderr)
        bytes_name = os.fsencode(self.path("")) + b"\xff"
        open(bytes_name, "w").close()
        self.assertEqual([e for e in lines_of(self.ok("ls", "--json", self.path("*"))) if isinstance(e["path"], dict)][0]["size"], 0)

    def test_a_long_listing_ends_quietly_when_its_reader_does(self):
        self.make(*[f"n/{i:05}" for i in range(9000)], data=b"")
        listing = subprocess.Popen([PROGRAM, "ls", self.path("n/*")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(b"00000", listing.stdout.readline())
        listing.stdout.close()
        self.assertEqual(listing.wait(timeout=60), 0)
        self.assertEqual(listing.stderr.read(), b"")
        listing.stderr.close()

    def test_copies_go_into_folders_or_under_a_name(self):
        self.make("a", "b")
        self.ok("cp", self.path("a"), self.path("c"))
        self.assertEqual(pathlib.Path(self.path("c")).read_text(), "a")
        self.assertIn("2 files", self.ok("cp", self.path("a"), self.path("b"), self.path("d/"), "--verify").stderr)
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["a", "b"])
        os.mkdir(self.path("e"))
        self.ok("cp", "file://" + self.path("a"), self.path("e"), "--quiet")
        self.assertEqual(os.listdir(self.path("e")), ["a"])
        self.assertIn("c/ to copy them into a folder", self.fails(2, "cp", self.path("a"), self.path("b"), self.path("c")))
        self.assertIn("is a folder", self.fails(2, "cp", self.path("d"), self.path("f/")))
        self.assertIn("needs", self.fails(2, "cp", self.path("a")))

    def test_a_deep_pattern_keeps_its_folders_and_a_flat_one_does_not(self):
        self.make("s/x", "s/a/x", "s/a/b/x", "s/b/y")
        self.ok("cp", self.path("s/**"), self.path("t/"))
        self.assertEqual(self.listed(self.path("t/**")), ["t/a/b/x", "t/a/x", "t/b/y", "t/x"])
        self.assertEqual(pathlib.Path(self.path("t/a/b/x")).read_text(), "s/a/b/x")
        self.ok("cp", self.path("s/*/y"), self.path("u/"))
        self.assertEqual(self.listed(self.path("u/**")), ["u/y"])
        self.make("s/c/y")
        self.assertIn("would both be", self.fails(2, "cp", self.path("s/*/y"), self.path("v/")))
        self.assertFalse(os.path.exists(self.path("v")))

    def test_nothing_is_replaced_unasked_and_no_file_becomes_itself(self):
        self.make("a", "b")
        self.assertIn("exists: name another file, or add --overwrite", self.fails(2, "cp", self.path("a"), self.path("b")))
        self.assertEqual(pathlib.Path(self.path("b")).read_text(), "b")
        self.ok("cp", self.path("a"), self.path("b"), "--overwrite")
        self.assertEqual(pathlib.Path(self.path("b")).read_text(), "a")
        os.link(self.path("a"), self.path("l"))
        self.assertIn("same file", self.fails(2, "cp", self.path("a"), self.path("l"), "--overwrite"))
        done = sluice("cp", self.path("nothing"), self.path("b"), self.path("n/"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(os.listdir(self.path("n")), ["b"])  # the others are copied all the same

    def test_standard_input_is_copied(self):
        done = subprocess.run([PROGRAM, "cp", "-", self.path("in")], input=b"x" * 5_000_000, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.path.getsize(self.path("in")), 5_000_000)

    def test_an_interrupt_leaves_no_half_copy(self):
        os.mkfifo(self.path("pipe"))
        copying = subprocess.Popen([PROGRAM, "cp", self.path("pipe"), self.path("out")], stderr=subprocess.PIPE)
        with open(self.path("pipe"), "wb", buffering=0) as pipe:
            pipe.write(b"x" * 60_000)
            deadline = time.monotonic() + 20
            while not any(name.startswith("out") for name in os.listdir(self.folder.name)) and time.monotonic() < deadline:
                time.sleep(0.01)
            copying.send_signal(signal.SIGINT)
            try:
                while copying.poll() is None:
                    pipe.write(b"x" * 60_000)
            except BrokenPipeError:
                pass
        self.assertEqual(copying.wait(timeout=60), 130)
        copying.stderr.close()
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith("out") and not name.endswith(".lock")], [])

    def test_an_empty_folder_is_listed_as_empty(self):
        for name in ("empty", "[e]*mpty", "a\\b"):
            os.mkdir(self.path(name))
            for typed in (self.path(name), self.path(name) + "/"):
                done = self.ok("ls", typed)
                self.assertEqual((done.stdout, done.stderr), ("", ""))
        pathlib.Path(self.path("[e]*mpty/x")).write_bytes(b"")
        self.assertIn("[e]*mpty/x", self.ok("ls", self.path("[e]*mpty")).stdout)
        self.assertIn("not_found", self.fails(1, "ls", self.path("none")))
        self.assertIn("not_found", self.fails(1, "ls", self.path("empty/*")))

    def test_a_file_whose_name_looks_like_a_pattern_is_listed_by_its_name(self):
        for name in ("[b].txt", "b.txt", "*", "a\\c", "ac"):
            pathlib.Path(self.path(name)).write_bytes(b"")
        for name in ("[b].txt", "*", "a\\c"):
            self.assertEqual([l["path"] for l in lines_of(self.ok("ls", "--json", self.path(name)))], [self.path(name)])
        self.assertEqual(len(lines_of(self.ok("ls", "--json", self.path("[ab].txt")))), 1)

    def test_a_pattern_that_matches_no_file_ends_and_says_so(self):
        os.makedirs(self.path("d/e"))
        os.symlink("nothing", self.path("dangling"))
        for io in ("auto", "threads"):
            said = self.fails(1, "cp", self.path("d/*"), self.path("q/"), "--io", io)
            self.assertIn("no file matches, only folders do", said)
            self.assertIn(self.path("d/*"), said)
            said = sluice("cp", self.path("dan*"), self.path("q/"), "--io", io)
            self.assertEqual(said.returncode, 1)
            self.assertIn("not_found: " + self.path("dangling"), said.stderr)
        os.mkfifo(self.path("d/pipe"))
        said = sluice("cp", self.path("d/*"), self.path("q/"))
        self.assertEqual(said.returncode, 1)
        self.assertIn(self.path("d/pipe"), said.stderr)
        self.assertIn("a pipe, a socket or a device", said.stderr)
        self.assertFalse(os.path.exists(self.path("q/pipe")))

    def test_a_link_that_leads_nowhere_is_told_and_the_other_matches_are_copied(self):
        self.make("a.txt", "b.txt")
        os.symlink("nothing", self.path("dangling.txt"))
        done = sluice("cp", self.path("*.txt"), self.path("out/"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("not_found: " + self.path("dangling.txt"), done.stderr)
        self.assertIn("2 files", done.stderr)
        self.assertEqual(sorted(name for name in os.listdir(self.path("out")) if name.endswith(".txt")), ["a.txt", "b.txt"])

    def test_slashes_behind_two_stars_find_what_one_slash_finds(self):
        self.make("deep/z.txt", "deep/a/b/z.txt", "deep/a/y.txt")
        for pattern in ("deep/**//z.txt", "deep/**///z.txt", "deep//**//z.txt"):
            self.assertEqual(self.listed(self.path(pattern)), ["deep/a/b/z.txt", "deep/z.txt"], pattern)
            plan = f'list_files("{self.path(pattern)}")'
            self.assertEqual(len(lines_of(self.ok("run", plan, "--output", "jsonl"))), 2, pattern)
        done = self.ok("ls", "--json", "**//z.txt", cwd=self.folder.name)
        self.assertEqual([e["path"] for e in lines_of(done)], ["deep/a/b/z.txt", "deep/z.txt"])

    def test_patterns_stand_where_files_are_read(self):
        for i in range(3):
            self.make(f"p/f{i}.jsonl", data=b'{"a": %d}\n' % i)
        os.mkdir(self.path("p/f3.jsonl"))  # a folder is no file
        self.assertEqual(lines_of(self.ok("cat", self.path("p/f*.jsonl"))), [{"a": 0}, {"a": 1}, {"a": 2}])
        self.assertIn("3 total", self.ok("count", self.path("p/f?.jsonl")).stdout)
        self.assertEqual(self.ok("count", "range(3) | filter(it * 2 > 1)").stdout, "2\n")  # a plan is no pattern
        self.assertIn("2 files: 2 sound", self.ok("verify", self.path("p/f[12].jsonl")).stdout)
        self.ok("convert", self.path("**/f*.jsonl"), self.path("o.csv"), "--quiet")
        self.assertEqual(pathlib.Path(self.path("o.csv")).read_text(), "a\n0\n1\n2\n")
        self.make("p/[x].jsonl", data=b"{}\n")
        self.assertEqual(self.ok("count", self.path("p/[x].jsonl")).stdout, "1\n")  # the file of that name
        for verb in (["cat"], ["count"], ["verify"], ["convert", self.path("none-*"), self.path("n.csv")]):
            self.assertIn("no file matches", self.fails(1, *verb, *([] if len(verb) > 1 else [self.path("none-*")])))

    def test_a_fifo_gets_a_copy_once_somebody_reads(self):
        self.make("a")
        os.mkfifo(self.path("f"))
        copying = subprocess.Popen([PROGRAM, "cp", "--quiet", "--overwrite", self.path("a"), self.path("f")])
        self.assertEqual(pathlib.Path(self.path("f")).read_bytes(), b"a")
        self.assertEqual(copying.wait(timeout=60), 0)

    def test_a_file_that_may_not_grow_is_named(self):
        self.make("a", data=bytes(3_000_000))
        limited = subprocess.run([PROGRAM, "cp", "--quiet", self.path("a"), self.path("b")], capture_output=True, text=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assertEqual(limited.returncode, 1)
        self.assertIn("/b: cannot write: File too large", limited.stderr)

    def test_texts_that_parse_as_nothing_are_texts(self):
        self.ok("run", "--quiet", "--output", self.path("t.tfrecord"), 'range(3) | map(["01", "a", "b"][it])')
        self.assertEqual(lines_of(self.ok("cat", self.path("t.tfrecord"))), ["01", "a", "b"])

    def test_standard_output_is_no_copy_and_keeps_no_bad_elements(self):
        self.make("a.jsonl", data=b"{}\n")
        said = [sluice("cp", self.path("a.jsonl"), "-", cwd=self.folder.name),
                sluice("run", "range(3)", "--on-error", "quarantine(-)", cwd=self.folder.name)]
        for done in said:
            self.assertEqual(done.returncode, 2)
            self.assertIn("standard output", done.stderr)
        self.assertFalse(os.path.exists(self.path("-")))
        self.ok("cp", self.path("a.jsonl"), "./-", cwd=self.folder.name)
        self.assertTrue(os.path.exists(self.path("-")))

    def test_control_characters_of_names_do_not_reach_a_terminal(self):
        for verb in (["cp", "a\x1b[31mb", self.path("x/")], ["ls", "a\x1b[31mb"], ["head", "a\x1b[31mb"]):
            done = sluice(*verb)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("\x1b", done.stderr)

    def test_nothing_is_copied_to_a_web_server(self):
        data = pathlib.Path(self.path("a"))
        data.write_bytes(b"1")
        for to in ("http://127.0.0.1:1/x", "https://127.0.0.1:1/x/"):
            self.assertIn("nothing can be written over HTTP: copy to", self.fails(2, "cp", data, to))

    def test_files_without_a_line(self):
        for name in ("e.jsonl", "e.csv", "blank.jsonl"):
            pathlib.Path(self.path(name)).write_bytes(b"\n  \n" if name[0] == "b" else b"")
        for name in ("e.jsonl", "blank.jsonl", "e.csv"):
            self.assertEqual(self.ok("count", self.path(name)).stdout, "0\n")
            for verb in ("head", "cat"):
                self.assertEqual(self.ok(verb, self.path(name)).stdout, "")
            self.assertIn("sound: 0 ", self.ok("verify", self.path(name)).stdout)
            self.assertEqual(self.ok("convert", self.path(name), "-", "--to", "jsonl", "--quiet").stdout, "")
        self.assertIn("the file is empty: it has no header", self.fails(1, "run", f'csv("{self.path("e.csv")}", header=true)'))
        self.assertEqual(self.ok("run", "--quiet", "--output", "jsonl", f'csv("{self.path("e.csv")}", "a: int64")').stdout, "")

    def test_budgets_that_nothing_fits_into_are_refused(self):
        for verb in (["run", "range(3)"], ["count", "range(3)"]):
            self.assertIn("expects 1MiB or more", self.fails(2, *verb, "--memory-budget", "64KiB"))
            self.ok(*verb, "--memory-budget", "1MiB")

    def test_an_output_elsewhere_is_not_gone_on_with(self):
        self.ok("run", "range(5)", "--output", self.path("o.jsonl"), "--checkpoint", self.path("c"), "--limit", 2, "--quiet")
        self.assertIn("cannot be added to", self.fails(2, "run", "range(5)", "--output", "s3://b/o.jsonl", "--resume", self.path("c")))
        self.assertIn("--new-output", self.fails(2, "run", "range(5)", "--output", "s3://b/o.jsonl", "--resume", self.path("c")))


if __name__ == "__main__":
    main()
