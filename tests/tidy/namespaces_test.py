# SPDX-License-Identifier: Apache-2.0
"""The library is in sluice::lib; the namespace sluice holds nothing but what its users write.

A program may say `using namespace sluice` and keep its own `stage`, `count` or `order`. So headers and sources open
sluice::lib (or a namespace in it), and a header ends with a `using lib::NAME;` for each name that users write.
"""
import re
import sys

import tree

OPENED = re.compile(r"^\s*namespace (sluice(?:::\w+)*) \{$", re.M)
EXPORTS = re.compile(r"^namespace sluice \{\n(.*?)^\}", re.M | re.S)


def complaints(path, text):
    found = []
    for match in OPENED.finditer(text):
        space = match.group(1)
        if space == "sluice" and path.startswith("include/"):
            continue  # looked at below
        if space != "sluice::lib" and not space.startswith("sluice::lib::"):
            found.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: opens {space}; open sluice::lib")
    for match in EXPORTS.finditer(text):
        for line in filter(str.strip, tree.code_only(match.group(1)).splitlines()):
            if not re.fullmatch(r"using lib::\w+;", line.strip()):
                found.append(f"{path}: {line.strip()}: belongs into sluice::lib, with a `using lib::NAME;` if users write it")
    return found


CASES = [
    ("include/a.hpp", "namespace sluice::lib {\nint a;\n}\nnamespace sluice {\n// for users\nusing lib::a;\n}\n", False),
    ("include/a.hpp", "namespace sluice {\nint a;\n}\n", True),
    ("src/a.cpp", "namespace sluice {\nusing lib::a;\n}\n", True),
    ("src/a.cpp", "namespace sluice::lib::cli {\n}\n", False),
    ("src/a.cpp", "namespace sluice::cli {\n}\n", True),
]


def main():
    check = tree.checks()
    for path, text, is_bad in CASES:
        check.expect(bool(complaints(path, text)) == is_bad, f"the check misjudges {text!r}")
    paths = [p for p in tree.files("include", "src", "io", "tests", "bench") if "hazards" not in p.parts and "docs" not in p.parts]
    found = [c for p in paths for c in complaints(tree.name(p), p.read_text())]
    check.clean("names outside of sluice::lib", found)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
