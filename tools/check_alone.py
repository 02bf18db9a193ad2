# SPDX-License-Identifier: Apache-2.0
"""Checks that each source compiles alone: a group of sources hides an include that is missing in one of them.

  check_alone.py [SOURCE…]     all sources that the build folder compiles in groups, or these; prints `N passed, N failed`

Each source is parsed with the flags of its group (build/compile_commands.json). All of them take about seven minutes.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def grouped_sources():
    """Pairs of a source and the words of the command that compiles its group, without input and output."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        group = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if group.parent != BUILD or not group.name.startswith("joined-"):
            continue
        words = shlex.split(entry["command"])
        words = words[1:] if words[0].endswith("ccache") else words
        kept = [w for i, w in enumerate(words[:-1]) if w not in ("-c", "-o", "-MD", "-MQ", "-MF") and words[i - 1] not in ("-o", "-MQ", "-MF")]
        for path in re.findall(r'^#include "(.+)"', group.read_text(), re.M):
            yield ROOT / path, kept


def refusal(source, words):
    done = subprocess.run([*words, "-fsyntax-only", "-w", str(source)], cwd=BUILD, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main(arguments):
    if not (BUILD / "compile_commands.json").exists():
        print("build/compile_commands.json is missing: run ./dev build first", file=sys.stderr)
        return 2
    wanted = {(ROOT / a).resolve() for a in arguments}
    chosen = [(s, words) for s, words in grouped_sources() if not wanted or s in wanted]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (source, _), why in zip(chosen, pool.map(lambda job: refusal(*job), chosen)):
            if why:
                failed += 1
                print(f"FAILED {source.relative_to(ROOT)}\n{why[:1500]}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not (chosen or wanted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
