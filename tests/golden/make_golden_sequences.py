#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks TensorFlow what tf.SequenceExamples hold, for tests/format/sequence_golden_test.cpp.

    bench/compare/setup.sh && build/tf_venv/bin/python tests/golden/make_golden_sequences.py

sequences.tsv: one record a line: the schemas of context and sequence as texts of ours, the record in hexadecimal, and what
tf.io.parse_single_sequence_example makes of it, as JSON, or "error". Of `[]` a VarLenFeature and a RaggedFeature are asked,
which have to agree. Deterministic.
"""
import json
import os
import random
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
LISTS = {"int64": "int64_list", "float": "float_list", "bytes": "bytes_list"}
MISSING = {"int64": -77777, "float": -77777.0, "bytes": "-77777"}


def described(text):
    """[(name, kind, shape, may be missing)]"""
    return [re.fullmatch(r"(.*): (\w+)(\[\d*\])?(\?)?", part).groups() for part in text.split(", ")] if text else []


def context_spec(kind, shape, optional):
    if shape == "[]":
        return tf.io.VarLenFeature(DTYPES[kind])
    return tf.io.FixedLenFeature([int(shape[1:-1])] if shape else [], DTYPES[kind], MISSING[kind] if optional else None)


def sequence_spec(kind, shape, optional, ragged):
    if shape == "[]":
        return tf.io.RaggedFeature(DTYPES[kind]) if ragged else tf.io.VarLenFeature(DTYPES[kind])
    return tf.io.FixedLenSequenceFeature([int(shape[1:-1])] if shape else [], DTYPES[kind], allow_missing=bool(optional))


def plain(value):
    """As JSON has it: every text is UTF-8 here, every float short."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.decode() if isinstance(value, bytes) else value


def dense(tensor):
    value = tensor.numpy()
    return plain(value.tolist() if hasattr(value, "tolist") else value)


def rows_of(value):
    """The steps of a sparse or ragged tensor."""
    if isinstance(value, tf.RaggedTensor):
        return plain(value.to_list())
    rows = [[] for _ in range(int(value.dense_shape[0]))]
    for (row, _), v in zip(value.indices.numpy(), value.values.numpy().tolist()):
        rows[row].append(plain(v))
    return rows


def asked(context, sequence, record, ragged):
    c, s = tf.io.parse_single_sequence_example(
        record, {name: context_spec(kind, shape, optional) for name, kind, shape, optional in context} or None,
        {name: sequence_spec(kind, shape, optional, ragged) for name, kind, shape, optional in sequence} or None)
    answer = {"context": {}, "sequence": {}}
    for name, kind, shape, optional in context:
        value = dense(c[name].values if shape == "[]" else c[name])
        answer["context"][name] = None if optional and value == MISSING[kind] else value
    for name, kind, shape, _ in sequence:
        answer["sequence"][name] = rows_of(s[name]) if shape == "[]" else dense(s[name])
    return answer


def answer(context_text, sequence_text, record):
    context, sequence = described(context_text), described(sequence_text)
    answers = []
    for ragged in (False, True):
        try:
            answers.append(asked(context, sequence, record, ragged))
        except (tf.errors.InvalidArgumentError, tf.errors.DataLossError):
            answers.append("error")
    assert answers[0] == answers[1], (context_text, sequence_text, record.hex(), answers)
    return answers[0]


# --- Records ---

def value(rng, kind):
    if kind == "int64":
        return rng.choice([rng.randrange(-3, 100), rng.randrange(-2**63, 2**63), 0, 127, 128])
    if kind == "float":
        return rng.randrange(-1000, 1000) / 8
    return rng.choice([b"", b"a", b"word", "Gr\u00fc\u00dfe".encode(), b"x" * rng.choice([5, 9, 130] if rng.random() < 0.1 else [2])])


def feature(kind, values):
    f = tf.train.Feature()
    if kind:
        getattr(f, LISTS[kind]).value.extend(values)
    return f


def count_of(rng, shape):
    return rng.choice([0, 1, 2, 3, 7]) if shape == "[]" else int(shape[1:-1]) if shape else 1


def schema(rng, is_context):
    names = rng.sample(["a", "b", "label", "x", "image/encoded", "a name longer than 16 bytes"], rng.randrange(0, 4))
    shapes = ["", "", "[]", "[1]", "[3]"]
    out = []
    for name in names:
        shape = rng.choice(shapes)
        optional = rng.random() < 0.25 and (not is_context or shape == "")
        out.append(f"{name}: {rng.choice(list(DTYPES))}{shape}{'?' if optional else ''}")
    return ", ".join(out)


def record(rng, context, sequence, defect):
    e = tf.train.SequenceExample()
    entries = [("c", d) for d in context] + [("s", d) for d in sequence]
    at = rng.randrange(len(entries)) if entries else None  # where the defect is
    rng.shuffle(entries)
    for k, (part, (name, kind, shape, optional)) in enumerate(entries):
        is_at = k == at
        if optional and rng.random() < 0.5 or is_at and defect == "missing" and shape != "[]":
            continue
        other = rng.choice([k for k in DTYPES if k != kind])

        def made(broken):
            of, n = kind, count_of(rng, shape)
            if broken and defect == "kind":
                of, n = other, max(n, 1)
            if broken and defect == "count":
                n = rng.choice([m for m in (0, n + 1, n - 1) if m >= 0 and m != n])
            if broken and defect == "no kind":
                return feature(None, [])
            if broken and defect == "empty other":
                return feature(other, [])
            return feature(of, [value(rng, of) for _ in range(n)])

        if part == "c":
            # A context feature without a kind is missing here; to TensorFlow a list of any length without values.
            broken = is_at and not (shape == "[]" and defect in ("no kind", "count"))
            e.context.feature[name].CopyFrom(made(broken and not (defect == "no kind" and optional)))
        else:
            steps = rng.choice([0, 1, 2, 5, 9])
            broken = rng.randrange(steps) if is_at and steps and not (defect == "count" and shape == "[]") else -1
            e.feature_lists.feature_list[name].SetInParent()
            for i in range(steps):
                e.feature_lists.feature_list[name].feature.append(made(i == broken))
    for name in rng.sample(["other", "zzz"], rng.randrange(0, 3)):  # nobody asks for these
        kind = rng.choice(list(DTYPES))
        e.context.feature[name].CopyFrom(feature(kind, [value(rng, kind)]))
        e.feature_lists.feature_list[name].feature.extend([feature(kind, [value(rng, kind)] * 2)] * 3)
    return e


def cases():
    rng = random.Random(23)
    yield "", "label: int64", b""
    yield "", "label: int64?", b""
    yield "id: int64", "", b""
    yield "id: int64", "", tf.train.SequenceExample(context={"feature": {"id": feature("int64", [7])}}).SerializeToString()
    for n in range(320):
        context_text, sequence_text = "", ""
        while not context_text and not sequence_text:
            context_text, sequence_text = schema(rng, True), schema(rng, False)
        context, sequence = described(context_text), described(sequence_text)
        defect = rng.choice(["", "", "", "missing", "kind", "count", "no kind", "empty other", "cut", "twice"])
        made = record(rng, context, sequence, defect)
        # The order of a map's entries is not that of their making, and changes from one protobuf to the next.
        raw = made.SerializeToString(deterministic=True)
        if n % 3 == 0:
            parts = [tf.train.SequenceExample(context=made.context)] if made.HasField("context") else []
            for name in made.feature_lists.feature_list:
                part = tf.train.SequenceExample()
                part.feature_lists.feature_list[name].CopyFrom(made.feature_lists.feature_list[name])
                parts.append(part)
            if defect != "twice":
                parts.sort(key=lambda p: p.SerializeToString(deterministic=True))
                rng.shuffle(parts)
            raw = b"".join(p.SerializeToString(deterministic=True) for p in parts)
        if defect == "cut" and len(raw) > 4:
            raw = raw[:rng.randrange(1, len(raw))]
        if defect == "twice":
            raw += record(rng, context, sequence, "").SerializeToString(deterministic=True)
        yield context_text, sequence_text, raw


def main():
    counts = {"read": 0, "error": 0}
    with open(os.path.join(HERE, "sequences.tsv"), "w") as out:
        for context_text, sequence_text, raw in cases():
            said = answer(context_text, sequence_text, raw)
            counts["error" if said == "error" else "read"] += 1
            out.write("\t".join([context_text, sequence_text, raw.hex(),
                                 json.dumps(said, separators=(",", ":"), ensure_ascii=True)]) + "\n")
    print(f"{sum(counts.values())} cases, {counts}, TensorFlow {tf.__version__}")


main()
