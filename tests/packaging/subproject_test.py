# SPDX-License-Identifier: Apache-2.0
"""sluice as a subproject of a meson project: dependency('sluice') finds it, and the first example and the asio server build."""
import os
import shutil
import sys

import packages
from packages import PLACE, ROOT, run, says_hello

PARENT = PLACE / "parent"
PROJECT = """project('parent', 'cpp', default_options: ['cpp_std=c++20'])
sluice = dependency('sluice', version: '>=0.1')
executable('hello', 'hello.cpp', dependencies: sluice)
executable('server', 'server.cpp', dependencies: sluice)
executable('stores', 'stores.cpp', dependencies: [sluice, dependency('sluice-sqlite')])
"""
WRAP = """[wrap-git]
url = https://example.invalid/sluice.git
revision = head
[provide]
dependency_names = sluice, sluice-asio, sluice-sqlite
"""
STORES = """#include <cstdio>
#include <sluice/io/sqlite_meta_store.hpp>
#include <sluice/runtime/runtime.hpp>
int main() {
  sluice::runtime rt;
  std::puts(sluice::open_sqlite_meta_store("/nowhere/at/all.db", rt.blocking_calls()).ok() ? "opened" : "refused");
}
"""


def main():
    if os.environ.get("SLUICE_BUILD", "").endswith("build") and shutil.which("g++-12"):
        print("skipped: one compiler is enough, and that is g++-12, in its own lane")
        print("0 passed, 0 failed")
        return 0
    check = packages.checks()
    subprojects = PARENT / "subprojects"
    subprojects.mkdir(parents=True, exist_ok=True)
    for path, text in (("meson.build", PROJECT), ("hello.cpp", packages.HELLO.read_text()), ("stores.cpp", STORES),
                       ("server.cpp", (ROOT / "examples" / "05_server.cpp").read_text()), ("subprojects/sluice.wrap", WRAP)):
        if not (PARENT / path).exists() or (PARENT / path).read_text() != text:
            (PARENT / path).write_text(text)
    if not (subprojects / "sluice").exists():
        os.symlink(ROOT, subprojects / "sluice")

    @check
    def builds():
        """a meson project with sluice as a subproject builds"""
        # Not optimized: what is tested is that it builds and links.
        packages.configure(PARENT / "build", PARENT, "-Doptimization=0",
                           "-Dsluice:line_tables=false")
        run("ninja", "-C", PARENT / "build", "-j", packages.jobs())
        says_hello(PARENT / "build" / "hello")
        assert run(PARENT / "build" / "stores") == "refused\n"
        loaded = run("ldd", PARENT / "build" / "hello")
        assert "sqlite" not in loaded, loaded
        said = run(PARENT / "build" / "server")
        assert said == (ROOT / "tests/examples/05_server.txt").read_text(), said

    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
