#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks TensorFlow what ragged and sparse tensors are as each other, for tests/element/ragged_golden_test.cpp.

    bench/compare/setup.sh && build/tf_venv/bin/python tests/golden/make_golden_ragged.py

ragged.tsv: one case a line, all as JSON: the lists (int64[][] or int64[][][]), or the dense matrix; then TensorFlow's answers.
Deterministic.
"""
import json
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def lists(rng, depth):
    if depth == 0:
        return rng.randrange(-3, 4)
    return [lists(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 2, 3, 5]))]


def sparse_answer(s):
    return {"indices": s.indices.numpy().tolist(), "values": s.values.numpy().tolist(), "dense_shape": s.dense_shape.numpy().tolist()}


def ragged_answer(r):
    return {"values": r.flat_values.numpy().tolist(), "row_splits": [s.numpy().tolist() for s in r.nested_row_splits]}


def rows():
    rng = random.Random(11)
    for depth in (2, 3):
        for _ in range(120):
            nest = lists(rng, depth)
            r = tf.ragged.constant(nest, ragged_rank=depth - 1, dtype=tf.int64)
            yield ("ragged", nest, ragged_answer(r), r.to_tensor().numpy().tolist(), r.to_tensor(default_value=-9).numpy().tolist(),
                   r.bounding_shape().numpy().tolist(), sparse_answer(r.to_sparse()))
    for _ in range(60):
        nests = [lists(rng, 2) for _ in range(rng.randrange(1, 5))]
        yield ("stack", nests, ragged_answer(tf.ragged.stack([tf.ragged.constant(n, ragged_rank=1, dtype=tf.int64) for n in nests])))
    for _ in range(100):
        n, m = rng.randrange(0, 5), rng.randrange(1, 5)
        dense = [[rng.choice([0, 0, 0, 1, -2, 7]) for _ in range(m)] for _ in range(n)]
        t = tf.reshape(tf.constant([x for row in dense for x in row], tf.int64), [n, m])
        s = tf.sparse.from_dense(t)
        at = list(range(len(s.values)))
        rng.shuffle(at)
        at = tf.constant(at, tf.int64)
        mixed = tf.sparse.SparseTensor(tf.gather(s.indices, at), tf.gather(s.values, at), s.dense_shape)
        yield ("sparse", dense, sparse_answer(s), sparse_answer(mixed), sparse_answer(tf.sparse.reorder(mixed)),
               tf.sparse.to_dense(s, default_value=5).numpy().tolist())


def main():
    path = os.path.join(HERE, "ragged.tsv")
    with open(path, "w") as out:
        n = 0
        for kind, *parts in rows():
            out.write("\t".join([kind] + [json.dumps(p, separators=(",", ":")) for p in parts]) + "\n")
            n += 1
    print(f"{n} cases, TensorFlow {tf.__version__}")


main()
