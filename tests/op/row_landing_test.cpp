// SPDX-License-Identifier: Apache-2.0
// engine/batching/row_landing.hpp: batch directly behind a stage that appends rows to its columns itself.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/format/example.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::row_landing_test {
namespace {

using namespace test;
using int64 = std::int64_t;

// --- Whether it is used, and what it tells of mistakes ---

struct word {
  std::string text;
  std::vector<int64> letters;
  std::optional<float> share;
};

struct calls {
  std::atomic<int> made = 0, appended = 0;
};
struct decode {
  std::shared_ptr<calls> count = std::make_shared<calls>();
  word operator()(int64 x) const {
    ++count->made;
    word w;
    w.text = std::string(static_cast<std::size_t>(x % 40), 'w');
    for (int64 i = 0; i != x % 3; ++i) w.letters.push_back(i);
    if (x % 4 == 0) w.share = 0.25f;
    return w;
  }
  void append_to(column& rows, int64 x) const {
    ++count->appended;
    rows.child(0).append_text(std::string(static_cast<std::size_t>(x % 40), 'w'));
    for (int64 i = 0; i != x % 3; ++i) rows.child(1).child(0).append_value(i);
    rows.child(1).append_list();
    if (x % 4 == 0) rows.child(2).child(0).append_value(0.25f);
    rows.child(2).append_valid(x % 4 == 0);
    rows.append_row();
  }
};

template <class T> task<std::vector<std::string>> printed(stream<T> s) {
  std::vector<std::string> all;
  while (auto b = co_await s.next()) print(type_of<T>(), &*b, all.emplace_back());
  co_return all;
}
template <class T> std::vector<std::string> lines_of(const dataset<T>& ds) {
  runtime rt({.workers = 1});
  return sync_wait(rt, printed(ds.iterate(rt)));
}
template <class T> std::string error_of(const dataset<T>& ds) {
  try {
    (void)lines_of(ds);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "no error";
}

/// What a careless decoder leaves behind.
struct careless {
  int how;
  word operator()(int64) const { return {}; }
  void append_to(column& rows, int64 x) const {
    const bool wrong = x == 5;
    if (!wrong || how != 0) rows.child(0).append_text("t");
    if (wrong && how == 1) rows.child(1).child(0).append_value(x);
    if (!wrong || how != 1) rows.child(1).append_list();
    if (!wrong || how != 2) rows.child(2).append_valid(false);
    if (!wrong || how != 3) rows.append_row();
    if (wrong && how == 4) rows.append_row();
  }
};

}  // namespace

TEST_CASE("a batch directly after a function that appends rows has the same rows as its values") {
  for (int64 rows : {1, 3, 64, 1000}) {
    decode landing, apart;
    auto expected = lines_of(range(500) | map(apart) | prefetch(4) | batch(rows));
    CHECK(apart.count->made == 500);
    CHECK(lines_of(range(500) | map(landing) | batch(rows)) == expected);
    CHECK(landing.count->made == 0);
    CHECK(landing.count->appended == 500);
  }
}

TEST_CASE("values are built if the batch does not follow directly, or if calls deliver as they finish") {
  for (int way = 0; way != 3; ++way) {
    decode f;
    auto elements = range(50) | map(f, {.order = way == 0 ? order::sloppy : order::deterministic});
    if (way == 1) lines_of(elements | filter([](const word&) { return true; }) | batch(8));
    else if (way == 2) lines_of(elements | assert_cardinality(50) | batch(8));
    else lines_of(elements | batch(8));
    CHECK(f.count->made == 50);
    CHECK(f.count->appended == 0);
  }
}

TEST_CASE("calls that work ahead build rows in columns of their own") {
  for (unsigned workers : {1u, 2u, 3u}) {
    runtime rt({.workers = workers});
    for (int64 rows : {1, 3, 64, 100, 1000, 3000}) {
      CAPTURE(workers, rows);
      decode ahead, apart;
      auto in = range(2500);
      const auto expected = sync_wait(rt, printed((in | map(apart) | prefetch(4) | batch(rows)).iterate(rt)));
      auto plan = in | map(ahead, {.parallelism = 3}) | batch(rows);
      for (int pass = 0; pass != 3; ++pass) CHECK(sync_wait(rt, printed(plan.iterate(rt))) == expected);
      CHECK(ahead.count->made == 0);
      CHECK(ahead.count->appended == 3 * 2500);
    }
  }
}

TEST_CASE("rows that may not stack are not built ahead, so their error is that of the batch") {
  struct labeled {
    tensor t;
    int64 label;
  };
  struct make {
    labeled operator()(int64 x) const { return {tensor::make(dtype::float32, {x == 70 ? 3 : 2}), x}; }
    void append_to(column& rows, int64 x) const {
      rows.child(0).append_tensor(operator()(x).t);
      rows.child(1).append_value(x);
      rows.append_row();
    }
  };
  auto error_with_stage = [](const auto& ds) {
    try {
      (void)lines_of(ds);
    } catch (const error& e) { return e.why().to_string(); }
    return std::string();
  };
  const std::string expected = error_with_stage(range(99) | map(make{}) | prefetch(4) | batch(32));
  CAPTURE(expected);
  CHECK(expected.find("batch") != std::string::npos);
  CHECK(error_with_stage(range(99) | map(make{}, {.parallelism = 2}) | batch(32)) == expected);
}

TEST_CASE("rows of skipped batches are not built") {
  decode f;
  CHECK(lines_of(range(100) | map(f) | batch(10) | skip(8)).size() == 2);
  CHECK(f.count->appended == 20);
}

TEST_CASE("an append_to that appends no whole row is reported, and its element can be dropped") {
  for (int how = 0; how != 5; ++how) {
    CAPTURE(how);
    auto rows = range(10) | map(careless{how});
    CHECK(error_of(rows | batch(4)).find("append_to() has to append one row of type") != std::string::npos);
    auto good = lines_of(range(10) | on_error(error_policy::skip, map(careless{how})) | batch(4) | unbatch());
    CHECK(good == std::vector<std::string>(9, good.at(0)));
  }
}

TEST_CASE("a function that has a name appends rows, too") {
  decode f;
  CHECK(lines_of(range(20) | map(fn("decode", 1, f)) | batch(7)).size() == 3);
  CHECK(f.count->appended == 20);
}

TEST_CASE("a batch of rows that does not fit into the budget is refused before it is delivered") {
  struct large {
    std::shared_ptr<int> rows = std::make_shared<int>();
    std::string operator()(int64) const { return std::string(1 << 20, 'x'); }
    void append_to(column& to, int64) const {
      ++*rows;
      to.append_text(std::string(1 << 20, 'x'));
    }
  };
  large f;
  runtime rt({.workers = 1, .memory_budget_bytes = 8 << 20});
  auto s = (range(1000) | map(f) | batch(100)).iterate(rt);
  auto first = [](stream<batched<std::string>>& s) -> task<std::int64_t> {
    auto b = co_await s.next();
    std::int64_t rows = b ? b->size() : 0;
    co_return rows;
  };
  CHECK_THROWS_WITH(sync_wait(rt, first(s)), Catch::Contains("more than the memory budget"));
  CHECK(*f.rows < 20);
}

TEST_CASE("parse_example writes the rows of a batch that directly follows it") {
  struct sample {
    std::string text;
    int64 label;
  };
  std::vector<std::string> records;
  for (int i = 0; i != 300; ++i) {
    example_writer w;
    w.bytes("text", "text " + std::to_string(i));
    if (i % 50 != 7) w.int64("label", i);
    records.emplace_back(w.finish());
  }
  auto in = from_elements(records);
  CHECK(error_of(in | parse_example<sample>() | batch(16)) ==
        error_of(in | parse_example<sample>() | prefetch(1) | batch(16)));
  auto parse = on_error(error_policy::skip, parse_example<sample>());
  auto expected = lines_of(in | parse | prefetch(1) | batch(16));
  CHECK(expected.size() == (300 - 6 + 15) / 16);
  CHECK(lines_of(in | parse | batch(16)) == expected);
  auto parse_ahead = on_error(error_policy::skip, parse_example<sample>({.parallelism = 2}));
  CHECK(lines_of(in | parse_ahead | batch(16)) == expected);
}

}  // namespace sluice::lib::row_landing_test
