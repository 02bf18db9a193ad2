# SPDX-License-Identifier: Apache-2.0
"""Each line of src/op/operators.def is a header, a source and a constant of that name, and nothing else is an operator.

So a name seen in a plan, in the documentation or in the code leads to every other place. What follows from the list, the
includes of sluice.hpp, is what ./dev operators writes (docs/docs_test.py checks docs/operators.md).
"""
import re
import subprocess
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "tools"))
import operators  # noqa: E402

CONSTANT = re.compile(r"^const op_info (\w+)\{\n    \.name = \"(\w+)\"", re.M)
COROUTINE = re.compile(r"^erased_stream (\w+)\([^;{]*\) \{\n(?:  .*\n|\n)*?.*\bco_yield\b", re.M)
VERB = re.compile(r"^(?:template <[^{;]*>\s*)?class (\w+) : public stage_base_tag", re.M)


def complaints(name):
    header = tree.ROOT / "include/sluice/op" / f"{name}.hpp"
    source = operators.source_of(name)
    if not header.exists() or not source.exists():
        yield f"{name}: has no {tree.name(source if header.exists() else header)}"
        return
    if not re.match(rf"// SPDX.*\n// {name}(, \w+)*: ", header.read_text()):
        yield f"{tree.name(header)}: does not begin with its contract, '// {name}: …'"
    if f"\nextern const op_info {name}_op;\n" not in header.read_text():
        yield f"{tree.name(header)}: does not declare {name}_op"
    if CONSTANT.findall(source.read_text()) != [(f"{name}_op", name)]:
        yield f"{tree.name(source)}: does not define {name}_op, with .name = \"{name}\", and no other"


def main():
    check = tree.checks()
    names = operators.names()
    check.expect(len(names) > 20 and len(names) == len(set(names)), "operators.def is short, or has a name twice")
    check.clean("operators.def, headers and sources", [c for name in names for c in complaints(name)])
    sources = {path: path.read_text() for path in tree.files("src/op", "include/sluice/op")}
    constants = {c for text in sources.values() for c, _ in CONSTANT.findall(text)}
    check.clean("operators that operators.def lacks", sorted(constants - {f"{name}_op" for name in names}))
    check.expect(COROUTINE.findall("erased_stream a_stage(outlet out, int n) {\n  co_yield b;\n") == ["a_stage"], "coroutines are not seen")
    check.clean("coroutines are NAME_loop", [f"{tree.name(path)}: {c}" for path, text in sources.items()
                                             for c in COROUTINE.findall(text) if not c.endswith("_loop")])
    check.clean("classes of verbs are NAME_verb", [f"{tree.name(path)}: {c}" for path, text in sources.items()
                                                   for c in VERB.findall(text) if not c.endswith("_verb")])
    made = subprocess.run([sys.executable, "tools/operators.py", "--check"], cwd=tree.ROOT, capture_output=True, text=True)
    check.expect(made.returncode == 0, made.stdout + made.stderr)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
