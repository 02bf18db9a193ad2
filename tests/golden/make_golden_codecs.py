#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes codecs/: files as the reference tools compress them, and codecs/files.json, which says what is in them.

Takes the Python modules zstandard, lz4 and cramjam (whose snappy is Rust's), and the programs zstd, lz4, bzip2 and xz.
"""
import bz2
import gzip
import json
import lzma
import pathlib
import struct
import subprocess
import zlib

import cramjam
import lz4.frame
import zstandard

FOLDER = pathlib.Path(__file__).resolve().parent / "codecs"
# Small when compressed, yet longer than the 64 KiB blocks of lz4 and snappy; and bytes that no library makes smaller.
TEXT = b"".join(b"line %d of %d\n" % (k % 70, k // 3000) for k in range(12_000))
NOISE = b"".join(struct.pack("<I", (k * 2654435761 + 12345) % 2**32) for k in range(100))
TFRECORDS = (FOLDER.parent / "small.tfrecord").read_bytes()


def tool(*command):
    return lambda data: subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


MAKERS = {
    "zstd": [("zst", "python zstandard, level 19", zstandard.ZstdCompressor(level=19, write_checksum=True).compress),
             ("tool.zst", "zstd -3 --long=27", tool("zstd", "-3", "--long=27", "-c")),
             ("fast.zst", "zstd --fast=5 --no-check", tool("zstd", "--fast=5", "--no-check", "-c"))],
    "lz4": [("lz4", "python lz4.frame", lambda d: lz4.frame.compress(d, content_checksum=True, block_linked=True)),
            ("tool.lz4", "lz4 -9 -B4 -BX", tool("lz4", "-9", "-B4", "-BX", "-c"))],
    "snappy": [("sz", "python cramjam.snappy", lambda d: bytes(cramjam.snappy.compress(d)))],
    "bzip2": [("bz2", "python bz2", bz2.compress), ("tool.bz2", "bzip2 -1", tool("bzip2", "-1", "-c"))],
    "xz": [("xz", "python lzma", lambda d: lzma.compress(d, preset=1)),
           ("tool.xz", "xz -0 -C sha256 --block-size=50000", tool("xz", "-0", "-C", "sha256", "--block-size=50000", "-c"))],
}
PLAIN = {"text": TEXT, "noise": NOISE, "empty": b"", "small.tfrecord": TFRECORDS}


def main():
    FOLDER.mkdir(exist_ok=True)
    files = []
    for compression, makers in MAKERS.items():
        whole = {}
        for suffix, made_by, make in makers:
            for stem, plain in PLAIN.items():
                name = f"{stem}.{suffix}"
                whole[name] = (make(plain), plain, made_by)
        # Members one after the other, as the first maker has them.
        suffix, made_by, make = makers[0]
        whole[f"members.{suffix}"] = (make(NOISE) + make(b"") + make(TFRECORDS), NOISE + TFRECORDS, made_by)
        for name, (packed, plain, made_by) in whole.items():
            if not packed:
                continue  # an empty file, which says nothing of its format
            (FOLDER / name).write_bytes(packed)
            files.append({"file": name, "compression": compression, "made_by": made_by, "plain_bytes": len(plain), "crc32": zlib.crc32(plain)})
    # TensorFlow 2.21's, made once (it takes its time): from_tensor_slices([…, b"abcdefghij" * 1000]).snapshot(path, compression=…)
    # writes a TFRecord file; the one by SNAPPY has its block framing.
    plain = gzip.decompress((FOLDER / "tensorflow.gz").read_bytes())
    for name, compression in [("tensorflow.gz", "gzip"), ("tensorflow.tfblocks", "snappy_blocks")]:
        files.append({"file": name, "compression": compression, "made_by": "TensorFlow 2.21", "plain_bytes": len(plain), "crc32": zlib.crc32(plain)})
    lines = ",\n".join(json.dumps(f) for f in files)
    (FOLDER / "files.json").write_text('{"files": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
