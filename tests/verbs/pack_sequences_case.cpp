// SPDX-License-Identifier: Apache-2.0
// pack_sequences: what it gives, by plain loops.

#include <algorithm>
#include <cstdint>
#include <deque>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/pack_sequences_model.hpp"

namespace sluice::lib::pack_sequences_case {
namespace {

using namespace test;
using int64 = std::int64_t;

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

}  // namespace
}  // namespace sluice::lib::pack_sequences_case
