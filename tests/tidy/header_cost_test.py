# SPDX-License-Identifier: Apache-2.0
"""What including sluice/sluice.hpp has a compiler do, counted: the same on a busy machine as on an idle one.

Three counts, each with a limit a little above what it is now (docs/internals/decisions/compile_time.md): headers of the standard library that
ours include; classes and functions that clang instantiates, more than for <memory> and <string>; functions that the object
file has, which are none. `./dev bench compile` times what they stand for. `--all` prints who has how many.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

COMPILER = shutil.which("clang++-19")
INCLUDE = tree.ROOT / "include"
REFERENCE = "#include <memory>\n#include <string>\n"
PROGRAM = "#include <sluice/sluice.hpp>\n"
# A new one costs every program; <map> was 40 ms of 270, <stop_token> 90, <condition_variable> has it, <functional> brings <map>'s kin.
STANDARD = {"array", "atomic", "bit", "bits/chrono.h", "cassert", "chrono", "compare", "concepts", "coroutine", "cstddef", "cstdint",
            "cstring", "exception", "initializer_list", "iterator", "memory", "mutex", "new", "optional", "span", "stdexcept",
            "string", "string_view", "tuple", "type_traits", "utility", "vector",
            "stop_token",   # in the branch for other standard libraries only
            "absl/base/thread_annotations.h"}  # no standard header: macros of 5 KB
INSTANTIATED = 3020  # above the reference's 2,328 of libstdc++ 12; 19 of them are the times by size in site_report
ADVICE = ("move what instantiates it into a source (bodies, special members of classes that hold vectors and strings); "
          "shared_ref<T> in place of std::shared_ptr<T>, member_map in place of std::map; docs/internals/decisions/compile_time.md says what else")


def ours(path="sluice/sluice.hpp", seen=None):
    """The headers of ours that it includes, each with those of the standard library."""
    seen = {} if seen is None else seen
    if path in seen:
        return seen
    text = (INCLUDE / path).read_text()
    seen[path] = set(re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M))
    for target in re.findall(r'^\s*#\s*include\s*"(sluice/[^"]+)"', text, re.M):
        ours(target, seen)
    return seen


def unknown_headers(headers):
    return sorted(f"include/{path} includes <{name}>" for path, names in headers.items() for name in names - STANDARD)


def compiled(text, folder):
    """The compiler's own account of what it did, and the object."""
    source, trace, made = (pathlib.Path(folder) / n for n in ("program.cpp", "trace.json", "program.o"))
    source.write_text(text)
    subprocess.run([COMPILER, "-std=c++20", "-O2", "-w", "-c", "-I", str(INCLUDE), f"-ftime-trace={trace}",
                    "-ftime-trace-granularity=0", "-o", str(made), str(source)], check=True)
    return json.loads(trace.read_text())["traceEvents"], made


def instantiations(events):
    return [e for e in events if e.get("ph") == "X" and e["name"] in ("InstantiateClass", "InstantiateFunction")]


def by_header(events):
    """How many begin in each header of ours, not in what it includes; clang has some more at the end of the file."""
    read = []
    files = [e for e in events if e["name"] == "Source" and e.get("ph") in "be"]
    for begin, end in zip(files[::2], files[1::2]):
        read.append((begin["ts"], end["ts"], begin["args"]["detail"]))
    counts = collections.Counter()
    for e in instantiations(events):
        around = [r for r in read if r[0] <= e["ts"] <= r[1]]
        innermost = max(around)[2] if around else "the end of the file"
        if not around or str(INCLUDE) in innermost:
            counts[innermost.removeprefix(str(INCLUDE) + "/")] += 1
    return counts


def functions_in(made):
    symbols = subprocess.run(["nm", "-C", str(made)], capture_output=True, text=True, check=True).stdout
    return [line for line in symbols.splitlines() if re.match(r"^[0-9a-f]+ [TtWVi] ", line)]


def main():
    check = tree.checks()
    check.expect(unknown_headers({"x.hpp": {"map", "memory"}}) == ["include/x.hpp includes <map>"], "the checker lets <map> pass")
    complaints = unknown_headers(ours())
    check.clean("headers of the standard library that sluice/sluice.hpp had done without", complaints)
    if not COMPILER:
        print("no clang++-19: instantiations are not counted")
        return check.finish()
    with tempfile.TemporaryDirectory() as folder:
        reference = len(instantiations(compiled(REFERENCE, folder)[0]))
        check.expect(reference > 500, f"<memory> and <string> instantiate {reference} templates: the measure is broken")
        check.expect(functions_in(compiled("inline int f() { return 1; }\nint (*p)() = f;\n", folder)[1]), "the checker sees no function")
        events, made = compiled(PROGRAM, folder)
        emitted = functions_in(made)
    more = len(instantiations(events)) - reference
    counts = by_header(events).most_common()
    dearest = ", ".join(f"{count} in {header}" for header, count in counts[:8])
    check.expect(more <= INSTANTIATED, f"sluice/sluice.hpp instantiates {more} templates more than <memory> and <string>, and "
                 f"{INSTANTIATED} is the limit ({dearest}): {ADVICE}")
    check.clean("functions that a file has because it includes sluice/sluice.hpp", emitted)
    if "--all" in sys.argv:
        print(f"{more} instantiations above the reference's {reference}")
        for header, count in counts:
            print(f"{count:6}  {header}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
