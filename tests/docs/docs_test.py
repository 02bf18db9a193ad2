# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows compiles, parses and leads somewhere.

In README.md, docs/*.md and docs/internals/*.md the word after ``` says what a block is:

  cpp           declarations, or a whole program
  cpp body      statements of a coroutine that has `runtime& rt`
  cpp example   expressions and declarations by turns, over the names of preamble.hpp
  sluice        plan text, which the program must be able to explain; `…` is not allowed in it

Other blocks (sh, text) are not looked at. Each page is one translation unit, in which every block has a namespace of its own
and sees the names of the blocks above it.
Links to files of this repository must lead to one, and docs/operators.md must be what the headers say.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tidy"))
import tree  # noqa: E402

BUILD = ROOT / "build"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/internals").glob("*.md"))]
RECORDS = ROOT / "docs/internals/decisions"
BLOCK = re.compile(r"^```([\w+]+)(?: ([\w/.]+))?\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)(?:#[^)]*)?\)")
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wno-unused", "-Wno-return-type", "-DASIO_STANDALONE", "-I", "include", "-I", "tests/docs", "-I", "."]


def statement_kind(text):
    head = text.lstrip()
    if re.match(r"(struct|stream<|task<|auto \w+\(|bool \w+\(|SLUICE_|template|namespace|using|inline|class)", head):
        return "declaration"
    return "declaration" if re.match(r"(auto|const|dataset<\w+>) \w+ = ", head) else "expression"


def examples(text):
    """An example's lines joined until their brackets close; expressions become definitions of a variable."""
    out, pending, count = [], "", 0
    for line in text.splitlines():
        pending += line + "\n"
        bare = tree.code_only(pending)
        if not bare.strip() or any(bare.count(a) > bare.count(b) for a, b in ("()", "{}", "[]")):
            continue
        if bare.rstrip().endswith(("|", ",", "=")):
            continue
        code = re.sub(r"(?<!:)//[^\n]*", "", pending).strip()  # of a URL it is no comment
        if code and statement_kind(code) == "expression":
            count += 1
            code = f"auto value_{count} = {code.rstrip(';')};"
        out.append(code)
        pending = ""
    return "\n".join(out) + pending


def unit(page):
    """The page's C++ as one source; None where it has none."""
    includes, bodies = ["#include <sluice/sluice.hpp>", "#include <docs_preamble.hpp>"], []
    text = page.read_text()
    for number, match in enumerate(BLOCK.finditer(text)):
        language, form, body = match.groups()
        if language != "cpp":
            continue
        line = text[: match.start()].count("\n") + 2
        includes += re.findall(r"^#include.*$", body, re.M)
        body = re.sub(r"^#(include|pragma once).*$", "", body, flags=re.M)
        if form == "example":
            body = examples(body)
        elif form == "body":
            body = f"sluice::task<void> statements(sluice::runtime& rt) {{\n(void)rt;\n#line {line} \"{page.name}\"\n{body}\nco_return;\n}}"
        body = re.sub(r"^using namespace sluice;$", "", body, flags=re.M)
        bodies.append(f"namespace block_{number} {{\n#line {line} \"{page.name}\"\n{body}\n}}\nusing namespace block_{number};")
    if not bodies:
        return None
    return "\n".join(sorted(set(includes), key=includes.index)) + "\nusing namespace sluice;\n" + "\n".join(bodies)


def compile_error(page, compiler):
    source = unit(page)
    if source is None:
        return None
    flags = FLAGS + (["-DASIO_HAS_CO_AWAIT"] if "clang" in compiler else [])
    said = subprocess.run([compiler, *flags, "-x", "c++", "-"], input=source, capture_output=True, text=True, cwd=ROOT)
    return "" if said.returncode == 0 else said.stderr[:3000]


def plan_errors(page):
    for match in BLOCK.finditer(page.read_text()):
        if match.group(1) != "sluice":
            continue
        said = subprocess.run([BUILD / "sluice", "explain", match.group(3)], capture_output=True, text=True)
        if said.returncode:
            yield f"{match.group(3).strip()}\n    {said.stderr.strip()}"


def dead_links(page):
    prose = re.sub(r"`[^`\n]*`", "", re.sub(BLOCK, "", page.read_text()))
    for target in LINK.findall(prose):
        if not (page.parent / target).exists():
            yield target


def decision_errors():
    """The index of the decision records lists each record once, and maps each old number to the record that replaces it."""
    index = (RECORDS / "README.md").read_text()
    records, old_numbers = index.split("\n## Old numbers\n")
    names = sorted(p.name for p in RECORDS.glob("*.md") if p.name != "README.md")
    listed = re.findall(r"^\| \[[^\]]+\]\((\w+\.md)\) \|", records, re.M)
    if sorted(listed) != names:
        yield "records that the index does not list once: " + ", ".join(sorted(set(names) ^ set(listed)) or listed)
    replaced = []
    for name in names:
        line = re.search(r"^Replaces: ((?:\d{4}(?:, )?)+)$", (RECORDS / name).read_text(), re.M)
        replaced += [(number, name) for number in (line.group(1).split(", ") if line else [])]
    mapped = re.findall(r"^\| (\d{4}) \| \[[^\]]+\]\((\w+\.md)\) \|$", old_numbers, re.M)
    for number, name in sorted(set(replaced) ^ set(mapped)):
        yield f"{number} and {name} are not paired in both the index and the record"
    if len(mapped) != len({number for number, _ in mapped}):
        yield "an old number is mapped twice"


def main():
    check = tree.checks()
    check.expect(examples("range(5)\nauto x = f(1,\n  2);\n").count("value_") == 1, "examples are not told apart")
    compilers = [c for c in ("clang++-19", "g++-12") if shutil.which(c)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(p, c): pool.submit(compile_error, p, c) for p in PAGES for c in compilers}
        for (page, compiler), job in jobs.items():
            if job.result() is not None:
                check.expect(not job.result(), f"{tree.name(page)} with {compiler}:\n{job.result()}")
    for page in PAGES:
        check.clean(f"{tree.name(page)}: links that lead nowhere", list(dead_links(page)))
        if (BUILD / "sluice").exists():
            check.clean(f"{tree.name(page)}: plans that cannot be explained", list(plan_errors(page)))
    for page in [ROOT / "CHANGELOG.md", *sorted(RECORDS.glob("*.md"))]:
        check.clean(f"{tree.name(page)}: links that lead nowhere", list(dead_links(page)))
    check.clean("docs/internals/decisions/README.md", list(decision_errors()))
    if (BUILD / "sluice").exists():
        made = subprocess.run([sys.executable, "tools/operators.py", BUILD, "--check"], cwd=ROOT,
                              capture_output=True, text=True)
        check.expect(made.returncode == 0, made.stdout + made.stderr)
        listed = subprocess.run([BUILD / "sluice", "ops"], capture_output=True, text=True).stdout
        page = (ROOT / "docs/operators.md").read_text()
        names = re.findall(r"^(\w+) .*\n +\(", listed, re.M) + re.findall(r"^  (\w+)\(.*\) is ", listed, re.M)
        for name in [*names, "write", "broadcast", "at", "apply"]:
            check.expect(f"\n### {name}\n" in page, f"{name} has no section in docs/operators.md")
            lines = [line for line in page.splitlines() if line.startswith(f"- [{name}](#{name}): ")]
            check.expect(len(lines) == 1, f"{name} has no line, or several, at the top of docs/operators.md")
        for argument in ("timeout", "oversized", "comment", "select", "pad_to_bucket_boundary", "initial"):
            check.expect(f"\n- `{argument}` (" in page, f"{argument} is in no list of arguments")
        check.expect("\n| " not in page, "docs/operators.md has a table, which a narrow page cannot show")
        check.clean("lists of verbs that a narrow page breaks", [line for line in page[:page.index("\n### ")].splitlines()
                                                                if line.startswith("- ") and len(re.sub(r"\(#\w+\)", "", line)) > 130])
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
