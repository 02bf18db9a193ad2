#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Bagz files in tests/verbs/data/bagz, with the library of Bagz: `python3 tests/verbs/make_bagz.py`."""
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".cache/formats"))

import bagz  # noqa: E402

DATA = ROOT / "tests/verbs/data/bagz"


def write(name, records, **how):
    with bagz.Writer(str(DATA / name), bagz.Writer.Options(**how)) as to:
        for record in records:
            to.write(record)


def main():
    DATA.mkdir(exist_ok=True)
    records = [b"r%d" % i for i in range(10)]
    write("numbers.bagz", records)
    write("numbers.bag", records)
    write("sizes.bagz", [b"", b"a", b"b" * 3000, b"", b"c" * 70000])
    write("empty.bagz", [])
    write("apart.bagz", records[:3], limits_placement=bagz.LimitsPlacement.SEPARATE)
    for i, n in enumerate((3, 0, 2)):
        write(f"set-{i:05d}-of-00003.bagz", [b"%d.%d" % (i, k) for k in range(n)])
    write("lost-00000-of-00002.bagz", [b"x"])
    packed = (DATA / "numbers.bagz").read_bytes()
    # The frame of record 4 is damaged.
    (limit,) = struct.unpack("<Q", packed[-7 * 8:-6 * 8])
    damaged = bytearray(packed)
    damaged[limit] ^= 0xFF
    (DATA / "frame.bagz").write_bytes(damaged)
    # The limit of record 4 is beyond the records, so that those of records 4 and 5 do not fit.
    damaged = bytearray(packed)
    damaged[-6 * 8:-5 * 8] = struct.pack("<Q", 10**6)
    (DATA / "limit.bagz").write_bytes(damaged)
    (DATA / "cut.bagz").write_bytes(packed[:-3])
    (DATA / "short.bagz").write_bytes(b"abc")


main()
