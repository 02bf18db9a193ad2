# SPDX-License-Identifier: Apache-2.0
"""Splits of lines, CSV, JSON lines and fixed-length records over the service: files, and ranges of one file; workers are killed.

Records of one length are divided without an index, lines and rows with one: without it each file is one split.
"""
import json
import pathlib
import struct

from program import main
from service_processes import ServiceTest

ELEMENTS = 3000
SPLITS = 12


class Ranges(ServiceTest):
    def setUp(self):
        super().setUp()
        self.address = self.dispatcher("--store", f"sqlite:{self.path('meta.db')}")

    def file(self, name, bytes_):
        pathlib.Path(self.path(name)).write_bytes(bytes_)
        return self.path(name)

    def texts(self, first, last):
        """The bytes of a file of each format. Lines differ in length; in CSV quotes decide which line end separates rows."""
        words = [f"{i}-" + "x" * (i * 7 % 40) for i in range(first, last)]
        rows = "id,text\n" + "".join(f'{first + i},"{w[:9]}\n""{w}"""\n' for i, w in enumerate(words))
        objects = "".join(json.dumps({"id": first + i, "text": w}) + "\n" for i, w in enumerate(words))
        return {"lines": "".join(w + "\n" for w in words).encode(), "csv": rows.encode(), "jsonl": objects.encode(),
                "fixed_length": b"head" + b"".join(struct.pack("<q", i) for i in range(first, last))}

    @staticmethod
    def reader(name, argument, options=""):
        """A plan of the numbers in the files."""
        last = {"lines": "map(to_integer(split(it, \"-\")[0]))", "fixed_length": 'map(decode_raw(it, "int64")[0])'}.get(name, "map(it.id)")
        options += {"csv": ", header=true", "fixed_length": ", 8, header_bytes=4"}.get(name, "")
        return f"{name}({argument}{options}) | {last}"

    def plans(self):
        """Readers of one file without an index (records of one length), of one file with an index, and of twelve files."""
        for name, content in self.texts(0, ELEMENTS).items():
            file = self.file(f"one.{name}", content)
            if name != "fixed_length":
                self.ok("index", file, "--from", name)
            yield f"ranges, {name}", self.reader(name, f'"{file}"', "" if name == "fixed_length" else ", index=required")
        share = ELEMENTS // SPLITS
        for number in range(SPLITS):
            for name, content in self.texts(number * share, (number + 1) * share).items():
                self.file(f"{number:02}.{name}", content)
        for name in ("lines", "csv", "jsonl", "fixed_length"):
            yield f"files, {name}", self.reader(name, f'"{self.path("??." + name)}"')

    def test_ranges_and_files_are_read_exactly_while_workers_are_killed(self):
        for name, reader in self.plans():
            with self.subTest(splits=name):
                workers = self.workers(2, self.address)
                wait_for, finish = self.consume_in_steps(f'{reader} | sleep(300us) | distribute("{self.address}", splits={SPLITS}, splits_at_once=4, '
                                                         f'job="{name}", consumer="c")')
                for at in (200, 900):
                    wait_for(at)
                    workers.append(self.workers(1, self.address)[0])
                    workers.pop(0)[0].kill()
                self.assertEqual(finish(), list(range(ELEMENTS)))
                job, = (i for i in self.status(self.address)["iterations"] if i["job"] == name)
                self.assertEqual((job["listed"], job["done"]), (SPLITS, SPLITS))
                for process, _ in workers:
                    process.kill()

    def test_lines_and_rows_without_an_index_are_one_split(self):
        for name, content in self.texts(0, 100).items():
            file = self.file(f"one.{name}", content)
            with self.subTest(format=name):
                splits = [line for line in self.ok("splits", self.reader(name, f'"{file}"'), "--splits", "4").stdout.splitlines() if line[0] != "#"]
                self.assertEqual(len(splits), 4 if name == "fixed_length" else 1)


if __name__ == "__main__":
    main()
