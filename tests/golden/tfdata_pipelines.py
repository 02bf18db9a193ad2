# SPDX-License-Identifier: Apache-2.0
"""Pipelines written once for both: each object has the plan text of a pipeline, makes the same of tf.data, and knows how many
elements our rules of cardinality say it has (docs/operators.md), which are more exact than tf.data's in places."""
import json
import re

import tensorflow as tf

INFINITE, UNKNOWN = -1, -2
UNSET = object()


def as_text(value):
    """A value in plan text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return str(value)


def call(verb, *required, **options):
    """A call in plan text; options that are None are left out."""
    parts = [as_text(r) for r in required] + [f"{k}={as_text(v)}" for k, v in options.items() if v is not None]
    return verb + ("(" + ", ".join(parts) + ")" if parts else "")


class names(dict):
    """What a bare word in an expression means: the element, its members, a function; else it is the name of a member."""

    def __missing__(self, key):
        return key


FUNCTIONS = {
    "true": True, "false": False, "string": tf.strings.as_string, "abs": tf.abs, "min": tf.minimum, "max": tf.maximum,
    "float": lambda x: tf.cast(x, tf.float32), "double": lambda x: tf.cast(x, tf.float64), "int32": lambda x: tf.cast(x, tf.int32),
    "int64": lambda x: tf.cast(x, tf.int64), "uint8": lambda x: tf.cast(x, tf.uint8), "lower": tf.strings.lower, "upper": tf.strings.upper,
    "length": lambda x: tf.strings.length(x) if x.dtype == tf.string else tf.size(x), "sum": tf.reduce_sum,
    "to_tensor": tf.convert_to_tensor, "sqrt": tf.sqrt,
    "one_hot": lambda x, n: tf.one_hot(x, n, dtype=tf.int64),
}


def function_of(text, **given):
    """What an expression computes, in Python: for those that read alike in both. `/` and `if` do not."""
    code = compile(re.sub(r"(\d)f\b", r"\1", text), text, "eval")

    def f(*element):
        scope = names(FUNCTIONS)
        x = element[0] if len(element) == 1 else element
        if isinstance(x, dict):
            scope.update(x)
        elif isinstance(x, tuple):
            scope.update(zip(("first", "second"), x))
        scope.update(it=x, **given)
        return eval(code, {}, scope)

    return f


def times(n, count):
    if count == 0 or n == 0:
        return 0
    if count < 0:
        return n if n == UNKNOWN else INFINITE  # an empty pass would end it
    return n if n < 0 else n * count


def groups(n, size, drop):
    return n if n < 0 else n // size if drop else -(-n // size)


def shortest(sizes):
    if 0 in sizes:
        return 0
    if UNKNOWN in sizes:
        return UNKNOWN
    finite = [s for s in sizes if s >= 0]
    return min(finite) if finite else INFINITE


class Pipe:
    def __init__(self, plan, make, size, rows=UNKNOWN):
        self.plan, self.make, self.size = plan, make, size
        self.rows = rows  # of all its batches together

    def then(self, text, f, size=UNSET, rows=UNKNOWN):
        return Pipe(f"{self.plan} | {text}", lambda: f(self.make()), self.size if size is UNSET else size, rows)

    # --- element-wise --------------------------------------------------------------------------------------------------
    def map(self, text, f=None):
        f = f or function_of(text)
        return self.then(f"map({text})", lambda d: d.map(f))

    def filter(self, text, f=None):
        f = f or function_of(text)
        return self.then(f"filter({text})", lambda d: d.filter(f), UNKNOWN)

    def take_while(self, text, f=None):
        f = f or function_of(text)
        return self.then(f"take_while({text})", lambda d: d.take_while(f), UNKNOWN)

    def enumerate(self, start=None):
        return self.then(call("enumerate", start=start), lambda d: d.enumerate(0 if start is None else start))

    def scan(self, initial, text, f, python=None):
        """f(state, element): the new state, which is the element."""
        def step(state, *x):
            new = f(state, x[0] if len(x) == 1 else x)
            return new, new
        return self.then(f"scan({initial}, {text})", lambda d: d.scan(python, step))

    def reduce(self, initial, text, f, python):
        def fold(d):
            return tf.data.Dataset.range(1).map(lambda _: d.reduce(python, lambda s, *x: f(s, x[0] if len(x) == 1 else x)))
        return self.then(f"reduce({initial}, {text})", fold, 1)

    def group_by_reducer(self, key, key_f, initial, text, f, init):
        def group(d):
            reducer = tf.data.experimental.Reducer(init, f, lambda *s: s[0] if len(s) == 1 else s)
            return d.apply(tf.data.experimental.group_by_reducer(key_f, reducer))
        return self.then(f"group_by_reducer({key}, {initial}, {text})", group, UNKNOWN)

    def ignore_errors(self):
        return self.then("ignore_errors", lambda d: d.ignore_errors(), UNKNOWN if self.size else 0)

    # --- size and order ------------------------------------------------------------------------------------------------
    def take(self, n):
        known = 0 if n == 0 else self.size if n < 0 or self.size == UNKNOWN else n if self.size < 0 else min(n, self.size)
        return self.then(f"take({n})", lambda d: d.take(n), known)

    def skip(self, n):
        known = 0 if n < 0 else self.size if self.size < 0 else max(0, self.size - n)
        return self.then(f"skip({n})", lambda d: d.skip(n), known)

    def repeat(self, n=None):
        return self.then(call("repeat") if n is None else f"repeat({n})", lambda d: d.repeat(n),
                         *(times(known, -1 if n is None else n) for known in (self.size, self.rows)))

    def shard(self, n, i):
        size = self.size if self.size < 0 else max(0, -(-(self.size - i) // n)) if n > 0 else 0
        return self.then(f"shard({n}, {i})", lambda d: d.shard(n, i), size)

    def window(self, size, shift=None, stride=None, drop_remainder=None):
        def lists(d):
            made = d.window(size, shift=shift, stride=1 if stride is None else stride, drop_remainder=bool(drop_remainder))
            return made
        move, reach = shift or size, (size - 1) * (stride or 1) + 1
        n = self.size
        known = n if n < 0 or move < 1 else max(0, (n - reach) // move + 1) if drop_remainder else -(-n // move)
        return self.then(call("window", size, shift=shift, stride=stride, drop_remainder=drop_remainder), lists, known)

    def assert_cardinality(self, n):
        return self.then(f"assert_cardinality({n})", lambda d: d.apply(tf.data.experimental.assert_cardinality(n)), n)

    def prefetch(self, n=None):
        return self.then(call("prefetch") if n is None else f"prefetch({n})", lambda d: d.prefetch(tf.data.AUTOTUNE if n is None else n),
                         rows=self.rows)

    def shuffle(self, n, seed, reshuffle=None):
        return self.then(call("shuffle", n, seed=seed, reshuffle_each_iteration=reshuffle),
                         lambda d: d.shuffle(n, seed=seed, reshuffle_each_iteration=reshuffle))

    # --- batching ------------------------------------------------------------------------------------------------------
    def batch(self, n, drop_remainder=None):
        size = groups(self.size, n, drop_remainder) if n > 0 else UNKNOWN
        rows = size * n if drop_remainder and size > 0 else size if drop_remainder else self.size
        return self.then(call("batch", n, drop_remainder=drop_remainder), lambda d: d.batch(n, drop_remainder=bool(drop_remainder)), size, rows)

    def unbatch(self):
        return self.then("unbatch", lambda d: d.unbatch(), self.rows)

    def rebatch(self, sizes, drop_remainder=None):
        size, left = 0, self.rows
        while left > 0:
            rows = sizes if isinstance(sizes, int) else sizes[size % len(sizes)]
            if rows < 1 or (drop_remainder and left < rows):
                break
            left, size = left - rows, size + 1
        length = sizes if isinstance(sizes, int) else sizes[0] if len(set(sizes)) == 1 else None
        rows_of_full = UNKNOWN if length is None else self.rows if self.rows < 0 else size * length
        return self.then(call("rebatch", sizes, drop_remainder=drop_remainder),
                         lambda d: d.rebatch(sizes, drop_remainder=bool(drop_remainder)), self.rows if self.rows < 0 else size,
                         rows_of_full if drop_remainder else self.rows)

    # --- nesting -------------------------------------------------------------------------------------------------------
    def flat_map(self, name, f):
        return self.then(f"flat_map({name})", lambda d: d.flat_map(f), UNKNOWN)

    def interleave(self, name, f, cycle=None, block=None, parallelism=None):
        def mixed(d):
            return d.interleave(f, cycle_length=16 if cycle is None else cycle, block_length=1 if block is None else block,
                                num_parallel_calls=parallelism, deterministic=True)
        options = call("", cycle_length=cycle, block_length=block, parallelism=parallelism)[1:-1]
        return self.then(f"interleave({name}{', ' if options else ''}{options})", mixed, UNKNOWN)


# --- sources and combines ----------------------------------------------------------------------------------------------

def rng(stop, start=None, step=None):
    s, d = start or 0, 1 if step is None else step
    return Pipe(call("range", stop, start=start, step=step), lambda: tf.data.Dataset.range(s, stop, d), len(range(s, stop, d)) if d else 0)


def counter(start=None, step=None):
    return Pipe(call("counter", start=start, step=step),
                lambda: tf.data.Dataset.counter(0 if start is None else start, 1 if step is None else step), INFINITE)


def listed(values, dtype=None):
    """Values that are written in the plan: `range(n) | map([a, b, c][it])`. Lists of different lengths are ragged in TensorFlow, and
    each element is a tensor of its own length."""
    n = len(values)
    is_ragged = isinstance(values[0], list) and len({len(v) for v in values}) > 1
    kind = dtype or {int: tf.int64, float: tf.float64, str: tf.string, bool: tf.bool, list: None}[type(values[0])]

    def make():
        if is_ragged:
            all_values = tf.ragged.constant(values, dtype=kind)
            return tf.data.Dataset.range(n).map(lambda k: all_values[k])
        return tf.data.Dataset.from_tensor_slices(tf.constant(values, kind))

    def item(v):
        if isinstance(v, list) and not v:
            return "[" + as_text(next(w for w in values if w)[0]) + "][0:0]"
        return as_text(v)

    text = "[" + ", ".join(map(item, values)) + "][it]"
    if kind == tf.int64:
        text = f"int64({text})"  # what is written is int32, as in C++
    return Pipe(f"range({n}) | map({text})", make, n)


def combined(verb, pipes, make, size, in_list=False, behind="", options=""):
    inner = ", ".join(p.plan for p in pipes)
    inner = f"[{inner}]" if in_list else inner
    return Pipe(f"{verb}({inner}{behind}{options})", make, size)


def zipped(*pipes):
    return combined("zip", pipes, lambda: tf.data.Dataset.zip(tuple(p.make() for p in pipes)), shortest([p.size for p in pipes]))


def concatenated(*pipes):
    def make():
        all_of_them = pipes[0].make()
        for p in pipes[1:]:
            all_of_them = all_of_them.concatenate(p.make())
        return all_of_them
    sizes = [p.size for p in pipes]
    size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
    return combined("concatenate", pipes, make, size)


def chosen(pipes, selector, stop=None, size=UNKNOWN):
    def make():
        return tf.data.Dataset.choose_from_datasets([p.make() for p in pipes], selector.make(), stop_on_empty_dataset=stop is not False)
    options = "" if stop is None else f", stop_on_empty_dataset={as_text(stop)}"
    return combined("choose_from_datasets", pipes, make, size, True, ", " + selector.plan, options)


def round_robin(pipes, stop=None, size=UNKNOWN, turns=200):
    """tf.data has it as a choice by turns."""
    def make():
        turn = tf.data.Dataset.range(len(pipes)).repeat(turns)
        return tf.data.Dataset.choose_from_datasets([p.make() for p in pipes], turn, stop_on_empty_dataset=bool(stop))
    options = "" if stop is None else f", stop_on_empty_dataset={as_text(stop)}"
    return combined("round_robin", pipes, make, size, True, "", options)


def sampled(pipes, weights, stop=None, size=UNKNOWN):
    def make():
        return tf.data.Dataset.sample_from_datasets([p.make() for p in pipes], weights, seed=1, stop_on_empty_dataset=bool(stop))
    options = f", weights={as_text(weights)}, seed=1" + ("" if stop is None else f", stop_on_empty_dataset={as_text(stop)}")
    return combined("sample_from_datasets", pipes, make, size, True, "", options)
