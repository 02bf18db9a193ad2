# SPDX-License-Identifier: Apache-2.0
"""What `meson install` leaves behind is enough for programs outside of the tree, by pkg-config and by CMake, shared and
static: the first example is built with it and run."""
import re
import shutil
import sys

import packages
from packages import COMPILER, HELLO, PLACE, WARNINGS, broken, run, says_hello

TREE = packages.ROOT / f"build-packages-{COMPILER}"
PREFIX = PLACE / "prefix"
STATIC = PLACE / "static"          # the same prefix without shared libraries
USER = PLACE / "user"
# Stripped, with the archive, which gives the operators that it names. Among it: 134,000 rules and advice of the optimizer, 72,000 the
# tuner, 48,000 columns and rows that land in them, 44,000 tensors in columns, 30,000 optionals of numbers in columns,
# 25,000 what is known of elements before there are any; also identities, indexes and moves of files.
HELLO_BYTES_MAX = 1_640_000

# The optional libraries, each used by its own header.
BACK_ENDS = """#include <cstdio>
#include <sluice/format/image_codecs.hpp>
#include <sluice/format/image_transforms.hpp>
#include <sluice/io/asio_network.hpp>
#include <sluice/io/sqlite_meta_store.hpp>
#include <sluice/sluice.hpp>

int main() {
  sluice::runtime rt;
  auto net = sluice::make_asio_network();
  auto store = sluice::open_sqlite_meta_store("/nowhere/at/all.db", rt.blocking_calls());
  const auto grey = sluice::tensor::zeros(sluice::dtype::uint8, {8, 8, 1});
  const auto small = sluice::resize(grey, {.height = 3, .width = 2});
  const auto again = sluice::decode_image(sluice::encode_png(grey).value());
  std::printf("%s %s %s\\n", store.ok() ? "opened" : "refused", small.ok() ? "resized" : "not resized",
              again.ok() && *again == grey ? "decoded" : "not decoded");
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(user CXX)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(sluice {version} REQUIRED {components})
add_executable(program {source})
target_link_libraries(program PRIVATE {targets})
"""


def install():
    # Not optimized: what is tested is that it installs, links and runs.
    packages.configure(TREE, packages.ROOT, f"--prefix={PREFIX}", "-Dlibdir=lib", "-Ddefault_library=both", "-Dtests=false",
                       "-Dexamples=false", "-Dprogram=false", "-Dbench=disabled",
                       "-Doptimization=0", "-Dline_tables=false")
    for folder in (PREFIX, STATIC):
        shutil.rmtree(folder, ignore_errors=True)
    USER.mkdir(exist_ok=True)
    run("ninja", "-C", TREE, "-j", packages.jobs())
    run("meson", "install", "-C", TREE, "--no-rebuild")
    shutil.copytree(PREFIX, STATIC, symlinks=True)
    for shared in (STATIC / "lib").glob("*.so*"):
        shared.unlink()
    for config in (STATIC / "lib/pkgconfig").glob("*.pc"):
        config.write_text(config.read_text().replace(str(PREFIX), str(STATIC)))


def flags(prefix, *arguments):
    folder = prefix if (prefix / "sluice-uninstalled.pc").exists() else prefix / "lib/pkgconfig"
    return run("pkg-config", *arguments, env=packages.environment(PKG_CONFIG_PATH=str(folder))).split()


def compile_with(name, source, *arguments):
    program = USER / name
    program.unlink(missing_ok=True)
    run(COMPILER, "-std=c++20", "-O1", *WARNINGS, source, *arguments, "-o", program, cwd=USER)
    return program


def with_cmake(name, source, prefix, *definitions, version="0.1", components="", targets="sluice::sluice"):
    folder = USER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        CMAKE.format(source=source, version=version, components=components, targets=targets))
    configured = ["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
                  f"-DCMAKE_CXX_COMPILER={shutil.which(COMPILER)}", "-DCMAKE_BUILD_TYPE=Release", *definitions]
    if shutil.which("ccache"):
        configured.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    if version != "0.1" or "no_such" in components:
        return run(*configured, fails=True)
    run(*configured)
    run("cmake", "--build", folder / "build")
    return folder / "build" / "program"


def needed(program):
    return set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program)))


def main():
    check = packages.checks()
    PLACE.mkdir(parents=True, exist_ok=True)
    try:
        install()
    except broken as why:
        print(f"{COMPILER}: cannot install\n{why}\n0 passed, 1 failed")
        return 1
    shared = {"LD_LIBRARY_PATH": str(PREFIX / "lib")}

    @check
    def what_is_there():
        """the licence, the headers, archives, shared libraries and both kinds of package files are installed"""
        for path in ("share/licenses/sluice/LICENSE", "include/sluice/version.hpp", "lib/libsluice.a", "lib/libsluice.so",
                     "lib/libsluice-asio.a", "lib/libsluice-sqlite.so", "lib/libsluice-images.so", "lib/pkgconfig/sluice.pc",
                     "lib/pkgconfig/sluice-asio.pc", "lib/cmake/sluice/sluice-config.cmake"):
            assert (PREFIX / path).exists(), f"{path} is missing"

    @check
    def names_and_symbols():
        """the shared library has a versioned name, exports sluice's names only, and needs no SQLite and no JPEG"""
        described = run("readelf", "-d", PREFIX / "lib/libsluice.so")
        assert "[libsluice.so.0.1]" in described, described
        strangers = [n for n in needed(PREFIX / "lib/libsluice.so") if "sqlite" in n or "jpeg" in n or "png" in n]
        assert not strangers, f"libsluice needs {strangers}"
        exported = run("nm", "-D", "--defined-only", PREFIX / "lib/libsluice.so").splitlines()
        strangers = [line for line in exported if "6sluice" not in line]
        assert len(exported) > 500 and not strangers, strangers[:5]

    @check
    def pkg_config_shared():
        """pkg-config, shared, named twice on one line"""
        program = compile_with("shared", HELLO, *flags(PREFIX, "--cflags", "--libs", "sluice"), *flags(PREFIX, "--libs", "sluice"))
        assert "libsluice.so.0.1" in needed(program)
        says_hello(program, **shared)

    @check
    def pkg_config_static():
        """pkg-config, static, named twice on one line, and without SQLite"""
        libraries = flags(STATIC, "--static", "--libs", "sluice")
        program = compile_with("static", HELLO, *flags(STATIC, "--cflags", "sluice"), "-Wl,--as-needed", *libraries, *libraries)
        says_hello(program)
        loaded = run("ldd", program)
        assert "sqlite" not in loaded and "libsluice" not in loaded, loaded

    @check
    def is_small():
        """a program that drops unused sections contains the parts of the lane's archive that it uses"""
        lane = packages.ROOT / "build/meson-uninstalled"
        if COMPILER != "clang++-19" or not (packages.ROOT / "build/libsluice.a").exists():
            return print("skipped: how small a program is; ./dev build has not been here")
        libraries = flags(lane, "--static", "--libs", "sluice")
        program = compile_with("small", HELLO, *flags(lane, "--cflags", "sluice"), "-Wl,--as-needed", "-Wl,--gc-sections", *libraries)
        says_hello(program)
        run("strip", program)
        size = program.stat().st_size
        assert size <= HELLO_BYTES_MAX, f"hello takes {size} bytes, stripped; {HELLO_BYTES_MAX} is the limit"

    @check
    def pkg_config_uninstalled():
        """pkg-config, from the build folder, without installing"""
        folder = TREE / "meson-uninstalled"
        for package in ("sluice", "sluice-asio", "sluice-sqlite", "sluice-images"):
            searched = flags(folder, "--cflags-only-I", package)
            ours = [f for f in searched if f.startswith((f"-I{packages.ROOT}", f"-I{TREE}"))]
            assert set(ours) == {f"-I{packages.ROOT}/include"}, f"{package}: private folders among {searched}"
        libraries = flags(folder, "--libs", "sluice")
        program = compile_with("uninstalled", HELLO, *flags(folder, "--cflags", "sluice"), *libraries)
        says_hello(program, LD_LIBRARY_PATH=str(TREE))

    @check
    def pkg_config_components():
        """pkg-config, the optional libraries, static"""
        source = USER / "back_ends.cpp"
        source.write_text(BACK_ENDS)
        program = compile_with("back_ends", source, *flags(STATIC, "--static", "--cflags", "--libs", "sluice-asio", "sluice-sqlite",
                                                          "sluice-images"))
        assert run(program) == "refused resized decoded\n"
        assert [n for n in needed(program) if "sqlite" in n], "nothing of SQLite was linked"

    if not shutil.which("cmake"):
        print("cmake is missing: ./dev deps")
        check.failed += 1
        return check.finish()

    @check
    def cmake_shared():
        """find_package(sluice), shared"""
        program = with_cmake("cmake_shared", HELLO, PREFIX)
        assert "libsluice.so.0.1" in needed(program)
        says_hello(program)  # CMake writes the path into the program

    @check
    def cmake_static():
        """find_package(sluice), static because it was asked for, and because there is nothing else"""
        for name, prefix, asked in (("cmake_static", PREFIX, ["-Dsluice_USE_STATIC_LIBS=ON"]), ("cmake_archive", STATIC, [])):
            program = with_cmake(name, HELLO, prefix, *asked)
            assert "libsluice.so.0.1" not in needed(program)
            says_hello(program)

    @check
    def cmake_components():
        """find_package(sluice COMPONENTS asio sqlite images), shared and static; one that does not exist is named"""
        for name, options in (("cmake_both", []), ("cmake_both_static", ["-Dsluice_USE_STATIC_LIBS=ON"])):
            program = with_cmake(name, USER / "back_ends.cpp", PREFIX, *options, components="COMPONENTS asio sqlite images",
                                 targets="sluice::asio sluice::sqlite sluice::images")
            assert run(program) == "refused resized decoded\n"
        said = with_cmake("cmake_none", HELLO, PREFIX, components="COMPONENTS no_such")
        assert "without the component 'no_such'" in " ".join(said.split()), said

    @check
    def cmake_version():
        """find_package(sluice 0.2) is refused, and says which version there is"""
        said = with_cmake("cmake_version", HELLO, PREFIX, version="0.2")
        assert "0.1.0" in said, said

    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
