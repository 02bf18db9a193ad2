// SPDX-License-Identifier: Apache-2.0
// sluice/op/pack_sequences.hpp
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::pack_sequences_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

std::size_t sequence_length(int64 x) { return static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 9); }
int64s sequence_of(int64 x) {
  int64s tokens;
  for (std::size_t i = 0; i != sequence_length(x); ++i) tokens.push_back(added(x, static_cast<int64>(i)));
  return tokens;
}

int64 number_of_packed(const packed_row& r) {
  int64 all = static_cast<int64>(r.tokens.size());
  for (std::size_t i = 0; i != r.tokens.size(); ++i) {
    all = number_of(all, r.tokens[i]);
    all = number_of(all, r.segments[i] * 100 + r.positions[i]);
  }
  return all;
}

struct packing_rules {
  std::size_t most = 10, open = 2;
  bool pads = true;
};

/// By the words of the contract; what is too long is cut.
int64s packed_numbers(const int64s& in, const packing_rules& how) {
  int64s out;
  std::deque<packed_row> rows;
  auto leave = [&](std::size_t i) {
    packed_row r = rows[i];
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    if (how.pads) {
      r.tokens.resize(how.most, -7);
      r.segments.resize(how.most);
      r.positions.resize(how.most);
    }
    out.push_back(number_of_packed(r));
  };
  for (int64 x : in) {
    int64s tokens = sequence_of(x);
    tokens.resize(std::min(tokens.size(), how.most));
    if (tokens.empty()) continue;
    std::size_t to = 0;
    while (to != rows.size() && rows[to].tokens.size() + tokens.size() > how.most) ++to;
    if (to == rows.size()) {
      if (rows.size() == how.open) leave(0);
      to = rows.size();
      rows.emplace_back();
    }
    packed_row& r = rows[to];
    const std::int32_t segment = r.segments.empty() ? 1 : r.segments.back() + 1;
    for (std::size_t i = 0; i != tokens.size(); ++i) {
      r.tokens.push_back(tokens[i]);
      r.segments.push_back(segment);
      r.positions.push_back(static_cast<std::int32_t>(i));
    }
    if (r.tokens.size() == how.most) leave(to);
  }
  while (!rows.empty()) leave(0);
  return out;
}

const register_verb packed_case("pack_sequences",
                                {.build =
                                     [](const verb_plan& p) {
                                       pack_sequences_options o{.pad_token = -7, .oversized = oversized::truncate};
                                       o.open_rows = static_cast<int64>(p.b % 4) + 1;
                                       o.pad = p.b % 8 < 4;
                                       return p.in[0] | map(sequence_of) | pack_sequences(p.a * 3, o) |
                                              map(number_of_packed);
                                     },
                                 .expected =
                                     [](const verb_lists& l) {
                                       return packed_numbers(
                                           l.in(), {static_cast<std::size_t>(l.a * 3), l.b % 4 + 1, l.b % 8 < 4});
                                     },
                                 .resume = {.a = 5, .b = 2, .held = 60, .takes = 8}});
const register_verb packed_failing_case("pack_sequences failing",
                                        {.meets_errors = true,
                                         .build =
                                             [](const verb_plan& p) {
                                               auto made = [b = p.b](int64 x) -> result<int64s> {
                                                 if (is_bad(x, b)) return data_loss_error("no sequence");
                                                 return sequence_of(x);
                                               };
                                               return p.in[0] | map(made) |
                                                      pack_sequences(p.a + 4, {.open_rows = 3, .pad_token = -7}) |
                                                      map(number_of_packed);
                                             },
                                         .expected =
                                             [](const verb_lists& l) {
                                               int64s in;
                                               for (int64 x : l.in())
                                                 if (!is_bad(x, l.b) &&
                                                     sequence_length(x) <= static_cast<std::size_t>(l.a + 4))
                                                   in.push_back(x);
                                               return packed_numbers(in, {static_cast<std::size_t>(l.a + 4), 3, true});
                                             },
                                         .resume = {.takes = 0}});

template <class I>
std::string packed(const std::vector<std::vector<I>>& in, int64 most, pack_sequences_options o = {}) {
  return elements(from_elements(in) | pack_sequences(most, o));
}

}  // namespace

TEST_CASE("pack_sequences puts each sequence into the first row that has room") {
  using lists = std::vector<int64s>;
  CHECK(packed(lists{{5, 6, 7}, {8}, {9, 9}}, 4) ==
        R"({"tokens":[5,6,7,8],"segments":[1,1,1,2],"positions":[0,1,2,0]})"
        R"( {"tokens":[9,9,0,0],"segments":[1,1,0,0],"positions":[0,1,0,0]})");
  auto tokens = [](const packed_row& r) { return r.tokens; };
  auto rows = [&](const lists& in, pack_sequences_options o) {
    o.pad = false;
    return elements(from_elements(in) | pack_sequences(4, o) | map(tokens));
  };
  // 3 and 2 are open; 1 goes to the first, which is full; 2 to the second, which is full.
  CHECK(rows({{1, 1, 1}, {2, 2}, {3}, {4, 4}}, {}) == "[1,1,1,3] [2,2,4,4]");
  // No row has room for the third: with two open the oldest leaves for it, with three it does not.
  CHECK(rows({{1, 1, 1}, {2, 2, 2}, {3, 3}, {4}}, {.open_rows = 2}) == "[1,1,1] [2,2,2,4] [3,3]");
  CHECK(rows({{1, 1, 1}, {2, 2, 2}, {3, 3}, {4}}, {.open_rows = 3}) == "[1,1,1,4] [2,2,2] [3,3]");
  CHECK(rows({{}, {1}, {}}, {}) == "[1]");
  CHECK(rows({{}, {}}, {}) == "");
  CHECK(packed(std::vector<std::vector<std::uint8_t>>{{255}}, 2, {.pad_token = -1}) ==
        R"({"tokens":[255,-1],"segments":[1,0],"positions":[0,0]})");
  auto batches = range(40) | map(sequence_of) | pack_sequences(8) | batch(4);
  auto shape = [](const batched<packed_row>& b) { return b.stacked(&packed_row::tokens).spec_text(); };
  CHECK_THAT(elements(batches | map(shape)), Catch::StartsWith("\"int64[4,8]\""));
}

TEST_CASE("a sequence that is too long is an error, or is cut") {
  const std::vector<int64s> in = {{1}, {2, 2, 2, 2}, {3}};
  CHECK_THROWS_WITH(packed(in, 3), Contains("element 1") && Contains("it has 4 tokens, and a row has 3"));
  auto tokens = [](const packed_row& r) { return r.tokens; };
  CHECK(elements(from_elements(in) | pack_sequences(3, {.oversized = oversized::truncate}) | map(tokens)) ==
        "[2,2,2] [1,3,0]");
  CHECK(elements(from_elements(in) | on_error(error_policy::skip, pack_sequences(3)) | map(tokens)) == "[1,3,0]");
}

TEST_CASE("pack_sequences says what does not fit, the plan and the memory") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{1} << 20});
  auto large = [](int64 x) { return int64s(5'000, x); };
  consumed got =
      consume_on(rt, range(300) | map(large) | pack_sequences(9'000, {.open_rows = 64}) | map(number_of_packed), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Contains("lower open_rows or tokens_max"));
  CHECK(rt.ledger().report().used_bytes == 0);
}

}  // namespace sluice::lib::pack_sequences_test
