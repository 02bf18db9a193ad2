# SPDX-License-Identifier: Apache-2.0
"""Words, includes and sizes that a review would send back."""
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

# (folders, pattern, what to do instead, files that may)
BANS = [
    (["tests"], r"\bthis_thread\s*::\s*sleep_\w+|\busleep\s*\(|\bnanosleep\b", "wait for the thing itself, or use the simulator", set()),
    (["include"], r'#\s*include\s*[<"]absl/', "public headers speak std:: types",
     {"include/sluice/base/absl_status.hpp", "include/sluice/base/mutex.hpp"}),  # the latter: macros alone
    (["include", "src", "io"], r"\bstd\s*::\s*(?:mutex|lock_guard|scoped_lock)\b",
     "mutex and mutex_lock of sluice/base/mutex.hpp: -Wthread-safety checks these", {"include/sluice/base/mutex.hpp"}),
    (["include"], r'#\s*include\s*[<"](?:asio|boost/asio)', "only the adapter may include asio", {"/asio.hpp"}),
    (["include"], r'#\s*include\s*[<"](?:liburing|isa-l|catch2|nlohmann|CLI|flatbuffers|google/|grpc|openssl|sqlite3|zlib)',
     "hide the library behind a .cpp", set()),
    (["include"], r"#\s*include\s*<(?:iostream|regex|filesystem|iomanip)>", "too dear for a public header", set()),
    (["include"], r"\busing\s+namespace\b", "a header must not open a namespace for its users", set()),
    (["include", "src", "io"], r"\bstd::(?:cout|cerr)\b|\bprintf\s*\(", "only the program writes to the terminal", {"src/cli/"}),
    # iterate.cpp draws the seed of a run that was given none.
    (["include", "src", "io"], r"\bstd::regex\b|\bstd::async\b|\bstd::random_device\b|\brand\s*\(",
     "not in this library: slow, blocking or not replayable", {"src/pipeline/iterate.cpp"}),
    (["include", "src", "io"], r"make_shared<reader_link>|\bread_(?:ahead|unordered)\(",
     "a channel is opened by open_channel", {"src/ahead/open_channel.cpp", "reader.hpp", "reader.cpp"}),
    (["include", "src", "io", "tests", "bench", "examples"], r"\t", "spaces, not tabs", set()),
]
ROOMS = re.compile(r"(?:^|[/_])(?:utils?|helpers?|manager|impl|common|misc)(?:[/_.]|$)")
LONG = 500   # a file past this wants a reason here …
ENDLESS = 800  # … and past this there is none
REASONS = {
}


def complaints(folder, path, text):
    code = re.sub(r"//[^\n]*", "", text)  # strings stay: an #include is one
    found = []
    for folders, pattern, advice, allowed in BANS:
        if folder not in folders or any(path.startswith(a) or path.endswith(a) for a in allowed):
            continue
        for match in re.finditer(pattern, code):
            found.append(f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {match.group().strip() or 'tab'}: {advice}")
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        found.append(f"{path}:1: the first line names the licence")
    if path.endswith(".hpp") and "#pragma once" not in text:
        found.append(f"{path}: no #pragma once")
    if ROOMS.search(path):
        found.append(f"{path}: a name that takes in anything; name the subject")
    lines = text.count("\n")
    if lines > ENDLESS or (lines > LONG and path not in REASONS):
        found.append(f"{path}: {lines} lines; split it, or give the reason in {__file__.split('/')[-1]}")
    return found


LARGE_BYTES = 1 << 20  # the largest file of golden values has two thirds of it


def large_files(root):
    """Files of the repository that nobody would review: a core file, a program, data that a test could make."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True).stdout.split("\0")
    for path in (root / name for name in names if name):
        if path.is_file() and path.stat().st_size > LARGE_BYTES:
            yield f"{path.relative_to(root)}: {path.stat().st_size >> 20} MiB; git rm --cached it, and name it in .gitignore"


def main():
    check = tree.checks()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "core").write_bytes(bytes(LARGE_BYTES + 1))
        (root / "small.cpp").write_text("int x;")
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=root, check=True)
        check.expect([line.split(":")[0] for line in large_files(root)] == ["core"], "the checker misses a core file")
    check.clean("large files", list(large_files(tree.ROOT)))
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    for folder, path, text, bad in [
        ("tests", "tests/a/x.cpp", "std::this_thread::sleep_for(1ms);", True),
        ("tests", "tests/a/x.cpp", "sluice::sleep_for(10ms);", False),
        ("include", "include/sluice/op/x.hpp", "#pragma once\n#include <absl/status/status.h>", True),
        ("include", "include/sluice/op/x.hpp", "#pragma once\n#include \"absl/types/span.h\"", True),
        ("src", "src/op/x.cpp", "std::mutex m;", True),
        ("include", "include/sluice/op/x.hpp", "#include <vector>", True),
        ("include", "include/sluice/op/x.hpp", "#pragma once\n#include <asio.hpp>", True),
        ("include", "include/sluice/asio.hpp", "#pragma once\n#include <asio.hpp>", False),
        ("src", "src/op/map_utils.cpp", "", True),
        ("src", "src/cli/verbs/run.cpp", "std::cerr << 1;", False),
        ("src", "src/op/run.cpp", "std::cerr << 1;", True),
        ("src", "src/op/map.cpp", "// sleep_for is banned\n" + "\n" * 400, False),
        ("src", "src/op/map.cpp", "\n" * 600, True),
        ("src", "src/op/map.cpp", "return read_ahead(out, std::move(link));", True),
        ("src", "src/ahead/ordered_reader.cpp", "erased_stream read_ahead(outlet out) {", False),
    ]:
        found = complaints(folder, path, spdx + text)
        check.expect(bool(found) == bad, f"the checker is wrong about {path} with {text[:60]!r}: {found}")
    check.expect(complaints("src", "src/a.cpp", "int x;\n"), "the checker misses a file without licence line")

    found = []
    for folder in ["include", "src", "io", "tests", "bench", "examples"]:
        for path in tree.files(folder):
            found += complaints(folder, tree.name(path), path.read_text())
    check.clean("banned", found)
    stale = [p for p in REASONS if not (tree.ROOT / p).exists() or (tree.ROOT / p).read_text().count("\n") <= LONG]
    check.clean("reasons for length that are no longer needed", stale)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
