# SPDX-License-Identifier: Apache-2.0
"""Every bug that tests/mutants plants has a place to be planted in (its text stands exactly once in its file), and a row in
the table of docs/testing.md that says who notices."""
import re
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "tests/mutants"))
from mutants import MUTANTS  # noqa: E402


def main():
    check = tree.checks()
    for name, file, before, after in MUTANTS:
        count = (tree.ROOT / file).read_text().count(before)
        check.expect(count == 1, f"'{name}': its text stands {count} times in {file}:\n{before}")
        check.expect(before != after, f"'{name}' changes nothing")
    names = [name for name, *_ in MUTANTS]
    check.expect(len(names) > 20 and len(names) == len(set(names)), "the list is short, or two bugs have one name")
    table = (tree.ROOT / "docs/testing.md").read_text().split("\n| Planted |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.M)
    told = [row[0] for row in rows]
    for name in set(names) ^ set(told):
        check.expect(False, f"'{name}' stands in one of tests/mutants/mutants.py and the table of docs/testing.md only")
    check.expect(len(told) == len(set(told)), "a bug has two rows in docs/testing.md")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
