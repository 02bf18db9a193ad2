// SPDX-License-Identifier: Apache-2.0
// sluice/op/window_batch.hpp, src/engine/batching/windows.hpp
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/window_batch_model.hpp"

namespace sluice::lib::window_batch_test {
namespace {

using namespace test;
using namespace window_batch_case;
using Catch::Contains;
using int64 = std::int64_t;

/// It cannot be copied, and batches keep it as it is.
struct held_alone {
  static constexpr std::string_view sluice_name = "held_alone";
  std::unique_ptr<int64> value = std::make_unique<int64>(1);
};

}  // namespace

TEST_CASE("window_batch has the rows that window has elements, for every size, shift and stride") {
  CHECK(elements(range(7) | window_batch(3)) == elements(range(7) | batch(3)));
  for (int64 size : {1, 2, 3, 5})
    for (std::uint64_t b = 0; b != 30; ++b)
      for (int64 length : {0, 1, 4, 7, 12, 23}) {
        CAPTURE(size, b, length);
        const window_batch_options o = lying_by(b);
        window_options same{.shift = o.shift, .stride = o.stride, .drop_remainder = o.drop_remainder};
        CHECK(elements(range(length) | window_batch(size, o)) == elements(range(length) | window(size, same)));
        CHECK(cardinality_of(*(range(length) | window_batch(size, o)).plan()) ==
              cardinality_of(*(range(length) | window(size, same)).plan()));
      }
}

TEST_CASE("window_batch conforms for rows of every kind") {
  for (std::uint64_t b : {0, 1, 2, 6, 19}) {
    CAPTURE(b);
    conformance c;
    c.expected = [b](const int64s& in) { return window_numbers(in, 3, lying_by(b)); };
    auto over = [&](auto as) {
      using As = decltype(as);
      c.elements = As::kName;
      c.stage = [b](const dataset<int64>& in) {
        return in | map(As::made) | window_batch(3, lying_by(b)) | map(number_of_batch<As>());
      };
      conforms(c);
    };
    over(as_text());
    over(as_record());
    over(as_tensor());
  }
}

TEST_CASE("window_batch refuses arguments that do not fit, and windows above the memory") {
  auto made = range(5) | map([](int64) { return held_alone(); });
  CHECK_THROWS_WITH(made | window_batch(2, {.shift = 1}), Contains("cannot be copied"));
  CHECK_THROWS_WITH(made | window_batch(2, {.shift = 4, .stride = 2}), Contains("with a stride"));
  auto rows_of = [](const batched<held_alone>& b) { return b.size(); };
  CHECK(elements(made | window_batch(2, {.shift = 3}) | map(rows_of)) == "2 2");
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{1} << 20});
  auto text = [](int64) { return std::string(10'000, 'x'); };
  auto rows = [](const batched<std::string>& b) { return b.size(); };
  CHECK(consume_on(rt, range(300) | map(text) | window_batch(20, {.shift = 5}) | map(rows), {}).elements.size() == 60);
  consumed got = consume_on(rt, range(300) | map(text) | window_batch(200, {.shift = 5}) | map(rows), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Contains("lower its size"));
  CHECK(rt.ledger().report().used_bytes == 0);
}

}  // namespace sluice::lib::window_batch_test
