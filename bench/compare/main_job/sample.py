#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a seeded sample with TensorFlow's own writer: TFRecord shards of tf.Examples {text, label, values[16]}.

    sample.py FOLDER [--records N] [--shards 16] [--seed 1]

The C++ generator behind `./dev run` writes the same shape faster; this one is for files that none of our code touched.
"""
import argparse
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf


def record(rng):
    e = tf.train.Example()
    f = e.features.feature
    f["text"].bytes_list.value.append(rng.randbytes(rng.randrange(20, 31)).hex().encode())
    f["label"].int64_list.value.append(rng.randrange(1000))
    f["values"].float_list.value.extend(rng.random() for _ in range(16))
    return e.SerializeToString(deterministic=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder")
    arguments.add_argument("--records", type=int, default=1_200_000)
    arguments.add_argument("--shards", type=int, default=16)
    arguments.add_argument("--seed", type=int, default=1)
    asked = arguments.parse_args()
    os.makedirs(asked.folder, exist_ok=True)
    for shard in range(asked.shards):
        rng = random.Random(asked.seed * 1_000_003 + shard)
        with tf.io.TFRecordWriter(os.path.join(asked.folder, f"sample-{shard:05d}-of-{asked.shards:05d}.tfrecord")) as w:
            for _ in range(asked.records * (shard + 1) // asked.shards - asked.records * shard // asked.shards):
                w.write(record(rng))


if __name__ == "__main__":
    main()
