// SPDX-License-Identifier: Apache-2.0
// batch_by_tokens: what it gives, by plain loops.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::batch_by_tokens_case {
namespace {

using namespace test;
using int64 = std::int64_t;

std::size_t tokens_of(int64 x) { return static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 6); }
int64s tokens_made(int64 x) { return int64s(tokens_of(x), x); }
int64 token_count(const int64s& list) { return static_cast<int64>(list.size()); }

/// Rows as they are padded, with -1.
int64 number_of_token_rows(const batched<int64s>& b) {
  int64 all = b.size();
  for (auto row : b.values()) {
    all = number_of(all, static_cast<int64>(row.size()));
    for (int64 x : row) all = number_of(all, x);
  }
  return all;
}

int64s token_batches(const int64s& in, std::size_t most, bool padded) {
  int64s out;
  std::vector<int64s> part;
  std::size_t longest = 0, sum = 0;
  auto close = [&] {
    int64 all = static_cast<int64>(part.size());
    for (int64s row : part) {
      if (padded) row.resize(longest, -1);
      all = number_of(all, static_cast<int64>(row.size()));
      for (int64 x : row) all = number_of(all, x);
    }
    if (!part.empty()) out.push_back(all);
    part.clear();
    longest = sum = 0;
  };
  for (int64 x : in) {
    const std::size_t n = tokens_of(x);
    if (padded ? std::max(longest, n) * (part.size() + 1) > most : sum + n > most) close();
    part.push_back(tokens_made(x));
    longest = std::max(longest, n);
    sum += n;
    // A batch of one that has more than fits goes at once.
    if (n > most) close();
  }
  close();
  return out;
}

const register_verb tokens_case(
    "batch_by_tokens",
    {.build =
         [](const verb_plan& p) {
           batch_by_tokens_options o{.padded = p.b % 2 == 1, .oversized = oversized::alone};
           if (o.padded) o.values = {{"it", -1}};
           return p.in[0] | map(tokens_made) | batch_by_tokens(token_count, p.a + 2, o) | map(number_of_token_rows);
         },
     .expected =
         [](const verb_lists& l) { return token_batches(l.in(), static_cast<std::size_t>(l.a + 2), l.b % 2 == 1); },
     // Elements without tokens are drawn, too: of a hundred in a row no batch knows that it is full.
     .resume = {.a = 5, .held = 9, .takes = 9}});

const register_verb tokens_failing_case("batch_by_tokens failing",
                                        {.meets_errors = true,
                                         .build =
                                             [](const verb_plan& p) {
                                               auto length = [b = p.b](const int64s& list) {
                                                 if (!list.empty() && is_bad(list[0], b))
                                                   throw_status(data_loss_error("not counted"));
                                                 return list.size();
                                               };
                                               return p.in[0] | map(tokens_made) | batch_by_tokens(length, p.a + 5) |
                                                      map(number_of_token_rows);
                                             },
                                         .expected =
                                             [](const verb_lists& l) {
                                               int64s in;
                                               for (int64 x : l.in())
                                                 if (tokens_of(x) == 0 || !is_bad(x, l.b)) in.push_back(x);
                                               return token_batches(in, static_cast<std::size_t>(l.a + 5), false);
                                             },
                                         .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::batch_by_tokens_case
