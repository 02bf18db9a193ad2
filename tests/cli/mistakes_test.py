# SPDX-License-Identifier: Apache-2.0
"""The mistakes of mistakes.tsv: exit status and message, in a log and on a terminal of 80 columns."""
import os
import pathlib
import re
import shlex
import subprocess
import unicodedata

from program import PROGRAM, ProgramTest, main
from terminal import run_on_terminal

TABLE = pathlib.Path(__file__).parent / "mistakes.tsv"
PLAN = 'csv("people.csv", header=true)'
FILES = {"people.csv": "id,first name,city,score,ok\n1,Ann,Rome,2.5,true\n2,Bob,Oslo,,False\n3,Cid,Rome,1.5,TRUE\n",
         "a.jsonl": '{"a":1,"b":"x"}\n', "log.txt": "one\ntwo\n", "p.parquet": "PAR1"}
COLUMNS = 80


def rows():
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            command, status, parts = line.split("\t")
            yield number, command.replace("CSV", PLAN), int(status), parts.split("…")


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Mistakes(ProgramTest):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            pathlib.Path(self.path(name)).write_text(text)

    def test_every_mistake_is_answered(self):
        counts = {"mistakes": 0, "types": 0}
        is_type = False
        begins = {n for n, line in enumerate(TABLE.read_text().splitlines(), 1) if line.startswith("# Type errors")}
        ends = {n for n, line in enumerate(TABLE.read_text().splitlines(), 1) if line.startswith("# Data")}
        for number, command, status, parts in rows():
            is_type = max(begins) < number < max(ends)
            counts["types" if is_type else "mistakes"] += 1
            with self.subTest(line=number, command=command):
                done = subprocess.run([PROGRAM, *shlex.split(command)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                      cwd=self.folder.name, timeout=60)
                said = done.stderr
                self.assertEqual(done.returncode, status, said)
                self.assertTrue(said.startswith("sluice: "), said)
                at = 0
                for part in parts:
                    at = said.find(part, at)
                    self.assertNotEqual(at, -1, f"{part!r} is not in its place in {said!r}")
                    at += len(part)
                self.assertNotRegex(said, r"\b0 (elements|files) ")
                self.assertNotIn("Traceback", said)
                self.assertLess(len(said.splitlines()[0]), 480, "longer than six lines of a terminal")
        self.assertGreaterEqual(counts["mistakes"], 60)
        self.assertGreaterEqual(counts["types"], 12)

    def test_messages_fit_a_terminal(self):
        """Lines end at words, and no word is lost."""
        for number, command, status, _ in rows():
            with self.subTest(line=number, command=command):
                words = [PROGRAM, *shlex.split(command)]
                plain = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=self.folder.name, timeout=60)
                done, shown = run_on_terminal(words, COLUMNS, cwd=self.folder.name)
                self.assertEqual(done, status, shown)
                shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", shown).replace("\r", "")
                for line in shown.splitlines():
                    self.assertTrue(columns_of(line) <= COLUMNS or len(line.split()) == 1, line)
                if "attempt" not in plain.stderr:   # how often a server was asked depends on the time
                    self.assertEqual(sorted(shown.split()), sorted((plain.stdout + plain.stderr).split()))


if __name__ == "__main__":
    main()
