// SPDX-License-Identifier: Apache-2.0
// A scheme that a user has made, with public headers alone: what docs/embedding.md says is enough.
#include <catch2/catch.hpp>
#include <sluice/io/files.hpp>
#include <sluice/io/path_pattern.hpp>
#include <sluice/sluice.hpp>

namespace sluice::lib::user_scheme_test {

namespace {

/// numbers://100 has the lines 0 to 99; nothing is stored.
class numbers_file final : public lib::file {
 public:
  numbers_file(std::string path, std::string text) : file(std::move(path), info_of(text)), text_(std::move(text)) {}
  static lib::file_info info_of(const std::string& text) {
    lib::file_info info;
    info.size_bytes = text.size();
    info.version = "1";
    return info;
  }
  std::uint64_t size_now() const noexcept override { return text_.size(); }
  lib::ready_read try_read_at(std::uint64_t, char*, std::size_t) noexcept override { return {.must_wait = true}; }
  task<std::size_t> read_at(std::uint64_t offset, lib::buffer_ref to, std::size_t at, std::size_t n,
                            lib::time_point) override {
    const std::size_t from = std::min<std::size_t>(offset, text_.size());
    const std::size_t got = std::min(n, text_.size() - from);
    std::copy_n(text_.data() + from, got, to->data() + at);
    co_return got;
  }

 private:
  std::string text_;
};

/// Three of them, by name.
class numbers_listing final : public lib::listing {
 public:
  explicit numbers_listing(std::string pattern) : pattern_(std::move(pattern)) {}
  task<std::vector<lib::listed_file>> next(lib::time_point) override {
    std::vector<lib::listed_file> page;
    if (!done_)
      for (const char* path : {"numbers://1000", "numbers://3", "numbers://40"})
        if (pattern_.matches(path)) page.push_back({path, std::nullopt});
    if (page.empty() && !done_) {
      lib::status why = lib::not_found_error("no file matches the pattern \"" + pattern_.text() + "\"");
      co_await lib::fail(std::move(why));
    }
    done_ = true;
    co_return std::move(page);
  }

 private:
  path_pattern pattern_;
  bool done_ = false;
};

class numbers_files final : public file_system {
 public:
  task<std::unique_ptr<lib::file>> open(std::string path, lib::open_options) override {
    std::string text;
    const int n = std::atoi(path.c_str() + path.find("://") + 3);
    for (int i = 0; i != n; ++i) text += std::to_string(i) + "\n";
    std::unique_ptr<lib::file> opened = std::make_unique<numbers_file>(std::move(path), std::move(text));
    co_return std::move(opened);
  }
  task<lib::file_info> stat(std::string path, lib::time_point) override {
    auto opening = open(std::move(path), {});
    std::unique_ptr<lib::file> f = co_await opening;
    lib::file_info info = f->info();
    co_return std::move(info);
  }
  std::unique_ptr<lib::listing> list(std::string pattern, lib::list_options) override {
    return std::make_unique<numbers_listing>(std::move(pattern));
  }
  task<std::unique_ptr<lib::file_writer>> create(std::string path, lib::time_point) override {
    lib::status why = lib::unimplemented_error("numbers cannot be written").in_file(path);
    co_await lib::fail(std::move(why));
    co_return {};
  }
  std::string description() const override { return {}; }
};

task<std::int64_t> count(runtime& rt, dataset<line> ds) {
  std::int64_t n = 0;
  auto s = ds.iterate(rt);
  for (;; ++n) {
    auto x = co_await s.next();
    if (!x) break;
  }
  co_return n;
}

}  // namespace

TEST_CASE("a user's own scheme is read, listed and resumed like any other, and reports what it does not support") {
  runtime rt;
  add_files(rt, "numbers", std::make_unique<numbers_files>());
  CHECK(sync_wait(rt, count(rt, lines("numbers://50"))) == 50);
  CHECK(sync_wait(rt, count(rt, list_files("numbers://*0*") | interleave(lines, {.cycle_length = 2}))) == 1040);
  CHECK(sync_wait(rt, count(rt, list_files("numbers://**") | flat_map(lines))) == 1043);
  CHECK_THROWS_WITH(sync_wait(rt, count(rt, list_files("numbers://7*") | flat_map(lines))),
                    Catch::Contains("no file matches the pattern \"numbers://7*\""));
  CHECK_THROWS_WITH(sync_wait(rt, files_of(rt).create("numbers://5")),
                    "unimplemented: numbers://5: numbers cannot be written");
}

}  // namespace sluice::lib::user_scheme_test
