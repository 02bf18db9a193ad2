#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks TensorFlow what functions of texts and numbers make, for tests/expr/tensorflow_functions_test.cpp.

    bench/compare/setup.sh && build/tf_venv/bin/python tests/golden/make_golden_functions.py

functions.tsv: the expression, the text or number it is computed for (texts and answers in hexadecimal, numbers as %r), and
TensorFlow's answer; "?" where it refuses. Deterministic.
"""
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["", " ", "a", "A", "Hello World", "hello  world ", "\tTabs\tand\nlines\n", "a,b,,c", ",", ",,", "x" * 300, "ÄÖÜ äöü ß",
         "日本語 テキスト", "mixed ÀB cd", "\x00zero\x00", "trailing,", "MiXeD 123 cAsE", "   leading", "a b\u00a0c", "\x0b\x0cfeed\r\n"]
NUMBERS = ["0", "1", "-1", "+1", "42", "007", "1.5", "-1.5", ".5", "5.", "1e3", "1E-3", "1e400", "-1e400", "1e-400", "inf", "-inf",
           "nan", "Infinity", "0x10", "", " ", " 1", "1 ", " 12 ", "1 2", "1,5", "--1", "1e", "e1", "abc", "9223372036854775807",
           "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "1.0", "1_000", "3.14159265358979",
           "2.2250738585072014e-308", "0.1", "123456789012345678901234567890"]
VALUES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, 2.0, 3.7, -3.7, 1e-9, 1e9, 123456.789, 0.1, 1 / 3, 700.0, -700.0, 1e300]


def hexed(b):
    return b.hex() or "-"


def answer(f):
    try:
        return f()
    except Exception:
        return "?"


def rows():
    rng = random.Random(7)
    texts = TEXTS + ["".join(rng.choice("abcXYZ ,\t0é") for _ in range(rng.randrange(40))) for _ in range(40)]
    for text in texts:
        t = tf.constant(text.encode())
        of = lambda value: hexed(value.numpy())
        yield "lower(text)", text, of(tf.strings.lower(t))
        yield "upper(text)", text, of(tf.strings.upper(t))
        yield "trim(text)", text, of(tf.strings.strip(t))
        yield "string(length(text))", text, hexed(str(int(tf.strings.length(t))).encode())
        yield "string(characters(text))", text, hexed(str(int(tf.strings.length(t, unit="UTF8_CHAR"))).encode())
        yield 'join(split(text), "|")', text, hexed(b"|".join(tf.strings.split(t).numpy().tolist()))
        yield 'join(split(text, ","), "|")', text, hexed(b"|".join(tf.strings.split(t, sep=",").numpy().tolist()))
        yield 'replace(text, "a", "<>")', text, of(tf.strings.regex_replace(t, "a", "<>"))
        yield "text[1:4]", text, hexed(t.numpy()[1:4])
        for n in (10, 1000, 2**40):
            yield f"string(hash_bucket(text, {n}))", text, hexed(str(int(tf.strings.to_hash_bucket_fast(t, n))).encode())
    for text in NUMBERS:
        t = tf.constant(text.encode())
        yield "to_number(text)", text, answer(lambda: repr(float(tf.strings.to_number(t, tf.float64))))
        yield "to_integer(text)", text, answer(lambda: repr(int(tf.strings.to_number(t, tf.int64))))
    for value in VALUES:
        x = tf.constant(value, tf.float64)
        for name, f in (("floor", tf.math.floor), ("ceil", tf.math.ceil), ("sqrt", tf.math.sqrt), ("exp", tf.math.exp), ("log", tf.math.log),
                        ("log1p", tf.math.log1p), ("sin", tf.math.sin), ("cos", tf.math.cos), ("tanh", tf.math.tanh), ("abs", tf.math.abs),
                        ("sign", tf.math.sign)):
            yield f"{name}(d)", value, repr(float(f(x)))
        yield "pow(d, 3.0)", value, repr(float(tf.math.pow(x, tf.constant(3.0, tf.float64))))
        yield "fmod(d, 0.7)", value, repr(float(tf.raw_ops.TruncateMod(x=x, y=tf.constant(0.7, tf.float64))))
        yield "min(d, 1.0)", value, repr(float(tf.math.minimum(x, tf.constant(1.0, tf.float64))))
        yield "max(d, 1.0)", value, repr(float(tf.math.maximum(x, tf.constant(1.0, tf.float64))))
        yield "double(float(d))", value, repr(float(tf.cast(tf.cast(x, tf.float32), tf.float64)))
        if abs(value) < 2**31:
            yield "double(int32(d))", value, repr(float(tf.cast(tf.cast(x, tf.int32), tf.float64)))


def main():
    with open(os.path.join(HERE, "functions.tsv"), "w") as f:
        f.write(f"# by make_golden_functions.py with TensorFlow {tf.__version__}\n")
        for expression, value, wanted in rows():
            given = hexed(value.encode()) if isinstance(value, str) else repr(value)
            f.write(f"{expression}\t{given}\t{wanted}\n")


if __name__ == "__main__":
    main()
