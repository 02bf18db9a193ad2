// SPDX-License-Identifier: Apache-2.0
// Real text that nobody here wrote, from Debian packages: as many lines as `wc -l` counts, and the same bytes.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib::corpus_test {
namespace {

namespace fs = std::filesystem;

/// Standard output of a shell command.
std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string out;
  std::array<char, 65536> part;
  while (std::size_t n = fread(part.data(), 1, part.size(), pipe.get())) out.append(part.data(), n);
  return out;
}

std::size_t newlines_of(const std::string& command) { return std::stoul(output_of(command + " | wc -l")); }

/// base-files and perl-modules: the first is on every Debian, the second (2 MB in 33,000 lines) wherever git is.
std::vector<fs::path> plain_corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("/usr/share/common-licenses"))
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  for (const char* version : {"/usr/share/perl/5.36.0", "/usr/share/perl/5.40.1"})
    if (auto keys = fs::path(version) / "Unicode/Collate/allkeys.txt"; fs::exists(keys)) files.push_back(keys);
  return files;
}

/// Change logs as Debian's own gzip made them; minimal images leave them out.
std::vector<fs::path> gzip_corpus(std::size_t files_max) {
  std::vector<fs::path> files;
  for (const auto& package : fs::directory_iterator("/usr/share/doc"))
    if (auto log = package.path() / "changelog.Debian.gz"; fs::is_regular_file(log) && files.size() < files_max)
      files.push_back(log);
  return files;
}

struct text {
  std::size_t lines = 0;
  std::string joined;  // with the line ends that were taken off
};

task<text> drain(stream<line> s) {
  text all;
  while (auto l = co_await s.next()) {
    ++all.lines;
    all.joined.append(l->view());
    all.joined += '\n';
  }
  co_return all;
}

text answer(runtime& rt, const dataset<line>& ds) { return sync_wait(rt, drain(ds.iterate(rt))); }

/// What splitting and joining leaves: no carriage returns, and an end to the last line.
std::string normalised(std::string bytes) {
  std::erase(bytes, '\r');
  if (!bytes.empty() && bytes.back() != '\n') bytes += '\n';
  return bytes;
}

void check(runtime& rt, const fs::path& path, const std::string& print_it) {
  CAPTURE(path);
  std::string bytes = output_of(print_it);
  std::size_t unended = !bytes.empty() && bytes.back() != '\n' ? 1 : 0;  // a line for us, none for wc
  auto got = answer(rt, lines(path.string()));
  CHECK(got.lines == newlines_of(print_it) + unended);
  CHECK(got.joined == normalised(bytes));
}

}  // namespace

TEST_CASE("lines of Debian's texts are as many as wc counts, and their bytes the same") {
  runtime rt({.workers = 1});
  auto files = plain_corpus();
  REQUIRE(files.size() >= 10);
  for (const fs::path& path : files) check(rt, path, "cat '" + path.string() + "'");
}

TEST_CASE("lines of Debian's gzipped change logs equal zcat's output") {
  runtime rt({.workers = 1});
  for (const fs::path& path : gzip_corpus(40)) check(rt, path, "zcat '" + path.string() + "'");
}

TEST_CASE("all licences in one stream have as many lines as all licences") {
  runtime rt({.workers = 2});
  auto total = newlines_of("cat /usr/share/common-licenses/*");
  auto one_by_one = list_files("/usr/share/common-licenses/*") | flat_map(lines);
  auto interleaved =
      list_files("/usr/share/common-licenses/*") | interleave(lines, {.cycle_length = 4, .parallelism = 3});
  CHECK(answer(rt, one_by_one).lines == total);
  CHECK(answer(rt, one_by_one).joined == output_of("cat /usr/share/common-licenses/*"));
  CHECK(answer(rt, interleaved).lines == total);
}

}  // namespace sluice::lib::corpus_test
