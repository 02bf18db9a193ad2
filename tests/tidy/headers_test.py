# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone, without a warning, and brings little with it.

A header is looked at again only when it or a header of ours below it changed since it last passed. What it brings is
counted, not timed: the bytes of preprocessed text as a multiple of what <memory> and <string> bring, so that a busy
machine says the same as an idle one. `--times` prints the seconds beside it (0.4 s for <memory> and <string> on ours).
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
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-x", "c++"]
LIMIT = 2.0         # times the reference; see above
DEAR = {            # these exist to include another library, or everything
    "include/sluice/base/absl_status.hpp": 2.6,
    "include/sluice/asio.hpp": 2.6,
    "include/sluice/sluice.hpp": 1.7,
    "include/sluice/io/simulated_network.hpp": 2.1,
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


def compiler(text, *flags):
    """Seconds of CPU, what it wrote, and what it said when it refused."""
    process = subprocess.Popen([COMPILER, *FLAGS, *flags, "-I", str(tree.ROOT / "include"), "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    process.stdin.write(text)
    process.stdin.close()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, output, output if status else ""


def brought_by(text):
    return len(compiler(text, "-E", "-P")[1])


def verdict(path, unit):
    """Seconds, multiples of the unit, and a complaint or nothing."""
    relative = tree.name(path)
    text = f'#include "{path.relative_to(tree.ROOT / "include")}"\n'
    seconds, _, refusal = compiler(text, "-fsyntax-only")
    if refusal:
        return seconds, 0, f"{relative} does not compile alone:\n" + "\n".join(refusal.splitlines()[:12])
    times, limit = brought_by(text) / unit, DEAR.get(relative, LIMIT)
    if times > limit:
        return seconds, times, f"{relative} brings {times:.2f} times the text of <memory> and <string>; {limit} is the limit"
    return seconds, times, ""


def main():
    check = tree.checks()
    remembered = json.loads(MEMORY.read_text()) if MEMORY.exists() else {}
    headers = tree.files("include")
    digests = {path: digest(path) for path in headers}
    show = "--times" in sys.argv
    stale = [p for p in headers if show or remembered.get(tree.name(p)) != digests[p]]
    check.expect(compiler("#include <no_such_header>\n", "-fsyntax-only")[2], "the checker lets a broken header pass")
    unit = brought_by("#include <memory>\n#include <string>\n")
    check.expect(unit > 100_000, f"<memory> and <string> bring {unit} bytes: the measure is broken")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = dict(zip(stale, pool.map(lambda p: verdict(p, unit), stale)))
    for path in headers:
        seconds, times, complaint = verdicts.get(path, (0, 0, ""))
        check.expect(not complaint, complaint)
        if show:
            print(f"{seconds:6.2f} s  {times:5.2f}  {tree.name(path)}")
    good = {tree.name(p): digests[p] for p in headers if p not in verdicts or not verdicts[p][2]}
    MEMORY.parent.mkdir(exist_ok=True)
    MEMORY.write_text(json.dumps(good, indent=1))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
