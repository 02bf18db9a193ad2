// SPDX-License-Identifier: Apache-2.0
// sluice/op/lines.hpp
#include <string>

#include <catch2/catch.hpp>

#include "format/compressed.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::lines_test {
namespace {

using namespace testing;

constexpr std::size_t kMiB = 1 << 20;

/// A line with a '\r' where it begins, in its midst and at its end; and the line that is read then.
std::string long_line(std::size_t bytes) {
  std::string s(bytes, 'x');
  for (std::size_t i = 0; i < bytes; i += 4096) s[i] = static_cast<char>('a' + i / 4096 % 26);
  s[0] = s[bytes / 2] = s[bytes - 1] = '\r';
  return s;
}
std::string without_returns(std::string s) {
  std::erase(s, '\r');
  return s;
}

/// In windows of any size there are several searches, reads and moves for one such line (op/lines.cpp, byte_source.cpp).
void check_long_lines(runtime& rt, const std::string& path, const std::string& text) {
  const texts expected = {"first",
                          without_returns(long_line(9 * kMiB)),
                          "",
                          "short",
                          std::string(kMiB, 'y'),
                          without_returns(long_line(6 * kMiB))};
  outcome whole = run(rt, lines(path));
  CAPTURE(path, text.size(), whole.message());
  CHECK(whole.why.ok());
  CHECK((whole.elements == expected));
  for (std::uint64_t passed = 1; passed <= expected.size(); ++passed) {
    outcome rest;
    auto s = lines(path).iterate(rt);
    lib::test::tree_of(s).pass_over(passed);
    sync_wait(rt, drain_into(s, rest));
    CHECK((rest.elements == texts(expected.begin() + static_cast<std::ptrdiff_t>(passed), expected.end())));
  }
  iterate_options resumed;
  resumed.from = whole.places[2];
  CHECK((run(rt, lines(path), resumed).elements == texts(expected.begin() + 2, expected.end())));
}

}  // namespace

TEST_CASE("lines of many megabytes are read or skipped whole, in a window that grows in steps") {
  const std::string text =
      "first\n" + long_line(9 * kMiB) + "\n\nshort\n" + std::string(kMiB, 'y') + "\n" + long_line(6 * kMiB);
  temporary_folder folder;
  runtime rt({.workers = 1});
  file_world w(3);
  for (bool packed : {false, true}) {
    const std::string bytes = packed ? gzipped(text, 1) : text, name = packed ? "a.gz" : "a";
    check_long_lines(rt, folder.write(name, bytes), text);
    w.files->put(name, bytes);
    check_long_lines(w.rt, name, text);
  }
}

}  // namespace sluice::lib::lines_test
