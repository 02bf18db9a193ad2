// SPDX-License-Identifier: Apache-2.0
// sluice/op/inspect.hpp
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"

namespace sluice::lib::inspect_test {
namespace {

using namespace test;
using int64 = std::int64_t;

std::atomic<int64> noted_sum{0};
SLUICE_FUNCTION(note_number, [](const int64& x) { noted_sum += x; });
SLUICE_FUNCTION(refuse_five, [](const int64& x) {
  if (x == 5) throw_status(data_loss_error("five is refused"));
});
SLUICE_FUNCTION(five_is_bad, [](int64 x) -> int64 {
  if (x == 5) throw_status(data_loss_error("five is refused"));
  return x;
});
SLUICE_FUNCTION(note_words, [](const std::string& a, const std::string& b) {
  noted_sum += static_cast<int64>(a.size() * 100 + b.size());
});

/// What the function saw.
struct seen {
  std::shared_ptr<int64s> numbers = std::make_shared<int64s>();
  void operator()(const int64& x) const { numbers->push_back(x); }
};

}  // namespace

TEST_CASE("inspect sees each requested element, in order, and no skipped one") {
  seen s;
  CHECK(consume(range(20) | inspect(s) | take(7), {}).elements == int64s{0, 1, 2, 3, 4, 5, 6});
  CHECK(*s.numbers == int64s{0, 1, 2, 3, 4, 5, 6});
  s.numbers->clear();
  CHECK(consume(range(20) | tap(s) | skip(17), {}).elements == int64s{17, 18, 19});
  CHECK(*s.numbers == int64s{17, 18, 19});
}

TEST_CASE("an error of inspect's function is an error of that element, under the policy") {
  auto refusing =
      range(10) | inspect([](const int64& x) { return x % 4 == 3 ? data_loss_error("three in four") : status(); });
  consumed stopped = consume(refusing, {});
  CHECK(stopped.elements == int64s{0, 1, 2});
  CHECK(stopped.why.where().stage == "inspect");
  CHECK(stopped.why.where().element == 3);
  consumption tolerant;
  tolerant.on_error = error_policy::skip;
  consumed dropped = consume(refusing, tolerant);
  CHECK(dropped.complaint() == "");
  CHECK(dropped.elements == int64s{0, 1, 2, 4, 5, 6, 8, 9});
  CHECK(dropped.errors.back() == 2);
  auto throwing = range(10) | inspect(refuse_five);
  stopped = consume(throwing, {});
  CHECK(stopped.elements.size() == 5);
  CHECK(stopped.why.where().stage == "inspect(refuse_five)");
}

TEST_CASE("inspect prints as text with its function, and is read again; tap is another name of it") {
  round_trips(*(range(5) | inspect(note_number)).plan(), "range(5) | inspect(note_number)");
  round_trips(*(range(5) | inspect(expr("five_is_bad(it)"))).plan(), "range(5) | inspect(five_is_bad(it))");
  CHECK(cardinality_of(*(range(5) | inspect(note_number)).plan()) == cardinality::of(5));
  noted_sum = 0;
  CHECK(elements<int64>("range(5) | tap(note_number)") == "0 1 2 3 4");
  CHECK(noted_sum == 10);
  CHECK(plan_text(*parse_plan("range(5) | tap(note_number)")) == "range(5) | inspect(note_number)");
  noted_sum = 0;
  CHECK(elements<int64>("range(2) | map({a: \"abc\", b: \"x\"}) | inspect(note_words(a, b)) | map(int64(1))") == "1 1");
  CHECK(noted_sum == 2 * 301);
}

}  // namespace sluice::lib::inspect_test
