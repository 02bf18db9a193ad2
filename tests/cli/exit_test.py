# SPDX-License-Identifier: Apache-2.0
"""The exit status: verbs by causes. One cause has one status, for every verb and format."""
import gzip
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

from program import GOLDEN, PROGRAM, lines_of, main, sluice
from remote.served import ServedTest

OK, DATA, ARGUMENTS, UNAVAILABLE = 0, 1, 2, 75
CSV = b"a,b\n1,x\n2,y\n"
JSONL = b'{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'
READERS = {"csv": 'csv("{}", header=true)', "jsonl": 'jsonl("{}")', "tfrecord": 'tfrecord("{}")', "npy": 'npy("{}")', "txt": 'lines("{}")',
           "tar": 'tar("{}")', "zip": 'zip_members("{}")', "arrow": 'from_arrow("{}") | unbatch'}
# The commands of the verbs that read a file. {} is the file, {plan} the plan that reads it, {out} a new file.
VERBS = {"head": ["head", "-n", "100000", "{}"], "head, as a table": ["head", "--output", "table", "-n", "100000", "{}"], "cat": ["cat", "{}"],
         "count": ["count", "--read", "{}"], "select": ["select", "a", "{}"], "describe": ["describe", "{}"], "verify": ["verify", "{}"],
         "convert": ["convert", "{}", "{out}", "--quiet"], "run": ["run", "{plan}", "--quiet"], "head of a plan": ["head", "-n", "100000", "{plan}"],
         "run to a file": ["run", "{plan}", "--output", "jsonl:{out}", "--quiet"], "describe of a plan": ["describe", "{plan}"]}


class Exit(ServedTest):
    def setUp(self):
        super().setUp()
        self.out = 0
        examples = (GOLDEN / "examples.tfrecord").read_bytes()
        arrow = self.path("made.arrow")
        self.ok("convert", self.write("made.csv", CSV), arrow, "--quiet")
        npy, tar, archive = self.path("made.npy"), self.path("made.tar"), self.path("made.zip")
        self.ok("run", "range(100)", "--output", npy, "--quiet")
        subprocess.run(["tar", "-cf", tar, "-C", self.folder.name, "made.csv"], check=True)
        import zipfile
        with zipfile.ZipFile(archive, "w") as z:
            z.writestr("x", b"1" * 1000)
        self.data = {"csv": CSV, "jsonl": JSONL, "tfrecord": examples, "npy": self.read(npy), "txt": b"one\ntwo\n", "tar": self.read(tar),
                     "zip": self.read(archive), "arrow": self.read(arrow)}

    @staticmethod
    def read(path):
        return pathlib.Path(path).read_bytes()

    def write(self, name, data):
        pathlib.Path(self.path(name)).write_bytes(data)
        return self.path(name)

    def command(self, verb, file, extension):
        self.out += 1
        plan = READERS[extension].format(file)
        words = {"{}": file, "{plan}": plan, "{out}": self.path(f"out{self.out}.jsonl")}
        words = [words.get(word, word.replace("{out}", words["{out}"])) for word in VERBS[verb]]
        return ["select", "value", *words[2:]] if verb == "select" and extension in ("txt", "npy") else words

    def cells(self, cause, status, file_of, extensions=READERS, without=(), words=(), options=()):
        """Every verb and format ends with this status."""
        for extension in extensions:
            file = file_of(extension)
            for verb in VERBS:
                if verb in without:
                    continue
                with self.subTest(cause=cause, verb=verb, format=extension):
                    done = sluice(*self.command(verb, str(file), extension), *options)
                    self.assertEqual(done.returncode, status, (done.args, done.stderr))
                    for word in words:
                        self.assertIn(word, done.stderr)
                    if status:
                        self.assertTrue(done.stderr.startswith("sluice: "), done.stderr)

    def test_success(self):
        self.cells("success", OK, lambda extension: self.write(f"a.{extension}", self.data[extension]), without=("select", "describe", "describe of a plan"))
        self.cells("success", OK, lambda extension: self.write(f"a.{extension}", self.data[extension]), extensions=("csv", "jsonl", "arrow"))

    def test_missing_files(self):
        self.cells("missing", DATA, lambda extension: self.path(f"none.{extension}"), words=("not_found", "none."))
        for extension in ("csv", "jsonl", "arrow"):   # explain reads them for their columns
            self.assertEqual(sluice("explain", READERS[extension].format(self.path("none"))).returncode, DATA, extension)
        for words in (["ls", self.path("none")], ["cp", self.path("none"), self.path("to")], ["run", "-f", self.path("none")],
                      ["run", "range(3)", "--resume", self.path("none")], ["head", self.path("none-*.csv")],
                      ["run", f'range(3) | map(read_file("{self.path("none")}"))'], ["run", f'list_files("{self.path("none*")}")'],
                      ["run", f'sql("{self.path("none.db")}", "select 1")'], ["run", "@" + self.path("none")]):
            self.assertEqual(sluice(*words).returncode, DATA, words)

    def test_folders(self):
        pathlib.Path(self.path("folder")).mkdir()
        self.write("folder/a.txt", b"x\n")
        self.cells("a folder", ARGUMENTS, lambda extension: self.path("folder"))

    def test_damage(self):
        def damaged(extension):
            data = bytearray(self.data[extension])
            if extension == "csv":
                data = b'a,b\n1,"x\n'
            elif extension == "jsonl":
                data = b'{"a":1}\n{bad\n'
            elif extension == "tfrecord":
                data[0] ^= 1
            elif extension == "txt":
                return self.write("a.txt.gz", gzip.compress(b"one\n" * 5000)[:-9])
            elif extension == "zip":
                data[31] ^= 1
            else:
                data = data[:515 if extension == "tar" else len(data) // 2]   # within the bytes of the first member
            return self.write(f"damaged.{extension}", bytes(data))
        # A select of records has no member to look for, and npy members have no names.
        self.cells("damage", DATA, damaged, without=("select", "describe", "describe of a plan", "count"))
        self.cells("damage", DATA, damaged, extensions=("csv", "jsonl", "arrow"))

    def test_unknown_formats(self):
        self.cells("orc", ARGUMENTS, lambda extension: self.write(f"a.{extension}.orc", b"ORC" + bytes(100) + b"ORC\0"), extensions=("csv",),
                   without=("run", "run to a file", "head of a plan", "describe of a plan"))
        self.cells("unknown scheme", ARGUMENTS, lambda extension: f"s9://bucket/a.{extension}", extensions=("csv", "jsonl", "tfrecord", "txt"))
        for words in (["convert", self.write("a.csv", CSV), self.path("a.orc")], ["cp", self.path("a.csv"), "http://127.0.0.1:1/a"],
                      ["run", "range(3)", "--output", "http://127.0.0.1:1/a.csv"], ["run", "range(3)", "--output", "s9://b/a.csv"],
                      ["run", "range(3)", "--output", "npy:-"], ["ls", "http://127.0.0.1:1/*"], ["ls", "s9://b/*"], ["cp", "s9://b/a", self.path("c")]):
            self.assertEqual(sluice(*words).returncode, ARGUMENTS, words)

    def test_arguments(self):
        for verb in ("head", "cat", "count", "select", "describe", "verify", "convert", "run", "explain", "splits", "cache", "checkpoint", "compare", "ls", "cp", "ops", "doctor", "top", "completion", "man",
                     "sample"):
            self.assertEqual(sluice(verb, "--nonsense").returncode, ARGUMENTS, verb)
        for plan in ("range(3) | nonsense", "range(3) | batch(0)", "range(3", 'range(3) | filter("x")', "counter | count_elements | nonsense(1)"):
            for words in (["run", plan], ["head", plan], ["count", plan], ["select", "a", plan], ["describe", plan], ["explain", plan], ["splits", plan],
                          ["convert", plan, self.path("out.csv")]):
                self.assertEqual(sluice(*words).returncode, ARGUMENTS, words)
        self.assertEqual(sluice("run", f'sql("{GOLDEN / "none.db"}", 3)').returncode, ARGUMENTS)
        self.assertEqual(sluice("nonsense").returncode, ARGUMENTS)
        self.assertEqual(sluice().returncode, ARGUMENTS)

    def test_elements_that_fail(self):
        late = b"a,b\n" + b"1,x\n" * 150 + b"y,z\n"
        self.cells("a wrong type in row 151", DATA, lambda _: self.write("late.csv", late), extensions=("csv",), without=("count", "verify"), words=("line 152",))
        for words in (["run"], ["head"], ["describe"], ["convert"]):
            out = [self.path("x.jsonl")] if words == ["convert"] else []
            self.assertEqual(sluice(*words, "range(3) | map(6 / it)", *out).returncode, DATA, words)
        for policy in (["--on-error", "skip"], ["--on-error", f"quarantine({self.path('q.jsonl')})"]):
            self.assertEqual(sluice("run", "range(3) | map(6 / it)", *policy).returncode, OK)
        self.assertEqual(sluice("run", "range(3) | map(6 / it)", "--on-error", "skip", "--errors-max", 0).returncode, DATA)

    def test_servers(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))   # and does not listen
            refusing = f"http://127.0.0.1:{closed.getsockname()[1]}"
            busy = self.answering(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            forbidding = self.answering(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            silent = self.answering(None)
            formats = ("csv", "jsonl", "tfrecord")
            for cause, status, base in (("refused", UNAVAILABLE, refusing), ("503", UNAVAILABLE, busy), ("silence", UNAVAILABLE, silent),
                                        ("404", DATA, self.url("none").rpartition("/")[0]), ("403", DATA, forbidding)):
                # A server that answers gets the usual time, however busy the machine is.
                patience = ("--io-timeout", "300ms") if status == UNAVAILABLE else ()
                self.cells(cause, status, lambda extension: f"{base}/a.{extension}", extensions=formats, options=patience)
                self.assertEqual(sluice("cp", f"{base}/a", self.path("copy"), *patience).returncode, status, cause)

    def test_outputs(self):
        good = self.write("a.csv", CSV)
        for words in (["run", "range(3)", "--output", self.path("no/a.csv")], ["convert", good, self.path("no/a.jsonl")],
                      ["run", "range(3)", "--checkpoint", self.path("no/c")], ["run", "range(3)", "--report", "json:" + self.path("no/r")]):
            self.assertEqual(sluice(*words).returncode, DATA, words)
        for words in (["head", good], ["head", "--output", "table", good], ["cat", good], ["count", good], ["select", "a", good], ["describe", good],
                      ["verify", good], ["run", "range(3)", "--output", "jsonl"], ["ops"], ["explain", "range(3)"], ["ls", good], ["--help"]):
            with open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, timeout=60).returncode, DATA, words)
            reader = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            reader.stdout.close()   # a reader that leaves
            reader.stderr.read()
            reader.stderr.close()
            self.assertEqual(reader.wait(60), OK, words)

    def test_a_file_that_another_process_writes(self):
        out = self.path("out.jsonl")
        running = subprocess.Popen([PROGRAM, "run", "counter", "--output", f"jsonl:{out}", "--quiet"])
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        while not os.path.exists(out + ".partial"):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        for words in (["run", "range(3)", "--output", f"jsonl:{out}"], ["convert", "range(3)", out], ["cp", self.write("a", b"x"), out],
                      ["run", "range(3)", "--report", f"json:{out}"]):
            done = sluice(*words)
            self.assertEqual(done.returncode, UNAVAILABLE, (words, done.stderr))
            self.assertIn(f"is being written by process {running.pid}", done.stderr)

    def test_signals(self):
        """128 + n where the program ends its work; a verb without work to end is ended by the signal itself, which shells report as 128 + n."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)   # a job in the background may ignore it, and so would its children
            for words in (["run", "counter", "--output", "jsonl"], ["head", "-n", str(10**15), "counter"], ["select", "a", "counter | map({a: it})"],
                          ["convert", "counter", "-", "--to", "jsonl"]):
                running = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                running.stdout.read(6)
                running.send_signal(number)
                running.communicate(timeout=60)
                self.assertIn(running.returncode, (128 + number, -number), words)
                self.assertEqual(words[0] in ("run", "convert"), running.returncode == 128 + number, words)

    def test_the_most_serious_of_several(self):
        good, bad = self.write("a.csv", CSV), self.write("b.csv", b'a,b\n1,"x\n')
        unknown = self.write("c.orc", b"ORC" + bytes(100) + b"ORC\0")
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            away = f"http://127.0.0.1:{closed.getsockname()[1]}/d.csv"
            for files, status in (([good], OK), ([good, bad], DATA), ([good, unknown], ARGUMENTS), ([good, away], UNAVAILABLE),
                                  ([bad, unknown, away], DATA), ([unknown, away], ARGUMENTS)):
                patience = ("--io-timeout", "2s") if away in files else ()   # local files have far more time than they need
                self.assertEqual(sluice("verify", *files, *patience).returncode, status, files)
            self.assertEqual(sluice("verify", self.path("none.csv"), unknown).returncode, ARGUMENTS)
            self.assertEqual(sluice("verify", self.path("none.csv"), good).returncode, DATA)
            self.assertEqual(sluice("verify", self.path("none.csv"), unknown, bad).returncode, DATA)
            self.assertEqual(sluice("cp", away, self.path("none"), self.path("to/"), "--io-timeout", "2s").returncode, DATA)
            self.assertEqual(sluice("ls", good, self.path("none")).returncode, DATA)


if __name__ == "__main__":
    main()
