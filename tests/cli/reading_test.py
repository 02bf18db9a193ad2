# SPDX-License-Identifier: Apache-2.0
"""The options that all verbs have which read: how long a file may take, and what a bad element does."""
import json
import pathlib
import socket
import time

from program import ProgramTest, lines_of, main, sluice

READERS = ("run", "head", "count", "cat", "verify", "select", "convert", "ls", "cp")


class Reading(ProgramTest):
    def silent_server(self):
        """Takes connections and never answers."""
        server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(server.close)
        return f"http://127.0.0.1:{server.getsockname()[1]}/"

    def arguments_of(self, verb, data):
        return {"run": ["run", f'lines("{data}")', "--quiet"], "select": ["select", "a", data],
                "convert": ["convert", data, self.path("out.csv"), "--overwrite"], "cp": ["cp", data, self.path("copy"), "--overwrite"]}.get(verb, [verb, data])

    def test_a_server_that_never_answers_is_given_up(self):
        server = self.silent_server()
        for verb in READERS:
            for name in ("a.txt", "a.csv") if verb in ("head", "count", "convert", "verify") else ("a.txt",):
                begun = time.monotonic()
                done = sluice(*self.arguments_of(verb, server + name), "--io-timeout", "300ms")
                self.assertIn(done.returncode, (75,), (verb, done.stderr))
                self.assertIn("deadline_exceeded", done.stderr, verb)
                self.assertLess(time.monotonic() - begun, 20, verb)

    def test_all_readers_take_the_options_of_reading(self):
        data = pathlib.Path(self.path("a.csv"))
        data.write_text("a\n1\n2\n")
        for verb in READERS:
            for io in ("threads", "auto"):
                self.ok(*self.arguments_of(verb, data), "--io", io, "--workers", 1, "--memory-budget", "16MiB", "--io-timeout", "1m")
            self.assertIn("such as 500ms", self.fails(2, *self.arguments_of(verb, data), "--io-timeout", "soon"))
            self.assertIn("such as 64MiB", self.fails(2, *self.arguments_of(verb, data), "--memory-budget", "much"))

    def test_bad_elements_are_dropped_and_kept_by_every_verb_that_reads_them(self):
        data = pathlib.Path(self.path("a.csv"))
        data.write_text("a,b\n1,2\n3,4\n" + "5,6\n" * 100 + "x,8\n9,10\n")
        wanted = {"head": ["head", "-n", 999], "cat": ["cat"], "select": ["select", "b"], "convert": ["convert"], "run": ["run"]}
        for verb, begin in wanted.items():
            given = [f'csv("{data}", header=true)'] if verb in ("run", "head", "select") else [data]
            out = {"run": ["--output", "jsonl"], "convert": ["-", "--to", "jsonl"]}.get(verb, [])
            self.assertEqual(sluice(*begin, *given, *out).returncode, 1, verb)
            for n, policy in enumerate(("skip", f"quarantine({self.path(f'{verb}0.jsonl')})", f"quarantine:{self.path(f'{verb}1.jsonl')}")):
                done = self.ok(*begin, *given, *out, "--on-error", policy)
                self.assertEqual(len(lines_of(done)), 103, (verb, policy))
                self.assertIn("1 bad element dropped", done.stderr)
                self.assertIn("line 104", done.stderr)
                if n:
                    kept = pathlib.Path(self.path(f"{verb}{n - 1}.jsonl")).read_text().splitlines()
                    self.assertEqual([json.loads(line)["bytes"] for line in kept], ["x,8\n"], (verb, policy))
            self.assertIn("line 104", sluice(*begin, *given, *out, "--on-error", "skip", "--errors-max", 0).stderr)
            self.assertIn("--on-error", self.fails(2, *begin, *given, *out, "--quarantine", self.path("q.jsonl")))
        self.assertEqual(self.ok("count", data, "--on-error", "skip").stdout.strip().isdigit(), True)
        for wrong in ("quarantine", "quarantine()", "quarantine:", "drop"):
            self.assertIn("stop, skip or quarantine(PATH)", self.fails(2, "run", "range(3)", "--on-error", wrong))


if __name__ == "__main__":
    main()
