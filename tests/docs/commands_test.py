# SPDX-License-Identifier: Apache-2.0
"""Runs the `console` blocks of the documents as they stand: `$ COMMAND`, then the lines that it prints.

The blocks of a page run one after the other, in one empty folder. That of README has `build`. `…` in a line stands for any text, and a line of `…`
for any lines. `$?` is the status of the command before.

Commands of `sh` and `ini` blocks name files that do not exist here. They are run in an empty folder: the program may miss
a file, but must accept verb, options and plan. The code of `py` blocks must parse.
"""
import ast
import os
import pathlib
import re
import shlex
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


MISUSE = 2
NOT_HERE = ("PLAN", "://")   # a placeholder, and what needs a network


def shown_commands(text):
    """The commands of sluice in blocks that show no output."""
    for block in re.findall(r"^```(?:sh|ini)\n(.*?)^```$", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"(?:ExecStart=|\$ )?(?:\S*/)?sluice (.*)", line)
            if found and not any(word in line for word in NOT_HERE):
                yield found.group(1)


def refused(text, folder):
    """The shown commands whose arguments the program refuses."""
    for command in shown_commands(text):
        words = shlex.split(command, comments=True)
        for end in ("|", ">", "<", "&&", "&"):
            words = words[:words.index(end)] if end in words else words
        done = subprocess.run([PROGRAM, *words], cwd=folder, timeout=120, text=True, stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode == MISUSE:
            yield f"sluice {command}\n{done.stderr}"


def unreadable_python(text):
    for block in re.findall(r"^```py\n(.*?)^```$", text, re.M | re.S):
        try:
            ast.parse(block)
        except SyntaxError as e:
            yield f"{block}\n{e}"


def main():
    check = tree.checks()
    with tempfile.TemporaryDirectory() as folder:
        wrong = "```console\n$ echo one\ntwo\n$ false\n$ echo $?\n1\n$ printf 'a\\nb\\nc\\n'\na\n…\nc\n```\n"
        check.expect(len(list(complaints(wrong, folder))) == 1, "the checker does not compare what commands print")
        wrong = "```sh\nsluice haed a.csv\nsluice head none.csv   # a file that is missing\n```\n```py\nx = = 1\n```\n"
        check.expect(len(list(refused(wrong, folder))) == 1, "the checker does not see arguments that are refused")
        check.expect(len(list(unreadable_python(wrong))) == 1, "the checker does not parse Python")
    readme = tree.ROOT / "README.md"
    pages = [p for p in [readme, *sorted((tree.ROOT / "docs").glob("*.md"))] if "```console" in p.read_text()]
    check.expect(len(pages) >= 3 and readme in pages, f"{len(pages)} pages have commands")
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            if page == readme:  # its commands are typed in the repository
                os.symlink(PROGRAM.parent, pathlib.Path(folder) / "build")
            check.clean(page.name, list(complaints(page.read_text(), folder)))
    shown = 0
    for page in [tree.ROOT / "README.md", *sorted((tree.ROOT / "docs").glob("*.md"))]:
        text = page.read_text()
        shown += len(list(shown_commands(text)))
        with tempfile.TemporaryDirectory() as folder:
            check.clean(f"{page.name}: commands that the program refuses", list(refused(text, folder)))
        check.clean(f"{page.name}: Python that does not parse", list(unreadable_python(text)))
    check.expect(shown >= 12, f"{shown} commands are shown in sh and ini blocks")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
