# SPDX-License-Identifier: Apache-2.0
"""Every bug that tests/mutants plants has a place to be planted in: its text stands exactly once in its file."""
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
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
