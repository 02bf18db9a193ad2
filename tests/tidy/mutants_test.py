# SPDX-License-Identifier: Apache-2.0
"""Every bug that tests/mutants plants has a place to be planted in (its text stands exactly once in its file), and a line in
tests/mutants/noticed.tsv that names the test that finds it, which exists."""
import re
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "tests/mutants"))
from mutants import MUTANTS  # noqa: E402
from run import cases  # noqa: E402


def main():
    check = tree.checks()
    for name, file, before, after in MUTANTS:
        count = (tree.ROOT / file).read_text().count(before)
        check.expect(count == 1, f"'{name}': its text stands {count} times in {file}:\n{before}")
        check.expect(before != after, f"'{name}' changes nothing")
    names = [name for name, *_ in MUTANTS]
    check.expect(len(names) > 20 and len(names) == len(set(names)), "the list is short, or two bugs have one name")
    rows = [line.split("\t") for line in (tree.ROOT / "tests/mutants/noticed.tsv").read_text().splitlines()]
    check.expect(all(len(row) == 2 and all(row) for row in rows), "a line of tests/mutants/noticed.tsv is not `bug<tab>test`")
    noticed = [row[0] for row in rows]
    for name in set(names) ^ set(noticed):
        check.expect(False, f"'{name}' stands in only one of tests/mutants/mutants.py and tests/mutants/noticed.tsv")
    known = cases()
    for name, how in rows:
        for test in re.findall(r'by "((?:[^"\\]|\\.)+)"', how):
            check.expect(test in known, f"'{name}': no test of C++ is named \"{test}\"")
        for path in re.findall(r"tests/[\w/]+\.(?:tsv|py|cpp)", how):
            check.expect((tree.ROOT / path).exists(), f"'{name}': {path} does not exist")
    check.expect(len(noticed) == len(set(noticed)), "a bug has two lines in tests/mutants/noticed.tsv")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
