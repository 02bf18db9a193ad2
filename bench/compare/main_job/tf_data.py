#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job in tf.data: TFRecord shards of tf.Examples to shuffled batches. Prints one JSON object (see README.md).

    tf_data.py --form per_record|vectorised [--skip-answer] FILES...
"""
import argparse
import json
import os
import platform
import time
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

CYCLE_LENGTH, BUFFER_SIZE, BATCH_SIZE, SEED = 16, 10_000, 1024, 7
FEATURES = {
    "text": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "values": tf.io.FixedLenFeature([16], tf.float32),
}


def interleaved(files):
    return tf.data.Dataset.from_tensor_slices(files).interleave(
        tf.data.TFRecordDataset, cycle_length=CYCLE_LENGTH, num_parallel_calls=tf.data.AUTOTUNE)


def per_record(files):
    """As the guides write it: parse each record, then shuffle and batch what was parsed."""
    return (interleaved(files)
            .map(lambda record: tf.io.parse_single_example(record, FEATURES), num_parallel_calls=tf.data.AUTOTUNE)
            .shuffle(BUFFER_SIZE, seed=SEED).batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE))


def vectorised(files):
    """As the performance guide advises, in the fastest variant tried: no interleave, and a batch parsed at a time."""
    return (tf.data.TFRecordDataset(files).shuffle(BUFFER_SIZE, seed=SEED).batch(BATCH_SIZE)
            .map(lambda records: tf.io.parse_example(records, FEATURES), num_parallel_calls=tf.data.AUTOTUNE)
            .prefetch(tf.data.AUTOTUNE))


FORMS = {"per_record": per_record, "vectorised": vectorised}


def row_digests(texts, labels, values):
    """One 64-bit number a row; their sum does not depend on the order of the rows, but on what belongs to what."""
    h = np.array([zlib.crc32(t) for t in texts], dtype=np.uint64) + (labels.astype(np.uint64) << np.uint64(32))
    h = h * np.uint64(0x9E3779B97F4A7C15) + values.view(np.uint32).sum(axis=1, dtype=np.uint64)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return h ^ (h >> np.uint64(32))


def answer(dataset):
    elements, batches, digest, label_sum = 0, 0, 0, 0
    for batch in dataset.as_numpy_iterator():
        elements += len(batch["label"])
        batches += 1
        label_sum += int(batch["label"].sum())
        digest += int(row_digests(batch["text"], batch["label"], batch["values"]).sum(dtype=np.uint64))
    return {"elements": elements, "batches": batches, "label_sum": label_sum % 2**64, "digest": f"{digest % 2**64:016x}"}


def timed(dataset):
    """Wall and CPU seconds from opening the first file to the last batch. Consumed inside TensorFlow: no Python call per batch."""
    count = lambda n, batch: n + tf.shape(batch["label"], out_type=tf.int64)[0]
    start, cpu = time.perf_counter(), time.process_time()
    elements = int(dataset.reduce(tf.constant(0, tf.int64), count))
    return elements, time.perf_counter() - start, time.process_time() - cpu


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--form", choices=FORMS, required=True)
    arguments.add_argument("--skip-answer", action="store_true", help="time only: the answer was checked before")
    arguments.add_argument("files", nargs="+")
    asked = arguments.parse_args()

    dataset = FORMS[asked.form](asked.files)
    said = {} if asked.skip_answer else answer(dataset)
    timed(FORMS[asked.form](asked.files[:1]).take(2))  # traces the functions
    elements, seconds, cpu_seconds = timed(dataset)
    assert elements == said.get("elements", elements)
    print(json.dumps({"system": f"tf.data {asked.form}", **said, "elements": elements, "seconds": seconds, "cpu_seconds": cpu_seconds,
                      "versions": {"tensorflow": tf.__version__, "numpy": np.__version__, "python": platform.python_version()}}))


if __name__ == "__main__":
    main()
