# SPDX-License-Identifier: Apache-2.0
"""Prints the sources of one part of the tree, sorted, one a line: meson.build asks for them when it configures.

  sources.py version                the version that include/sluice/version.hpp says
  sources.py library | asio_library | http_library | stores_library | sqlite_library | grpc_library | parquet_library | images_library | json_library | program | main | main_malloc | bench | examples | headers | protos
  sources.py workloads              names of the folders of bench/compare/ with a program of ours
  sources.py workload NAME          what that program is made of
  sources.py test_folders           names of the folders below tests/ that hold *_test.cpp
  sources.py test FOLDER            what the test executable of that folder is made of
  sources.py joined_tests FOLDER    those of them that several can be compiled as one file: each test has a namespace of its own
  sources.py alone_tests FOLDER     the others
  sources.py fuzz                   the fuzz targets, without the test that replays their corpus
  sources.py support                sources of folders below tests/ without a *_test.cpp of their own
  sources.py groups [SOURCE…]       the groups that meson.build compiles as one file each; a line has the part, the group's name, and its sources;
                                    each SOURCE is a group of its own
  sources.py all                    everything above; ./dev reconfigures when it changes
"""
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Compiled by their own scripts, one way per program.
SCRIPTED = {"hazards", "compile_fail", "faults", "golden", "packaging", "tidy"}
# Libraries of their own, so that who does not use them does not link what they stand on.
COMPONENTS = {"asio": ["io/asio/"], "http": ["io/http/"], "stores": ["io/stores/", "io/s3/", "io/gcs/", "io/hdfs/"], "sqlite": ["io/sqlite/"], "grpc": ["io/grpc/"], "parquet": ["io/parquet/"], "images": ["src/engine/image/", "src/format/image/"],
              "json": ["src/format/json/"]}


def below(folder, pattern):
    return sorted(str(p.relative_to(ROOT)) for p in (ROOT / folder).glob(pattern))


def test_folders():
    folders = (p.name for p in (ROOT / "tests").glob("*/"))
    return sorted(f for f in folders if f not in SCRIPTED and below(f"tests/{f}", "**/*_test.cpp"))


def sources_of_tests(folder):
    """The verbs' cases belong to the tests of op, which try every verb."""
    return below(f"tests/{folder}", "**/*.cpp") + (below("tests/verbs", "*.cpp") if folder == "op" else [])


def can_be_joined(source):
    """Whether a test source keeps its names in a namespace that is called as the file is."""
    path = ROOT / source
    return re.search(rf"^namespace sluice(::\w+)*::{path.stem} {{", path.read_text(), re.M) is not None


def support():
    sources = below("tests", "*/**/*.cpp")
    owned = SCRIPTED | set(test_folders()) | {"verbs"}
    return [s for s in sources if s.split("/")[1] not in owned]


def library():
    elsewhere = ("src/cli/", *itertools.chain(*COMPONENTS.values()))
    return [s for s in below("src", "**/*.cpp") + below("io", "**/*.cpp") if not s.startswith(elsewhere)]


def component(name):
    return [s for folder in COMPONENTS[name] for s in below(folder, "**/*.cpp")]


def version():
    header = (ROOT / "include/sluice/version.hpp").read_text()
    return ".".join(re.search(rf"define SLUICE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


PARTS = {
    "library": library,
    "asio_library": lambda: component("asio"),
    "http_library": lambda: component("http"),
    "stores_library": lambda: component("stores"),  # joins the one of http, where expat and OpenSSL are
    "sqlite_library": lambda: component("sqlite"),
    "grpc_library": lambda: component("grpc"),
    "parquet_library": lambda: component("parquet"),
    "images_library": lambda: component("images"),
    "json_library": lambda: component("json"),  # joins the library itself: only its flags are its own
    "program": lambda: [s for s in below("src/cli", "**/*.cpp") if not s.endswith(("/main.cpp", "/operator_new.cpp"))],
    "main": lambda: below("src/cli", "main.cpp"),
    "main_malloc": lambda: below("src/cli", "operator_new.cpp"),
    "bench": lambda: [s for s in below("bench", "**/*.cpp") if not s.startswith(("bench/compare/", "bench/compile/"))],
    "workloads": lambda: sorted({s.split("/")[2] for s in below("bench/compare", "*/*.cpp")}),
    "examples": lambda: below("examples", "*.cpp"),
    "headers": lambda: below("include", "**/*.hpp"),
    "protos": lambda: below("tests", "**/*.proto"),
    "test_folders": test_folders,
    "fuzz": lambda: [s for s in below("tests/fuzz", "**/*.cpp") if not s.endswith("_test.cpp")],
    "support": support,
}


# The sources of a group: larger groups hardly make a build faster, and each source that changes compiles its whole group.
GROUP_SIZE, GROUP_SIZE_OF_TESTS = 12, 6
JOINED = ("library", "json_library", "asio_library", "http_library", "stores_library", "sqlite_library", "grpc_library", "parquet_library", "images_library", "program", "support")


def groups(alone):
    """Lines of a part, the name of a group of its sources, and these sources. The names and the sources are the same in every clone, so that
    one compiler cache serves all of them. A group has sources of one layer only, and is called after its first source, so that a new
    source changes few groups."""
    parts = {part: (PARTS[part](), GROUP_SIZE) for part in JOINED}
    for folder in test_folders():
        parts[f"tests/{folder}"] = (sources_of(["joined_tests", folder]), GROUP_SIZE_OF_TESTS)
    for part, (lines, size) in parts.items():
        for _, sources in itertools.groupby(lines, key=lambda source: source.split("/")[:-1][:2]):
            sources = list(sources)
            count = -(-len(sources) // size)
            for k in range(count):
                group = sources[k * len(sources) // count:(k + 1) * len(sources) // count]
                together = [source for source in group if source not in alone]
                for members in filter(None, [together, *([source] for source in group if source in alone)]):
                    yield " ".join([part, "joined-" + members[0].replace("/", "-"), *members])


def main(arguments):
    print("\n".join(groups(set(arguments[1:])) if arguments[0] == "groups" else sources_of(arguments)))


def sources_of(arguments):
    if arguments[0] == "version":
        lines = [version()]
    elif arguments[0] == "test":
        lines = sources_of_tests(arguments[1])
    elif arguments[0] in ("joined_tests", "alone_tests"):
        wanted = arguments[0] == "joined_tests"
        lines = [s for s in sources_of_tests(arguments[1]) if can_be_joined(s) == wanted]
    elif arguments[0] == "workload":
        lines = below(f"bench/compare/{arguments[1]}", "*.cpp")
    elif arguments[0] == "all":
        lines = [line for part in PARTS.values() for line in part()]
        lines += below("tests", "**/*_test.cpp") + below("tests/verbs", "*.cpp") + below("bench/compare", "*/*.cpp")
    else:
        lines = PARTS[arguments[0]]()
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
