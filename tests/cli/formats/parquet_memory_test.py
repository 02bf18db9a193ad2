# SPDX-License-Identifier: Apache-2.0
"""Row groups with a GiB of values, at a budget of 256 MiB: they are read by pages, within the budget, or refused with what to do. The files
are small, because all values are equal. Skipped without pyarrow (./dev deps formats)."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from parquet_libraries import ROOT
from program import ProgramTest, main, sluice

PEAK = (256 + 96) << 20  # the budget, and the program itself
# Another process writes: the peak of a process counts the memory of the one that starts it.
WRITE = """
import sys
sys.path.insert(0, sys.argv[1])
import pyarrow as pa, pyarrow.parquet
columns, options = eval(sys.argv[3])
pa.parquet.write_table(pa.table(columns), sys.argv[2], row_group_size=1 << 30, compression="zstd", **options)
assert pa.parquet.ParquetFile(sys.argv[2]).metadata.num_row_groups == 1
"""


class ParquetMemory(ProgramTest):
    def read_within_budget(self, content):
        """Writes the columns and reads them. Returns what the program printed, and the number of rows that it delivered."""
        path, report = self.path("a.parquet"), self.path("report.json")
        written = subprocess.run([sys.executable, "-c", WRITE, str(ROOT / ".cache/formats"), path, content], capture_output=True, text=True)
        self.assertEqual(written.returncode, 0, written.stderr)
        done = sluice("run", f'parquet("{path}")', "--memory-budget", "256MiB", "--output", "null", "--report", f"json:{report}")
        run = json.loads(pathlib.Path(report).read_text())
        self.assertLess(run["run"]["memory"]["process_peak_bytes"], PEAK, done.stderr)
        return done, run["records"]

    def test_numbers(self):
        rows = 1 << 26  # pyarrow writes no more rows into a group
        done, read = self.read_within_budget(f'{{k: pa.nulls({rows}, pa.int64()).fill_null(7) for k in "ab"}}, {{"use_dictionary": False}}')
        self.assertEqual((done.returncode, read), (0, rows), done.stderr)

    def test_texts_with_a_dictionary(self):
        rows = 1 << 20
        done, read = self.read_within_budget(f'{{"a": pa.array(["x" * 1024] * {rows})}}, {{}}')
        self.assertEqual((done.returncode, read), (0, rows), done.stderr)

    def test_long_texts_with_a_dictionary(self):
        rows = 1 << 14  # some rows at a time, because the footer states the size of the texts
        done, read = self.read_within_budget(f'{{"a": pa.array(["x" * 65536] * {rows})}}, {{}}')
        self.assertEqual((done.returncode, read), (0, rows), done.stderr)


if __name__ == "__main__":
    main()
