// SPDX-License-Identifier: Apache-2.0
// group_by: what it gives, by plain loops.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>

#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::group_by_case {
namespace {

using namespace test;
using int64 = std::int64_t;

struct group_row {
  int64 key = 0;
  int64 n = 0;
  int64 total = 0;
  double middle = 0;
  int64 least = 0;
  int64 most = 0;
  int64 one = 0;
};
int64 number_of_row(const group_row& r) {
  int64 number = r.key;
  for (int64 x : {r.n, r.total, std::bit_cast<int64>(r.middle), r.least, r.most, r.one}) number = number_of(number, x);
  return number;
}

/// 0 … 999, whatever x is.
int64 small(int64 x) { return ((x % 1000) + 1000) % 1000; }
const std::string kSmall = "((it % 1000 + 1000) % 1000)";

int64s rows_of(const int64s& in, int64 of) {
  std::map<int64, group_row> groups;
  for (int64 x : in) {
    const int64 v = small(x);
    auto [at, is_new] = groups.try_emplace(v % of);
    group_row& r = at->second;
    if (is_new) r = {v % of, 0, 0, 0, v, v, v};
    ++r.n;
    r.total += v;
    r.least = std::min(r.least, v);
    r.most = std::max(r.most, v);
  }
  int64s out;
  for (auto& [key, r] : groups) {
    r.middle = static_cast<double>(r.total) / static_cast<double>(r.n);
    out.push_back(number_of_row(r));
  }
  return out;
}

std::string aggregates_of(const std::string& value) {
  return "{n: count(), total: sum(" + value + "), middle: mean(" + value + "), least: min(" + value + "), most: max(" +
         value + "), one: first(" + value + ")}";
}

const register_verb group_by_case("group_by", {.build =
                                                   [](const verb_plan& p) {
                                                     auto key = expr(kSmall + " % " + std::to_string(p.a));
                                                     return p.in[0] |
                                                            group_by(key, expr<group_row>(aggregates_of(kSmall))) |
                                                            map(number_of_row);
                                                   },
                                               .expected = [](const verb_lists& l) { return rows_of(l.in(), l.a); },
                                               .resume = {.takes = 0}});

// A key that C++ computes, and an argument that fails for some elements.
const register_verb group_by_failing_case("group_by failing",
                                          {.meets_errors = true,
                                           .build =
                                               [](const verb_plan& p) {
                                                 auto key = [n = p.a](int64 x) { return small(x) % n; };
                                                 const std::string fails =
                                                     "if(" + kSmall + " % 7 == 3, 1 / 0, " + kSmall + ")";
                                                 return p.in[0] | group_by(key, expr<group_row>(aggregates_of(fails))) |
                                                        map(number_of_row);
                                               },
                                           .expected =
                                               [](const verb_lists& l) {
                                                 int64s in;
                                                 for (int64 x : l.in())
                                                   if (small(x) % 7 != 3) in.push_back(x);
                                                 return rows_of(in, l.a);
                                               },
                                           .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::group_by_case
