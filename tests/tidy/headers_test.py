# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone, without a warning, in about half a second.

A header is compiled again only when it or a header of ours below it changed since it last passed. `--times` prints the
cost of each. The limit is a ratio to what <memory> and <string> cost on this machine in this run (0.4 s on ours), so
that a busy machine does not fail it.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import tree

COMPILER = shutil.which("clang++-19") or shutil.which("g++-12") or "c++"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-x", "c++"]
LIMIT = 2.5         # times the reference; see above
DEAR = {            # these exist to include another library
    "include/sluice/base/absl_status.hpp": 5.0,
    "asio.hpp": 12.0,
    "include/sluice/sluice.hpp": 5.0,
}
MEMORY = tree.ROOT / ".cache" / "headers.json"
OURS = re.compile(r'#\s*include\s*"(sluice/[^"]+)"')


def closure(path, seen):
    if path in seen or not path.exists():
        return seen
    seen.add(path)
    for target in OURS.findall(path.read_text()):
        closure(tree.ROOT / "include" / target, seen)
    return seen


def digest(path):
    words = [COMPILER, *FLAGS, *(p.read_text() for p in sorted(closure(path, set())))]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def compile_alone(text):
    """Seconds of CPU, and what the compiler said when it refused."""
    process = subprocess.Popen([COMPILER, *FLAGS, "-I", str(tree.ROOT / "include"), "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    process.stdin.write(text)
    process.stdin.close()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, output if status else ""


def reference():
    return sorted(compile_alone("#include <memory>\n#include <string>\n")[0] for _ in range(5))[2]


def verdict(path, unit):
    relative = tree.name(path)
    text = f'#include "{path.relative_to(tree.ROOT / "include")}"\n'
    limit = DEAR.get(relative, DEAR.get(path.name, LIMIT)) * unit
    seconds, refusal = compile_alone(text)
    for _ in range(4):  # the best of five: noise only adds
        if refusal or seconds <= limit:
            break
        seconds = min(seconds, compile_alone(text)[0])
    if refusal:
        return seconds, f"{relative} does not compile alone:\n" + "\n".join(refusal.splitlines()[:12])
    if seconds > limit:
        return seconds, f"{relative} costs {seconds:.2f} s to include, {seconds / unit:.1f} times <memory> and <string> ({unit:.2f} s)"
    return seconds, ""


def main():
    check = tree.checks()
    remembered = json.loads(MEMORY.read_text()) if MEMORY.exists() else {}
    headers = tree.files("include")
    digests = {path: digest(path) for path in headers}
    show = "--times" in sys.argv
    stale = [p for p in headers if show or remembered.get(tree.name(p)) != digests[p]]
    check.expect(compile_alone("#include <no_such_header>\n")[1], "the checker lets a broken header pass")
    unit = reference() if stale else 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = dict(zip(stale, pool.map(lambda p: verdict(p, unit), stale)))
    for path in headers:
        seconds, complaint = verdicts.get(path, (0, ""))
        check.expect(not complaint, complaint)
        if show:
            print(f"{seconds:6.2f} s  {seconds / unit:5.1f}  {tree.name(path)}")
    good = {tree.name(p): digests[p] for p in headers if p not in verdicts or not verdicts[p][1]}
    MEMORY.parent.mkdir(exist_ok=True)
    MEMORY.write_text(json.dumps(good, indent=1))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
