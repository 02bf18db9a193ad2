#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tf.data's side of bench/compare/verbs.py: prints one JSON line for each `NAME N [--answer]` line that it reads."""
import json
import os
import shlex
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops.global_shuffle_op import _global_shuffle  # not told to users yet

D = tf.data.Dataset
AUTOTUNE = tf.data.AUTOTUNE


def file(name):
    """That verbs.py wrote."""
    return os.path.join(os.environ["COMPARE_FILES"], name)


def records(name, n):
    return tf.data.TFRecordDataset(file(name)).repeat().take(n)


def lists(n):
    return D.range(n).map(lambda x: tf.fill([x % 8 + 1], x))


ROWS = {
    "range": lambda n: D.range(n).batch(1000),
    "from_tensor_slices": lambda n: D.from_tensor_slices(np.arange(n)).batch(1000),
    "counter": lambda n: D.counter().take(n).batch(1000),
    "random": lambda n: D.random(seed=7).take(n).batch(1000).map(lambda x: x * 0),
    "map": lambda n: D.range(n).map(lambda x: x * 3 + 1).batch(1000),
    "map, parallel": lambda n: D.range(n).map(lambda x: x * 3 + 1, num_parallel_calls=AUTOTUNE).batch(1000),
    "filter": lambda n: D.range(n).filter(lambda x: x % 2 == 0).batch(1000),
    "flat_map": lambda n: D.range(n // 100).flat_map(lambda _: D.range(100)).batch(1000),
    "interleave": lambda n: D.range(n // 1000).interleave(lambda _: D.range(1000), cycle_length=16).batch(1000),
    "shuffle": lambda n: D.range(n).shuffle(10_000, seed=7).batch(1000),
    "repeat": lambda n: D.range(n // 10).repeat(10).batch(1000),
    "take": lambda n: D.range(n * 2).take(n).batch(1000),
    "skip": lambda n: D.range(n).skip(n // 2).batch(1000),
    "take_while": lambda n: D.range(n).take_while(lambda x: x >= 0).batch(1000),
    "unique": lambda n: D.range(n).map(lambda x: x * 7919 % 100_003).unique().batch(1000),
    "shard": lambda n: D.range(n).shard(4, 1).batch(1000),
    "prefetch": lambda n: D.range(n).prefetch(64).batch(1000),
    "enumerate": lambda n: D.range(n).enumerate().batch(1000),
    "scan": lambda n: D.range(n).scan(np.int64(0), lambda s, x: (s + x, s + x)).batch(1000),
    "reduce": lambda n: D.from_tensors(0).map(lambda _: D.range(n).reduce(np.int64(0), lambda s, x: s + x)),
    "zip": lambda n: D.zip((D.range(n), D.range(n))).batch(1000),
    "concatenate": lambda n: D.range(n // 2).concatenate(D.range(n // 2)).batch(1000),
    "choose_from_datasets":
        lambda n: D.choose_from_datasets([D.range(n), D.range(n)], D.range(n).map(lambda x: x % 2)).batch(1000),
    "sample_from_datasets":
        lambda n: D.sample_from_datasets([D.range(n // 2), D.range(n // 2)], [0.7, 0.3], seed=1).batch(1000),
    "window": lambda n: D.range(n).window(10).flat_map(lambda w: w.batch(10)),
    "lines": lambda n: tf.data.TextLineDataset(file("lines.txt")).repeat().take(n).batch(1000),
    "tfrecord, 100 B": lambda n: records("100.tfrecord", n).batch(1000),
    "tfrecord, 1 KB": lambda n: records("1000.tfrecord", n).batch(100),
    "tfrecord, 10 KB": lambda n: records("10000.tfrecord", n).batch(32),
    "tfrecord, 150 KB": lambda n: records("150000.tfrecord", n).batch(8),
    "tfrecord, 1 KB, skip": lambda n: records("1000.tfrecord", n).skip(n - 100).batch(100),
    "batch": lambda n: D.range(n).batch(10),
    "unbatch": lambda n: D.range(n).batch(1000).unbatch().batch(1000),
    "rebatch": lambda n: D.range(n).batch(1000).rebatch(768),
    "padded_batch": lambda n: lists(n).padded_batch(32),
    "bucket_by_sequence_length":
        lambda n: lists(n).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [32, 32, 32]),
    "ragged_batch": lambda n: lists(n).ragged_batch(32),
    "sparse_batch": lambda n: lists(n).sparse_batch(32, [8]),
    "group_by_window": lambda n: D.range(n).group_by_window(lambda x: x % 16, lambda _, group: group.batch(256), window_size=256),
    "rejection_resample": lambda n: D.range(n).rejection_resample(
        lambda x: tf.cast(x % 2, tf.int32), target_dist=[0.9, 0.1], initial_dist=[0.5, 0.5], seed=1).map(lambda *_: np.int64(0)).batch(1000),
    "ignore_errors": lambda n: D.range(n).ignore_errors().batch(1000),
    "assert_cardinality": lambda n: D.range(n).apply(tf.data.experimental.assert_cardinality(n)).batch(1000),
    "pad_to_cardinality": lambda n: D.range(n).map(lambda x: {"x": x}).apply(
        tf.data.experimental.pad_to_cardinality(n + 1000)).batch(1000),
    "global_shuffle": lambda n: _global_shuffle(D.range(n), seed=7).batch(1000),
    "map_and_batch": lambda n: D.range(n).apply(tf.data.experimental.map_and_batch(lambda x: x * 3 + 1, 1000)),
    "shuffle_and_repeat": lambda n: D.range(n // 10).apply(tf.data.experimental.shuffle_and_repeat(10_000, 10, seed=7)).batch(1000),
    "parallel_interleave": lambda n: D.range(n // 1000).apply(tf.data.experimental.parallel_interleave(
        lambda _: D.range(1000), cycle_length=16)).batch(1000),
    "fixed_length": lambda n: tf.data.FixedLengthRecordDataset(file("lines.txt"), 72).repeat().take(n).batch(1000),
    "csv": lambda n: tf.data.experimental.CsvDataset(file("numbers.csv"), [tf.int64] * 4).repeat().take(n).batch(1000),
    "sql": lambda n: tf.data.experimental.SqlDataset(
        "sqlite", file("numbers.db"), "SELECT x FROM numbers ORDER BY x", (tf.int64,)).repeat().take(n).batch(1000),
    "group_by_reducer": lambda n: D.range(n).apply(tf.data.experimental.group_by_reducer(
        lambda x: x % 7, tf.data.experimental.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s))),
}


def total_of(part):
    """Texts count by their lengths, rows of a ragged tensor by what is in them."""
    if part.dtype != object:
        return int(np.sum(part, dtype=np.uint64))
    return sum(len(x) if isinstance(x, bytes) else total_of(x) for x in part)


def total(element):
    if isinstance(element, tf.compat.v1.SparseTensorValue):
        element = element.values
    return sum(map(total_of, tf.nest.flatten(element))) % 2**64


def write_records(folder):
    """Files of some 64 MB of records."""
    for size in (100, 1_000, 10_000, 150_000):
        with tf.io.TFRecordWriter(os.path.join(folder, f"{size}.tfrecord")) as writer:
            for i in range(64_000_000 // size // 1000 * 1000 or 400):
                writer.write(bytes([i % 251]) * size)


def main():
    if sys.argv[1:2] == ["write"]:
        return write_records(sys.argv[2])
    for line in sys.stdin:
        name, n, *answer = shlex.split(line)
        dataset = ROWS[name](int(n))
        told = {"system": "tf.data", "version": tf.__version__, "sum": 0}
        if answer:
            told["sum"] = sum(total(e) for e in dataset.as_numpy_iterator()) % 2**64
        # Consumed inside TensorFlow: no call of Python's for each batch.
        start = time.perf_counter()
        dataset.reduce(np.int64(0), lambda count, *_: count + 1).numpy()
        told["seconds"] = time.perf_counter() - start
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
