// SPDX-License-Identifier: Apache-2.0
// engine/by_number/built_index.hpp: the memory of an index that is built while a file is read.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "sluice/pipeline/index_file.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::built_index_test {
namespace {

using namespace testing;

constexpr std::int64_t kLines = 20'000;

/// A file for whose index 8,192 places of 16 bytes are recorded.
struct indexed_lines {
  temporary_folder folder;
  std::string path;
  indexed_lines() {
    std::string bytes;
    for (std::int64_t i = 0; i != kLines; ++i) bytes += std::string(250, 'x') + std::to_string(i) + '\n';
    path = folder.write("lines.txt", bytes);
  }
  bool has_index() const { return std::filesystem::exists(path + ".sluice-index"); }
};

struct counted {
  std::int64_t lines = 0;
  std::size_t peak = 0;
  std::vector<std::string> warnings;
};
task<counted> count(stream<line> s) {
  counted all;
  while (auto x = co_await s.next()) all.lines += x ? 1 : 0;
  all.warnings = s.report().warnings;
  co_return all;
}
counted count_with(const indexed_lines& f, file_index index, std::size_t budget) {
  runtime rt({.workers = 1, .memory_budget_bytes = budget});
  counted all = sync_wait(rt, count(lines(f.path, {.index = index}).iterate(rt)));
  all.peak = rt.ledger().report().peak_bytes;
  return all;
}

}  // namespace

TEST_CASE("the index that a reader builds is charged, and a small budget leaves it out with advice") {
  const indexed_lines f;
  const counted plain = count_with(f, file_index::automatic, std::size_t{64} << 20);
  const counted small = count_with(f, file_index::build, 100'000);
  CHECK(small.lines == kLines);
  REQUIRE(small.warnings.size() == 1);
  CHECK_THAT(small.warnings[0], Catch::Contains("no index of " + f.path + " is written") &&
                                    Catch::Contains("the index that is built of the file") &&
                                    Catch::Contains("read with index=automatic to build none, or raise the memory"));
  CHECK(!f.has_index());
  const counted built = count_with(f, file_index::build, std::size_t{64} << 20);
  CHECK(built.lines == kLines);
  CHECK(built.warnings.empty());
  CHECK(built.peak >= plain.peak + 100'000);
  CHECK(f.has_index());
}

TEST_CASE("a run that builds an index fails with advice if the index exceeds the memory budget") {
  const indexed_lines f;
  runtime rt({.workers = 1, .memory_budget_bytes = 100'000});
  CHECK_THROWS_WITH(sync_wait(rt, write_index(rt, lines(f.path).plan(), {})),
                    Catch::Contains("the index that is built of the file") &&
                        Catch::Contains("index a file of fewer elements, or raise the memory budget"));
  CHECK(!f.has_index());
}

}  // namespace sluice::lib::built_index_test
