#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes JPEGs of every sampling of colors that libjpeg-turbo's cjpeg writes, baseline and progressive.

    apt-get install libjpeg-turbo-progs && python3 tests/golden/make_samplings.py

Writes images/sampling/*.jpg. The name has the sampling factors of the components. `few-scans` is a progressive file that
ends before the last scans, so that decoders smooth it. The script is deterministic.
"""
import math
import pathlib
import random
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "images" / "sampling"
WIDTH, HEIGHT, SEED = 83, 70, 5
SAMPLINGS = ["1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "3x1", "1x1,2x2,1x1"]
FEW_SCANS = "0,1,2: 0-0, 0, 1;\n0: 1-5, 0, 2;\n"


def picture():
    """Waves and noise, so that each pixel depends visibly on its neighbors."""
    rng = random.Random(SEED)
    out = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            for wave in (math.sin(x * 0.31 + y * 0.17), math.cos(x * 0.13 - y * 0.41), math.sin((x + y) * 0.23 + 2)):
                out.append(max(0, min(255, int(128 + 90 * wave + rng.uniform(-60, 60)))))
    return b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + out


def main():
    HERE.mkdir(exist_ok=True)
    source = picture()
    with tempfile.TemporaryDirectory() as folder:
        scans = pathlib.Path(folder) / "scans"
        scans.write_text(FEW_SCANS)

        def write(name, *options):
            made = subprocess.run(["cjpeg", "-quality", "60", *options], input=source, stdout=subprocess.PIPE, check=True)
            (HERE / (name + ".jpg")).write_bytes(made.stdout)
        for sampling in SAMPLINGS:
            write(sampling.replace(",", "-"), "-sample", sampling)
            write(sampling.replace(",", "-") + "-progressive", "-sample", sampling, "-progressive")
        write("2x2-few-scans", "-sample", "2x2", "-scans", str(scans))
        write("2x2-restarts", "-sample", "2x2", "-restart", "3B")
        write("gray", "-grayscale")


main()
