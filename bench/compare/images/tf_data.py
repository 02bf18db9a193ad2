#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JPEG files to batches of 224x224 by tf.data. `write FOLDER` makes the files; `run GLOB EPOCHS` reads them.

The last line of output is JSON: images, seconds, mean (of all values of the first epoch).
"""
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf  # noqa: E402

KINDS = {"small": (120, 375, 500), "large": (40, 1000, 1500)}


def write(folder):
    """Photographs have edges and soft areas: noise of several sizes, enlarged and added."""
    for kind, (count, height, width) in KINDS.items():
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for k in range(count):
            random = tf.random.Generator.from_seed(k)
            image = sum(tf.image.resize(random.uniform([height // s + 1, width // s + 1, 3]), [height, width], "bicubic") * w
                        for s, w in ((100, 120.0), (25, 60.0), (6, 40.0), (2, 20.0)))
            jpeg = tf.io.encode_jpeg(tf.cast(tf.clip_by_value(image, 0, 255), tf.uint8), quality=90)
            (folder / kind / f"{k:03}.jpg").write_bytes(jpeg.numpy())


def batches(pattern, epochs):
    def load(path):
        image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [224, 224])
        return tf.cast(tf.round(image), tf.uint8)
    files = tf.data.Dataset.list_files(pattern, shuffle=False).repeat(epochs)
    return files.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)


def count(pattern, epochs):
    return int(batches(pattern, epochs).reduce(tf.constant(0, tf.int64), lambda n, b: n + tf.cast(tf.shape(b)[0], tf.int64)))


def run(pattern, epochs):
    values = [tf.reduce_mean(tf.cast(b, tf.float64), axis=[1, 2, 3]) for b in batches(pattern, 1)]
    mean = float(tf.reduce_mean(tf.concat(values, 0)))
    started = time.monotonic()
    images = count(pattern, epochs)
    print(json.dumps({"images": images, "seconds": time.monotonic() - started, "mean": mean, "version": tf.__version__}))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(pathlib.Path(sys.argv[2]))
    else:
        run(sys.argv[2], int(sys.argv[3]))
