# SPDX-License-Identifier: Apache-2.0
"""What the tests of packages share: a compiler, folders that stay between runs, and programs that say what went wrong."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# `./dev test` names the lane's build folder: build-g++-12 is g++'s, build is clang's.
COMPILER = "g++-12" if "g++-12" in os.environ.get("SLUICE_BUILD", "") else "clang++-19"
# Not below /tmp: a second run builds what changed only.
PLACE = ROOT / ".cache" / "packages" / COMPILER
HELLO = ROOT / "examples" / "01_hello.cpp"
HELLO_SAYS = (ROOT / "tests" / "examples" / "01_hello.txt").read_text()
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic", "-Werror"]


class broken(Exception):
    pass


def environment(**more):
    linker = {"CXX_LD": "lld-19"} if COMPILER.startswith("clang") and shutil.which("ld.lld-19") else {}
    launcher = "ccache " if shutil.which("ccache") else ""
    return dict(os.environ, CXX=launcher + COMPILER, CCACHE_NOHASHDIR="true", CCACHE_BASEDIR=str(ROOT), **linker, **more)


def run(*command, cwd=PLACE, env=None, fails=False):
    """Its output. Raises with the output when it fails, or, where it has to fail, when it does not."""
    words = [str(c) for c in command]
    done = subprocess.run(words, cwd=cwd, env=env or environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if bool(done.returncode) != fails:
        raise broken(f"{' '.join(words)}: exit status {done.returncode}\n" + "\n".join(done.stdout.splitlines()[-40:]))
    return done.stdout


def says_hello(program, **env):
    said = run(program, env=environment(**env))
    if said != HELLO_SAYS:
        raise broken(f"{program} said\n{said}instead of\n{HELLO_SAYS}")


def configure(folder, source, *options):
    """Like `meson setup`, whether the folder is there or not."""
    again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
    run("meson", "setup", folder, source, *again, *options, cwd=ROOT)


def jobs():
    return os.environ.get("SLUICE_JOBS") or str(os.cpu_count())


class checks:
    """Runs what is decorated, in order, each as one check; what it raises is its complaint."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what):
        try:
            what()
            self.passed += 1
        except (broken, AssertionError, OSError) as why:
            self.failed += 1
            print(f"{COMPILER}: {what.__doc__}\n{why}")
        return what

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
