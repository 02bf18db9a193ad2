# SPDX-License-Identifier: Apache-2.0
"""The operator that docs/internals/adding_an_operator.md adds compiles as the page has it: header, source and test."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tidy"))
import tree  # noqa: E402

PAGE = tree.ROOT / "docs/internals/adding_an_operator.md"
COMPILER = shutil.which("clang++-19") or shutil.which("g++-12") or "c++"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-fsyntax-only"]


def main():
    check = tree.checks()
    files = dict(re.findall(r"^```c\+\+ (\S+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S))
    check.expect(len(files) == 5, f"the page has other files than five: {sorted(files)}")
    name = re.search(r"SLUICE_OPERATOR\((\w+)\)", files.get("src/op/operators.def", "")).group(1)
    listed = (tree.ROOT / "src/op/operators.def").read_text()
    check.expect(f"({name})" not in listed, f"{name} is an operator by now: let the page add another")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        # The test includes everything; here its operator as well, as ./dev operators would have it.
        both = ["-include", "catch2/catch.hpp", "-include", f"sluice/op/{name}.hpp"]
        for path, more in ((f"src/op/{name}.cpp", []), (f"tests/verbs/{name}_case.cpp", both), (f"tests/op/{name}_test.cpp", both)):
            includes = [f"-I{root / part}" for root in (place, tree.ROOT) for part in ("include", "src", "tests", "")]
            said = subprocess.run([COMPILER, *FLAGS, *more, *includes, str(place / path)],
                                  capture_output=True, text=True, cwd=tree.ROOT)
            check.expect(said.returncode == 0, f"{path}:\n{said.stderr[:3000]}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
