# SPDX-License-Identifier: Apache-2.0
"""./dev says what it is doing on a terminal, is silent on a pipe, and asks for a password only where somebody can answer. What it
installs comes by the clients of registries, with their settings and mirrors: no address of a registry stands in the tree.

The tools it drives are replaced by scripts of a few lines, so nothing is built or installed.
"""
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

import tree

STUBS = {
    "id": "echo 1000",
    "dpkg-query": "true",                       # nothing is installed
    "apt-get": 'echo "Unpacking something"; echo "apt-get $*" >>"$SAID"',
    # Asks for a password, as sudo does, on the terminal.
    "sudo": 'echo "sudo $*" >>"$SAID"\n'
            'case $1 in -n) [ -e "$SAID.asked" ] || exit 1; shift; exec "$@" ;; -v) echo "password for you:" >&2; touch "$SAID.asked" ;; esac',
    "meson": 'mkdir -p build; touch build/build.ninja; echo "Configuring things"',
    "ninja": 'echo "[1 of 2] Compiling one"; echo "[2 of 2] Compiling two"; [ -z "${BROKEN-}" ] || { echo "two.cpp:1: error: no"; exit 1; }',
    "ccache": "true",
}


class place:
    """A copy of ./dev with its tools replaced."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.copy(tree.ROOT / "dev", self.folder / "dev")
        (self.folder / "tools").mkdir()
        (self.folder / "tools" / "sources.py").write_text('print("a.cpp")\n')
        bin = self.folder / "bin"
        bin.mkdir()
        for name, text in STUBS.items():
            (bin / name).write_text(f"#!/bin/sh\n{text}\n")
            (bin / name).chmod(0o755)
        self.env = dict(os.environ, PATH=f"{bin}:{os.environ['PATH']}", SAID=str(self.folder / "said"), TERM="xterm")

    def on_pipe(self, *arguments, **env):
        done = subprocess.run(["./dev", *arguments], cwd=self.folder, env=dict(self.env, **env), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def on_terminal(self, *arguments, **env):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(["./dev", *arguments], cwd=self.folder, env=dict(self.env, **env), stdin=theirs, stdout=theirs,
                                   stderr=theirs, start_new_session=True)
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 4096):
                output += chunk
        except OSError:  # Linux's word for the end of a terminal
            pass
        os.close(ours)
        return process.wait(), output.decode()

    def said(self):
        path = self.folder / "said"
        return path.read_text() if path.exists() else ""


REGISTRIES = ("repo1.", "maven.org", "pypi.org", "pythonhosted.org", "proxy.golang.org", "registry.npmjs.org", "crates.io", "deb.debian.org")


def addresses_of_registries():
    files = subprocess.run(["git", "ls-files"], cwd=tree.ROOT, capture_output=True, text=True).stdout.split()
    for name in files:
        path = tree.ROOT / name
        if name == "tests/tidy/dev_test.py" or name.startswith("tests/golden/") or not path.is_file():
            continue
        text = path.read_bytes()
        yield from (f"{name} names {registry}" for registry in REGISTRIES if f"//{registry}".encode() in text)


def main():
    check = tree.checks()
    found = list(addresses_of_registries())
    check.expect(not found, "use the registry's own client: " + "; ".join(found))
    with tempfile.TemporaryDirectory() as folder:
        p = place(folder)
        p.env["HOME"] = str(p.folder / "home")
        for name in ("java", "javac", "mvn", "go"):
            (p.folder / "bin" / name).write_text('#!/bin/sh\necho "$0 $*" >>"$SAID"\n')
            (p.folder / "bin" / name).chmod(0o755)
        p.on_terminal("deps", "stores")
        said = p.said()
        check.expect("dependency:get -Dartifact=org.apache.hadoop:hadoop-client-minicluster:3.4.1" in said and "dependency:copy" in said,
                     f"deps stores does not ask Maven for Hadoop: {said!r}")
    with tempfile.TemporaryDirectory() as folder:
        status, output = place(folder).on_pipe("build")
        check.expect(status == 0 and output == "", f"a build into a pipe says {output!r}")
    with tempfile.TemporaryDirectory() as folder:
        p = place(folder)
        status, output = p.on_terminal("build")
        check.expect(status == 0 and "building: [2 of 2] Compiling two" in output and "configuring build:" in output,
                     f"a build on a terminal says {output!r}")
        check.expect("\n" not in output and output.endswith("\r\x1b[K"), f"the line is not cleared: {output!r}")
        for how in (p.on_pipe, p.on_terminal):
            status, output = how("build", BROKEN="1")
            check.expect(status != 0 and "two.cpp:1: error: no" in output, f"a broken build says {output!r}")
    with tempfile.TemporaryDirectory() as folder:
        p = place(folder)
        status, output = p.on_pipe("deps")
        check.expect(status == 1 and "as root: apt-get install" in output and "apt-get" not in p.said(),
                     f"without a terminal, deps says {output!r}")
    with tempfile.TemporaryDirectory() as folder:
        p = place(folder)
        status, output = p.on_terminal("deps")
        check.expect(status == 0 and "password for you" in output and "apt-get install" in p.said(),
                     f"on a terminal, deps says {output!r}, and ran {p.said()!r}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
