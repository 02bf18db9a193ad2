# SPDX-License-Identifier: Apache-2.0
"""A file includes only its own layer and what stands left of it, and an operator's no other operator's (docs/architecture.md)."""
import re
import sys

import tree

# Layers of equal rank do not see each other.
# coro sees element: a stage's block lies in a slab. element never sees coro.
RANKS = [["base"], ["element"], ["arrow"], ["coro"], ["runtime"], ["io"], ["format"], ["output"], ["store"], ["ahead"], ["input"],
         ["expr"], ["plan"], ["engine"], ["op"], ["optimizer", "profile"],
         ["tuner"], ["pipeline"], ["splits"], ["service"], ["cli"]]
RANK = {layer: i for i, layers in enumerate(RANKS) for layer in layers}
# Folders beside the layers: the umbrella and the adapters for other libraries see everything.
FREE = {"asio.hpp", "arrow.hpp", "dlpack.hpp", "sluice.hpp"}
LOWEST = {"version.hpp"}  # of no layer, and stands on nothing
TABLE = {"operators.def", "registry.cpp", "by_expression.cpp"}  # of all operators
LIBRARIES = {"absl"}  # customarily quoted too; headers_test.py says who may
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def layer_of(path):
    """The layer of a path below the root, None when it has none: include/sluice/op/x.hpp, src/op/x.cpp, io/uring/y.cpp."""
    parts = path.split("/")
    if parts[0] == "io":
        return "io"
    below = parts[2:] if parts[:2] == ["include", "sluice"] else parts[1:] if parts[0] in ("src", "sluice") else parts
    if below[0] in FREE:
        return None
    if below[0] in LOWEST:
        return RANKS[0][0]
    return below[0] if below[0] in RANK or len(below) > 1 else None


def operator_of(path):
    """The operator whose file it is: its header, its source, or what lies in the folder of its name. None: the list of all."""
    parts = path.split("/")
    if "op" not in parts[:3] or parts[-1] in TABLE:
        return None
    return parts[parts.index("op") + 1].split(".")[0]


def complaints(path, text):
    here = layer_of(path)
    if here is None:
        return []
    if here not in RANK:
        return [f"{path}: '{here}' is not a layer"]
    found = []
    mine = operator_of(path)
    for target in INCLUDE.findall(text):
        there = layer_of(target)
        if mine and there == "op" and operator_of(target) not in (mine, None):
            found.append(f"{path}: an operator must not include another's {target}: what both need stands in engine")
        if there in LIBRARIES:
            continue
        if there is None:
            found.append(f"{path}: includes {target}, which sees every layer")
        elif there not in RANK:
            found.append(f"{path}: includes {target}, which is not of the tree")
        elif there != here and RANK[there] >= RANK[here]:
            found.append(f"{path}: {here} must not include {target}")
    return found


def main():
    check = tree.checks()
    # The checker itself: every way an arrow can point back, and those that may not be refused.
    for path, include, bad in [
        ("include/sluice/base/x.hpp", "sluice/coro/task.hpp", True),
        ("src/optimizer/x.cpp", "sluice/profile/report.hpp", True),
        ("include/sluice/element/x.hpp", "sluice/coro/task.hpp", True),
        ("src/ahead/x.cpp", "engine/lowering/open_context.hpp", True),
        ("io/uring/ring.cpp", "sluice/format/tfrecord_frames.hpp", True),
        ("src/format/x.cpp", "sluice/sluice.hpp", True),
        ("src/op/x.cpp", "sluice/pipeline/iterate.hpp", True),
        ("src/surprise/x.cpp", "sluice/base/status.hpp", True),
        ("src/base/x.cpp", "catch2/catch.hpp", True),
        ("include/sluice/op/scan.hpp", "sluice/op/map.hpp", True),
        ("src/op/flat_map.cpp", "op/interleave/sloppy_interleave.hpp", True),
        ("src/op/interleave/interleave.cpp", "sluice/op/flat_map.hpp", True),
        ("src/op/map.cpp", "op/loops.hpp", True),
        ("src/op/interleave/sloppy_interleave.cpp", "op/interleave/sloppy_interleave.hpp", False),
        ("src/op/interleave/interleave.cpp", "sluice/op/interleave.hpp", False),
        ("src/op/registry.cpp", "op/operators.def", False),
        ("include/sluice/op/map.hpp", "sluice/coro/stream.hpp", False),
        ("src/op/map.cpp", "ahead/pump.hpp", False),
        ("io/uring/ring.cpp", "io/uring/ring.hpp", False),
        ("src/runtime/x.cpp", "sluice/element/slab.hpp", False),
        ("include/sluice/sluice.hpp", "sluice/pipeline/iterate.hpp", False),
        ("include/sluice/asio.hpp", "sluice/pipeline/iterate.hpp", False),
    ]:
        found = complaints(path, f'// a comment\n#include "{include}"\n')
        check.expect(bool(found) == bad, f"the checker is wrong about {path} including {include}: {found}")

    found = []
    for path in tree.files("include", "src", "io"):
        found += complaints(tree.name(path), path.read_text())
    check.clean("includes that point back", found)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
