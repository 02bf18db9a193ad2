#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JPEG files to batches of 224x224x3 beside tf.data: files, decode, resize, batch, prefetch on all cores.

    bench/compare/images.py [--pairs 5] [--python PYTHON]

The mean value of all pixels has to be the same within 1 first. Ours and theirs alternate; figures are medians of the pairs' ratios.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

from run import ROOT, python_with_tensorflow

THEIRS = pathlib.Path(__file__).resolve().parent / "images" / "tf_data.py"
FOLDER = ROOT / ".cache" / "compare_images"
WHOLE, SCALED = "decode_jpeg(read_file(it), 3)", "decode_jpeg(read_file(it), 3, 224, 224)"
# name: (files, how ours decodes, epochs, how many times faster we promise to be)
ROWS = {"JPEG 500x375 to 224x224": ("small", WHOLE, 12, 1.15),
        "JPEG 1500x1000, scaled decode": ("large", SCALED, 6, 2.5),
        "JPEG 1500x1000, decoded whole": ("large", WHOLE, 6, 1.0)}


def plan(kind, decode, epochs, behind=""):
    return (f'list_files("{FOLDER}/{kind}/*.jpg") | repeat({epochs}) | map(resize({decode}, 224, 224), parallelism=autotune)'
            f" | batch(32) | prefetch(autotune){behind}")


def ours(program, kind, decode, epochs):
    said = subprocess.run([program, "run", plan(kind, decode, epochs)], capture_output=True, text=True, check=True)
    images, seconds = re.search(r"\(([\d,]+) records\) in ([\d.]+) s", said.stdout + said.stderr).groups()
    return {"images": int(images.replace(",", "")), "seconds": float(seconds)}


def mean_of_ours(program, kind, decode):
    means = f'list_files("{FOLDER}/{kind}/*.jpg") | map(mean(resize({decode}, 224, 224)))'
    said = subprocess.run([program, "run", means, "--output", "jsonl"], capture_output=True, text=True, check=True)
    return statistics.mean(float(line) for line in said.stdout.split() if re.fullmatch(r"[\d.e+-]+", line))


def theirs(python, kind, epochs):
    said = subprocess.run([python, THEIRS, "run", f"{FOLDER}/{kind}/*.jpg", str(epochs)], capture_output=True, text=True, check=True)
    return json.loads(said.stdout.strip().splitlines()[-1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pairs", type=int, default=5)
    arguments.add_argument("--ours", default=str(ROOT / "build/sluice"), metavar="PROGRAM")
    arguments.add_argument("--python", metavar="PYTHON")
    asked = arguments.parse_args()
    python = python_with_tensorflow(asked.python)
    if python is None:
        print("skipped: TensorFlow cannot be imported; bench/compare/setup.sh installs it, or set SLUICE_TF_PYTHON")
        return 0
    if not (FOLDER / "large" / "039.jpg").exists():
        subprocess.run([python, THEIRS, "write", FOLDER], check=True)
    kept = True
    for name, (kind, decode, epochs, goal) in ROWS.items():
        answers = mean_of_ours(asked.ours, kind, decode), theirs(python, kind, 1)["mean"]
        if abs(answers[0] - answers[1]) > 1:
            print(f"{name}: the mean value differs: ours {answers[0]:.2f}, theirs {answers[1]:.2f}")
            kept = False
            continue
        pairs = [(ours(asked.ours, kind, decode, epochs), theirs(python, kind, epochs)) for _ in range(asked.pairs)]
        if any(o["images"] != t["images"] for o, t in pairs):
            sys.exit(f"{name}: ours gives {pairs[0][0]['images']} images, theirs {pairs[0][1]['images']}")
        ratios = [t["seconds"] / o["seconds"] for o, t in pairs]
        figure = statistics.median(ratios)
        rate = statistics.median(t["images"] / o["seconds"] for o, t in pairs)
        ok = figure >= goal
        kept = kept and ok
        print(f"{name:<32} tf.data {pairs[0][1]['version']:<8} {figure:6.2f}x >= {goal:4.2f}x  {'ok' if ok else 'MISSED'}  "
              f"{min(ratios):.2f}x to {max(ratios):.2f}x, ours {rate:.0f} images/s", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
