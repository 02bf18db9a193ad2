// SPDX-License-Identifier: Apache-2.0
// sluice/op/zip.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::zip_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 folded_pair(const std::pair<int64, int64>& p) { return p.first * 1000 + p.second; }
int64 folded_three(const std::tuple<int64, int64, int64>& t) {
  return (std::get<0>(t) * 1000 + std::get<1>(t)) * 1000 + std::get<2>(t);
}
dataset<int64> others(int64 n) { return range(500 + n, {.start = 500}); }

/// What zip of `in` and of 500, 501 … gives, `n` of those.
int64s with_others(const int64s& in, int64 n) {
  int64s out;
  for (std::size_t i = 0; i != std::min(in.size(), static_cast<std::size_t>(n)); ++i)
    out.push_back(in[i] * 1000 + 500 + static_cast<int64>(i));
  return out;
}

/// Counts what a stage below has made.
dataset<int64> noting(const dataset<int64>& in, std::shared_ptr<int64> made) {
  return in | map([made](int64 x) {
           ++*made;
           return x;
         });
}

}  // namespace

TEST_CASE("zip conforms, whichever input is shorter") {
  for (int64 n : {0, 5, 40, 1000})
    conforms({.stage = [n](const auto& in) { return zip(in, others(n)) | map(folded_pair); },
              .expected = [n](const int64s& in) { return with_others(in, n); }});
}

TEST_CASE("zip conforms for elements of every kind, and asks for no more than it needs") {
  conforms_for_elements(
      [](const auto& in) {
        using row = std::pair<typename std::remove_cvref_t<decltype(in)>::value_type, int64>;
        return zip(in, others(1000) | batch(3) | unbatch()) | map([](row r) { return std::move(r.first); });
      },
      {.expected = [](const int64s& in) { return in; },
       .before_error = [](const int64s& in) { return in; },
       .needs = one_each});
  conforms_for_elements(
      [](const auto& in) {
        using row = std::tuple<int64, int64, typename std::remove_cvref_t<decltype(in)>::value_type>;
        return zip(range(30) | prefetch(2), range(1000), in) | map([](row r) { return std::get<2>(std::move(r)); });
      },
      {.expected = [](const int64s& in) { return first_of(in, 30); }});
}

TEST_CASE("zip conforms with inputs whose blocks differ, and that wait") {
  conforms({.stage =
                [](const auto& in) {
                  auto second = others(1000) | filter([](int64) { return true; }) | prefetch(3);
                  auto third = range(1000) | batch(7) | unbatch();
                  return zip(in, second, third) | map(folded_three);
                },
            .expected =
                [](const int64s& in) {
                  int64s out;
                  for (std::size_t i = 0; i != std::min<std::size_t>(in.size(), 1000); ++i) {
                    auto k = static_cast<int64>(i);
                    out.push_back((in[i] * 1000 + 500 + k) * 1000 + k);
                  }
                  return out;
                },
            .before_error =
                [](const int64s& in) {
                  int64s out;
                  for (std::size_t i = 0; i != in.size(); ++i) {
                    auto k = static_cast<int64>(i);
                    out.push_back((in[i] * 1000 + 500 + k) * 1000 + k);
                  }
                  return out;
                }});
}

TEST_CASE("zip of the same plan twice, shuffled, draws twice") {
  auto one = range(50) | shuffle(50);
  auto equal = zip(one, one) | map([](const std::pair<int64, int64>& p) { return int64{p.first == p.second}; });
  int64s got = consume(equal, {}).elements;
  REQUIRE(got.size() == 50);
  CHECK(std::count(got.begin(), got.end(), 1) < 10);
}

TEST_CASE("zip asks each input for no more than is asked of it") {
  auto first = std::make_shared<int64>(0), second = std::make_shared<int64>(0);
  auto both = zip(noting(range(100), first), noting(others(100), second)) | map(folded_pair);
  CHECK(consume(both | take(5), {}).elements.size() == 5);
  CHECK(*first == 5);
  CHECK(*second == 5);
  *first = *second = 0;
  consumption how;
  how.skip = 90;
  CHECK(consume(both, how).elements.size() == 10);
  CHECK(*first == 10);  // the map passes on what is passed over
  CHECK(*second == 10);
}

TEST_CASE("what one input has made when another ends is dropped, and the ordinal at the end is right") {
  for (std::uint64_t skip : {0, 1, 2, 3, 4, 5, 6, 7, 50}) {
    CAPTURE(skip);
    consumption how;
    how.skip = skip;
    for (std::uint32_t ask : {0, 1, 10}) {
      how.ask_max = ask;
      for (auto [a, b, c] : {std::tuple{5, 9, 7}, {9, 5, 7}, {9, 7, 5}, {5, 6, 5}, {6, 5, 6}}) {
        consumed got = consume(zip(range(a), others(b), range(c)) | map(folded_three), how);
        CHECK(got.complaint() == "");
        CHECK(got.length == 5);
        CHECK(got.elements.size() == 5 - std::min<std::uint64_t>(skip, 5));
      }
    }
  }
}

TEST_CASE("zip of six inputs, by rows and as a batch of six columns") {
  auto text = [](int64 x) { return std::to_string(x); };
  auto half = [](int64 x) { return 0.5 * static_cast<double>(x); };
  auto owned = [](int64 x) { return std::vector<int64>{x, x}; };
  auto six =
      zip(range(9), range(9) | map(text), range(9) | map(half), range(9) | map(owned), range(4) | repeat(), range(9));
  using row = decltype(six)::value_type;
  auto same = six | filter([](const row& r) { return std::to_string(std::get<0>(r)) == std::get<1>(r); }) |
              map([](const row& r) { return std::get<3>(r)[1] * 100 + std::get<4>(r); });
  CHECK(consume(same, {}).elements == int64s{0, 101, 202, 303, 400, 501, 602, 703, 800});
  auto sums = six | batch(4) | map([](batched<row> b) {
                auto columns = b.columns();
                int64 sum = 0;
                for (int64 x : std::get<0>(columns)) sum += x;
                for (double x : std::get<2>(columns)) sum += static_cast<int64>(2 * x) * 1000;
                return sum + static_cast<int64>(std::get<1>(columns)[0].size()) * 1'000'000;
              });
  CHECK(consume(sums, {}).elements == int64s{1'006'006, 1'022'022, 1'008'008});
}

TEST_CASE("a bad element of an input is dropped from that input alone") {
  auto good = range(10) | map([](int64 x) {
                if (x == 3) throw_status(data_loss_error("bad"));
                return x;
              });
  consumption how;
  how.on_error = error_policy::skip;
  consumed got = consume(zip(good, others(20)) | map(folded_pair), how);
  CHECK(got.complaint() == "");
  CHECK(got.elements == with_others({0, 1, 2, 4, 5, 6, 7, 8, 9}, 9));
  CHECK(got.errors.back() == 1);
}

TEST_CASE("zip knows its size where its inputs do") {
  auto some = range(5) | filter([](int64) { return true; });
  CHECK(cardinality_of(*zip(some, range(3)).plan()) == cardinality());
  CHECK(cardinality_of(*zip(some, range(0)).plan()) == cardinality::of(0));
}

TEST_CASE("zip prints as text, and is read again") {
  round_trips(*zip(range(4), range(5)).plan(), "zip(range(4), range(5))");
  round_trips(*(zip(range(4) | shuffle(2, {.seed = 1}), range(5), zip(range(6), range(7))) | take(3)).plan(),
              "zip(range(4) | shuffle(2, seed=1), range(5), zip(range(6), range(7))) | take(3)");
  CHECK(&type_of<std::tuple<int64, int64, std::pair<int64, int64>>>() ==
        parse_plan("zip(range(4), range(5), zip(range(6), range(7)))")->type);
  CHECK_THROWS_WITH(parse_plan("zip(range(4))"), Catch::Matchers::Contains("needs two inputs or more"));
}

}  // namespace sluice::lib::zip_test
