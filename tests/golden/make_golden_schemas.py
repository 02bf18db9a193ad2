#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks TensorFlow what examples are by a schema with defaults, shapes and other names, for tests/format/schema_golden_test.cpp.

    bench/compare/setup.sh && build/tf_venv/bin/python tests/golden/make_golden_schemas.py

schemas.tsv: the schema's text, the tf.Example in hexadecimal, and TensorFlow's answer as JSON; "?" where it refuses. Deterministic.
"""
import json
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}


def value(rng, kind):
    if kind == "int64":
        return rng.choice([0, 1, -1, 7, 2**40, -(2**62)])
    if kind == "float":
        return rng.choice([0.0, 0.5, -2.25, 1024.0])
    return rng.choice(["", "x", "it's", "two words", "a\tb"])


def written(kind, v):
    if kind == "float":
        return repr(v)
    if kind == "int64":
        return str(v)
    return "'" + v.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t") + "'"


def given(kind, v):
    return v.encode() if kind == "bytes" else v


def nested(flat, shape):
    if len(shape) <= 1:
        return flat
    each = len(flat) // shape[0] if shape[0] else 0
    return [nested(flat[i * each:(i + 1) * each], shape[1:]) for i in range(shape[0])]


class Member:
    def __init__(self, rng, number):
        self.name = f"m{number}"
        self.kind = kind = rng.choice(list(DTYPES))
        self.key = rng.choice([self.name, self.name, f"image/{number}", f"it's {number}"])
        self.form = form = rng.choice(["one", "array", "tensor", "open", "list"])
        self.shape = {"one": [], "array": [rng.randrange(1, 4)], "tensor": [rng.randrange(1, 3), rng.randrange(1, 4)],
                      "open": [rng.randrange(1, 3)] if rng.random() < 0.7 else [], "list": []}[form]
        self.count = 1
        for n in self.shape:
            self.count *= n
        text = {"one": kind, "array": f"{kind}[{self.shape[0] if self.shape else ''}]", "list": f"{kind}[]",
                "open": f"{kind}[{','.join(['?'] + [str(n) for n in self.shape])}]",
                "tensor": f"{kind}[{','.join(str(n) for n in self.shape)}]"}[form]
        default = None
        if form in ("one", "array", "tensor") and rng.random() < 0.5:
            if rng.random() < 0.4:
                one = value(rng, kind)
                default = [one] * self.count
                text += f" = {written(kind, one)}"
            else:
                default = [value(rng, kind) for _ in range(self.count)]
                text += " = [" + ", ".join(written(kind, v) for v in default) + "]" if form != "one" else f" = {written(kind, default[0])}"
        if form in ("open", "list"):
            text += " = []"
        renamed = f" = {written('bytes', self.key)}" if self.key != self.name else ""
        self.text = f"{self.name}{renamed}: {text}"
        dtype = DTYPES[kind]
        if form == "list":
            self.feature = tf.io.VarLenFeature(dtype)
        elif form == "open":
            self.feature = tf.io.FixedLenSequenceFeature(self.shape, dtype, allow_missing=True)
        else:
            flat = [given(kind, v) for v in default] if default is not None else None
            self.feature = tf.io.FixedLenFeature(self.shape, dtype, None if flat is None else flat[0] if form == "one" else nested(flat, self.shape))

    def write(self, rng, features):
        if rng.random() < 0.3:
            return
        kind = self.kind if rng.random() < 0.95 else rng.choice(list(DTYPES))
        n = self.count * rng.choice([0, 1, 2, 3]) if self.form in ("open", "list") else self.count
        if rng.random() < 0.05:
            n = max(0, n + rng.choice([-1, 1]))
        values = [given(kind, value(rng, kind)) for _ in range(n)]
        one = {"int64": lambda: tf.train.Feature(int64_list=tf.train.Int64List(value=values)),
               "float": lambda: tf.train.Feature(float_list=tf.train.FloatList(value=values)),
               "bytes": lambda: tf.train.Feature(bytes_list=tf.train.BytesList(value=values))}[kind]()
        features[self.key] = one

    def answer(self, parsed):
        v = parsed[self.key]
        v = v.values if isinstance(v, tf.SparseTensor) else v
        v = v.numpy()
        return shown(v if isinstance(v, bytes) else v.tolist())


class Parts:
    """A sparse or a ragged member, of several features that fit together, or are all missing."""

    def __init__(self, rng, number):
        self.name, self.key = f"m{number}", f"values of {number}"
        self.kind = rng.choice(list(DTYPES))
        self.sparse = rng.random() < 0.5
        dtype = DTYPES[self.kind]
        if self.sparse:
            self.shape = [rng.randrange(1, 6) for _ in range(rng.randrange(1, 4))]
            self.names = [f"i{number}{d}" for d in range(len(self.shape))]
            quoted = ", ".join(f"'{n}'" for n in [self.key] + self.names)
            self.text = f"{self.name} = sparse({quoted}): {self.kind}[{','.join(str(n) for n in self.shape)}]"
            self.feature = tf.io.SparseFeature(self.names, self.key, dtype, self.shape)
            return
        self.partitions = [rng.choice(["row_splits", "row_lengths", "row_starts", "row_limits", "value_rowids", "uniform"])
                           for _ in range(rng.randrange(1, 4))]
        self.uniform = 2
        texts, parts = [], []
        for k, p in enumerate(self.partitions):
            name = f"p{number}{k}"
            texts.append(f"uniform({self.uniform})" if p == "uniform" else f"{p}('{name}')")
            parts.append({"row_splits": tf.io.RaggedFeature.RowSplits, "row_lengths": tf.io.RaggedFeature.RowLengths,
                          "row_starts": tf.io.RaggedFeature.RowStarts, "row_limits": tf.io.RaggedFeature.RowLimits,
                          "value_rowids": tf.io.RaggedFeature.ValueRowIds,
                          "uniform": lambda _: tf.io.RaggedFeature.UniformRowLength(self.uniform)}[p](name))
        self.text = f"{self.name} = ragged('{self.key}', {', '.join(texts)}): {self.kind}"
        self.number = number
        self.feature = tf.io.RaggedFeature(dtype, value_key=self.key, partitions=parts)

    def write(self, rng, features):
        if rng.random() < 0.2:
            return
        ints = lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v))
        if self.sparse:
            cells = set()
            for _ in range(rng.randrange(0, 5)):
                cells.add(tuple(rng.randrange(n) for n in self.shape))
            cells = list(cells)
            rng.shuffle(cells)
            for d, name in enumerate(self.names):
                features[name] = ints([c[d] for c in cells])
            count = len(cells)
        else:
            below = rng.choice([0, 1, 2, 3])
            levels = []
            for p in self.partitions:
                lengths = [self.uniform] * below if p == "uniform" else [rng.randrange(0, 4) for _ in range(below)]
                if p == "value_rowids":  # rows without values at the end are not said
                    while lengths and lengths[-1] == 0:
                        lengths[-1] = 1
                levels.append(lengths)
                below = sum(lengths)
            count = below
            for k, (p, lengths) in enumerate(zip(self.partitions, levels)):
                limits = [sum(lengths[:i + 1]) for i in range(len(lengths))]
                said = {"row_splits": [0] + limits, "row_lengths": lengths, "row_starts": ([0] + limits)[:-1], "row_limits": limits,
                        "value_rowids": [i for i, n in enumerate(lengths) for _ in range(n)], "uniform": None}[p]
                if said is not None:
                    features[f"p{self.number}{k}"] = ints(said)
        values = [given(self.kind, value(rng, self.kind)) for _ in range(count)]
        features[self.key] = {"int64": lambda: ints(values),
                              "float": lambda: tf.train.Feature(float_list=tf.train.FloatList(value=values)),
                              "bytes": lambda: tf.train.Feature(bytes_list=tf.train.BytesList(value=values))}[self.kind]()

    def answer(self, parsed):
        v = parsed[self.key] if self.key in parsed else parsed[self.name]
        if self.sparse:
            return {"indices": v.indices.numpy().tolist(), "values": shown(v.values.numpy().tolist()),
                    "dense_shape": v.dense_shape.numpy().tolist()}
        nest = v.to_list() if isinstance(v, tf.RaggedTensor) else v.numpy().tolist()
        splits = []
        for _ in self.partitions:
            s = [0]
            for row in nest:
                s.append(s[-1] + len(row))
            splits.append(s)
            nest = [x for row in nest for x in row]
        return {"values": shown(nest), "row_splits": splits}


def shown(v):
    if isinstance(v, list):
        return [shown(x) for x in v]
    return v.decode() if isinstance(v, bytes) else v


def rows():
    rng = random.Random(23)
    for _ in range(120):
        members = [(Parts if rng.random() < 0.3 else Member)(rng, k) for k in range(rng.randrange(1, 5))]
        schema = ", ".join(m.text for m in members)
        for _ in range(6):
            features = {}
            for m in members:
                m.write(rng, features)
            if rng.random() < 0.5:
                features["nobody asks"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
            raw = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(deterministic=True)
            try:
                parsed = tf.io.parse_single_example(raw, {m.name if isinstance(m, Parts) else m.key: m.feature for m in members})
                wanted = json.dumps({m.name: m.answer(parsed) for m in members}, separators=(",", ":"))
            except (tf.errors.InvalidArgumentError, tf.errors.InternalError):
                wanted = "?"
            except ValueError:  # of TensorFlow itself, for uniform rows of no values
                continue
            yield schema, raw.hex() or "-", wanted


def main():
    with open(os.path.join(HERE, "schemas.tsv"), "w") as out:
        out.write(f"# by make_golden_schemas.py with TensorFlow {tf.__version__}\n")
        n = refused = 0
        for row in rows():
            out.write("\t".join(row) + "\n")
            n += 1
            refused += row[2] == "?"
    print(f"{n} cases, {refused} refused")


main()
