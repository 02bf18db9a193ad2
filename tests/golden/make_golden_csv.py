# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/csv.json: random tables as Python's csv module writes them, in its dialects, and what its reader gives.

  python3 tests/golden/make_golden_csv.py

Tables have no rows of one empty field, for which the writer has no text of its own, and no field ends a file with a bare quote.
"""
import csv
import io
import json
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
SIGNS = ["a", "b", "é", "1", ".", " ", "\n", "\r\n", '"', ",", ";", "\t", "'", "#x"]


def table(r):
    columns = r.randint(1, 5)
    field = lambda: "".join(r.choice(SIGNS) for _ in range(r.choice([0, 1, 2, 5, 40])))
    rows = [[field() for _ in range(columns)] for _ in range(r.randint(1, 12))]
    return [row if row != [""] else ["x"] for row in rows]


def main():
    r = random.Random(7)
    tables = []
    for i in range(60):
        delimiter = r.choice([",", ";", "\t"])
        out = io.StringIO(newline="")
        quoting = r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        rows = table(r)
        csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=r.choice(["\n", "\r\n"])).writerows(rows)
        text = out.getvalue()
        read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
        assert read == rows, (read, rows)
        tables.append({"delimiter": delimiter, "text": text, "rows": rows})
    lines = ",\n".join(json.dumps(t, ensure_ascii=False) for t in tables)
    (HERE / "csv.json").write_text(f"[{lines}]\n", encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
