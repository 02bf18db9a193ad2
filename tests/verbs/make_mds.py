#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the MDS folders in tests/verbs/data/mds, with the library of MDS, which takes 6 GB with what it needs:
`pip install --target FOLDER mosaicml-streaming; PYTHONPATH=FOLDER python3 tests/verbs/make_mds.py`."""
import hashlib
import json
import pathlib
import shutil

import numpy as np
from streaming import MDSWriter

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/verbs/data/mds"


def write(name, columns, rows, **how):
    shutil.rmtree(DATA / name, ignore_errors=True)
    with MDSWriter(out=str(DATA / name), columns=columns, **how) as to:
        for row in rows:
            to.write(row)


def main():
    DATA.mkdir(exist_ok=True)
    rows = [{"id": i, "name": f"n{i}"} for i in range(10)]
    # Shards of a few samples.
    write("numbers", {"id": "int", "name": "str"}, rows, size_limit=270, hashes=["sha1"])
    write("types", {"a": "int8", "b": "uint64", "c": "float16", "d": "float32", "e": "float64", "f": "bytes", "g": "json", "h": "str_int",
                    "i": "str_decimal", "j": "uint8", "k": "jpeg"},
          [{"a": -1, "b": 2**64 - 1, "c": 0.5, "d": 1.5, "e": -2.5, "f": b"\xff\x00", "g": {"k": [1]}, "h": 10**20, "i": __import__("decimal").Decimal("1.50"),
            "j": 255, "k": __import__("PIL.Image").Image.new("RGB", (2, 1))}])
    write("arrays", {"any": "ndarray", "typed": "ndarray:int16", "fixed": "ndarray:float32:2,2"},
          [{"any": np.arange(6, dtype=np.int64).reshape(2, 3), "typed": np.array([1, -2], np.int16), "fixed": np.ones((2, 2), np.float32)},
           {"any": np.array([0.5], np.float16), "typed": np.array([[7]], np.int16), "fixed": np.zeros((2, 2), np.float32)}])
    for codec in ("zstd", "gz", "bz2", "br"):
        write(codec, {"id": "int"}, [{"id": i} for i in range(5)], compression=codec)
    write("pickled", {"id": "int", "object": "pkl"}, [{"id": 1, "object": {1: 2}}])
    # The table of offsets, a size within a sample, and the number of samples are damaged. The index states the digest of the damaged
    # shard, as if its writer had made the mistake; only that of `digest` still states the digest of the good one.
    for name, at, value in (("offsets", 12, b"\xff\xff\xff\x7f"),
                            ("sample", None, b"\xff\xff"), ("count", 0, b"\x09"), ("digest", None, b"\xff\xff")):
        shutil.rmtree(DATA / name, ignore_errors=True)
        shutil.copytree(DATA / "numbers", DATA / name)
        shard = DATA / name / "shard.00000.mds"
        good = shard.read_bytes()
        data = bytearray(good)
        if at is None:
            at = int.from_bytes(data[8:12], "little")  # where sample 1 begins
        data[at:at + len(value)] = value
        shard.write_bytes(data)
        if name != "digest":
            index = DATA / name / "index.json"
            index.write_text(index.read_text().replace(hashlib.sha1(good).hexdigest(), hashlib.sha1(data).hexdigest()))
    shutil.rmtree(DATA / "lost", ignore_errors=True)
    shutil.copytree(DATA / "numbers", DATA / "lost")
    (DATA / "lost/shard.00001.mds").unlink()
    (DATA / "version").mkdir(exist_ok=True)
    (DATA / "version/index.json").write_text(json.dumps({"version": 3, "shards": []}))
    (DATA / "broken").mkdir(exist_ok=True)
    (DATA / "broken/index.json").write_text('{"version": 2, "shards": [{')


main()
