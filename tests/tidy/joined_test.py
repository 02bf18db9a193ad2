# SPDX-License-Identifier: Apache-2.0
"""The library's sources compile as one file, as the lanes of g++ and of the sanitizers join them (docs/internals/decisions/compile_time.md).

Two sources may therefore not give one name to two things of their own. Looked at again when a source or header changed.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys

import tree

COMPILER = shutil.which("clang++-19") or shutil.which("g++-12") or "c++"
FLAGS = ["-std=c++20", "-w", "-fsyntax-only", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-I", "include", "-I", "src", "-I", ".",
         "-isystem", "/usr/share/include/llhttp", "-DLLHTTP_STRICT_MODE=1", "-DSLUICE_HAVE_TLS=1", "-DSLUICE_HAVE_STORES=1",
         "-x", "c++", "-"]
LLHTTP = pathlib.Path("/usr/share/include/llhttp")
MEMORY = tree.ROOT / ".cache" / "joined.txt"


def refusal(text):
    done = subprocess.run([COMPILER, *FLAGS], input=text, cwd=tree.ROOT, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def sources_of(part):
    listed = subprocess.run([sys.executable, "tools/sources.py", part], cwd=tree.ROOT, capture_output=True, text=True)
    return listed.stdout.split()


def main():
    check = tree.checks()
    sources = sources_of("library")
    check.expect(len(sources) > 50, f"tools/sources.py knows {len(sources)} sources: the list is broken")
    words = [COMPILER, *FLAGS, *(p.read_text() for p in tree.files("include", "src", "io"))]
    now = hashlib.sha256("\0".join(words).encode()).hexdigest()
    if not MEMORY.exists() or MEMORY.read_text() != now:
        check.expect(refusal("namespace { int a; } namespace { int a; }"), "the checker lets a repeated name pass")
        why = refusal("".join(f'#include "{source}"\n' for source in sources))
        check.expect(not why, "sources of the library do not go together in one file; rename what is defined twice:\n" + why[:3000])
        remote = [s for part in ("http_library", "stores_library") for s in sources_of(part)]
        if LLHTTP.is_dir():
            why_remote = refusal("".join(f'#include "{source}"\n' for source in remote))
            check.expect(not why_remote, "nor do those of remote files:\n" + why_remote[:3000])
            why += why_remote
        if not why:
            MEMORY.parent.mkdir(exist_ok=True)
            MEMORY.write_text(now)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
