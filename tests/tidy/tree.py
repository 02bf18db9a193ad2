# SPDX-License-Identifier: Apache-2.0
"""What the style tests share: where files are, their text without comments and strings, and how a check reports."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*folders, suffixes=(".hpp", ".cpp")):
    found = (p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in suffixes and p.is_file())
    return sorted(found)


def name(path):
    return str(path.relative_to(ROOT))


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)


def code_only(text):
    """Comments and literals blanked, every line where it was."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


class checks:
    """Counts named checks; `finish` prints what failed and the line that the test runner reads."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def expect(self, condition, what):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(what)

    def clean(self, title, complaints):
        self.expect(not complaints, f"{title}:\n" + "\n".join("  " + c for c in complaints))

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
