# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz targets under libFuzzer, one after the other, and says how far each came. `./dev fuzz` builds and calls it.

  ./dev fuzz                          every target for a minute
  ./dev fuzz lines inflate 600        these for ten minutes each, or ten million executions where those come first
  ./dev fuzz lines FILE               one input (of build-fuzz/findings/, for example), with the sanitizers' reports
  ./dev fuzz --keep [TARGET…]         what was found to reach new code, minimised, into tests/fuzz/corpus/

Inputs are collected in build-fuzz/corpus/TARGET, those that fail in build-fuzz/findings/. When one is mended, its input
goes to tests/fuzz/corpus/TARGET/found-WORDS. --keep leaves these alone, and written-*, which somebody wrote. The last line
says how many targets held.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "tests/fuzz/corpus"
KEPT_FILES_MAX, KEPT_BYTES_MAX = 80, 16 << 10  # of each target: they run in every lane, and live in the history
# Hanging is a finding too. libFuzzer's clock is the wall's: an input of 10 ms took ten seconds on a machine with others at work.
EXECUTIONS_MAX = 10_000_000  # beyond that a target finds little that is new
LIMITS = ["-timeout=60", "-report_slow_units=60", "-rss_limit_mb=2048", "-max_len=4096"]


def environment(target):
    sanitizers = {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=0:strict_string_checks=1",
                  "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19"}
    return {**sanitizers, **os.environ, "SLUICE_FUZZ_TARGET": target}


def fuzz(build, target, seconds):
    work, findings = build / "corpus" / target, build / "findings"
    work.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    before = set(findings.glob(f"{target}-*"))
    log = build / f"{target}.log"
    started = time.monotonic()
    with open(log, "w") as out:
        command = ["nice", "-n", "19", build / "sluice_fuzz", f"-max_total_time={seconds}", f"-runs={EXECUTIONS_MAX}",
                   "-print_final_stats=1",
                   f"-artifact_prefix={findings}/{target}-", *LIMITS, work, CORPUS / target]
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment(target)).returncode
    text = log.read_text(errors="replace")
    executions = re.search(r"number_of_executed_units: *(\d+)", text)
    executions = int(executions[1]) if executions else 0
    reached = re.findall(r"cov: (\d+) ft: (\d+)", text) or [("?", "?")]
    found = sorted(set(findings.glob(f"{target}-*")) - before)
    print(f"{target:15} {executions:11,} executions {time.monotonic() - started:6.0f} s   {reached[-1][0]:>6} edges "
          f"{reached[-1][1]:>6} features   {len(found)} found", flush=True)
    if status or found:
        said = re.search(r"(?m)^.*(what\(\):|ERROR: |runtime error:).*$", text)
        print(f"  {said[0].strip() if said else f'status {status}'}\n  {log}")
        for f in found:
            print(f"  ./dev fuzz {target} {f.relative_to(ROOT)}")
    return status == 0 and not found


def replay(build, target, file):
    return subprocess.run([build / "sluice_fuzz", *LIMITS, file], env=environment(target)).returncode == 0


def keep(build, target):
    """Of a minimal set every so manyth by size: tiny inputs reach the refusals, longer ones what sound bytes reach."""
    kept, work = CORPUS / target, build / "corpus" / target
    with tempfile.TemporaryDirectory() as merged:
        subprocess.run([build / "sluice_fuzz", "-merge=1", *LIMITS, merged, kept, *([work] if work.exists() else [])],
                       env=environment(target), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for old in kept.glob("*"):
            if not old.name.startswith(("found-", "written-")):
                old.unlink()
        minimal = sorted(pathlib.Path(merged).iterdir(), key=lambda f: (f.stat().st_size, f.name))
        size = 0
        for file in minimal[::1 + len(minimal) // KEPT_FILES_MAX]:
            size += file.stat().st_size
            if size > KEPT_BYTES_MAX:
                break
            shutil.copy(file, kept / file.name[:12])
    print(f"{target:15} {len(list(kept.iterdir()))} files, {sum(f.stat().st_size for f in kept.iterdir()):,} bytes")
    return True


def main(arguments):
    build = ROOT / arguments.pop(0)
    known = sorted(p.name for p in CORPUS.iterdir())
    keeps = "--keep" in arguments
    seconds = next((int(a) for a in arguments if a.isdigit()), 60)
    files = [a for a in arguments if pathlib.Path(a).is_file()]
    targets = [a for a in arguments if a != "--keep" and not a.isdigit() and a not in files]
    for t in targets:
        if t not in known:
            print(f"no target {t}; there are {', '.join(known)}", file=sys.stderr)
            return 2
    if files and len(targets) != 1:
        print("a file is an input of one target: ./dev fuzz TARGET FILE", file=sys.stderr)
        return 2
    if files:
        return 0 if all([replay(build, targets[0], f) for f in files]) else 1
    results = [keep(build, t) if keeps else fuzz(build, t, seconds) for t in targets or known]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
