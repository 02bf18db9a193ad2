#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ArrayRecord files in tests/verbs/data/array_record, with the library of ArrayRecord (./dev deps formats):
`python3 tests/verbs/make_array_record.py`. Each ends with a block of 64 KiB."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".cache/formats"))

from array_record.python import array_record_module  # noqa: E402

DATA = ROOT / "tests/verbs/data/array_record"


def write(name, records, options):
    to = array_record_module.ArrayRecordWriter(str(DATA / f"{name}.array_record"), options)
    for record in records:
        to.write(record)
    to.close()


def main():
    DATA.mkdir(exist_ok=True)
    records = [b"r%d" % i for i in range(10)]
    write("zstd", records, "group_size:4,zstd:3")
    write("stored", records, "group_size:1,uncompressed")
    write("transposed", records, "group_size:4,transpose:true,uncompressed")
    write("damaged", records, "group_size:4,uncompressed")
    # The last byte of the second chunk is damaged; its footer states where it begins.
    path = DATA / "damaged.array_record"
    data = bytearray(path.read_bytes())
    data[data.index(b"r7") + 1] ^= 1
    path.write_bytes(data)


main()
