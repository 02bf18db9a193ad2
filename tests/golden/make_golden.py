#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks TensorFlow for the files and answers in this folder.

    bench/compare/setup.sh && build/tf_venv/bin/python tests/golden/make_golden.py

Nothing here is computed by us where TensorFlow can be asked: it writes the files, reads them back, and
its answer is what goes into expected.json and semantics.json. The script is deterministic.
"""
import hashlib
import json
import os
import random
import struct
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20260
ROUND_TRIPS = {"": "", "gzip": "GZIP", "zlib": "ZLIB"}
SUFFIX = {"": "", "gzip": ".gz", "zlib": ".zz"}


def path_of(name):
    return os.path.join(HERE, name)


def versions():
    return {"tensorflow": tf.__version__, "python": ".".join(map(str, __import__("sys").version_info[:3]))}


# --- files -----------------------------------------------------------------------------------------------------------

def raw_records():
    """Records of every awkward length: none, one byte, around powers of two, one past 64 KiB."""
    rng = random.Random(SEED)
    lengths = [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 0, 0, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4095, 4096,
               4097, 66000, 0, 5]
    return [rng.randbytes(n) if n < 10000 else (rng.randbytes(997) * (n // 997 + 1))[:n] for n in lengths]


def feature(kind, values):
    lists = {"bytes": (tf.train.BytesList, "bytes_list"), "float": (tf.train.FloatList, "float_list"),
             "int64": (tf.train.Int64List, "int64_list")}
    make, field = lists[kind]
    return tf.train.Feature(**{field: make(value=values)})


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature={k: feature(*v) for k, v in features.items()}))


def examples():
    rng = random.Random(SEED + 1)
    made = [
        tf.train.Example(),                                                        # no features at all: zero bytes
        tf.train.Example(features=tf.train.Features(feature={"unset": tf.train.Feature()})),
        example(none_bytes=("bytes", []), none_float=("float", []), none_int64=("int64", [])),
        example(text=("bytes", [b""]), label=("int64", [0]), values=("float", [0.0])),
        example(label=("int64", [-1, 1, -2**63, 2**63 - 1, 127, 128, 16383, 16384, -2**31, 2**31])),
        example(values=("float", [-0.0, 1.5, -2.25, 3.4028235e38, 1.1754944e-38, 1e-45, float("inf"), float("-inf"),
                                  float("nan")])),
        example(text=("bytes", [b"plain", "Gr\u00fc\u00dfe \u2192 \U0001f30a".encode(), b"\x00\x01\xff\xfe\"\\\n", b"a" * 300])),
        example(values=("float", [i / 8 for i in range(600)])),
        example(label=("int64", [rng.getrandbits(63) - 2**62 for _ in range(200)])),
        example(text=("bytes", [rng.randbytes(rng.randrange(40)) for _ in range(120)])),
        example(text=("bytes", [rng.randbytes(5000)])),
    ]
    for i in range(40):                                                            # what the main job reads
        made.append(example(text=("bytes", [f"sample {i} ".encode() * 4]), label=("int64", [i % 10]),
                            values=("float", [rng.uniform(-1, 1) for _ in range(16)])))
    return [e.SerializeToString(deterministic=True) for e in made]


def write(name, compression, records):
    with tf.io.TFRecordWriter(path_of(name), tf.io.TFRecordOptions(compression_type=ROUND_TRIPS[compression])) as w:
        for r in records:
            w.write(r)


def read_back(name, compression):
    dataset = tf.data.TFRecordDataset(path_of(name), compression_type=ROUND_TRIPS[compression])
    return [r for r in dataset.as_numpy_iterator()]


def features_of(serialized):
    """Exact in JSON: bytes as hex, floats as their 32 bits."""
    answer = {}
    for name, f in sorted(tf.train.Example.FromString(serialized).features.feature.items()):
        kind = f.WhichOneof("kind")
        if kind == "bytes_list":
            answer[name] = {"bytes_hex": [v.hex() for v in f.bytes_list.value]}
        elif kind == "float_list":
            answer[name] = {"float_bits": [struct.unpack("<I", struct.pack("<f", v))[0] for v in f.float_list.value]}
        elif kind == "int64_list":
            answer[name] = {"int64": list(f.int64_list.value)}
        else:
            answer[name] = {}
    return answer


def digest(records):
    return {"count": len(records), "lengths": [len(r) for r in records], "crc32": [zlib.crc32(r) for r in records],
            "sha256": hashlib.sha256(b"".join(records)).hexdigest()}


def one_answer(answers, **what):
    """The same answer from every compression of one file."""
    assert all(a == next(iter(answers.values())) for a in answers.values()), what
    return {"files": answers_names(answers), **what, **next(iter(answers.values()))}


def answers_names(answers):
    return [{"file": name, "compression": compression} for name, compression in answers]


def tfrecord_answer(stem, records):
    answers = {}
    for compression, suffix in SUFFIX.items():
        name = f"{stem}.tfrecord{suffix}"
        write(name, compression, records)
        back = read_back(name, compression)
        assert back == records, name
        answers[name, compression] = digest(back)
    return one_answer(answers, format="tfrecord")


def compress(name, data, compression):
    """TensorFlow writes no compressed text; zlib's own streams are what its readers are given in practice."""
    import gzip
    with open(path_of(name), "wb") as f:
        f.write({"": lambda: data, "gzip": lambda: gzip.compress(data, mtime=0), "zlib": lambda: zlib.compress(data)}[compression]())


def text_answers():
    texts = {
        "unix": b"one\ntwo\n\nfour\n", "no_last_newline": b"one\ntwo", "only_newlines": b"\n\n\n", "windows": b"a\r\nb\r\n\r\nc",
        "carriage_returns": b"a\rb\r\rc\r\n\rd\n", "one_long": b"x" * 20000 + b"\n" + b"y" * 300, "nul_and_high": b"\x00\n\xff\xfe\n\x80",
    }
    return [one_answer({(name, c): digest(ask_lines(name, c)) for name, c in compressed(f"{stem}.txt", data)}, format="lines")
            for stem, data in texts.items()]


def compressed(name, data):
    for compression, suffix in SUFFIX.items():
        compress(name + suffix, data, compression)
        yield name + suffix, compression


def ask_lines(name, compression):
    return list(tf.data.TextLineDataset(path_of(name), compression_type=ROUND_TRIPS[compression]).as_numpy_iterator())


def ask_fixed_length(name, compression, asked):
    dataset = tf.data.FixedLengthRecordDataset(path_of(name), **asked, compression_type=ROUND_TRIPS[compression])
    records, error = [], None
    try:
        for r in dataset.as_numpy_iterator():
            records.append(r)
    except tf.errors.OpError as e:
        error = type(e).__name__
    return {**digest(records), "error": error}


def fixed_length_answers():
    data = random.Random(SEED + 2).randbytes(3 + 7 * 20 + 5)
    files = list(compressed("fixed.bin", data))
    answers = []
    for record_bytes, header_bytes, footer_bytes in [(7, 3, 5), (4, 0, 0), (148, 0, 0), (140, 3, 5), (10, 8, 0), (9, 0, 0)]:
        asked = {"record_bytes": record_bytes, "header_bytes": header_bytes, "footer_bytes": footer_bytes}
        for name, compression in files:  # not one answer: a compressed file's length is only known at its end
            answers.append({"files": [{"file": name, "compression": compression}], "format": "fixed_length", **asked,
                            **ask_fixed_length(name, compression, asked)})
    return answers


def damaged_answers():
    """How far TensorFlow reads a damaged file, and what it calls the damage. Bytes are changed as described in `edit`."""
    whole = open(path_of("small.tfrecord"), "rb").read()
    frame = 8 + 4 + 10 + 4
    edits = {
        "header cut": whole[:2 * frame + 5], "length crc cut": whole[:2 * frame + 10], "body cut": whole[:2 * frame + 15],
        "data crc cut": whole[:3 * frame - 2],
        "bit in length": whole[:frame] + bytes([whole[frame] ^ 1]) + whole[frame + 1:],
        "bit in data": whole[:frame + 14] + bytes([whole[frame + 14] ^ 128]) + whole[frame + 15:],
        "bit in data crc": whole[:2 * frame - 1] + bytes([whole[2 * frame - 1] ^ 4]) + whole[2 * frame:],
    }
    answers = []
    for what, data in edits.items():
        with open("/tmp/damaged.tfrecord", "wb") as f:
            f.write(data)
        records, error = [], None
        iterator = tf.data.TFRecordDataset("/tmp/damaged.tfrecord").as_numpy_iterator()
        try:
            for r in iterator:
                records.append(r)
        except tf.errors.OpError as e:
            error = type(e).__name__
        answers.append({"edit": what, "data_hex": data.hex(), "records_before": len(records), "error": error})
    return answers


# --- semantics -------------------------------------------------------------------------------------------------------

def inner_datasets(inputs):
    """range(len(inputs)) and a function opening the k-th input."""
    flat = tf.constant([v for row in inputs for v in row], dtype=tf.int64)
    ends = [0]
    for row in inputs:
        ends.append(ends[-1] + len(row))
    ends = tf.constant(ends, dtype=tf.int64)
    return tf.data.Dataset.range(len(inputs)), lambda k: tf.data.Dataset.from_tensor_slices(flat[ends[k]:ends[k + 1]])


def values(dataset):
    return [v.tolist() for v in dataset.as_numpy_iterator()]


def interleave_case(inputs, cycle_length, block_length, source):
    outer, open_input = inner_datasets(inputs)
    expected = values(outer.interleave(open_input, cycle_length=cycle_length, block_length=block_length))
    parallel = values(outer.interleave(open_input, cycle_length=cycle_length, block_length=block_length,
                                       num_parallel_calls=min(3, cycle_length), deterministic=True))
    assert parallel == expected
    return {"inputs": inputs, "cycle_length": cycle_length, "block_length": block_length, "expected": expected, "source": source}


def interleave_cases():
    copies = lambda xs: [[x] * x for x in xs]
    table = [interleave_case(copies([4, 5, 6, 4, 5, 6]), c, b, "T/interleave") for c, b in [(1, 1), (2, 1), (2, 3), (7, 2)]]
    table.append(interleave_case(copies([4, 0, 6, 4, 0, 6]), 2, 1, "T/interleave"))
    table.append(interleave_case([[x] * 6 for x in range(1, 6)], 2, 4, "documentation"))
    table.append(interleave_case([], 3, 2, "edge"))
    table.append(interleave_case([[], [], []], 2, 1, "edge"))
    table.append(interleave_case([[], [1], [], [2, 3], []], 1, 1, "edge"))
    rng = random.Random(SEED + 3)
    for _ in range(60):
        inputs = [[k * 100 + i for i in range(rng.choice([0, 0, 1, 1, 2, 3, 5, 8]))] for k in range(rng.randrange(1, 10))]
        table.append(interleave_case(inputs, rng.choice([1, 2, 3, 4, 7, 16]), rng.choice([1, 1, 2, 3, 5]), "random"))
    return table


def apply_stage(dataset, stage):
    name, *args = stage
    if name == "filter_mod":      # keep x where x % args[0] == args[1]
        return dataset.filter(lambda x: x % args[0] == args[1])
    if name == "map_affine":      # x * args[0] + args[1]
        return dataset.map(lambda x: x * args[0] + args[1])
    if name == "flat_map_range":  # x -> range(x % args[0])
        return dataset.flat_map(lambda x: tf.data.Dataset.range(x % args[0]))
    if name == "interleave_range":  # x -> range(x % args[0]), cycle args[1], block args[2]
        return dataset.interleave(lambda x: tf.data.Dataset.range(x % args[0]), cycle_length=args[1], block_length=args[2])
    if name == "batch":
        return dataset.batch(args[0], drop_remainder=args[1])
    return getattr(dataset, name)(*args)


def chain_case(stages, source):
    dataset = tf.data.Dataset.range(*stages[0][1:])
    for stage in stages[1:]:
        dataset = apply_stage(dataset, stage)
    case = {"stages": stages, "expected": values(dataset.take(2000)), "source": source}
    cardinality = int(dataset.cardinality())
    case["cardinality"] = {-1: "infinite", -2: "unknown"}.get(cardinality, cardinality)
    return case


def edge_chains():
    ten = ["range", 0, 10, 1]
    chains = [
        [["range", 0, 0, 1]], [["range", 5, 3, 1]], [["range", 0, 10, 3]], [["range", 10, 0, -3]], [["range", -3, 4, 2]],
        [ten, ["take", 0]], [ten, ["take", 3]], [ten, ["take", 10]], [ten, ["take", 99]], [ten, ["take", -1]],
        [ten, ["skip", 0]], [ten, ["skip", 3]], [ten, ["skip", 10]], [ten, ["skip", 99]], [ten, ["skip", -1]],
        [ten, ["repeat", 0]], [ten, ["repeat", 1]], [ten, ["repeat", 3]], [ten, ["repeat", -1], ["take", 25]],
        [["range", 0, 0, 1], ["repeat", -1]], [ten, ["take", 0], ["repeat", -1]], [ten, ["repeat", -1], ["skip", 23], ["take", 4]],
        [ten, ["repeat", 2], ["take", 15], ["repeat", 2]], [ten, ["skip", 8], ["repeat", 3], ["skip", 1]],
        [["range", 0, 7, 1], ["batch", 4, False]], [["range", 0, 7, 1], ["batch", 4, True]], [["range", 0, 8, 1], ["batch", 4, True]],
        [["range", 0, 3, 1], ["batch", 4, True]], [["range", 0, 3, 1], ["batch", 4, False]], [["range", 0, 0, 1], ["batch", 4, False]],
        [["range", 0, 7, 1], ["batch", 1, False]], [["range", 0, 7, 1], ["batch", 3, False], ["take", 2]],
        [["range", 0, 7, 1], ["batch", 3, False], ["skip", 2]], [["range", 0, 7, 1], ["batch", 3, False], ["repeat", 2]],
        [["range", 0, 7, 1], ["repeat", 2], ["batch", 3, True]],
        [ten, ["filter_mod", 2, 0]], [ten, ["filter_mod", 11, 10]], [ten, ["filter_mod", 1, 0]], [ten, ["filter_mod", 3, 1], ["batch", 2, False]],
        [ten, ["flat_map_range", 4]], [ten, ["flat_map_range", 1]], [ten, ["flat_map_range", 4], ["take", 7]],
        [ten, ["take", 0], ["flat_map_range", 4]], [ten, ["interleave_range", 4, 3, 2], ["skip", 2]],
        [ten, ["prefetch", 0]], [ten, ["prefetch", 3], ["take", 4]], [ten, ["shuffle", 1]],
    ]
    return [chain_case(c, "edge") for c in chains]


def random_chains(count):
    rng = random.Random(SEED + 4)
    draw = {
        "take": lambda: [rng.choice([-1, 0, 1, 5, 20, 100])], "skip": lambda: [rng.choice([0, 1, 3, 10])],
        "repeat": lambda: [rng.choice([0, 1, 2, 3])], "filter_mod": lambda: (lambda m: [m, rng.randrange(m)])(rng.choice([2, 3, 5])),
        "map_affine": lambda: [rng.choice([1, 2, 3]), rng.randrange(7)], "flat_map_range": lambda: [rng.choice([2, 3, 5])],
        "interleave_range": lambda: [rng.choice([2, 4, 6]), rng.choice([1, 2, 3, 8]), rng.choice([1, 2, 4])],
        "prefetch": lambda: [rng.choice([1, 2, 8])],
    }
    weights = {"repeat": 1, "take": 2, "skip": 2}
    names = [n for n in draw for _ in range(weights.get(n, 2))]
    chains = []
    while len(chains) < count:
        stages = [["range", 0, rng.choice([1, 7, 20, 40]), 1]]
        for _ in range(rng.randrange(1, 6)):
            name = rng.choice(names)
            stages.append([name, *draw[name]()])
        if rng.random() < 0.4:
            stages.append(["batch", rng.choice([1, 2, 3, 8]), rng.random() < 0.5])
        case = chain_case(stages, "random")
        # An empty answer teaches little and a long one fills the repository.
        if len(case["expected"]) <= 120 and (case["expected"] or rng.random() < 0.15):
            chains.append(case)
    return chains


def window_case(length, size, shift, stride, drop_remainder, source):
    windows = tf.data.Dataset.range(length).window(size, shift, stride, drop_remainder)
    cardinality = int(windows.cardinality())
    return {"length": length, "size": size, "shift": shift, "stride": stride, "drop_remainder": drop_remainder,
            "expected": values(windows.flat_map(lambda w: w.batch(size))),
            "cardinality": {-1: "infinite", -2: "unknown"}.get(cardinality, cardinality), "source": source}


def window_cases():
    table = [window_case(7, 2, None, 1, False, "documentation"), window_case(7, 3, None, 1, True, "documentation"),
             window_case(7, 3, 1, 1, True, "documentation"), window_case(7, 3, 1, 2, True, "documentation")]
    for length in [0, 1, 3, 6, 10]:
        for size in [1, 2, 4]:
            for shift, stride in [(None, 1), (1, 1), (2, 1), (1, 3), (3, 2), (2, 4), (5, 1), (7, 2)]:
                table += [window_case(length, size, shift, stride, drop, "grid") for drop in (False, True)]
    return table


def cardinality_of(dataset):
    cardinality = int(dataset.cardinality())
    return {-1: "infinite", -2: "unknown"}.get(cardinality, cardinality)


def ranges(inputs):
    """Inputs are [start, stop, step, times], the last one for repeat: -1 is without an end."""
    return [tf.data.Dataset.range(start, stop, step).repeat(times) for start, stop, step, times in inputs]


def combine_case(op, inputs, **options):
    datasets = ranges(inputs)
    if op == "zip":
        made = tf.data.Dataset.zip(*datasets)
    elif op == "enumerate":
        made = datasets[0].enumerate(**options)
    else:
        made = datasets[0]
        for other in datasets[1:]:
            made = made.concatenate(other)
    rows = [[int(x) for x in row] if isinstance(row, tuple) else int(row) for row in made.take(60).as_numpy_iterator()]
    return {"op": op, "inputs": inputs, **options, "expected": rows, "cardinality": cardinality_of(made)}


def combine_cases():
    """Answers are cut at 60 elements."""
    none, one, few, many, endless = [0, 0, 1, 1], [5, 6, 1, 1], [0, 4, 1, 1], [100, 70, -3, 2], [0, 3, 1, -1]
    table = []
    for op in ("zip", "concatenate"):
        for a in (none, one, few, many, endless):
            for b in (none, one, few, many, endless):
                table.append(combine_case(op, [a, b]))
        for three in ([few, many, one], [many, few, few], [none, few, many], [few, many, none], [endless, many, few],
                      [few, few, endless], [endless, endless, endless]):
            table.append(combine_case(op, three))
        table.append(combine_case(op, [few, many, endless, one]))
    for a in (none, one, few, many, endless):
        for start in (0, 1, -3, 2**40):
            table.append(combine_case("enumerate", [a], start=start))
    return table


def group_case(length, step, modulus, init, finalize):
    """Elements x are grouped by x % modulus - 2; a state is (what init makes of the key, how many there were)."""
    inits = {"zero": lambda key: (tf.constant(0, tf.int64), tf.constant(0, tf.int64)),
             "key": lambda key: (key * 1000, tf.constant(0, tf.int64))}
    finalizers = {"sum": lambda sum, _: sum,  # AutoGraph wants lambdas on lines of their own
                  "count": lambda _, count: count,
                  "both": lambda sum, count: sum * 100 + count}
    reducer = tf.data.experimental.Reducer(
        init_func=inits[init], reduce_func=lambda state, x: (state[0] * 3 + x, state[1] + 1),
        finalize_func=finalizers[finalize])
    grouped = tf.data.Dataset.range(0, length * step, step).apply(
        tf.data.experimental.group_by_reducer(key_func=lambda x: x % modulus - 2, reducer=reducer))
    return {"length": length, "step": step, "modulus": modulus, "init": init, "finalize": finalize,
            "expected": values(grouped), "cardinality": cardinality_of(grouped)}


def group_cases():
    return [group_case(length, step, modulus, init, finalize)
            for length in (0, 1, 5, 23) for step in (1, 7, -3) for modulus in (1, 2, 5, 11)
            for init, finalize in (("zero", "sum"), ("key", "both"), ("key", "count"))]


def shuffle_facts():
    """What holds of a shuffle whatever its generator is."""
    n, buffer_size = 200, 16
    tf.random.set_seed(1)
    one = values(tf.data.Dataset.range(n).shuffle(buffer_size, seed=5))
    epochs = values(tf.data.Dataset.range(n).shuffle(buffer_size, seed=5).repeat(3))
    fixed = values(tf.data.Dataset.range(n).shuffle(buffer_size, seed=5, reshuffle_each_iteration=False).repeat(2))
    return {
        "n": n, "buffer_size": buffer_size,
        "permutation": sorted(one) == list(range(n)),
        "earliest_place_is_value_minus_buffer_plus_one": all(v - place < buffer_size for place, v in enumerate(one)),
        "epochs_do_not_mix": all(sorted(epochs[e * n:(e + 1) * n]) == list(range(n)) for e in range(3)),
        "epochs_differ_when_reshuffled": epochs[:n] != epochs[n:2 * n],
        "epochs_equal_when_not_reshuffled": fixed[:n] == fixed[n:],
    }


def list_files_facts():
    def names(pattern, **options):
        return [os.path.relpath(v.decode(), HERE) for v in tf.data.Dataset.list_files(path_of(pattern), **options).as_numpy_iterator()]
    try:
        names("nothing-*.here", shuffle=False)
        no_match = None
    except tf.errors.OpError as e:
        no_match = type(e).__name__
    return {"pattern": "examples.tfrecord*", "sorted": names("examples.tfrecord*", shuffle=False),
            "default_is_a_permutation": sorted(names("examples.tfrecord*")) == names("examples.tfrecord*", shuffle=False),
            "no_match": no_match}


def rows(value):
    """JSON with one array element a line: small diffs when TensorFlow's answer changes."""
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{json.dumps(k)}: {rows(v)}" for k, v in value.items()) + "\n}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in value) + "\n]"
    return json.dumps(value, separators=(",", ":"))


def save(name, value):
    with open(path_of(name), "w") as f:
        f.write(rows(value) + "\n")


def main():
    files = [tfrecord_answer("raw", raw_records()), tfrecord_answer("empty", []),
             tfrecord_answer("small", [b"0123456789", b"abcdefghij", b"ABCDEFGHIJ"]),
             {**tfrecord_answer("examples", examples()), "features_in": "features.json"}]
    save("features.json", [features_of(r) for r in examples()])
    files += text_answers() + fixed_length_answers()
    save("expected.json", {"versions": versions(), "files": files, "damaged": damaged_answers()})
    save("semantics.json", {"versions": versions(), "interleave": interleave_cases(), "chains": edge_chains() + random_chains(80),
                            "window": window_cases(), "combine": combine_cases(),
                            "group_by_reducer": group_cases(), "shuffle": shuffle_facts(), "list_files": list_files_facts()})


if __name__ == "__main__":
    main()
