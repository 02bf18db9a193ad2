// SPDX-License-Identifier: Apache-2.0
// sluice/op/batch.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::batch_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// One number for a batch, which tells its rows and their order.
int64 digest(const batched<int64>& rows) {
  int64 all = rows.size();
  for (int64 x : rows.values()) all = added(times(all, 1000003), x);
  return all;
}

int64s digests(const int64s& in, std::size_t rows, bool drop_remainder) {
  int64s out;
  for (std::size_t at = 0; at < in.size(); at += rows) {
    std::size_t n = std::min(rows, in.size() - at);
    if (n < rows && drop_remainder) break;
    auto all = static_cast<int64>(n);
    for (std::size_t i = 0; i != n; ++i) all = added(times(all, 1000003), in[at + i]);
    out.push_back(all);
  }
  return out;
}

}  // namespace

TEST_CASE("batches of one size become batches of another") {
  conforms({.stage = [](const auto& in) { return in | batch(7) | unbatch() | batch(3) | map(digest); },
            .expected = [](const int64s& in) { return digests(in, 3, false); }});
}

TEST_CASE("a batch asks for its rows and no more") {
  auto calls = std::make_shared<int>();
  auto counting = [calls](int64 x) {
    ++*calls;
    return x;
  };
  CHECK(consume(range(100) | map(counting) | batch(4) | take(2) | map(digest), {}).elements.size() == 2);
  CHECK(*calls == 8);
}

TEST_CASE("batches of tensors are one tensor each, and unbatch gives views of it") {
  auto stacked = [](const batched<tensor>& b) {
    const tensor all = b.stacked();
    int64 sum = all.shape()[0];
    for (float x : all.values<float>()) sum = sum * 10 + static_cast<int64>(x);
    return sum;
  };
  auto vectors = range(5) | map([](int64 x) { return tensor::of(std::vector<float>{float(x), 9}); });
  CHECK(consume(vectors | batch(3) | map(stacked), {}).elements == int64s{3091929, 23949});
  CHECK(consume(vectors | batch(2) | batch(2) | map([](const batched<batched<tensor>>& b) { return b.size(); }), {})
            .elements == int64s{2, 1});
  auto owners = std::make_shared<std::vector<const void*>>();
  auto seen = [owners](const tensor& t) {
    owners->push_back(t.owner());
    return static_cast<int64>(t.values<float>()[0]);
  };
  CHECK(consume(vectors | batch(3) | unbatch() | map(seen), {}).elements == int64s{0, 1, 2, 3, 4});
  REQUIRE(owners->size() == 5);
  CHECK(((*owners)[0] == (*owners)[1] && (*owners)[1] == (*owners)[2] && (*owners)[3] == (*owners)[4]));
}

TEST_CASE("images conform") {
  auto stage = [](const auto& in) { return in | batch(5) | unbatch() | batch(3) | prefetch(2) | unbatch(); };
  auto ds = stage(range(40) | map(as_image::made)) | map(as_image::number);
  CHECK(consume(ds, {}).elements.size() == 40);
  resumes_everywhere(ds);
}

TEST_CASE("a batch larger than its input takes no more memory than the input does") {
  for (int64 size : {int64{1} << 20, int64{1} << 40, int64{1} << 61, int64{1} << 62, ~(int64{1} << 63)}) {
    CAPTURE(size);
    consumed got = consume(range(10) | batch(size) | unbatch(), {});
    CHECK(got.complaint() == "");
    CHECK(got.elements.size() == 10);
    CHECK(consume(range(10) | batch(size) | skip(1) | unbatch(), {}).elements.empty());
    CHECK(consume(range(10) | batch(2) | batch(size) | unbatch() | unbatch(), {}).elements.size() == 10);
  }
}

namespace {

struct row_of_texts {
  std::string text;
  int64 label = 0;
  std::vector<float> v;
};
row_of_texts make_row(int64 x) {
  return {std::string(static_cast<std::size_t>(50 + x % 100), 'a'), x, std::vector<float>(8)};
}

task<void> compare_account(runtime& rt, any_stream s, int64 rows) {
  for (int i = 0; i != 20; ++i) {
    auto b = co_await s.next_block({.elements = 1});
    std::size_t real = b.as<batch_storage>()->memory_bytes(), charged = rt.ledger().held_bytes();
    CHECK(static_cast<double>(charged) >= 0.95 * static_cast<double>(real));
    CHECK(static_cast<double>(charged) <= 1.05 * static_cast<double>(real));
    // Nor is that much more than what is in them: arrays at most double.
    std::size_t used = static_cast<std::size_t>(rows) * (100 + 4 + 8 + 4 + 32);
    CHECK(real < 2 * used + 2048);
  }
}

}  // namespace

TEST_CASE("the ledger's bytes of a batch equal the memory of its columns") {
  for (int64 rows : {100, 1000}) {
    CAPTURE(rows);
    simulation world(1);
    runtime rt(world);
    auto plan = (range(1'000'000) | map(make_row) | batch(rows)).plan();
    sync_wait(rt, compare_account(rt, open_run(rt, plan, {}), rows));
  }
}

TEST_CASE("a batch is charged while it is filled, and refused when the budget is exceeded") {
  simulation world(1);
  runtime rt(world, {.memory_budget_bytes = 1 << 20});
  consumption how;
  CHECK(consume_on(rt, range(120'000) | batch(60'000) | unbatch(), how).complaint() == "");
  auto peak = rt.ledger().report().peak_bytes;
  CHECK(peak >= 480'000);
  consumed refused = consume_on(rt, range(10'000'000) | batch(1'000'000) | unbatch(), how);
  CHECK(refused.elements.empty());
  CHECK(refused.why.code() == status_code::resource_exhausted);
  CHECK_THAT(refused.why.to_string(),
             Catch::Contains("batch: a batch alone takes more than the memory budget of 1.0 MiB") &&
                 Catch::Contains("lower its size, or raise the memory budget"));
}

}  // namespace sluice::lib::batch_test
