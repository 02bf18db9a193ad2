// SPDX-License-Identifier: Apache-2.0
// What ignore_errors does to policies is in pipeline/errors/stage_policies_test.cpp.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::ignore_errors_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s without_sevens(const int64s& in) {
  int64s good;
  for (int64 x : in)
    if (x % 7 != 3) good.push_back(x);
  return good;
}
int64 no_seven(int64 x) {
  if (x % 7 == 3) throw_status(data_loss_error("three is out"));
  return x;
}

}  // namespace

TEST_CASE("ignore_errors conforms") {
  auto all = [](const int64s& in) { return in; };
  conforms_for_elements([](const auto& in) { return in | ignore_errors(); }, {.expected = all, .needs = one_each});
  conforms({.stage = [](const auto& in) { return in | map(no_seven) | ignore_errors(); }, .expected = without_sevens});
  conforms({.stage = [](const auto& in) { return in | map(no_seven, {.parallelism = 3}) | ignore_errors(); },
            .expected = without_sevens});
}

TEST_CASE("a stage with a policy of its own conforms") {
  conforms({.stage = [](const auto& in) { return in | on_error(error_policy::skip, map(no_seven)); },
            .expected = without_sevens,
            .before_error = without_sevens});
  conforms({.stage =
                [](const auto& in) {
                  return in | on_error(error_policy::skip, map(no_seven, {.parallelism = 2})) |
                         map([](int64 x) { return x; });
                },
            .expected = without_sevens,
            .before_error = without_sevens});
}

namespace {

/// Every n-th element is bad, from the first on.
auto bad_every(int64 n) {
  return map([n](int64 x) {
    if (x % n == 0) throw_status(data_loss_error("bad"));
    return x;
  });
}
/// What a function was called with.
struct calls {
  std::shared_ptr<std::vector<std::string>> told = std::make_shared<std::vector<std::string>>();
  void operator()(const status& why, std::uint64_t n) const {
    told->push_back(std::to_string(n) + " " + why.to_string());
  }
};

}  // namespace

TEST_CASE("ignore_errors calls a function with each error, in order, only if it has one") {
  calls c;
  auto ds = range(30) | bad_every(10) | on_error(error_policy::skip, map([](int64 x) {
                                                   if (x == 5) throw_status(data_loss_error("five"));
                                                   return x;
                                                 })) |
            ignore_errors(c);
  consumed got = consume(ds, {});
  CHECK(got.complaint() == "");
  CHECK(got.elements.size() == 26);
  CHECK(got.errors.back() == 4);
  CHECK(*c.told == std::vector<std::string>{"1 data_loss: map at element 0: bad", "2 data_loss: map at element 10: bad",
                                            "3 data_loss: map at element 20: bad"});
  auto throwing = range(30) | bad_every(10) | ignore_errors([](const status&, std::uint64_t n) {
                    if (n == 2) throw std::runtime_error("the log is full");
                  });
  got = consume(throwing, {});
  CHECK(got.elements.size() == 9);
  CHECK(got.why.to_string() == "unknown: ignore_errors: the log is full");
  c.told->clear();
  got = consume(range(30) | bad_every(10) | ignore_errors(c, {.errors_max = 1}), {});
  CHECK(got.elements.size() == 9);
  CHECK(got.why.to_string().find("one more than errors_max=1 of ignore_errors") != std::string::npos);
}

TEST_CASE("an input that fails without taking an element ends, and is not asked for ever") {
  consumption how;
  how.on_error = error_policy::skip;
  auto never = [](stream<int64> in) -> stream<int64> {
    if (in) throw_status(data_loss_error("not even begun"));
    co_yield 1;
  };
  CHECK(consume(range(9) | transform(never) | ignore_errors(), how).why.code() == status_code::data_loss);
  auto source = generate([]() -> stream<int64> {
    throw_status(data_loss_error("no source"));
    co_yield 1;
  });
  CHECK(consume(source | ignore_errors(), how).why.code() == status_code::data_loss);
}

TEST_CASE("ignore_errors prints as text, and is read again") {
  round_trips(*(range(5) | ignore_errors()).plan(), "range(5) | ignore_errors");
  round_trips(*(range(5) | ignore_errors({.errors_max = 3})).plan(), "range(5) | ignore_errors(errors_max=3)");
  round_trips(*(range(5) | ignore_errors({.errors_share = 0.01, .share_after = 1000})).plan(),
              "range(5) | ignore_errors(errors_share=0.01, share_after=1000)");
  CHECK(fingerprint(*(range(5) | ignore_errors({.errors_share = 0.01})).plan()) ==
        fingerprint(*(range(5) | ignore_errors(calls())).plan()));
  CHECK_THROWS(plan_json(*(range(5) | ignore_errors(calls())).plan()));
}

}  // namespace sluice::lib::ignore_errors_test
