#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an output format writes, its reader returns: random structures of two to five members, for each format and the members that it has.

A structure with a member that the format lacks is refused, the message names the member, and no file is left.
SLUICE_TEST_SEED selects other structures.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import PROGRAM

ROWS, STRUCTURES = 60, 12
MEMBERS = {
    "integers": "it * 1000003", "small integers": "int32(it)", "bytes": "uint8(it % 200)", "reals": "it * 0.25", "floats": "float(it) * 0.5",
    "booleans": "it % 2 == 0", "texts": "string(it) + \"é, \\\"quoted\\\"\"", "long texts": "string(it) + \"" + "x" * 165 + "\"",
    "texts or empty": "string(it)[:it % 2]", "lists": "[it, it, it][:it % 4]", "lists of texts": "[string(it), \"b\"][:it % 3]",
    "optionals": "if(it % 3 == 0, none, some(it))", "optional texts": "if(it % 3 == 0, none, some(string(it) + \"z\"))",
    "structures": "{x: it, y: string(it)}", "lists of lists": "[[it], [it, it]][:it % 3]", "lists of structures": "[{x: it}, {x: it * 2}][:it % 3]",
    "tensors": "to_tensor([it, 2])", "arrays": "one_hot(it % 5, 5)", "tensors of texts": "to_tensor([string(it), \"b\"])",
    "tensors of any length": "to_tensor([it, it, it][:it % 4])", "ragged tensors": "to_ragged([[it], [it, it]])",
    "sparse tensors": "to_sparse(to_tensor([it, 0, 2]))", "tuples": "(it, \"a\")",
    "optional lists": "if(it % 3 == 0, none, some([it, it][:it % 2]))", "optional structures": "if(it % 3 == 1, none, some({x: it, y: string(it)}))",
    "lists of optionals": "[if(it % 2 == 0, none, some(it)), some(it)]", "optional lists of optional lists":
    "if(it % 3 == 0, none, some([if(it % 2 == 0, none, some([it]))]))", "structures of optionals": "{x: if(it % 2 == 0, none, some([it]))}",
    "reals that are not finite": "log(double(it - 30))", "only infinities": "1.0 / double(it - it)",
    "matrices": "reshape(to_tensor([it, it + 1, 2, 3, 4, 5]), [2, 3])", "cubes": "reshape(to_tensor([it, 1, 2, 3, 4, 5, 6, it]), [2, 2, 2])",
    "empty matrices": "reshape(to_tensor([it][0:0]), [3, 0])", "empty cubes": "reshape(to_tensor([it][0:0]), [2, 0, 3])",
    "tensors without dimensions": "reshape(to_tensor([it]), [0][0:0])", "optional arrays": "if(it % 3 == 0, none, some(one_hot(it % 5, 5)))",
}
SCALARS = ["integers", "small integers", "bytes", "reals", "floats", "booleans", "texts", "long texts"]
LISTS = ["lists", "lists of texts"]
# Format: the output, its file, the members that come back as they were, and those that are refused. Members in neither list are written
# in another form: a tuple becomes a structure in Arrow, the numbers of a tf.Example are 64-bit integers and floats, and a reader without a
# schema reads the booleans of CSV as texts and JSON arrays as lists.
FORMATS = {
    "jsonl": ("jsonl", "t.jsonl", [m for m in MEMBERS if m != "tuples"], []),
    "arrow": ("arrow", "t.arrow", SCALARS + LISTS + ["texts or empty", "optionals", "optional texts", "structures", "lists of lists",
                                                     "lists of structures", "tensors", "arrays", "optional lists", "optional structures",
                                                     "lists of optionals", "optional lists of optional lists", "structures of optionals",
                                                     "reals that are not finite", "only infinities", "matrices", "cubes", "empty matrices",
                                                     "empty cubes", "tensors without dimensions", "optional arrays"],
              ["ragged tensors", "sparse tensors", "tensors of texts", "tensors of any length"]),
    "csv": ("csv", "t.csv", [m for m in SCALARS if m != "booleans"] + ["reals that are not finite", "only infinities"], LISTS + ["tensors", "arrays", "ragged tensors", "sparse tensors", "lists of structures"]),
    "example": ("example", "t.tfrecord", ["integers", "reals", "texts", "long texts", "texts or empty", "lists", "lists of texts", "tensors", "arrays"],
                ["ragged tensors", "lists of lists", "lists of structures"]),
}


def run(folder, *words):
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def plan_of(members):
    fields = ", ".join(f"m{k}: {MEMBERS[m]}" for k, m in enumerate(members))
    return f"range({ROWS}) | map({{{fields}}})"


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def problem_of_round_trip(folder, members, output, name):
    folder = pathlib.Path(folder)
    plan = plan_of(members)
    for words in (("run", plan, "--quiet", "--output", "jsonl:want.jsonl"), ("run", plan, "--quiet", "--output", f"{output}:{name}"),
                  ("convert", name, "got.jsonl", "--quiet", "--overwrite")):
        done = run(folder, *words)
        if done.returncode:
            return f"{' '.join(words)}: {done.stderr[:400]}"
    want, got = rows_of(folder / "want.jsonl"), rows_of(folder / "got.jsonl")
    if len(want) != ROWS or got != want:
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        return f"{plan}\n  row {at} of {len(got)} is {str(got[at:at + 1])[:300]}\n  and not {str(want[at:at + 1])[:300]}"
    return None


def problem_of_refusal(folder, members, bad, output, name):
    done = run(folder, "run", plan_of(members), "--quiet", "--output", f"{output}:{name}")
    if done.returncode == 0:
        return f"{plan_of(members)}: {MEMBERS[members[bad]]} is written as {output}"
    if f"m{bad}" not in done.stderr:
        return f"{plan_of(members)}: the message does not name m{bad}: {done.stderr[:300]}"
    left = [p.name for p in pathlib.Path(folder).iterdir()]
    return f"{plan_of(members)}: {left} is left" if left else None


def problem_of_words(folder):
    """Bytes that are not UTF-8, names that need quotes, and words for numbers, through every format that has them."""
    folder = pathlib.Path(folder)
    (folder / "bytes.txt").write_bytes(b"ok\n\xff\n\xfe\xff\n")
    (folder / "names.jsonl").write_text('{"a b":1,"c:d, \\"e\\"":"x","é=":2.5,"it\'s":"y"}\n{"a b":2,"c:d, \\"e\\"":"","é=":"Infinity","it\'s":"z"}\n')
    for words in (("run", 'lines("bytes.txt") | map({t: it})', "--output", "jsonl:bytes.jsonl"), ("convert", "bytes.jsonl", "again.jsonl"),
                  ("convert", "names.jsonl", "names.tfrecord"), ("convert", "names.tfrecord", "names2.jsonl"),
                  ("convert", "names.jsonl", "names.csv"), ("convert", "names.csv", "names3.jsonl"),
                  ("convert", "names.jsonl", "names.arrow"), ("convert", "names.arrow", "names4.jsonl")):
        done = run(folder, *words, "--quiet")
        if done.returncode:
            return f"{' '.join(words)}: {done.stderr[:400]}"
    if (folder / "again.jsonl").read_text() != (folder / "bytes.jsonl").read_text():
        return f"bytes: {(folder / 'again.jsonl').read_text()}"
    want = rows_of(folder / "names.jsonl")
    for k in (2, 3, 4):
        if rows_of(folder / f"names{k}.jsonl") != want:
            return f"names{k}: {rows_of(folder / f'names{k}.jsonl')}"
    return None


def main():
    seed = int(os.environ.get("SLUICE_TEST_SEED", "1"))
    r = random.Random(seed)
    passed = failed = 0
    for output, name, kept, refused in FORMATS.values():
        cases = [("kept", r.sample(kept, min(len(kept), r.randint(2, 5))), None) for _ in range(STRUCTURES)]
        for m in refused:
            members = r.sample(kept, r.randint(1, 3))
            members.insert(bad := r.randint(0, len(members)), m)
            cases.append(("refused", members, bad))
        for kind, members, bad in cases:
            with tempfile.TemporaryDirectory() as folder:
                problem = problem_of_round_trip(folder, members, output, name) if kind == "kept" else problem_of_refusal(folder, members, bad, output, name)
            passed += problem is None
            failed += problem is not None
            if problem:
                print(f"FAILED {output}, SLUICE_TEST_SEED={seed}: {problem}")
    with tempfile.TemporaryDirectory() as folder:
        problem = problem_of_words(folder)
    passed += problem is None
    failed += problem is not None
    if problem:
        print(f"FAILED words: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
