#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of bench/tuner that run on a real machine, in tf.data with AUTOTUNE: elements per second in the second half.

    bench/compare/tuner_tf_data.py [--elements N] [--threads N] [SCENARIO…]

`./dev bench tuner` runs it beside sluice. Stages with jitter or slow elements take the same times in both. --threads: the size of
a thread pool for tf.data alone; AUTOTUNE makes at most one call for each of its threads, and by default one for each core. Without
TensorFlow it says so and exits 0.
"""
import argparse
import os
import pathlib
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ["quiz", "slow_consumer", "sequential_bound", "jitter", "three_calls", "long_tail", "jitter_of_two", "one_in_ten_is_slow"]
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1}


def seconds(text):
    unit = next(u for u in UNITS if text.endswith(u) and text[:-len(u)].replace(".", "").isdigit())
    return float(text[:-len(unit)]) * UNITS[unit]


def read(path):
    """The stages as dictionaries, and the consumer's own time."""
    stages, consumer = [], 0.0
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "stage":
            stages.append(dict(w.split("=") for w in words[2:]))
        elif words[0] == "consumer":
            consumer = seconds(words[1])
        elif words[0] == "at":
            raise SystemExit(f"{path.name}: costs that change are not supported")
    return stages, consumer


def time_of(stage, element):
    """As scenario.cpp: the time depends on the element only."""
    kind = next(k for k in ("wait", "call", "work") if k in stage)
    t = seconds(stage[kind]) * (1 + float(stage.get("jitter", 0)) * ((element * 2654435761) % 1000 / 500 - 1))
    if "every" in stage and element % int(stage["every"]) == int(stage["every"]) - 1:
        t *= float(stage["slow"])
    return t


def rate(tf, stages, consumer, elements, threads):
    ds = tf.data.Dataset.range(elements)
    if threads:
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        ds = ds.with_options(options)
    for stage in stages:
        def wait(x, stage=stage):
            time.sleep(time_of(stage, int(x)))  # without the interpreter's lock
            return x
        ds = ds.map(lambda x, wait=wait: tf.ensure_shape(tf.numpy_function(wait, [x], tf.int64), []),
                    num_parallel_calls=None if "wait" in stage else tf.data.AUTOTUNE)
    at = []
    for _ in ds.as_numpy_iterator():
        at.append(time.monotonic())
        time.sleep(consumer)
    half, last = len(at) // 2, len(at) * 9 // 10
    return (last - half) / (at[last] - at[half])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ImportError:
        print("no TensorFlow: run it with .cache/tf_venv/bin/python (bench/compare/setup.sh)")
        return
    for name in options.scenarios or SCENARIOS:
        stages, consumer = read(ROOT / "bench/tuner" / f"{name}.scenario")
        found = rate(tf, stages, consumer, options.elements, options.threads)
        print(f"{name:26} tf.data {tf.__version__} AUTOTUNE {found:8.1f}/s", flush=True)


if __name__ == "__main__":
    main()
