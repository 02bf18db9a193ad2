# SPDX-License-Identifier: Apache-2.0
"""Runs the `console` blocks of the documents as they stand: `$ COMMAND`, then the lines that it prints.

The blocks of a page run one after the other, in one empty folder. `…` in a line stands for any text, and a line of `…`
for any lines. `$?` is the status of the command before.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tidy"))
import tree

PROGRAM = pathlib.Path(os.environ.get("SLUICE", tree.ROOT / "build/sluice"))


def commands(text):
    """Pairs of a command and what it prints."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


def pattern(printed):
    lines = [".*" if line == "…" else re.escape(line).replace("…", ".*") for line in printed.splitlines()]
    return re.compile("\n".join(lines), re.S)


def complaints(text, folder):
    """What the commands print other than the text says."""
    environment = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", HOME=folder, NO_COLOR="1")
    status = 0
    for command, printed in commands(text):
        done = subprocess.run(["bash", "-c", f"(exit {status}); {command}"], cwd=folder, env=environment, timeout=120, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status = done.returncode
        if not pattern(printed).fullmatch(done.stdout.rstrip("\n")):
            yield f"$ {command}\nprints\n{done.stdout}instead of\n{printed}"


def main():
    check = tree.checks()
    with tempfile.TemporaryDirectory() as folder:
        wrong = "```console\n$ echo one\ntwo\n$ false\n$ echo $?\n1\n$ printf 'a\\nb\\nc\\n'\na\n…\nc\n```\n"
        check.expect(len(list(complaints(wrong, folder))) == 1, "the checker does not compare what commands print")
    pages = [p for p in sorted((tree.ROOT / "docs").glob("*.md")) if "```console" in p.read_text()]
    check.expect(len(pages) >= 2, f"{len(pages)} pages have commands")
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            check.clean(f"docs/{page.name}", list(complaints(page.read_text(), folder)))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
