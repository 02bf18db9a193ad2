# SPDX-License-Identifier: Apache-2.0
"""Plants one bug after the other, rebuilds what it touches, and sees whether what tries every verb (random plans, rows, resume
costs, conformance, forged positions), the channels' bounds, the draws or the changed knobs notice.

  tests/mutants/run.py [--plans N] [--jobs N] [--from N] [--done FILE] [--times N] [--unchecked] [WORD…]

Only mutants whose name has one of the words. --times: waits so many times as long for a test, on a slow machine. --unchecked: does not
run all tests without a bug first, which takes ten minutes.

Tries first the test that tests/mutants/noticed.tsv names, and builds only its program; the others where that test finds nothing, after
all bugs that are noticed by their first test. Each
test that is tried first has to pass without a bug.

Works on a copy of the tree below build-mutants/, so that the tree itself stays as it is. A bug counts as caught when
the test fails, crashes or hangs; the first test that notices is printed, for tests/mutants/noticed.tsv. Ends with
`N passed, N failed`; a mutant whose text is no longer there fails, too: it has to follow the source. Not part of `./dev test`: it builds and links once a mutant.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

from mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build-mutants"
NEEDED = ["meson.build", "meson_options.txt", "LICENSE", "tools", "include", "src", "io", "tests"]


def refresh_copy():
    """Only files that differ are written, so that an earlier build is of use."""
    for name in NEEDED:
        source = ROOT / name
        for file in [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file()):
            target = COPY / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != file.read_bytes():
                shutil.copyfile(file, target)


def configure():
    """Also where it was configured before: meson lists sources only then."""
    folder = COPY / "build"
    again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
    launcher = "ccache " if shutil.which("ccache") else ""
    environment = dict(os.environ, CXX=os.environ.get("CXX", launcher + "clang++-19"), CXX_LD="lld-19")
    alone = ",".join(sorted({file for _, file, _, _ in MUTANTS}))
    subprocess.run(["meson", "setup", *again, str(folder), str(COPY), "-Dexamples=false", "-Dbench=disabled",
                    "-Doptimization=1", f"-Dalone={alone}"], check=True, env=environment, stdout=subprocess.DEVNULL)


PROGRAMS = ["op_tests", "optimizer_tests", "runners_tests", "pipeline_tests", "engine_tests", "splits_tests", "service_tests", "io_tests",
            "format_tests", "element_tests", "arrow_tests", "tuner_tests", "http_tests"]


def build(jobs, programs=PROGRAMS):
    done = subprocess.run(["ninja", "-C", str(COPY / "build"), "-j", str(jobs), *programs], capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def bound_memory():
    """Some bugs make a run take all there is."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def tests_of_operator(file):
    """Of src/op/NAME.cpp and src/op/NAME/PART.cpp those in NAME_test.cpp and each PART_test.cpp; of other files none."""
    if not file.startswith("src/op/"):
        return []
    name = pathlib.Path(file).parts[2]
    parts = {pathlib.Path(name).stem, *(part.stem for part in (COPY / "src/op" / name).glob("*.?pp"))}
    return [",".join(f"[#{part}_test]" for part in sorted(parts))]


def environments(plans):
    full = dict(os.environ, SLUICE_TEST_PLANS=str(plans), SLUICE_TEST_SEEDS="2000")
    full.pop("SLUICE_TEST_BUDGET", None)
    return full, dict(full, SLUICE_TEST_BUDGET="small")


def cases():
    """The program of each test case, by the case's name."""
    found = {}
    for path in (ROOT / "tests").rglob("*.cpp"):
        folder = path.relative_to(ROOT / "tests").parts[0]
        for name in re.findall(r'\b(?:\w*TEST_CASE\w*|SCENARIO)\(\s*"((?:[^"\\]|\\.)*)"', path.read_text()):
            found[name] = ("op" if folder == "verbs" else folder) + "_tests"
    return found


def test_named(noticed, programs):
    """The command of the test in a line of noticed.tsv, after ROWS=FILE if only this file's rows are needed; None where no program of
    ours runs it."""
    if "random plan" in noticed:
        return ("op_tests", "random plans*")
    if rows := re.search(r"(?:tests/verbs/|rows? of )(\w+\.tsv)", noticed):
        path = f"tests/verbs/{rows.group(1)}"
        return ("ROWS=" + path, "runners_tests") if (ROOT / path).exists() else ("runners_tests",)
    rows = re.search(r"tests/(\w+)/\w+(?:\.tsv|_test\.cpp)", noticed)
    if rows and rows.group(1) + "_tests" in PROGRAMS:
        return (rows.group(1) + "_tests",)
    name = next((name for name in sorted(programs, key=len, reverse=True) if name in noticed), None)
    if name is None or programs[name] not in PROGRAMS:
        return None
    several = "*" if programs[name] == "op_tests" and name.startswith("every verb") else ""  # a template's cases are numbered
    return (programs[name], re.sub(r"([,\[\]\\*])", r"\\\1", name) + several)


def first_tests():
    """By the name of a mutant the test to try first."""
    programs = cases()
    rows = (line.split("\t") for line in (ROOT / "tests/mutants/noticed.tsv").read_text().splitlines())
    return {name: test for name, noticed in rows if (test := test_named(noticed, programs))}


def run_test(test, environment, seconds):
    """None where the test passes, else how the bug was noticed."""
    if test[0].startswith("ROWS="):
        environment, test = dict(environment, SLUICE_TEST_ROWS=test[0].removeprefix("ROWS=")), test[1:]
    command = [str(COPY / "build" / test[0]), "--abort", *test[1:]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, cwd=ROOT, env=environment,
                              preexec_fn=bound_memory)
    except subprocess.TimeoutExpired:
        return f"hangs (for {seconds} s)"
    return how_noticed(done) if done.returncode != 0 else None


def try_first(test, plans, times=1):
    full, small = environments(plans)
    needs_all = any(words.startswith(("random plans", "ROWS=", "the service delivers")) for words in test) or test == ("runners_tests",)
    return run_test(test, full if needs_all else small, 300 * times)


def try_plans(plans, file="", times=1):
    """None where nothing was noticed, else how. Those first that find most bugs in the shortest time."""
    full, small = environments(plans)
    # What several operators share has its tests among theirs: at the end all of them.
    rules = [(["optimizer_tests"], small, 300)] if file.startswith("src/optimizer/") else []
    if file.startswith("src/splits/"):
        rules = [(["runners_tests", "*split*"], full, 300), (["splits_tests"], small, 60)]
    if file.startswith("src/format/"):
        rules = [(["format_tests"], small, 300)]
    if file.startswith("src/arrow/"):
        rules = [(["arrow_tests"], small, 300)]
    if file.startswith("io/messages/"):
        rules = [(["io_tests", "[transport]"], full, 60)]
    if file.startswith("src/service/"):
        rules = [(["service_tests", "the service delivers*"], full, 300)]
    for test, environment, seconds in (*rules, *((["op_tests", "-#", tests], small, 300) for tests in tests_of_operator(file)),
                                       (["op_tests", "random plans*"], full, 120 + plans), (["runners_tests"], full, 300),
                                       (["engine_tests"], small, 300), (["pipeline_tests"], small, 300),
                                       (["op_tests", "[every_verb]"], small, 300), (["op_tests"], small, 900)):
        if noticed := run_test(test, environment, seconds * times):
            return noticed
    return None


def how_noticed(done):
    """The second column of tests/mutants/noticed.tsv: how, and by which test."""
    case = re.search(r"\n-{20,}\n((?:(?!-{20}).+\n)+)-{20,}", done.stdout)  # a long name goes on in the next line
    name = " ".join(case.group(1).split()) if case else "?"
    row = re.search(r"^ *(tests/\S+\.tsv:\d+): ", done.stdout, re.M)
    how = "crashes" if "fatal error condition" in done.stdout or done.returncode < 0 else "other elements"
    if "refused" in done.stdout or "data_loss" in done.stdout:
        how = "checkpoint refused"
    return f"{how}, by {row.group(1)}" if row else f'{how}, by "{name}"'


def program_of(test):
    return next((word for word in test or () if word in PROGRAMS), "")


def plant(mutant, first, options, only_first):
    """How the bug was noticed, and whether it was. None if `only_first`, and the first test did not notice it."""
    name, file, there, instead = mutant
    path = COPY / file
    original = path.read_text()
    if original.count(there) != 1:
        return f"STALE: the text stands {original.count(there)} times in {file}", False
    path.write_text(original.replace(there, instead))
    try:
        sound, output = build(options.jobs, [program_of(first)] if first else PROGRAMS)
        plans = options.plans if only_first else 5 * options.plans  # few random plans may all miss it
        noticed = try_first(first, plans, options.times) if sound and first else None
        if sound and not noticed and only_first:
            return None
        if sound and first and not noticed:
            sound, output = build(options.jobs)
        if sound and not noticed:
            noticed = try_plans(plans, file, options.times)
    finally:
        path.write_text(original)
    return noticed or ("NOT CAUGHT" if sound else "DOES NOT COMPILE\n" + output[-1500:]), bool(noticed)


def noticed_in(file):
    """The names of the bugs that an output of this program has as noticed."""
    lines = pathlib.Path(file).read_text().splitlines()
    return {line.split(": ")[0] for line in lines if re.search(r", (by|in) .* \(\d+ s\)$|: hangs \(", line)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plans", type=int, default=100)
    parser.add_argument("--from", dest="first", type=int, default=0, help="leaves out so many mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--unchecked", action="store_true")
    parser.add_argument("--done", metavar="FILE", help="leaves out those that this output of an earlier run has as noticed")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    refresh_copy()
    configure()
    done = noticed_in(options.done) if options.done else set()
    mutants = [mutant for mutant in MUTANTS[options.first:] if mutant[0] not in done]
    mutants = [mutant for mutant in mutants if not options.words or any(word in mutant[0] for word in options.words)]
    first = first_tests()
    sound, output = build(options.jobs)
    # By program and file: taking back one bug and planting the next is then one compilation and one link.
    mutants.sort(key=lambda mutant: (program_of(first.get(mutant[0])), mutant[1]))
    noticed = None
    if sound:
        wanted = sorted({first[name] for name, *_ in mutants if name in first})
        noticed = next((f"{' '.join(test)}: {how}" for test in wanted if (how := try_first(test, options.plans, options.times))), None)
        if not noticed and not options.unchecked:
            noticed = try_plans(options.plans, times=options.times)
    if not sound or noticed:
        print(output[-2000:] if not sound else f"without a planted bug: {noticed}")
        print("0 passed, 1 failed")
        return 1
    passed = failed = 0
    later = []  # trying all other tests takes minutes
    for only_first, some in ((True, mutants), (False, later)):
        for mutant in some:
            started = time.monotonic()
            result = plant(mutant, first.get(mutant[0]), options, only_first)
            if result is None:
                later.append(mutant)
                continue
            verdict, caught = result
            passed, failed = passed + caught, failed + (not caught)
            print(f"{mutant[0]}: {verdict} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
