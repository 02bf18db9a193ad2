# SPDX-License-Identifier: Apache-2.0
"""--plugin: functions of a shared object in plans; what cannot be loaded is refused before the run."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program import ROOT, ProgramTest, main

COMPILER = next((c for c in (os.environ.get("SLUICE_TEST_CXX", ""), "clang++-19", "g++-12", "c++") if c and shutil.which(c)), None)
FLAGS = ["-std=c++20", "-O0", "-shared", "-fPIC", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-I", str(ROOT / "include"), "-x", "c++", "-"]

MINE = """
#include <cstdint>
#include <string>
#include <sluice/sluice.hpp>
struct word { std::string text; std::int64_t size = 0; };
SLUICE_FUNCTION(word_of, [](std::int64_t n) {
  if (n == 7) throw std::runtime_error("seven is not wanted");
  return word{std::string(static_cast<std::size_t>(n), 'w'), n};
});
SLUICE_FUNCTION(is_short, [](const word& w) { return w.size < 3; });
SLUICE_FUNCTION(joined_with, [](const std::string& a, const std::string& by, std::int64_t n) { return a + by + std::to_string(n); });
SLUICE_FUNCTION(total_size, [](std::int64_t& sum, const word& w) { return sum += w.size; });
"""


def compiled(path, text, *more):
    done = subprocess.run([COMPILER, *FLAGS, "-o", str(path), *more], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return str(path)


@unittest.skipUnless(COMPILER, "no compiler")
class Plugins(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.mine = compiled(pathlib.Path(cls.kept.name, "mine.so"), MINE)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def lines(self, plan, *more):
        return self.ok("run", "--quiet", "--output", "jsonl", "--plugin", self.mine, *more, plan).stdout.splitlines()

    def refused(self, *arguments):
        return self.fails(2, *arguments)

    def test_its_functions_stand_in_plans(self):
        self.assertEqual(self.lines("range(4) | map(word_of) | filter(is_short)"),
                         ['{"text":"","size":0}', '{"text":"w","size":1}', '{"text":"ww","size":2}'])
        self.assertEqual(self.lines('range(3) | map(word_of) | map(joined_with(text, "-", size + 1))', "--workers", "2"),
                         ['"-1"', '"w-2"', '"ww-3"'])
        self.assertEqual(self.lines("range(5) | map(word_of) | scan(total_size)"), ["0", "1", "3", "6", "10"])
        self.assertEqual(self.ok("head", "--plugin", self.mine, "-n", "1", "range(4) | map(word_of)").stdout, '{"text":"","size":0}\n')
        self.assertEqual(self.ok("count", "--plugin", self.mine, "--read", "range(5) | map(word_of) | filter(is_short)").stdout, "3\n")
        self.assertIn("word_of", self.ok("explain", "--plugin", self.mine, "range(4) | map(word_of)").stdout)
        self.assertIn("word_of", self.ok("ops", "--plugin", self.mine).stdout)

    def test_an_error_of_its_function_is_the_elements(self):
        self.assertIn("map(word_of) at element 7: seven is not wanted",
                      self.fails(1, "run", "--quiet", "--plugin", self.mine, "range(9) | map(word_of)"))

    def test_a_run_resumes_with_it_and_not_without(self):
        file = os.path.join(self.folder.name, "at.ckpt")
        plan = "range(50) | filter(it != 7) | map(word_of) | map(size)"
        self.ok("run", "--quiet", "--plugin", self.mine, "--limit", "20", "--checkpoint", file, plan)
        rest = self.lines(plan, "--resume", file)
        self.assertEqual(rest[0], "21")
        self.assertEqual(len(rest), 29)

    def test_what_cannot_be_loaded_is_refused_first(self):
        folder = self.folder.name
        self.assertIn("no such file", self.refused("run", "--plugin", folder + "/none.so", "range(3)"))
        self.assertIn("is a folder", self.refused("run", "--plugin", folder, "range(3)"))
        text = os.path.join(folder, "text.so")
        pathlib.Path(text).write_text("not a shared object")
        self.assertIn("cannot be loaded", self.refused("run", "--plugin", text, "range(3)"))
        empty = compiled(folder + "/empty.so", "int nothing_of_ours() { return 1; }")
        self.assertIn("registers no new function", self.refused("run", "--plugin", empty, "range(3)"))
        self.assertIn("registers no new function", self.refused("run", "--plugin", self.mine, "--plugin", self.mine, "range(3)"))

    def test_one_of_another_version_is_refused(self):
        other = compiled(self.folder.name + "/other.so",
                         "namespace sluice::lib::detail { void compiled_for_0_999() noexcept; }\n"
                         "static const bool b = (sluice::lib::detail::compiled_for_0_999(), true);")
        self.assertIn("compiled for another version", self.refused("run", "--plugin", other, "range(3)"))

    def test_a_name_with_two_meanings_is_refused(self):
        twice = compiled(self.folder.name + "/twice.so",
                         "#include <sluice/sluice.hpp>\nSLUICE_FUNCTION_VERSION(is_short, 2, [](int x) { return x < 3; });")
        self.assertIn("is_short is registered twice", self.refused("run", "--plugin", self.mine, "--plugin", twice, "range(3)"))

    def test_a_name_of_expressions_is_refused(self):
        lower = compiled(self.folder.name + "/lower.so",
                         "#include <sluice/sluice.hpp>\nSLUICE_FUNCTION(lower, [](std::int64_t x) { return x - 1; });")
        self.assertIn("registers lower, which expressions already define", self.refused("run", "--plugin", lower, "range(3)"))

    def test_without_it_the_function_is_unknown(self):
        self.assertIn("there is no function word_of", self.refused("run", "range(3) | map(word_of)"))


if __name__ == "__main__":
    main()
