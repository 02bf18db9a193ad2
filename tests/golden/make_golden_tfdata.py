#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks tf.data for the elements of many small pipelines, for tests/runners/.

    bench/compare/setup.sh && .cache/tf_venv/bin/python tests/golden/make_golden_tfdata.py [FAMILY…]

tests/golden/tfdata/FAMILY.tsv: for each pipeline its plan text and what tf.data gives. tests/golden/README.md says what the columns
are. Deterministic.
"""
import json
import math
import os
import random
import re
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

from tfdata_pipelines import (INFINITE, UNKNOWN, Pipe, call, chosen, concatenated, counter, function_of, listed, rng, round_robin,
                              sampled, zipped)

HERE = os.path.dirname(os.path.abspath(__file__))
ELEMENTS_MAX = 30  # of one pipeline; of those that go on, the first
I64 = tf.constant(0, tf.int64)


# --- asking ------------------------------------------------------------------------------------------------------------

def plain(x):
    """An element as our program prints it: numbers, texts, arrays and objects."""
    if isinstance(x, tf.data.Dataset):
        return [plain(e) for e in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, tuple):
        return [plain(v) for v in x]
    if isinstance(x, tf.RaggedTensor):
        return [plain(row) for row in x]
    if isinstance(x, tf.SparseTensor):
        return {"indices": plain(x.indices), "values": plain(x.values), "dense_shape": plain(x.dense_shape)}
    return plain_array(x.numpy())


def plain_array(a):
    if isinstance(a, np.ndarray) and a.ndim:
        return [plain_array(v) for v in a]
    if isinstance(a, np.ndarray):
        a = a[()]
    if isinstance(a, bytes):
        return a.decode()
    if isinstance(a, (np.floating, float)):
        return number(float(str(a)))  # the shortest text that is this number, of float32, too
    return a.item() if isinstance(a, np.generic) else a


def number(x):
    if math.isnan(x) or math.isinf(x):
        return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
    return int(x) if x == int(x) and abs(x) < 2**53 else x


def code_of(e):
    """The code of an error as we name it; errors of Python while the pipeline is made are of its arguments."""
    if isinstance(e, tf.errors.OpError):
        name = type(e).__name__.removesuffix("Error")
        return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
    assert isinstance(e, (ValueError, TypeError)), e
    return "invalid_argument"


def ask(pipe):
    """(elements, end, cardinality): the end is `end`, `...` where there are more, or the code of the first error."""
    elements, size = [], "-"
    try:
        d = pipe.make()
        size = size_name(int(d.cardinality()))
        for x in d:
            if len(elements) == ELEMENTS_MAX:
                return elements, "...", size
            elements.append(plain(x))
    except Exception as e:
        return elements, code_of(e), size
    return elements, "end", size


def size_name(n):
    return {INFINITE: "infinite", UNKNOWN: "unknown"}.get(n, str(n))


class Row:
    """A pipeline, and what we make of it where it is not what tf.data gives: elements, end, size, and why. `refused`: we refuse the
    plan before it runs. Without `why` it says only why both refuse, at different times."""

    def __init__(self, pipe, why="", refused=False, **ours):
        self.pipe, self.why, self.ours = pipe, why, ours
        if refused:
            self.ours = {"elements": [], "end": "invalid_argument", "size": "-", **ours}

    def line(self, name):
        elements, end, size = ask(self.pipe)
        # What tf.data refuses while it is made, we refuse so as well.
        our_size = self.ours.get("size", size if size == "-" else size_name(self.pipe.size))
        why = self.why
        if our_size != size and not why:
            why = reason_of_size(self.pipe.plan, size, our_size)
        columns = [name, self.pipe.plan, compact(elements), end, size]
        mine = [same_or(self.ours.get("elements", elements), elements, compact), same_or(self.ours.get("end", end), end, str),
                same_or(our_size, size, str)]
        if mine != ["=", "=", "="]:
            assert why, self.pipe.plan
            columns += mine + [why]
        return "\t".join(columns) + "\n"


def same_or(ours, theirs, text):
    return "=" if ours == theirs else text(ours)


def reason_of_size(plan, tf_size, ours):
    if tf_size == "unknown":
        return "more exact"
    if ours == "unknown" and tf_size == "infinite" and "choose_from_datasets" in plan:
        return "≠18: a finite selector ends it; tf.data takes it for endless where one dataset is"
    if ours == "unknown" and re.search(r"repeat( |$|,|\))", plan):
        return "≠18: a pass without elements ends a repeat"
    if ours == "-":
        return "refused when the plan is made"
    raise AssertionError(f"{plan}: tf.data says {tf_size}, our rules {ours}")


def compact(x):
    return json.dumps(x, separators=(",", ":"), ensure_ascii=False)


# --- what there is -----------------------------------------------------------------------------------------------------

UP_TO = ("tfdata_up_to", lambda x: tf.data.Dataset.range(x))
COPIES = ("tfdata_copies", lambda x: tf.data.Dataset.from_tensors(x).repeat(x))
SIX = ("tfdata_six", lambda x: tf.data.Dataset.from_tensors(x).repeat(6))
TWICE = ("tfdata_twice", lambda x: tf.data.Dataset.range(x % 3).repeat(2))
PART = ("tfdata_part", lambda x: tf.data.Dataset.range(10 * x, 10 * x + x % 4))
FAILING = ("tfdata_failing", lambda x: tf.data.Dataset.range(4).map(lambda y: 12 // tf.abs(y - x)))
BATCHES = ("tfdata_batches", lambda x: tf.data.Dataset.range(x).batch(2))
NESTED = ("tfdata_nested", lambda x: tf.data.Dataset.range(x).flat_map(lambda y: tf.data.Dataset.range(y)))

DIVIDED = "12 / it"
divide = lambda x: 12 // x
BAD = [1, 0, 2, 0, 3]  # 12 / it fails for two of them


ENDLESS_SKIP = "≠18: it has no elements; tf.data takes it for endless"


def sources():
    for stop in (0, 1, 5, -3):
        yield rng(stop)
    for start, stop, step in ((2, 10, 3), (0, 9, 3), (0, 10, 3), (10, 0, -1), (10, 0, -3), (9, 0, -3), (5, 5, 1), (5, 4, 1), (4, 5, -1),
                              (-5, 5, 4), (-1, -10, -4), (0, 5, 100), (0, -5, -100), (7, 8, 1), (2**62, 2**62 + 9, 4),
                              (-2**62, -2**62 + 9, 5), (1, 100, 9), (3, -3, -2)):
        yield rng(stop, start, step)
    yield rng(5, 0, 0)
    for n in (0, 1, 3):
        yield counter().take(n)
    yield counter()
    yield counter(10)
    yield counter(10, -5)
    yield counter(-7, 3).take(4)
    yield counter(3, 0).take(3)
    yield counter().skip(5).take(3)
    yield counter().filter("it % 3 == 1").take(3)
    yield counter().batch(3).take(2)
    yield counter(1, 2).shard(3, 1).take(3)
    yield Row(counter().skip(-1), why=ENDLESS_SKIP)
    yield zipped(counter(), rng(3))
    yield zipped(counter(), counter(5))
    yield concatenated(rng(2), counter(7))
    yield concatenated(counter(), rng(2))
    yield Row(counter().repeat(2))


def files():
    golden = "tests/golden/"
    def reader(plan, make, size=UNKNOWN):
        return Pipe(plan, make, size)
    for name in ("unix", "no_last_newline", "only_newlines", "windows"):
        for suffix, kind in (("", ""), (".gz", "GZIP"), (".zz", "ZLIB")):
            path = f"{golden}{name}.txt{suffix}"
            yield reader(f'lines("{path}")', lambda path=path, kind=kind: tf.data.TextLineDataset(path, kind))
    unix = lambda: reader(f'lines("{golden}unix.txt")', lambda: tf.data.TextLineDataset(golden + "unix.txt"))
    windows = lambda: reader(f'lines("{golden}windows.txt")', lambda: tf.data.TextLineDataset(golden + "windows.txt"))
    yield unix().batch(3)
    yield unix().skip(1).take(2)
    yield unix().enumerate(1)
    yield unix().shard(2, 1)
    yield unix().repeat(2)
    yield unix().filter('it != ""', lambda t: t != "")
    yield unix().map("length(it)")
    yield unix().map('upper(it) + "!"', lambda t: tf.strings.upper(t) + "!")
    yield unix().window(2)
    yield concatenated(unix(), windows())
    yield zipped(unix(), rng(9))
    yield zipped(windows(), unix())
    missing = reader(f'lines("{golden}missing.txt")', lambda: tf.data.TextLineDataset(golden + "missing.txt"))
    yield missing
    yield concatenated(unix(), missing)
    paths = [golden + n for n in ("unix.txt", "windows.txt", "no_last_newline.txt")]
    files = lambda: listed(paths)
    yield files().flat_map("lines", tf.data.TextLineDataset)
    for cycle, block in ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (5, 3)):
        yield files().interleave("lines", tf.data.TextLineDataset, cycle, block)
    yield files().interleave("lines", tf.data.TextLineDataset, 2, 1, 2)
    for options in ({"record_bytes": 7, "header_bytes": 3, "footer_bytes": 5}, {"record_bytes": 37}, {"record_bytes": 9}):
        yield reader(call("fixed_length", golden + "fixed.bin", **options) + " | map(length(it))",
                     lambda options=options: tf.data.FixedLengthRecordDataset(golden + "fixed.bin", **options).map(tf.strings.length))
    for name, kind in (("small", ""), ("small", "GZIP"), ("empty", ""), ("raw", "")):
        path = f"{golden}{name}.tfrecord" + (".gz" if kind else "")
        yield reader(f'tfrecord("{path}") | map(length(it))',
                     lambda path=path, kind=kind: tf.data.TFRecordDataset(path, kind).map(tf.strings.length))
    listing = lambda pattern: reader(f'list_files("{golden}{pattern}")',
                                     lambda: tf.data.Dataset.list_files(golden + pattern, shuffle=False))
    for pattern in ("*.txt", "[uw]*.txt.?z"):
        yield Row(listing(pattern), size="unknown", why="≠18: no file is touched before the run")
    yield listing("u*.txt").flat_map("lines", tf.data.TextLineDataset)
    yield Row(listing("nothing-*"), end="not_found", size="unknown", why="≠3")


def elementwise():
    yield rng(0).map("it + 1")
    yield rng(1).map("it + 1")
    yield rng(5).map("it * 2 + 1")
    yield rng(5).map("-it")
    yield rng(7).map("it % 3")
    yield rng(5, -5, 2).map("it * it")
    yield rng(5).map("it / 2.0", lambda x: tf.cast(x, tf.float64) / 2.0)
    yield rng(4).map("1.0 / it", lambda x: 1.0 / tf.cast(x, tf.float64))
    yield rng(5).map("it * 1.5f", lambda x: tf.cast(x, tf.float32) * 1.5)
    yield rng(5).map("float(it) / 3", lambda x: tf.cast(x, tf.float32) / 3)
    yield rng(5).map("it > 2")
    yield rng(5).map("it % 2 == 0")
    yield rng(5).map("string(it)")
    yield rng(5).map('"x" + string(it * 10)', lambda x: "x" + tf.strings.as_string(x * 10))
    yield rng(5).map("(it, it * 2)")
    yield rng(5).map("(it, string(it), it / 2.0)", lambda x: (x, tf.strings.as_string(x), tf.cast(x, tf.float64) / 2))
    yield rng(5).map("(it, (it + 1, it + 2))")
    yield rng(5).map("{a: it, b: it * it}")
    yield rng(3).map("{a: it, b: {c: it + 1, d: string(it)}}")
    yield rng(4).map("{a: it, b: it * 2}").map("a + b")
    yield rng(4).map("{a: it, b: it * 2}").map("{b: b, sum: a + b}", lambda r: {"b": r["b"], "sum": r["a"] + r["b"]})
    yield rng(4).map("(it, it * 2)").map("first * second", lambda a, b: a * b)
    yield rng(4).map("[it, it * 2]", lambda x: tf.stack([x, x * 2]))
    yield rng(4).map("[it, it * 2]", lambda x: tf.stack([x, x * 2])).map("sum(it)")
    yield rng(4).map("to_tensor([it, it * 2])", lambda x: tf.stack([x, x * 2]))
    yield rng(3).map("reshape(to_tensor([it, it * 2, it + 1, 0]), [2, 2])", lambda x: tf.stack([[x, x * 2], [x + 1, 0]]))
    yield rng(4).map("one_hot(it, 3)")
    yield rng(4).map("uint8(it + 253)").take(3)
    yield rng(3).map("if(it == 1, 10, it)", lambda x: tf.where(x == 1, tf.constant(10, tf.int64), x))
    yield rng(3).map("it", lambda x: x)
    yield rng(3).map("it * 0 + 5", lambda x: x * 0 + 5)
    yield rng(6).map("it + 1, parallelism=4", lambda x: x + 1)
    for values in ([1.5, -0.25, 1e300, 0.1], ["a", "", "bc", "ä€"], [True, False], [[1, 2], [3, 4]], [["a", "b"], ["", "d"]], [[0.5], [-1.5]],
                   [[1], [2, 2], [3, 3, 3]], [[], [1], [2, 2]]):
        yield listed(values)
    yield listed([0.1, 1e10, 1e-7], tf.float32).map("float(it)", lambda x: x)
    yield listed(["a", "bc"]).map("length(it)")
    yield listed([[1], [2, 2], [3, 3, 3]]).map("length(it)")
    # An error where tf.data has one; its iterators go on behind it, ours end.
    yield listed(BAD).map(DIVIDED, divide)
    yield listed([3, 4, 6]).map(DIVIDED, divide)
    yield listed([0, 1]).map(DIVIDED, divide)
    yield listed([4, 0]).map(DIVIDED, divide)
    yield listed(BAD).map(f"{DIVIDED}, parallelism=3", divide)
    yield listed(BAD).map(f"{DIVIDED}, parallelism=3", divide).ignore_errors()
    yield listed(BAD * 5).map(f"{DIVIDED}, parallelism=3", divide).ignore_errors()
    yield rng(30).map("it * it, parallelism=8", lambda x: x * x).filter("it % 3 == 1").batch(4)
    yield listed(BAD).map(DIVIDED, divide).ignore_errors()
    yield listed([0, 0]).map(DIVIDED, divide).ignore_errors()
    yield listed([3, 4]).map(DIVIDED, divide).ignore_errors()
    yield listed(BAD).map(DIVIDED, divide).ignore_errors().batch(2)
    yield listed(BAD).map(DIVIDED, divide).filter("it > 4").ignore_errors()
    yield listed(BAD).map(DIVIDED, divide).take(1)
    yield Row(listed(BAD).map(DIVIDED, divide).take(2).ignore_errors(), elements=[12, 6],
              why="≠11: a bad element is dropped where it fails, so take does not count it")
    yield listed(BAD).map(DIVIDED, divide).ignore_errors().take(2)
    yield Row(listed(BAD).map(DIVIDED, divide).batch(2).ignore_errors(), elements=[[12, 6], [4]],
              why="≠11: the element is dropped, not the batch that it would be in")
    yield listed(BAD).filter("12 / it > 4", lambda x: 12 // x > 4)
    yield listed(BAD).filter("12 / it > 4", lambda x: 12 // x > 4).ignore_errors()
    yield listed(BAD).take_while("12 / it > 0", lambda x: 12 // x > 0)
    yield listed(BAD).take_while("12 / it != 6", lambda x: 12 // x != 6).ignore_errors()
    yield listed(BAD).scan(0, "state + 12 / it", lambda s, x: s + 12 // x, I64).ignore_errors()
    yield listed(BAD).scan(0, "state + 12 / it", lambda s, x: s + 12 // x, I64)
    yield Row(rng(4).map("int32(it) + 2147483645", lambda x: tf.cast(x, tf.int32) + 2147483645), elements=[2147483645, 2147483646, 2147483647],
              end="invalid_argument", why="≠19: a number that its type does not have is an error")

    yield rng(0).filter("it > 1")
    yield rng(10).filter("it % 2 == 0")
    yield rng(10).filter("it % 2 == 1").filter("it % 3 == 0")
    yield rng(10).filter("it > 100")
    yield rng(10).filter("true", lambda x: True)
    yield rng(10).filter("it > 2 && it < 6", lambda x: x > 2 and x < 6)
    yield rng(6).map("{a: it, b: string(it)}").filter("a % 2 == 0")
    yield listed(["a", "bc", "", "d"]).filter("length(it) == 1")
    yield rng(6).map("[it, 1]", lambda x: tf.stack([x, 1])).filter("it[0] > 3")
    yield rng(10).filter("it % 2 == 0").batch(2)
    yield rng(10).filter("it % 2 == 0").repeat(2)
    yield rng(10).filter("it % 2 == 0").repeat()
    yield rng(10).filter("it % 2 == 0").take(2)
    yield rng(10).filter("it % 2 == 0").take(0)
    yield rng(10).filter("it % 2 == 0").skip(-1)
    yield rng(10).filter("it > 100").repeat()

    for start in (None, 0, 1, -3, 10**12):
        yield rng(4, 7).take(0 if start == 1 else 3).enumerate(start)
    yield rng(3).enumerate().enumerate(5)
    yield listed(["a", "b"]).enumerate()
    yield rng(4).map("(it, it * 2)").enumerate(2)
    yield rng(4).map("{a: it}").enumerate()
    yield rng(5).batch(2).enumerate()
    yield rng(5).enumerate().batch(2)
    yield rng(6).enumerate(1).filter("first % 2 == 0", lambda a, b: a % 2 == 0)
    yield counter().enumerate()
    yield listed(BAD).map(DIVIDED, divide).ignore_errors().enumerate()

    add = lambda s, x: s + x
    yield rng(10).scan(0, "state + it", add, I64)
    yield rng(0).scan(0, "state + it", add, I64)
    yield rng(1).scan(5, "state + it", add, I64 + 5)
    yield rng(5).scan(1.5, "state * 2 + it", lambda s, x: s * 2 + tf.cast(x, tf.float64), tf.constant(1.5, tf.float64))
    yield rng(5).scan('""', "state + string(it)", lambda s, x: s + tf.strings.as_string(x), tf.constant(""))
    yield rng(5).scan("{n: 0, sum: 0}", "{n: state.n + 1, sum: state.sum + it}", lambda s, x: {"n": s["n"] + 1, "sum": s["sum"] + x},
                      {"n": I64, "sum": I64})
    yield rng(6).scan("(0, 1)", "(state[1], state[0] + state[1])", lambda s, x: (s[1], s[0] + s[1]), (I64, I64 + 1))
    yield rng(5).scan(0, "state + it", add, I64).repeat(2)
    yield rng(5).repeat(2).scan(0, "state + it", add, I64)
    yield counter(1).scan(1, "state * 2", lambda s, x: s * 2, I64 + 1).take(9)
    yield rng(6).scan(0, "max(state, it * (5 - it))", lambda s, x: tf.maximum(s, x * (5 - x)), I64)

    yield rng(10).take_while("it != 5")
    yield rng(10).take_while("it < 0")
    yield rng(10).take_while("it < 100")
    yield rng(0).take_while("it < 100")
    yield rng(10).take_while("it % 4 != 3")
    yield rng(10).take_while("it != 3").repeat(2)
    yield rng(5).repeat(2).take_while("it != 4")
    yield counter().take_while("it < 4")
    yield rng(10).take_while("it != 5").batch(2)
    yield rng(8).take_while("it < 4").batch(2)
    yield listed(["a", "b", "", "c"]).take_while('it != ""', lambda t: t != "")

    one = tf.constant(1, tf.int64)
    yield rng(5).reduce(0, "state + 1", lambda s, x: s + 1, I64)
    yield rng(5).reduce(0, "state + it", add, I64)
    yield rng(0).reduce(7, "state + it", add, I64 + 7)
    yield rng(1).reduce(7, "state + it", add, I64 + 7)
    yield rng(6, 1).reduce(1, "state * it", lambda s, x: s * x, one)
    yield rng(4).map("string(it)").reduce('""', "state + it", add, tf.constant(""))
    yield rng(5).reduce("{n: 0, sum: 0.0}", "{n: state.n + 1, sum: state.sum + it}",
                        lambda s, x: {"n": s["n"] + 1, "sum": s["sum"] + tf.cast(x, tf.float64)}, {"n": I64, "sum": tf.constant(0.0, tf.float64)})
    yield rng(5).reduce(0, "max(state, it)", lambda s, x: tf.maximum(s, x), I64)
    yield rng(10).filter("it % 2 == 1").reduce(0, "state + it", add, I64)
    yield listed(BAD).map(DIVIDED, divide).reduce(0, "state + it", add, I64)
    yield listed(BAD).map(DIVIDED, divide).ignore_errors().reduce(0, "state + it", add, I64)
    yield rng(3).map("(it, it * 2)").reduce(0, "state + first * second", lambda s, x: s + x[0] * x[1], I64)


def sizes():
    for n in (0, 1, 5):
        for k in (-1, 0, 1, 4, 5, 6, 100):
            yield rng(n).take(k)
            yield rng(n).skip(k)
    for verb in ("take", "skip"):
        of_all = [] if verb == "skip" else [0, 1, 2]
        yield Row(getattr(rng(3), verb)(-2), refused=True, why="≠9: of the negative counts only -1 means all")
    yield rng(10).take(7).take(3)
    yield rng(10).take(3).take(7)
    yield rng(10).skip(7).skip(2)
    yield rng(10).skip(7).skip(5)
    yield rng(10).skip(3).take(4)
    yield rng(10).take(4).skip(3)
    yield rng(10).take(-1).skip(8)
    yield rng(10).skip(-1).take(3)
    yield rng(10).skip(-1).repeat()
    yield Row(rng(3).repeat().skip(-1), why=ENDLESS_SKIP)
    yield rng(3).repeat().skip(4).take(5)
    yield rng(3).repeat().take(-1)
    yield rng(3).repeat().take(0)

    passed_over = "≠9: what is passed over is not made, so its errors are not seen"
    yield Row(listed([0, 2, 3]).map(DIVIDED, divide).skip(1), elements=[6, 4], end="end", why=passed_over)
    yield Row(listed([2, 0, 3]).map(DIVIDED, divide).skip(2), elements=[4], end="end", why=passed_over)
    yield Row(listed([1, 0, 2, 3]).map(DIVIDED, divide).shard(2, 0), elements=[12, 6], end="end", why=passed_over)
    yield listed([1, 2, 0, 3]).map(DIVIDED, divide).shard(2, 0)
    yield listed([2, 0, 3]).map(DIVIDED, divide).ignore_errors().skip(1)
    yield listed([2, 0, 3, 4]).map(DIVIDED, divide).ignore_errors().shard(2, 1)

    for n in (0, 1, 3):
        for times in (None, -1, 0, 1, 2, 3):
            yield rng(n).repeat(times)
    yield rng(2).repeat(2).repeat(3)
    yield rng(2).repeat().repeat(0)
    yield rng(2).repeat().repeat(2).take(5)
    yield rng(2).repeat(0).repeat()
    yield rng(3).take(2).repeat(2)
    yield rng(3).repeat(2).take(5)
    yield rng(3).skip(1).repeat(2)
    yield rng(3).repeat(2).skip(4)
    yield rng(3).batch(2).repeat(2)
    yield rng(3).repeat(2).batch(4)
    yield rng(3).repeat().batch(4).take(3)
    yield listed(["a", "b"]).repeat(2)
    yield Row(rng(3).repeat(-2), refused=True, why="≠9: of the negative counts only -1 means all")
    yield listed([2, 0]).map(DIVIDED, divide).repeat(2)
    yield listed([2, 0]).map(DIVIDED, divide).ignore_errors().repeat(2)

    for n, parts in ((10, 5), (10, 3), (2, 3), (0, 2), (1, 1), (7, 1), (6, 6), (6, 7)):
        for i in sorted({0, 1, 2, parts - 1}):
            if i < parts:
                yield rng(n).shard(parts, i)
    yield rng(10).shard(2, 2)
    yield rng(10).shard(2, -1)
    for parts in (0, -1):
        yield Row(rng(10).shard(parts, 0), refused=True, why="refused when the plan is made")
    yield rng(20).shard(2, 1).shard(3, 2)
    yield rng(10).repeat().shard(4, 3).take(5)
    yield rng(10).repeat().shard(4, 3)
    yield rng(10).batch(2).shard(2, 0)
    yield rng(10).shard(3, 1).batch(2)
    yield rng(10).filter("it % 3 == 0").shard(2, 1)
    yield rng(10).enumerate().shard(4, 2)

    for a, b in ((0, 0), (0, 3), (3, 0), (1, 4), (3, 3)):
        yield concatenated(rng(a), rng(b, None if b < 3 else -1))
    yield concatenated(rng(2), rng(3), rng(1), rng(0), rng(2))
    yield concatenated(concatenated(rng(1), rng(2)), rng(3))
    yield concatenated(rng(2), rng(2).repeat())
    yield concatenated(rng(2), rng(5).filter("it > 2"))
    yield concatenated(rng(2), rng(5)).repeat(2)
    yield concatenated(rng(2).batch(2), rng(5).batch(3))
    yield concatenated(listed(["a"]), listed(["b", ""]))
    yield concatenated(rng(2).map("{a: it, b: string(it)}"), rng(1).map('{a: it + 5, b: "x"}', lambda x: {"a": x + 5, "b": "x"}))
    yield concatenated(listed([2, 0]).map(DIVIDED, divide), rng(2))
    yield concatenated(listed([2, 0]).map(DIVIDED, divide).ignore_errors(), rng(2))
    yield Row(concatenated(rng(2), rng(2).map("it * 0.5", lambda x: tf.cast(x, tf.float64) * 0.5)), end="invalid_argument", elements=[])
    yield rng(7).prefetch(3)
    yield rng(7).prefetch()
    yield rng(0).prefetch(1)
    yield rng(3).prefetch(2).prefetch(2).repeat(2)
    yield listed(BAD).map(DIVIDED, divide).prefetch(2)
    yield Row(rng(3).prefetch(0), refused=True, why="≠10: tf.data's 0 is none at all; leave it out")

    for n, k in ((5, 5), (0, 0), (5, 4), (5, 6), (0, 1), (5, -1)):
        yield rng(n).assert_cardinality(k)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(5)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(4)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(6)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(5).batch(2)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(5).repeat(2)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(5).take(2)
    yield rng(10).filter("it % 2 == 0").assert_cardinality(3).take(3)
    yield rng(3).repeat().assert_cardinality(-1)
    yield rng(3).repeat().assert_cardinality(4)


def windows():
    for n in (0, 1, 6, 7, 10):
        for size, shift, stride in ((1, None, None), (3, None, None), (3, 1, None), (3, 5, None), (3, 1, 2), (2, 3, 4), (4, 2, 1), (20, None, None),
                                    (1, 2, 3), (20, 3, None), (2, 20, None), (3, 2, 20)):
            for drop in (None, True):
                if n in (6, 7) or (size, shift, stride) in ((3, None, None), (3, 1, 2), (3, 5, None), (20, None, None)):
                    yield rng(n).window(size, shift, stride, drop)
    yield rng(5).window(0)
    yield rng(5).window(2, 0)
    yield rng(5).window(2, None, 0)
    yield rng(5).window(-1)
    yield rng(3).repeat().window(2).take(3)
    yield rng(3).repeat().window(2)
    yield rng(7).filter("it != 3").window(2)
    yield rng(7).filter("it != 3").window(2, None, None, True)
    yield rng(5).window(2).repeat(2)
    yield rng(5).window(2, 1).skip(1).take(2)
    yield listed(["a", "b", "c"]).window(2)
    yield rng(5).map("it / 2.0", lambda x: tf.cast(x, tf.float64) / 2).window(2, 1)
    yield rng(5).batch(2).window(2)
    yield rng(5).map("[it, 1]", lambda x: tf.stack([x, 1])).window(2)
    yield rng(7).window(3, 1).shard(2, 1)
    yield rng(7).window(3).enumerate()
    add = lambda s, x: s + x
    total = lambda w: w.reduce(I64, add)
    yield rng(7).window(3).map("sum(it)", total)
    yield rng(7).window(3, 1, None, True).map("sum(it)", total)
    yield rng(10).window(4, 3, 2).map("sum(it)", total).batch(2)
    # An error within a window: tf.data gives it when that window comes.
    yield listed(BAD).map(DIVIDED, divide).window(1)
    yield listed([2, 1, 0, 3]).map(DIVIDED, divide).window(2)
    yield listed([2, 0, 3, 4]).map(DIVIDED, divide).window(1, 2)


def zips():
    for a, b in ((0, 0), (0, 3), (3, 0), (1, 4), (4, 1), (3, 3)):
        yield zipped(rng(a), rng(b))
    yield zipped(listed([1, 2, 3]), listed([13, 14]))
    yield zipped(rng(3), rng(5), rng(4))
    yield zipped(rng(3), rng(0), rng(4))
    yield zipped(rng(3), rng(5), rng(4), rng(9))
    yield zipped(rng(3), zipped(rng(5), rng(2)))
    yield zipped(zipped(rng(3), rng(5)), rng(9))
    yield zipped(rng(3), rng(2).repeat())
    yield zipped(rng(3).repeat(), rng(2).repeat())
    yield zipped(rng(3).repeat(), rng(2).repeat()).take(4)
    yield zipped(rng(9).filter("it % 2 == 0"), rng(3))
    yield zipped(rng(9).filter("it % 2 == 0"), rng(0))
    yield zipped(rng(9).filter("it % 2 == 0"), counter())
    yield zipped(rng(3), listed(["a", "b", "c"]))
    yield zipped(rng(6).batch(2), listed(["a", "b", "c"]))
    yield zipped(rng(6), listed(["a", "b", "c"])).batch(2)
    yield zipped(rng(3).map("{a: it}"), rng(3).map("(it, it)"))
    yield zipped(rng(4), rng(4, 1)).map("first * second", lambda a, b: a * b)
    yield zipped(rng(4), rng(4, 1)).filter("first > 1", lambda a, b: a > 1)
    yield zipped(rng(4), rng(9)).repeat(2)
    yield zipped(rng(3), listed(BAD).map(DIVIDED, divide))
    yield zipped(listed(BAD).map(DIVIDED, divide), rng(1))
    yield zipped(listed(BAD).map(DIVIDED, divide).ignore_errors(), rng(5))
    yield Row(zipped(listed(BAD).map(DIVIDED, divide), rng(5)).ignore_errors(), elements=[[12, 0], [6, 1], [4, 2]],
              why="≠11: a bad element is dropped from its input alone (zip.hpp)")
    yield zipped(rng(5).window(2), rng(9))
    yield zipped(rng(5).shard(2, 0), rng(5).shard(2, 1))


def batching():
    for n in (0, 1, 4, 7, 8):
        for size in (1, 2, 4, 8, 100):
            for drop in (None, True):
                if n in (7, 8) or size in (2, 100):
                    yield rng(n).batch(size, drop)
    yield rng(7).batch(4, False)
    yield rng(5).batch(0)
    yield rng(5).batch(-1)
    for values in ([1.5, -0.25, 1e300], ["a", "", "bc"], [True, False, True], [[1, 2], [3, 4], [5, 6]], [["a", "b"], ["", "d"], ["e", "f"]]):
        yield listed(values).batch(2)
        yield listed(values).batch(2).unbatch()
        yield listed(values).repeat(2).batch(3).batch(2)
    yield rng(4).map("uint8(it)").batch(3)
    yield rng(4).map("float(it) / 3", lambda x: tf.cast(x, tf.float32) / 3).batch(3)
    yield rng(5).map("{a: it, b: string(it)}").batch(2)
    yield Row(rng(4).map("{a: it, b: {c: it + 1, d: string(it)}}").batch(2),
              elements=[{"a": [i, i + 1], "b": [{"c": i + 1, "d": str(i)}, {"c": i + 2, "d": str(i + 1)}]} for i in (0, 2)],
              why="≠8: of a member that is a structure a batch has, and prints, rows")
    yield Row(rng(4).map("(it, (it + 1, it + 2))").batch(3), why="≠8: of a member that is a structure a batch has, and prints, rows",
              elements=[[[0, 1, 2], [[1, 2], [2, 3], [3, 4]]], [[3], [[4, 5]]]])
    yield rng(4).map("{a: it, b: {c: it + 1, d: string(it)}}").batch(3).unbatch()
    yield rng(5).map("(it, it * 2)").batch(2)
    yield rng(5).map("(it, string(it), it / 2.0)", lambda x: (x, tf.strings.as_string(x), tf.cast(x, tf.float64) / 2)).batch(2, True)
    yield rng(5).map("(it, [it, 1])", lambda x: (x, tf.stack([x, 1]))).batch(2)
    yield rng(5).map("{a: it, b: string(it)}").batch(2).unbatch()
    yield rng(5).map("(it, it * 2)").batch(2).unbatch()
    yield rng(4).map("to_tensor([it, it * 2])", lambda x: tf.stack([x, x * 2])).batch(3)
    yield rng(3).map("reshape(to_tensor([it, it * 2, it + 1, 0]), [2, 2])", lambda x: tf.stack([[x, x * 2], [x + 1, 0]])).batch(2)
    yield rng(8).batch(2).batch(2)
    yield rng(8).batch(2).batch(2).batch(2)
    yield rng(8).batch(2).batch(2).unbatch()
    yield rng(8).batch(2).batch(2).unbatch().unbatch()
    yield rng(7).batch(2, True).batch(2)
    yield Row(rng(7).batch(2).batch(2), elements=[[[0, 1], [2, 3]], [[4, 5], [6]]], end="end", why="≠8: rows are batches of their own lengths")
    yield rng(7).batch(3).unbatch()
    yield rng(7).batch(3, True).unbatch()
    yield rng(0).batch(3).unbatch()
    yield rng(6).batch(3).unbatch().batch(2)
    yield rng(7).batch(3).unbatch().batch(2, True)
    yield rng(7).batch(3).unbatch().skip(4)
    yield rng(7).batch(3).unbatch().take(4)
    yield rng(7).batch(3).skip(1).unbatch()
    yield rng(7).batch(3).take(1).unbatch()
    yield rng(7).batch(3).unbatch().repeat(2)
    yield rng(7).batch(3).repeat(2).unbatch()
    yield rng(7).batch(3).repeat().unbatch()
    yield rng(7).repeat().batch(3).unbatch()
    yield rng(7).batch(3).unbatch().enumerate()
    yield rng(3).unbatch()
    yield Row(listed([[1, 2], [3, 4]]).unbatch(), refused=True, why="≠8: lists and tensors are no batches")
    yield Row(listed([[1], [2, 2], [3]]).batch(2), elements=[[[1], [2, 2]], [[3]]], end="end", why="≠8: lists of different lengths are batched as they are")
    yield Row(listed([[1], [2, 2], [3]]).batch(1), elements=[[[1]], [[2, 2]], [[3]]], end="end")
    yield Row(listed([[1], [2, 2], [3]]).map("to_tensor(it)").batch(2))
    yield listed(BAD).map(DIVIDED, divide).batch(1)
    yield listed(BAD).map(DIVIDED, divide).batch(2)
    yield listed([2, 3, 4, 0]).map(DIVIDED, divide).batch(2)
    yield listed([2, 3, 4, 0]).map(DIVIDED, divide).batch(2, True)
    yield rng(7).filter("it != 3").batch(2)
    yield rng(7).filter("it != 3").batch(2, True)

    for n, size in ((8, 4), (7, 4), (7, 1), (3, 8), (0, 2)):
        for sizes in (1, 3, 4, 10, [2, 1, 1], [1, 3], [5]):
            for drop in (None, True):
                if n in (7, 8) and size == 4 or sizes in (3, [2, 1, 1]):
                    yield rng(n).batch(size).rebatch(sizes, drop)
    yield Row(rng(8).batch(4).rebatch(0), refused=True, why="no batches of 0 rows")  # (Of rebatch(-1) TensorFlow 2.21 dies.)
    yield Row(rng(8).batch(4).rebatch([2, 0, 1]), refused=True, why="no batches of 0 rows")
    yield rng(5).rebatch(2)
    yield rng(6).map("{a: it, b: string(it)}").batch(4).rebatch(3)
    yield listed(["a", "b", "c", "d", "e"]).batch(2).rebatch(3)
    yield listed([[1, 2], [3, 4], [5, 6]]).batch(2).rebatch(1)
    yield rng(7).batch(3).rebatch(2).unbatch()
    yield rng(7).batch(3).rebatch(2).rebatch(5)
    yield concatenated(rng(3).batch(3), rng(4).batch(1), rng(5).batch(2)).rebatch(4)
    yield rng(3).batch(2).repeat().rebatch(4).take(3)
    yield rng(7).filter("it > 10").batch(2).rebatch(3)

    add = lambda s, x: s + x
    mod = lambda m: lambda x: x % m
    zero = lambda key: tf.constant(0, tf.int64)
    for n, m in ((10, 2), (10, 3), (10, 1), (2, 5), (0, 3), (1, 3)):
        yield rng(n).group_by_reducer(f"it % {m}", mod(m), 0, "state + it", add, zero)
    yield rng(10).group_by_reducer("5 - it % 4", lambda x: 5 - x % 4, 0, "state * 10 + it", lambda s, x: s * 10 + x, zero)
    yield rng(10).group_by_reducer("it % 5 - 2", lambda x: x % 5 - 2, 0, "state + 1", lambda s, x: s + 1, zero)
    yield rng(6).group_by_reducer("-it", lambda x: -x, 0, "it", lambda s, x: x, zero)
    yield rng(10).group_by_reducer("it % 3", mod(3), 0, "state + it", add, zero).map("it * 2")
    yield rng(10).group_by_reducer("it % 2", mod(2), "{n: 0, sum: 0}", "{n: state.n + 1, sum: state.sum + it}",
                                   lambda s, x: {"n": s["n"] + 1, "sum": s["sum"] + x}, lambda key: {"n": I64, "sum": I64})
    yield rng(10).group_by_reducer("it % 2", mod(2), '""', "state + string(it)", lambda s, x: s + tf.strings.as_string(x), lambda key: tf.constant(""))
    yield rng(10).group_by_reducer("it % 2", mod(2), 0, "state + it", add, zero).repeat(2)
    yield listed(["a", "bc", "d", "ef", "ghi"]).group_by_reducer("length(it)", lambda t: tf.cast(tf.strings.length(t), tf.int64), '""', "state + it", add,
                                                                 lambda key: tf.constant(""))
    yield listed(BAD).map(DIVIDED, divide).group_by_reducer("it % 2", mod(2), 0, "state + it", add, zero)
    yield listed(BAD).map(DIVIDED, divide).ignore_errors().group_by_reducer("it % 2", mod(2), 0, "state + it", add, zero)


def kinds():
    """The verbs that pass elements on, over every kind of element."""
    f64 = lambda x: tf.cast(x, tf.float64)
    of = {
        "int32": lambda n: rng(n).map("int32(it) - 2"),
        "uint8": lambda n: rng(n).map("uint8(it + 251)"),
        "float": lambda n: rng(n).map("float(it) / 3", lambda x: tf.cast(x, tf.float32) / 3),
        "not finite": lambda n: rng(n).map("(it - 2) / 0.0", lambda x: f64(x - 2) / 0.0),
        "text": lambda n: listed(["a\"b", "\n\t", "ü", "", "\\", "a longer text than fits into its place"][:n]),
        "bool": lambda n: rng(n).map("it % 2 == 0"),
        "list": lambda n: rng(n).map("[it, it * 2]", lambda x: tf.stack([x, x * 2])),
        "list of texts": lambda n: rng(n).map('[string(it), "x"]', lambda x: tf.stack([tf.strings.as_string(x), "x"])),
        "list of lists": lambda n: rng(n).map("[[it], [it + 1]]", lambda x: tf.stack([[x], [x + 1]])),
        "tensor": lambda n: rng(n).map("reshape(to_tensor([it / 2.0, 1, 2, it]), [2, 2])", lambda x: tf.stack([[f64(x) / 2, 1], [2, f64(x)]])),
        "pair": lambda n: rng(n).map("(it, string(it))"),
        "tuple": lambda n: rng(n).map("(it, it / 2.0, [it, 1])", lambda x: (x, f64(x) / 2, tf.stack([x, 1]))),
        "structure": lambda n: rng(n).map('{a: it, b: "t" + string(it), c: [it, 1]}',
                                          lambda x: {"a": x, "b": "t" + tf.strings.as_string(x), "c": tf.stack([x, 1])}),
    }
    for kind, make in of.items():
        members = kind in ("pair", "tuple", "structure")
        yield make(5)
        yield make(0 if kind != "text" else 1).take(0)
        yield make(5).batch(2)
        yield make(5).batch(2).unbatch().skip(3)
        yield make(5).batch(2).rebatch(3)
        yield make(5).batch(2).repeat(2).rebatch(4, True)
        yield make(5).repeat(2).skip(3).take(4)
        yield concatenated(make(2), make(3)).shard(2, 1)
        yield zipped(make(5), make(4))
        yield make(4).enumerate(1)
        yield chosen([make(3), make(2)], listed([1, 0, 0, 1, 0]))
        yield Row(round_robin([make(2), make(3)], size=5))
        yield make(5).prefetch(2).shard(2, 0)
        window = make(5).window(2)
        if members:
            each = ask(make(5))[0]
            yield Row(window, elements=[each[:2], each[2:4], each[4:]], why="≠15: windows of structures, not structures of windows")
        else:
            yield window
    # Tensors of their own forms.
    yield rng(3).map("to_tensor(to_ragged([[it], [it, it]]), -1)", lambda x: tf.ragged.stack([[x], [x, x]]).to_tensor(-1))
    sparse = rng(3).map("to_sparse(to_tensor([0, it, 2]))", lambda x: tf.sparse.from_dense(tf.stack([0, x, 2])))
    yield sparse
    yield sparse.take(2).repeat(2)
    yield sparse.map("to_dense(it)", tf.sparse.to_dense)
    yield Row(sparse.batch(2), elements=[ask(sparse)[0][:2], ask(sparse)[0][2:]], why="≠8: a batch of sparse or ragged tensors has them one by one")
    ragged = rng(3).map("to_ragged([[it], [it, 2]])", lambda x: tf.RaggedTensor.from_row_splits(tf.stack([x, x, 2]), [0, 1, 3]))
    form = [{"values": [x, x, 2], "row_splits": [[0, 1, 3]]} for x in range(3)]
    yield Row(ragged, elements=form, why="≠8: ragged tensors print as their values and splits")
    yield Row(ragged.batch(2), elements=[form[:2], form[2:]], why="≠8: a batch of sparse or ragged tensors has them one by one")
    yield ragged.map("to_tensor(it)", lambda t: t.to_tensor())
    # Shuffles, where the order is not seen.
    add = lambda s, x: s + x
    yield rng(9).shuffle(1, 7)
    yield rng(0).shuffle(5, 7)
    yield rng(9).shuffle(4, 7).reduce(0, "state + it", add, I64)
    yield rng(9).shuffle(100, 7).repeat(2).reduce(0, "state + it", add, I64)
    yield rng(9).shuffle(100, 7).group_by_reducer("it", lambda x: x, 0, "it", lambda s, x: x, lambda key: I64)
    yield rng(9).shuffle(0, 7)
    yield rng(5).repeat().shuffle(3, 7).map("it * 0")


def mixing():
    def word(w):
        return listed([w])

    def words():
        return [word("foo").repeat(2), word("bar").repeat(), word("baz").repeat()]
    turns = lambda values: listed(values)
    yield chosen(words(), turns([0, 0, 0, 1, 1, 1, 2, 2, 2]))
    yield chosen(words(), turns([0, 0, 0, 1, 1, 1, 2, 2, 2]), True)
    yield chosen(words(), turns([0, 0, 0, 1, 1, 1, 2, 2, 2]), False)
    two = lambda a=3, b=5: [rng(a), rng(100 + b, 100)]
    for values in ([0], [1], [0, 1, 0, 1], [1, 1, 1], [0, 0, 0, 0, 1], [1, 0, 0, 1]):
        for stop in (None, False):
            yield chosen(two(), turns(values), stop)
    yield chosen(two(), rng(0))
    yield chosen(two(), rng(20).map("it % 2"), False)
    yield chosen(two(), rng(20).map("it % 2"))
    yield chosen(two(), rng(2).repeat())
    yield chosen(two(0, 2), rng(2).repeat(3), False)
    yield chosen([rng(3).repeat(), rng(2)], rng(4).map("it % 2"), False)
    yield chosen(two(), turns([0, 2, 1]))
    yield chosen(two(), turns([0, -1, 1]))
    yield chosen([rng(3)], turns([0, 0]))
    yield chosen([rng(3), rng(3), rng(3)], turns([2, 1, 0, 0, 1, 2]))
    yield chosen([rng(4).batch(2), rng(6).batch(3)], turns([1, 0]))
    yield chosen([rng(3).map("{a: it, b: string(it)}"), rng(2).map("{a: it + 9, b: string(it)}")], turns([1, 0, 0]))
    yield chosen([listed(BAD).map(DIVIDED, divide), rng(3)], turns([0, 1, 0, 1]))
    yield chosen(two(), turns([0, 1])).repeat(2)
    without_end = [counter(), counter(10, -1)]
    yield Row(chosen(without_end, turns([0, 1, 1, 0]), size=4), why="≠18: a finite selector ends it; tf.data takes it for endless")
    yield chosen(without_end, rng(2).repeat(), size=INFINITE)
    yield chosen(without_end, rng(6).filter("it % 3 != 2").map("it % 2"))
    yield Row(round_robin([rng(3), rng(12, 10)], size=5))
    yield Row(round_robin([rng(3), rng(12, 10)], True, size=5), why="more exact")
    yield Row(round_robin([rng(1), rng(4), rng(2)], size=7))
    yield Row(round_robin([rng(1), rng(4), rng(2)], True, size=3))
    yield Row(round_robin([rng(0), rng(2)], size=2))
    yield Row(round_robin([rng(0), rng(2)], True, size=0))
    yield Row(round_robin([rng(2), rng(0)], True, size=1))
    yield Row(round_robin([rng(2), rng(2), rng(2)], size=6))
    yield Row(round_robin([listed(["a", "b", "c"]), listed(["x"])], size=4))
    yield Row(round_robin([rng(4).batch(2), rng(6).batch(3)], size=4))
    yield Row(round_robin([rng(4).filter("it % 2 == 0"), rng(3)]))
    yield Row(sampled([rng(3), rng(5)], [0.0, 1.0], size=5))
    yield Row(sampled([rng(3), rng(5)], [1.0, 0.0], size=3))
    yield Row(sampled([rng(3), rng(5)], [1.0, 0.0], True, size=3))
    yield Row(sampled([rng(0), rng(5)], [1.0, 1.0], size=5))
    yield Row(sampled([rng(2).repeat(), rng(5)], [1.0, 0.0], size=INFINITE))
    yield Row(sampled([rng(2), rng(5).repeat()], [1.0, 0.0], size=2), why="≠18: the endless one is never drawn; tf.data counts it")
    yield Row(sampled([rng(3)], [2.5], size=3))
    yield sampled([rng(3), rng(5)], [0.0, 0.0], size=0)
    yield Row(sampled([rng(3), rng(5)], [1.0, -1.0]), refused=True, why="no weights below 0")
    yield Row(sampled([rng(3), rng(5)], [1.0]))


def nesting():
    table = [4, 5, 6, 4, 5, 6]
    for cycle, block in ((1, 1), (2, 1), (2, 3), (7, 2), (3, 1), (3, 4), (1, 9), (6, 1)):
        yield listed(table).interleave(*COPIES, cycle, block)
        if cycle > 1:
            yield listed(table).interleave(*COPIES, cycle, block, 2)
    yield listed([4, 0, 6, 4, 0, 6]).interleave(*COPIES, 2, 1)
    yield rng(6, 1).interleave(*SIX, 2, 4)
    for source in (rng(0), rng(1), rng(5), rng(9), rng(9).map("8 - it", lambda x: 8 - x), listed([0, 0, 3, 0]), listed([0, 0])):
        yield source.flat_map(*UP_TO)
        yield source.flat_map(*PART)
        for cycle, block in ((1, 2), (2, 1), (3, 2), (None, None), (20, 5)):
            yield source.interleave(*PART, cycle, block)
    for cycle in (0, -1):
        yield Row(rng(3).interleave(*UP_TO, cycle, 1), refused=True, why="cycle_length is at least 1; tf.data's -1 is its autotune")
    yield rng(3).interleave(*UP_TO, 2, 0)
    for pair in (TWICE, COPIES, NESTED, BATCHES):
        yield rng(6).flat_map(*pair)
        yield rng(6).interleave(*pair, 2, 2)
    yield rng(6).flat_map(*UP_TO).filter("it % 2 == 1")
    yield rng(6).flat_map(*UP_TO).take(4)
    yield rng(6).flat_map(*UP_TO).skip(4)
    yield rng(6).flat_map(*UP_TO).shard(3, 1)
    yield rng(6).flat_map(*UP_TO).batch(4)
    yield rng(4).flat_map(*UP_TO).repeat(2)
    yield rng(4).repeat(2).flat_map(*UP_TO)
    yield rng(4).repeat().flat_map(*UP_TO).take(9)
    yield rng(4).repeat().flat_map(*UP_TO)
    yield rng(5).interleave(*UP_TO, 3, 2).enumerate()
    yield rng(5).interleave(*UP_TO, 3, 2).batch(3).unbatch()
    yield rng(6).flat_map(*UP_TO).flat_map(*UP_TO)
    yield rng(6).flat_map(*UP_TO).interleave(*UP_TO, 3, 1)
    yield counter().flat_map(*UP_TO)
    yield counter().interleave(*UP_TO, 3, 2)
    yield listed([9]).flat_map(*FAILING)
    yield listed([9, 2]).flat_map(*FAILING)
    yield listed([9, 2, 9]).flat_map(*FAILING).ignore_errors()
    yield listed([9, 2, 8]).interleave(*FAILING, 2, 1)
    yield listed([9, 2, 8]).interleave(*FAILING, 2, 2, 2)
    yield listed([9, 2, 8]).interleave(*FAILING, 2, 1).ignore_errors()
    yield listed(BAD).map(DIVIDED, divide).flat_map(*UP_TO)


def lists():
    """Lists that are opened: expressions in plan text, from_tensor_slices or the windows themselves there."""
    slices = tf.data.Dataset.from_tensor_slices
    signs = ("[it, 0 - it, it]", lambda x: slices(tf.stack([x, -x, x])))
    pairs = ("[[it, 1], [it * it, 2]]", lambda x: slices(tf.stack([tf.stack([x, I64 + 1]), tf.stack([x * x, I64 + 2])])))
    words = ('[string(it), "-"]', lambda x: slices(tf.stack([tf.strings.as_string(x), "-"])))
    windows = ("it", lambda w: w)
    for n in (0, 1, 2, 5):
        for pair in (signs, pairs, words):
            yield rng(n).flat_map(*pair)
            yield rng(n).interleave(*pair, 2, 1)
            yield rng(n).interleave(*pair, 3, 2)
            yield rng(n).interleave(*pair, 2, 2, 2)
        for size, shift, stride in ((1, None, None), (3, None, None), (3, 1, None), (2, 3, None), (3, 1, 2), (20, None, None)):
            yield rng(n).window(size, shift, stride).flat_map(*windows)
            yield rng(n).window(size, shift, stride).interleave(*windows, 2, 1)
    yield rng(7).window(3, None, None, True).flat_map(*windows)
    yield rng(4).flat_map(*signs).filter("it > 0")
    yield rng(4).flat_map(*signs).take(4)
    yield rng(4).flat_map(*signs).skip(4)
    yield rng(4).flat_map(*signs).shard(2, 1)
    yield rng(4).flat_map(*signs).batch(5)
    yield rng(4).flat_map(*pairs).batch(3)
    yield rng(4).flat_map(*words).batch(3)
    yield rng(3).flat_map(*signs).repeat(2)
    yield rng(3).repeat(2).flat_map(*signs)
    yield rng(3).repeat().flat_map(*signs)
    yield counter().flat_map(*signs).take(7)
    yield rng(3).flat_map(*signs).flat_map(*signs)
    yield rng(3).flat_map(*signs).flat_map(*UP_TO)
    yield rng(3).flat_map(*signs).enumerate()
    yield rng(3).flat_map(*signs).window(4).flat_map(*windows)
    yield listed(BAD).map(DIVIDED, divide).flat_map(*signs)


def chains():
    """Random pipelines of numbers, and one stage behind that makes another kind of element of them."""
    def source(r):
        n = r.choice((0, 1, 2, 5, 8, 9, 13))
        return r.choice((lambda: rng(n), lambda: rng(3 * n, 1, 3), lambda: rng(0, n, -1), lambda: rng(n, None, None)))()

    def stage(r, p):
        k = r.randrange(20)
        n = r.choice((1, 2, 3, 4, 7))
        if k == 0: return p.map(f"(it * {n} + {r.randrange(5)}) % 101")
        if k == 1: return p.filter(f"it % {n + 1} == {r.randrange(n + 1)}")
        if k == 2: return p.take(r.choice((-1, 0, 1, 3, 6, 20)))
        if k == 3: return p.skip(r.choice((0, 1, 3, 6)))
        if k == 4: return p.repeat(r.choice((0, 1, 2, 3)))
        if k == 5: return p.batch(n, r.choice((None, True))).unbatch()
        if k == 6: return p.batch(n).rebatch(r.choice((1, 2, 5, [2, 1], [1, 3, 2])), r.choice((None, True))).unbatch()
        if k == 7: return p.window(n, r.choice((None, 1, 2, 5)), r.choice((None, 1, 3)), r.choice((None, True))).map(
            "sum(it) % 101", lambda w: w.reduce(I64, lambda s, x: s + x) % 101)
        if k == 8: return p.enumerate(r.choice((None, 1, 7))).map("first * 2 + second", lambda a, b: a * 2 + b)
        if k == 9: return p.scan(n, "(state * 3 + it) % 101", lambda s, x: (s * 3 + x) % 101, tf.constant(n, tf.int64))
        if k == 10: return p.take_while(f"it % 17 != {n + 4}")
        if k == 11: return p.shard(n, r.randrange(n))
        if k == 12: return concatenated(p, source(r))
        if k == 13: return zipped(p, source(r)).map("first * 10 + second", lambda a, b: a * 10 + b).map("it % 101")
        if k == 14: return p.prefetch(n)
        if k == 15: return p.take(6).flat_map("tfdata_few", lambda x: tf.data.Dataset.range(x % 5))
        if k == 16: return p.take(8).interleave("tfdata_few", lambda x: tf.data.Dataset.range(x % 5), r.choice((1, 2, 3)), r.choice((1, 2)))
        if k == 17: return p.repeat().take(r.choice((0, 5, 12)))
        if k == 18: return p.group_by_reducer(f"it % {n}", lambda x: x % n, 0, "(state * 3 + it) % 101", lambda s, x: (s * 3 + x) % 101, lambda key: I64)
        return chosen([p, source(r)], source(r).map("it % 2"), r.choice((None, False)))

    def end(r, p):
        k = r.randrange(8)
        if k == 0: return p.batch(r.choice((1, 2, 3, 8)), r.choice((None, True)))
        if k == 1: return p.window(r.choice((1, 2, 4)), r.choice((None, 1, 3)), r.choice((None, 2)), r.choice((None, True)))
        if k == 2: return p.enumerate()
        if k == 3: return p.map("{a: it, b: string(it)}").batch(2)
        if k == 4: return zipped(p, source(r))
        return p

    for seed in range(240):
        r = random.Random(seed)
        p = source(r)
        for _ in range(r.randrange(1, 6)):
            p = stage(r, p)
        yield end(r, p)


# --- verbs that are to come: a file each, which the test passes over until the operator is there ------------------------

def slices(values, dtype=None):
    text = "{" + ", ".join(f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in values.items()) + "}" if isinstance(values, dict) else json.dumps(
        values, ensure_ascii=False)
    n = len(next(iter(values.values())) if isinstance(values, dict) else values)
    return Pipe(f"from_tensor_slices({text})", lambda: tf.data.Dataset.from_tensor_slices(values), n)


def from_tensor_slices():
    for values in ([1, 2, 3], [7], [1.5, -0.25], ["a", "", "bc"], [True, False], [[1, 2], [3, 4], [5, 6]], [["a", "b"], ["", "d"]],
                   [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], {"a": [1, 2], "b": ["x", "y"]}, {"a": [[1, 2], [3, 4]], "b": [0.5, 1.5]}):
        yield slices(values)
        yield slices(values).batch(2)
        yield slices(values).repeat(2).skip(1)
    yield slices([3, 1, 2]).filter("it > 1")
    yield slices([1, 2, 3, 4, 5]).window(2)
    yield zipped(slices([1, 2, 3]), slices(["a", "b"]))


def from_tensors():
    for text, value in (("5", 5), ('"ab"', "ab"), ("[1, 2, 3]", [1, 2, 3]), ("{a: 1, b: \"x\"}", {"a": 1, "b": "x"}), ("1.5", 1.5)):
        p = Pipe(f"from_tensors({text})", lambda value=value: tf.data.Dataset.from_tensors(value), 1)
        yield p
        yield p.repeat(2)
        yield p.batch(2)
        yield p.skip(1)


def unique():
    u = lambda p: p.then("unique", lambda d: d.unique(), UNKNOWN)
    yield u(listed([1, 2, 4, 3, 2, 1, 2, 3, 4]))
    yield u(rng(0))
    yield u(rng(1))
    yield u(rng(5))
    yield u(rng(9).map("it % 3"))
    yield u(rng(9).map("it * 0"))
    yield u(rng(3).repeat(3))
    yield u(rng(3)).repeat(2)
    yield u(listed(["a", "b", "a", "", "", "c"]))
    yield u(listed(["a"] * 5))
    yield u(rng(9).map("it % 4")).batch(3)
    yield u(rng(9).map("it % 4")).take(2)
    yield u(rng(9).map("it % 4")).skip(2)
    yield u(rng(6).map("int32(it % 2)"))
    yield u(u(rng(6).map("it % 4")))
    yield u(concatenated(rng(3), rng(5)))
    yield u(counter()).take(4)
    yield u(listed([3, 4, 3, 0]).map(DIVIDED, divide))


def rows_of(n):
    """fill([x], x) for x = 0 … n - 1, as tensors of their own lengths."""
    return listed([[x] * x for x in range(n)] if n > 1 else [[7]])


def padded(p, n, text="", **options):
    drop = options.pop("drop_remainder", None)
    extra = text + (", drop_remainder=true" if drop else "")
    return p.then(f"padded_batch({n}{extra})", lambda d: d.padded_batch(n, drop_remainder=bool(drop), **options),
                  p.size if p.size < 0 or n < 1 else p.size // n if drop else -(-p.size // n),
                  p.size if p.size < 0 or n < 1 or not drop else p.size // n * n)


def padded_batch():
    lists = [[1], [2, 2], [3, 3, 3], [4, 4, 4, 4]]
    for values in (lists, [[], [1], [2, 2]], [[1, 2], [3, 4], [5, 6]], [["a"], ["b", "c"], ["d"]], [[0.5], [1.5, 2.5]]):
        for n in (1, 2, 3, 8):
            yield padded(listed(values), n)
        yield padded(listed(values), 2, drop_remainder=True)
    fill = tf.constant(-1, tf.int64)
    yield padded(listed(lists).map("it", lambda x: tf.cast(x, tf.int64)), 2, ", values={it=-1}", padding_values=fill)
    yield padded(listed([["a"], ["b", "c"]]), 2, ', values={it="-"}', padding_values="-")
    yield padded(listed([[0.5], [1.5, 2.5]], tf.float64), 2, ", values={it=9.5}", padding_values=tf.constant(9.5, tf.float64))
    yield padded(listed(lists), 2, ", shapes={it=[5]}", padded_shapes=[5])
    yield padded(listed(lists), 2, ", shapes={it=[-1]}", padded_shapes=[-1])
    yield padded(listed(lists), 2, ", shapes={it=[4]}", padded_shapes=[4])
    yield Row(padded(listed(lists), 2, ", shapes={it=[3]}", padded_shapes=[3]), end="invalid_argument", why="≠20: too long for its shape")
    yield padded(rng(5), 2)
    yield padded(rng(0), 2)
    yield padded(listed(["a", "b", "c"]), 2)
    yield padded(rng(5), 0)
    yield padded(listed(lists), 2).unbatch()
    yield padded(listed(lists).map("{a: it, n: length(it)}"), 2)
    yield padded(listed(lists).map("(it, length(it))", lambda x: (x, tf.size(x))), 3)
    yield padded(listed(lists).map("(it, it)", lambda x: (x, x)), 2)
    yield padded(listed(lists).repeat(2), 3)
    yield padded(listed(lists).filter("length(it) > 1"), 2)


def ragged_batch():
    def ragged(p, n, drop=None):
        size = p.size if p.size < 0 else p.size // n if drop else -(-p.size // n)
        return p.then(call("ragged_batch", n, drop_remainder=drop), lambda d: d.ragged_batch(n, drop_remainder=bool(drop)), size)
    for values in ([[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]], [[1, 2], [3, 4]], [["a"], ["b", "c"], ["d"]]):
        for n in (1, 2, 8):
            yield ragged(listed(values), n)
        yield ragged(listed(values), 2, True)
    yield ragged(rng(5), 2)
    yield ragged(rng(0), 2)
    yield ragged(listed([[], [0], [0, 1]]), 2).unbatch()


def grouped(p, key, key_f, reduce, reduce_f, window_size=None, window_size_func=None, window_size_func_f=None):
    behind = f"window_size={window_size}" if window_size is not None else f"window_size_func={window_size_func}"
    return p.then(f"group_by_window(key={key}, reduce={reduce}, {behind})",
                  lambda d: d.group_by_window(key_f, lambda k, w: reduce_f(w), window_size, window_size_func_f),
                  INFINITE if p.size == INFINITE else UNKNOWN)


def group_by_window():
    def by_mod(p, m, size, reduce=None):
        n = reduce or size
        return grouped(p, f"it % {m}", lambda x: x % m, f"batch({n})", lambda w: w.batch(n), size)
    yield by_mod(rng(10), 2, 5)
    for n in (0, 1, 9, 10):
        for m in (1, 2, 3):
            for size in (1, 2, 3, 20):
                yield by_mod(rng(n), m, size)
    yield by_mod(rng(10), 2, 4, 2)
    yield by_mod(rng(10), 2, 3, 10)
    yield Row(by_mod(rng(10), 2, 0), refused=True, why="the plan is refused")
    yield grouped(rng(10), "5 - it % 4", lambda x: 5 - x % 4, "batch(10)", lambda w: w.batch(10), 2)
    yield grouped(rng(10), "it % 5 - 2", lambda x: x % 5 - 2, "batch(10)", lambda w: w.batch(10), 10)
    yield grouped(rng(10), "it % 3", lambda x: x % 3, "take(1)", lambda w: w.take(1), 2)
    yield grouped(rng(10), "it % 3", lambda x: x % 3, "skip(1)", lambda w: w.skip(1), 3)
    yield grouped(rng(10), "it % 3", lambda x: x % 3, "map(it * 2)", lambda w: w.map(lambda x: x * 2), 3)
    yield grouped(rng(10), "it % 2", lambda x: x % 2, "batch(10)", lambda w: w.batch(10), None, "key + 1", lambda key: key + 1)
    yield grouped(rng(10), "it % 3", lambda x: x % 3, "batch(10)", lambda w: w.batch(10), None, "3 - key", lambda key: 3 - key)
    yield by_mod(rng(4).repeat(2), 2, 3)
    yield by_mod(rng(4), 2, 3).repeat(2)
    yield by_mod(counter(), 3, 2)
    yield by_mod(rng(10), 3, 2).take(2)
    yield by_mod(rng(10), 3, 2).unbatch()

def bucket_by_sequence_length():
    def bucketed(p, boundaries, sizes, text="", drop=None, **options):
        extra = text + (", drop_remainder=true" if drop else "")
        return p.then(f"bucket_by_sequence_length(length(it), boundaries={boundaries}, batch_sizes={sizes}{extra})",
                      lambda d: d.bucket_by_sequence_length(lambda x: tf.size(x), boundaries, sizes, drop_remainder=bool(drop), **options), UNKNOWN)
    lists = [[x] * (x % 5 + 1) for x in range(11)]
    wide = lambda: listed(lists)
    yield bucketed(wide(), [3, 5], [2, 2, 2])
    yield bucketed(wide(), [3], [2, 3])
    yield bucketed(wide(), [2, 3, 4], [3, 1, 2, 2])
    yield bucketed(wide(), [3, 5], [2, 2, 2], drop=True)
    yield bucketed(wide(), [1, 9], [2, 4, 2])
    yield bucketed(wide(), [3, 6], [2, 2, 2], ", pad_to_bucket_boundary=true", pad_to_bucket_boundary=True)
    yield Row(bucketed(wide(), [3], [2, 2], ", pad_to_bucket_boundary=true", pad_to_bucket_boundary=True), end="invalid_argument", why="≠20: too long for its shape")
    yield bucketed(wide(), [3, 5], [2, 2, 2], ", values={it=-1}", padding_values=-1)
    yield bucketed(wide().take(0), [3, 5], [2, 2, 2])
    yield bucketed(wide().take(1), [3, 5], [2, 2, 2])
    yield bucketed(wide(), [3, 5], [2, 2])
    yield bucketed(listed([["a"], ["b", "c"], ["d", "e"], ["f"], ["g", "h", "i"]]), [2, 3], [2, 2, 2])
    yield bucketed(listed([[1, 2], [3, 4], [5, 6]]), [3], [2, 2], ", no_padding=true", no_padding=True)
    yield bucketed(wide(), [3, 5], [2, 2, 2]).unbatch()
    yield bucketed(wide().repeat(2), [3, 5], [4, 4, 4])


def pad_to_cardinality():
    def to(p, n, mask=None):
        mask_key = mask or "valid"
        return p.then(call("pad_to_cardinality", n, mask_key=mask), lambda d: d.apply(tf.data.experimental.pad_to_cardinality(n, mask_key)), n)
    for n in (0, 1, 3, 5):
        yield to(rng(n).map("{a: it + 1}"), 5)
    yield to(rng(3).map("{a: it + 1, b: string(it)}"), 5)
    yield to(rng(3).map("{a: it + 1}"), 4, "is_real")
    yield Row(to(rng(6).map("{a: it + 1}"), 5), elements=[{"a": x + 1, "valid": True} for x in range(5)], end="failed_precondition", size="5",
              why="≠21: a map may drop elements, so that how many there are is seen when they come")
    yield to(rng(3).map("{a: it + 1}"), 4).batch(2)
    yield Row(to(rng(3).map("{a: it + 1, c: [it, 2]}", lambda x: {"a": x + 1, "c": tf.stack([x, 2])}), 4),
              elements=[{"a": x + 1, "c": [x, 2], "valid": True} for x in range(3)] + [{"a": 0, "c": [], "valid": False}], end="end",
              why="≠21: a list has no length of its own, so that of what is added is 0")
    yield to(rng(3).map("{a: it + 1}").repeat(), 5)


def rejection_resample():
    """Only where nothing is left to chance: one class is always accepted, the other never."""
    def resampled(p, key, key_f, target, initial):
        return p.then(f"rejection_resample({key}, target_dist={json.dumps(target)}, initial_dist={json.dumps(initial)}, seed=1)",
                      lambda d: d.rejection_resample(key_f, target, initial, seed=1),
                      p.size if target == initial else UNKNOWN)
    mod = lambda x: tf.cast(x % 2, tf.int32)
    yield resampled(rng(10), "it % 2", mod, [1.0, 0.0], [0.5, 0.5])
    yield resampled(rng(10), "it % 2", mod, [0.0, 1.0], [0.5, 0.5])
    yield resampled(rng(10), "it % 2", mod, [0.5, 0.5], [0.5, 0.5])
    yield resampled(rng(0), "it % 2", mod, [0.5, 0.5], [0.5, 0.5])


def cache():
    cached = lambda p: p.then("cache", lambda d: d.cache())
    yield cached(rng(0))
    yield cached(rng(5))
    yield cached(rng(5)).repeat(2)
    yield cached(rng(5)).batch(2)
    yield cached(listed(["a", "b"])).repeat(2)
    yield cached(rng(5).batch(2)).repeat(2)
    yield cached(rng(5)).take(3)
    yield cached(rng(5).filter("it > 2")).repeat(2)


def get_single_element():
    one = lambda p: p.then("get_single_element", lambda d: tf.data.Dataset.range(1).map(lambda _: d.get_single_element()), 1)
    for n in (0, 1, 2):
        yield one(rng(n))
    yield one(listed(["a"]))
    yield one(rng(5).batch(8))
    yield one(rng(5).filter("it == 3"))


def sparse_batch():
    def rows(p, n, shape):
        return p.then(f"sparse_batch({n}, row_shape={shape})", lambda d: d.sparse_batch(n, shape), -(-p.size // n))
    lists = [[1], [2, 2], [3, 3, 3]]
    for n in (1, 2, 5):
        yield rows(listed(lists), n, [4])
    yield Row(rows(listed(lists), 2, [2]), end="invalid_argument", why="≠20: too long for its shape")


def parallel_interleave():
    """The old form: cycle_length is required, block_length is 1."""
    def old(p, pair, cycle, block=None):
        name, f = pair
        options = call("", cycle_length=cycle, block_length=block)[1:-1]
        made = tf.data.experimental.parallel_interleave
        return p.then(f"parallel_interleave({name}, {options})", lambda d: d.apply(made(f, cycle, 1 if block is None else block)), UNKNOWN)
    table = lambda: listed([4, 5, 6, 4, 5, 6])
    for cycle, block in ((1, None), (2, None), (2, 3)):
        yield old(table(), COPIES, cycle, block)
    yield Row(old(table(), COPIES, 7, 2), elements=ask(table().interleave(*COPIES, 7, 2))[0], why="interleave's order; the old one cuts blocks behind an end")
    yield old(rng(9), PART, 3)


def fused():
    """tf.data's old names for two stages in one."""
    def map_and_batch(p, text, f, n, drop=None):
        size = p.size // n if drop else -(-p.size // n)
        return p.then(call("map_and_batch", n, drop_remainder=drop).replace("(", f"({text}, ", 1),
                      lambda d: d.apply(tf.data.experimental.map_and_batch(f, n, drop_remainder=bool(drop))), size)
    for n in (0, 5, 6):
        yield map_and_batch(rng(n), "it * 2", lambda x: x * 2, 3)
        yield map_and_batch(rng(n), "it * 2", lambda x: x * 2, 3, True)


FAMILIES = [sources, files, elementwise, sizes, windows, zips, batching, kinds, mixing, nesting, lists, chains]
# What each of these needs: an operator that may not be there yet.
LATER = {from_tensor_slices: "from_tensor_slices", from_tensors: "from_tensors", unique: "unique", padded_batch: "padded_batch",
         ragged_batch: "ragged_batch", group_by_window: "group_by_window", bucket_by_sequence_length: "bucket_by_sequence_length",
         pad_to_cardinality: "pad_to_cardinality", rejection_resample: "rejection_resample", get_single_element: "get_single_element",
         sparse_batch: "sparse_batch", parallel_interleave: "parallel_interleave", cache: "cache", fused: "map_and_batch"}


def write(family):
    rows = [r if isinstance(r, Row) else Row(r) for r in family()]
    name = family.__name__
    with open(os.path.join(HERE, "tfdata", name + ".tsv"), "w") as f:
        f.write(f"# by make_golden_tfdata.py with TensorFlow {tf.__version__}\n")
        if family in LATER:
            f.write(f"# needs {LATER[family]}\n")
        for i, row in enumerate(rows):
            try:
                f.write(row.line(f"{name}.{i + 1:03}"))
                f.flush()
            except Exception as e:
                print(f"{name}.{i + 1:03}: {row.pipe.plan}: {type(e).__name__}: {e}")
    print(name, len(rows))


def main(arguments):
    os.chdir(os.path.join(HERE, "../.."))
    os.makedirs(os.path.join(HERE, "tfdata"), exist_ok=True)
    for family in FAMILIES + list(LATER):
        if not arguments or family.__name__ in arguments:
            write(family)


if __name__ == "__main__":
    main(sys.argv[1:])
