# SPDX-License-Identifier: Apache-2.0
"""Each row of tf_data_tests.tsv names a test that exists, or a reason, and each of tf.data's tests has one row."""
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("tf_data_tests.tsv")


@functools.cache
def tests_in(place):
    """The names of the tests of a file: plans of rows, methods of a script, or cases of Catch2."""
    text = (ROOT / place).read_text()
    if place.endswith(".tsv"):
        return {line.split("\t")[0] for line in text.splitlines() if line and not line.startswith("#")}
    if place.endswith(".py"):
        return set(re.findall(r"^    def (test_\w+)\(", text, re.M))
    return {"".join(re.findall(r'"([^"]*)"', name)) for name in re.findall(r'TEST_CASE\(\s*((?:"[^"]*"\s*)+)', text)}


def complaints(lines):
    stated, counted, seen = {}, collections.Counter(), set()
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            file, _, count = line[3:].split()
            stated[file] = int(count)
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 5:
            yield f"line {number}: {len(columns)} columns instead of 5"
            continue
        file, name, place, ours, note = columns
        counted[file] += 1
        if (file, name) in seen:
            yield f"line {number}: {name} has a row already"
        seen.add((file, name))
        if place == "-":
            if ours != "not applicable" or not note:
                yield f"line {number}: without a test of ours, a row is `not applicable`, and has a reason"
        elif not (ROOT / place).exists() or ours not in tests_in(place):
            yield f"line {number}: {place} has no test {ours!r}"
    for file in sorted(stated.keys() | counted.keys()):
        if stated.get(file) != counted[file]:
            yield f"{file} has {stated.get(file)} tests, and {counted[file]} rows"


def main():
    lines = TABLE.read_text().splitlines()
    found = list(complaints(lines))
    for complaint in found:
        print(f"{TABLE.relative_to(ROOT)}: {complaint}")
    # The check itself: each kind of mistake is found.
    wrong = ["## a_test.py c0ffee 2", "a_test.py\ttestA\t-\tnot applicable\t", "a_test.py\ttestB\ttests/none.py\ttest_b\t",
             "a_test.py\ttestB\t-\tnot applicable\tbecause", "short"]
    kinds = [c.split(": ")[-1].split(" ")[0] for c in complaints(wrong)]
    if kinds != ["without", "tests/none.py", "testB", "1", "a_test.py"]:
        found.append(f"the check finds {kinds}")
        print(found[-1])
    print(f"{sum(not line.startswith('#') for line in lines) - len(found)} passed, {len(found)} failed")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
