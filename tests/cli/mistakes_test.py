# SPDX-License-Identifier: Apache-2.0
"""The mistakes of mistakes.tsv: exit status and message, in a log and on a terminal of 80 columns, and that the commands
which the messages suggest run."""
import functools
import pathlib
import re
import shlex
import subprocess
import tempfile
import unicodedata

from program import PROGRAM, ProgramTest, main
from terminal import run_on_terminal

TABLE = pathlib.Path(__file__).parent / "mistakes.tsv"
PLAN = 'csv("people.csv", header=true)'
FILES = {"people.csv": "id,first name,city,score,ok\n1,Ann,Rome,2.5,true\n2,Bob,Oslo,,False\n3,Cid,Rome,1.5,TRUE\n",
         "a.jsonl": '{"a":1,"b":"x"}\n', "log.txt": "one\ntwo\n", "plan.txt": "range(3) | batch(2)\n",
         "semi.csv": "name;price\na;1\nb;3\n", "pretty.json": '{\n "a": 1\n}\n', "mixed.jsonl": '{"a":1,"b":2}\n{"a":"x","b":3}\n',
         "types/two.jsonl": '{"a":1}\n{"a":"x"}\n', "bad.ndjson": '{"id":1}\n{"id":2\n{"id":3}\n', "dir/a.csv": "id,v\n1,2\n", "deep/er/a.csv": "id,v\n1,2\n", "deep/er/b.csv": "id,v\n3,4\n",
         "late/late.csv": "id,n\n" + "".join(f"{i},{i}\n" for i in range(150)) + "150,abc\n",
         "dotted/a.2026.01.jsonl": '{"a":1}\n', "dotted/a.2026.02.jsonl": '{"a":2}\n', "broken/ragged.csv": "id,a,b\n1,2,3\n1,2,3,4\n",
         **{f"named/table.{suffix}": "id,v\n1,2\n3,4\n" for suffix in ("parquet", "arrow", "npy", "tfrecord")}}
COLUMNS = 80


class mistake:
    def __init__(self, number, line):
        command, status, parts, *works = line.split("\t")
        self.number, self.status = number, int(status)
        self.command = command.replace("CSV", PLAN)
        self.parts = re.sub(r"'CSV\b", "'" + PLAN, parts).split("…")
        self.works = works[0].replace("CSV", PLAN) if works else ""


def rows():
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            yield mistake(number, line)


def write_files(folder):
    for name, text in FILES.items():
        (pathlib.Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
        (pathlib.Path(folder) / name).write_text(text)


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Mistakes(ProgramTest):
    def setUp(self):
        super().setUp()
        write_files(self.folder.name)

    def test_every_mistake_is_answered(self):
        counts = {"mistakes": 0, "types": 0}
        is_type = False
        begins = {n for n, line in enumerate(TABLE.read_text().splitlines(), 1) if line.startswith("# Type errors")}
        ends = {n for n, line in enumerate(TABLE.read_text().splitlines(), 1) if line.startswith("# Data")}
        for row in rows():
            is_type = max(begins) < row.number < max(ends)
            counts["types" if is_type else "mistakes"] += 1
            with self.subTest(line=row.number, command=row.command):
                done = subprocess.run([PROGRAM, *shlex.split(row.command)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                      cwd=self.folder.name, timeout=60)
                said = done.stderr
                self.assertEqual(done.returncode, row.status, said)
                self.assertTrue(said.startswith("sluice: "), said)
                at = 0
                for part in row.parts:
                    at = said.find(part, at)
                    self.assertNotEqual(at, -1, f"{part!r} is not in its place in {said!r}")
                    at += len(part)
                self.assertNotRegex(said, r"\b0 (elements|files) ")
                self.assertNotIn("Traceback", said)
                self.assertLess(len(said.splitlines()[0]), 480, "longer than six lines of a terminal")
        self.assertGreaterEqual(counts["mistakes"], 60)
        self.assertGreaterEqual(counts["types"], 12)

    def test_suggested_commands_run(self):
        """What a message suggests is in it as the user would type it, and works."""
        suggested = 0
        for row in rows():
            if not row.works:
                continue
            with self.subTest(line=row.number, command=row.command), tempfile.TemporaryDirectory() as folder:
                write_files(folder)
                run = functools.partial(subprocess.run, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder,
                                        timeout=60)
                said = run([PROGRAM, *shlex.split(row.command)]).stderr
                for part in re.findall("«(.*?)»", row.works):
                    self.assertIn(part, said)
                    suggested += 1
                done = run([PROGRAM, *shlex.split(re.sub("[«»]", "", row.works))], text=False)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(suggested, 120)

    def test_notes_of_commands_that_succeed(self):
        """A command that does something else than was probably meant says so, but not with --quiet."""
        no_output = "no output was requested: add --output jsonl to print the elements"
        json_lines = "note: out.json: JSON lines are written, one element in each line; the usual suffix is .jsonl"
        delimiter = "note: the first row of people.csv contains no tab; without --delimiter, ',' is detected"
        for command, note, is_printed in [("run 'CSV | head(2)'", no_output, True), ("run 'CSV' --quiet", no_output, False),
                                          ("run 'CSV' --output null", no_output, False),
                                          ("run 'CSV' --output jsonl", no_output, False),
                                          ("run 'CSV' --report json", no_output, False),
                                          ("convert people.csv out.json", json_lines, True),
                                          ("convert people.csv out.json --quiet --overwrite", json_lines, False),
                                          ("convert people.csv out.jsonl", json_lines, False),
                                          ("convert people.csv b.csv --to jsonl", "note: b.csv: the format is jsonl, as requested", True),
                                          ("head people.csv --delimiter tab", delimiter, True),
                                          ("head people.csv --delimiter ,", "note:", False)]:
            with self.subTest(command=command):
                done = subprocess.run([PROGRAM, *shlex.split(command.replace("CSV", PLAN))], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, cwd=self.folder.name, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                (self.assertIn if is_printed else self.assertNotIn)(note, done.stderr)

    def test_piped_data_is_read_by_a_dash(self):
        for command, part in [("head", "use: sluice head -"), ("count", "use: sluice count -"), ("run 'filter(id > 1)'", '"-" in place of "FILE"')]:
            done = subprocess.run([PROGRAM, *shlex.split(command)], capture_output=True, text=True, input=FILES["people.csv"],
                                  cwd=self.folder.name, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)

    def test_messages_fit_a_terminal(self):
        """Lines end at words, and no word is lost."""
        for row in rows():
            with self.subTest(line=row.number, command=row.command):
                words = [PROGRAM, *shlex.split(row.command)]
                plain = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=self.folder.name, timeout=60)
                done, shown = run_on_terminal(words, COLUMNS, cwd=self.folder.name)
                self.assertEqual(done, row.status, shown)
                shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", shown).replace("\r", "")
                for line in shown.splitlines():
                    is_command = line.startswith(" " * len("sluice: ") + "sluice ") or "`" in line   # whole, to be copied
                    self.assertTrue(columns_of(line) <= COLUMNS or len(line.split()) == 1 or is_command, line)
                for command in re.findall("«(.*?)»", row.works):
                    if "sluice " + command in plain.stderr:
                        self.assertIn("sluice " + command, shown, "a command is whole on its line")
                # How often a server was asked and what a report of a run says depend on the time.
                if not re.search("attempt|records/s", plain.stderr):
                    self.assertEqual(sorted(shown.split()), sorted((plain.stdout + plain.stderr).split()))


if __name__ == "__main__":
    main()
