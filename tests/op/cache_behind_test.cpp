// SPDX-License-Identifier: Apache-2.0
// Pieces of a cache that are written while its stage continues: how many may wait, and what is in the file at the end.
#include <cstdint>
#include <filesystem>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "element/batches/column_bytes.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/block_store.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib::cache_behind_test {
namespace {

using int64 = std::int64_t;
constexpr std::size_t kPiece = element_cache::kPieceElements;

struct folder {
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-behind-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~folder() { std::filesystem::remove_all(path); }
  std::string path;
};

struct any_head final : cache_head {
  std::string bytes(std::uint64_t) const override { return "head"; }
  status compare(std::string_view, std::uint64_t&) const override { return {}; }
};

/// Occupies a thread for blocking calls as long as it exists.
class occupied_thread {
 public:
  explicit occupied_thread(runtime& rt) {
    auto call = std::make_unique<waiting_call>();
    call->run = &waiting_call::wait;
    call->until = until_;
    rt.blocking_calls().submit(*call.release());
    until_->begun.wait();
  }
  ~occupied_thread() { until_->end.count_down(); }
  occupied_thread(const occupied_thread&) = delete;

 private:
  struct latches {
    std::latch begun{1}, end{1};
  };
  struct waiting_call : blocking_call {
    std::shared_ptr<latches> until;
    static void wait(blocking_call& self) noexcept {
      const std::unique_ptr<waiting_call> me(static_cast<waiting_call*>(&self));
      me->until->begun.count_down();
      me->until->end.wait();
    }
  };
  const std::shared_ptr<latches> until_ = std::make_shared<latches>();
};

/// A cache of numbers in a file, which is open.
std::shared_ptr<element_cache> opened(const std::string& path, runtime& rt) {
  auto made = std::make_shared<element_cache>(type_of<int64>(), std::make_shared<cache_memory>(rt.shared_ledger()),
                                              "cache", true, path);
  REQUIRE(made->open_file(any_head(), false, rt).ok());
  return made;
}

/// Appends a piece.
void add_piece(element_cache& to, std::uint64_t number) {
  batch_storage made;
  column& rows = made.make_rows(type_of<int64>());
  for (std::size_t i = 0; i != kPiece; ++i) rows.append_value(static_cast<int64>(number * kPiece + i));
  auto place = std::make_shared<position_writer>();
  REQUIRE(to.append(number * kPiece, made_elements(rows, 0, kPiece), place) == element_cache::added::all);
}

std::vector<int64> in_file(const std::string& path, runtime& rt) {
  auto file = open_blocks_to_read(path, rt);
  REQUIRE(file.ok());
  std::vector<stored_block> blocks;
  REQUIRE((*file)->scan(blocks).ok());
  std::vector<int64> all;
  for (const stored_block& b : blocks) {
    const result<std::string> bytes = (*file)->read(b);
    REQUIRE(bytes.ok());
    batch_storage read;
    REQUIRE(read_rows(std::string_view(*bytes).substr(2), b.count, read.make_rows(type_of<int64>())).ok());
    const auto* values = reinterpret_cast<const int64*>(read.rows_column().values());
    all.insert(all.end(), values, values + b.count);
  }
  return all;
}

std::vector<int64> numbers(std::size_t n) {
  std::vector<int64> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = static_cast<int64>(i);
  return all;
}

}  // namespace

TEST_CASE("at most 1 MiB of pieces waits for the thread that writes a cache") {
  const folder f;
  runtime rt({.workers = 1, .blocking_threads_max = 1});
  auto cache = opened(f.path + "/a", rt);
  std::uint64_t pieces = 0;
  {
    const occupied_thread busy(rt);
    do add_piece(*cache, pieces++);
    while (pieces != 1000 && cache->write_behind(rt));
    CHECK(pieces == element_cache::kUnwrittenMax / (kPiece * sizeof(int64)) + 1);
    CHECK(in_file(f.path + "/a", rt).empty());
    REQUIRE(cache->write().ok());  // what a stage does then
  }
  CHECK(in_file(f.path + "/a", rt) == numbers(pieces * kPiece));
  add_piece(*cache, pieces);
  CHECK(cache->write_behind(rt));
}

TEST_CASE("a cache that is destroyed before its thread has begun has written all pieces") {
  const folder f;
  runtime rt({.workers = 1, .blocking_threads_max = 1});
  const occupied_thread busy(rt);
  auto cache = opened(f.path + "/a", rt);
  for (std::uint64_t number = 0; number != 3; ++number) {
    add_piece(*cache, number);
    CHECK(cache->write_behind(rt));
  }
  CHECK(cache->finish(3 * kPiece, rt).ok());
  const std::weak_ptr<element_cache> gone = cache;
  cache.reset();
  CHECK(gone.expired());
  CHECK(in_file(f.path + "/a", rt) == numbers(3 * kPiece));
}

TEST_CASE("pieces that are added while others are written reach the file in their order") {
  const folder f;
  constexpr std::uint64_t kPieces = 600;
  for (int round = 0; round != 5; ++round) {
    const std::string path = f.path + "/" + std::to_string(round);
    runtime rt({.workers = 1});
    auto cache = opened(path, rt);
    for (std::uint64_t number = 0; number != kPieces; ++number) {
      add_piece(*cache, number);
      if (!cache->write_behind(rt)) REQUIRE(cache->write().ok());
    }
    REQUIRE(cache->finish(kPieces * kPiece, rt).ok());
    CHECK(in_file(path, rt) == numbers(kPieces * kPiece));
  }
}

}  // namespace sluice::lib::cache_behind_test
