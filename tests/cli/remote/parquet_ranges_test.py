# SPDX-License-Identifier: Apache-2.0
"""The bytes that a server sends when a Parquet file is read over HTTP: at most 5 % more than the footer and the chunks of the columns that
are read, if these have more than a MiB; of a smaller part, the 64 KiB that are read first are more. Skipped without pyarrow (./dev deps
formats)."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "formats"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from parquet_libraries import pyarrow as pa
from program import lines_of, main
from served import ServedTest

ROWS, FIRST_BYTES = 600_000, 64 << 10
SUM = " | map({k: 0, s: it}) | group_by(k, {s: sum(s)}) | map(value_or(s, 0))"


class ParquetRanges(ServedTest):
    def write(self, columns, group_rows, **options):
        pa.parquet.write_table(pa.table(columns), self.served / "a.parquet", row_group_size=group_rows, compression="none", use_dictionary=False,
                               **options)

    def needed(self, columns, groups=None):
        """The bytes of the footer, and of the chunks of these columns."""
        path = self.served / "a.parquet"
        footer = struct.unpack("<I", path.read_bytes()[-8:-4])[0] + 8
        metadata = pa.parquet.ParquetFile(path).metadata
        chunks = 0
        for g in range(metadata.num_row_groups) if groups is None else groups:
            group = metadata.row_group(g)
            chunks += sum(group.column(c).total_compressed_size for c in range(group.num_columns)
                          if columns is None or group.column(c).path_in_schema in columns)
        return footer, chunks

    def check_sent(self, plan, columns, groups=None):
        """Runs the plan over HTTP, and returns its rows."""
        self.server.sent.clear()
        rows = lines_of(self.ok("run", plan, "--output", "jsonl"))
        footer, chunks = self.needed(columns, groups)
        sent = sum(self.server.sent)
        self.assertGreaterEqual(sent, footer + chunks)
        self.assertLessEqual(sent, 1.05 * (footer + chunks), f"{footer} of the footer, {chunks} of the chunks; {self.server.sent}")
        return rows

    def test_one_of_many_small_columns(self):
        rows = ROWS // 5
        self.write({f"c{k}": pa.array(range(k, k + rows)) for k in range(50)}, rows // 12)
        got = self.check_sent(f'parquet("{self.url("a.parquet")}", columns=["c7"]) | map(c7){SUM}', ["c7"])
        self.assertEqual(got, [sum(range(7, 7 + rows))])

    def test_some_small_columns_that_are_apart(self):
        rows = ROWS // 5
        self.write({f"c{k}": pa.array(range(k, k + rows)) for k in range(50)}, rows // 12)
        plan = f'parquet("{self.url("a.parquet")}", columns=["c7", "c9", "c30"]) | map(c7 + c9 + c30){SUM}'
        self.assertEqual(self.check_sent(plan, ["c7", "c9", "c30"]), [3 * sum(range(rows)) + 46 * rows])

    def test_large_columns(self):
        self.write({f"c{k}": pa.array(range(k, k + ROWS)) for k in range(4)}, ROWS // 2)
        url = self.url("a.parquet")
        got = self.check_sent(f'parquet("{url}", columns=["c1", "c2"]) | map(c1 + c2){SUM}', ["c1", "c2"])
        self.assertEqual(got, [sum(range(1, ROWS + 1)) + sum(range(2, ROWS + 2))])
        self.server.sent.clear()
        self.assertEqual(lines_of(self.ok("run", f'parquet("{url}") | count_elements', "--output", "jsonl")), [ROWS])
        self.assertLess(sum(self.server.sent), FIRST_BYTES + 16)  # the end of the file, where the footer is
        self.check_sent(f'parquet("{url}") | map(c0 + c1 + c2 + c3){SUM}', None)

    def test_groups_that_a_filter_excludes(self):
        url = self.url("a.parquet")
        plan = f'parquet("{url}", columns=["c0"]) | filter(c0 >= {ROWS - 1000}) | count_elements'
        for options in ({}, {"write_page_index": True}):
            self.write({f"c{k}": pa.array(range(ROWS)) for k in range(4)}, ROWS // 3, **options)
            self.assertEqual(self.check_sent(plan, ["c0"], [2]), [1000])

    def test_a_limit_reads_at_most_one_group_more(self):
        group = ROWS // 4
        self.write({f"c{k}": pa.array(range(ROWS)) for k in range(2)}, group)
        # The first rows of a group; and its last rows, while the next group may be read ahead.
        for rows, groups in ((1000, [0]), (group + 1000, [0, 1]), (2 * group - 1, [0, 1, 2])):
            self.server.sent.clear()
            plan = f'parquet("{self.url("a.parquet")}", columns=["c0"]) | take({rows}) | map(c0) | filter(it >= 0) | count_elements'
            self.assertEqual(lines_of(self.ok("run", plan, "--output", "jsonl")), [rows])
            footer, chunks = self.needed(["c0"], groups)
            self.assertLessEqual(sum(self.server.sent), 1.05 * (max(footer, FIRST_BYTES) + chunks), f"take({rows}): {self.server.sent}")


if __name__ == "__main__":
    main()
