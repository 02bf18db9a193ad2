// SPDX-License-Identifier: Apache-2.0
// group_by_reducer: what it gives, by plain loops.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::group_by_reducer_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// As tf.data's.
template <class K> std::map<K, int64s> groups_of(const int64s& in, K (*key)(int64, int64), int64 of) {
  std::map<K, int64s> groups;
  for (int64 x : in) groups[key(x, of)].push_back(x);
  return groups;
}

int64 remainder(int64 x, int64 of) { return x % of; }
std::string digits_of(int64 x, int64 of) { return std::to_string(x % of); }
std::pair<bool, std::string> sign_and_digits(int64 x, int64 of) { return {x > of, digits_of(x, of)}; }

template <class K> int64s numbers_of(const std::map<K, int64s>& groups, int64 from, int64 (*begin)(const K&)) {
  int64s out;
  for (auto& [key, elements] : groups) {
    int64 number = begin ? begin(key) : from;
    for (int64 x : elements) number = number_of(number, x);
    out.push_back(number);
  }
  return out;
}

const register_verb group_case("group_by_reducer",
                               {.build =
                                    [](const verb_plan& p) {
                                      auto by = [n = p.a](int64 x) { return remainder(x, n); };
                                      auto begin = [](int64 key) { return key + 7; };
                                      auto add = [](int64& number, int64 x) { number = number_of(number, x); };
                                      return p.in[0] | group_by_reducer(by, begin, add);
                                    },
                                .expected =
                                    [](const verb_lists& l) {
                                      return numbers_of<int64>(groups_of(l.in(), remainder, l.a), 0,
                                                               [](const int64& key) { return key + 7; });
                                    },
                                .resume = {.takes = 0}});

const register_verb group_text_case("group_by_reducer by texts",
                                    {.build =
                                         [](const verb_plan& p) {
                                           auto by = [n = p.a](int64 x) { return digits_of(x, n); };
                                           auto add = [](std::vector<int64>& all, int64 x) { all.push_back(x); };
                                           auto number = [](const std::vector<int64>& all) {
                                             int64 number = 0;
                                             for (int64 x : all) number = number_of(number, x);
                                             return number;
                                           };
                                           return p.in[0] | group_by_reducer(by, std::vector<int64>(), add, number);
                                         },
                                     .expected =
                                         [](const verb_lists& l) {
                                           return numbers_of<std::string>(groups_of(l.in(), digits_of, l.a), 0,
                                                                          nullptr);
                                         },
                                     .resume = {.takes = 0}});

const register_verb group_failing_case("group_by_reducer failing",
                                       {.meets_errors = true,
                                        .build =
                                            [](const verb_plan& p) {
                                              auto by = [n = p.a, b = p.b](int64 x) {
                                                if (is_bad(x, b)) throw_status(data_loss_error("no key"));
                                                return sign_and_digits(x, n);
                                              };
                                              auto add = [b = p.b](int64& number, int64 x) {
                                                number = number_of(number, x);
                                                if (is_bad(x, b + 1)) throw_status(data_loss_error("not to be added"));
                                              };
                                              auto finish = [b = p.b](int64 number) -> result<int64> {
                                                if (is_bad(number, b + 2)) return data_loss_error("not to be finished");
                                                return number;
                                              };
                                              return p.in[0] | group_by_reducer(by, p.a, add, finish);
                                            },
                                        .expected =
                                            [](const verb_lists& l) {
                                              int64s in, out;
                                              for (int64 x : l.in())
                                                if (!is_bad(x, l.b) && !is_bad(x, l.b + 1)) in.push_back(x);
                                              for (int64 number : numbers_of<std::pair<bool, std::string>>(
                                                       groups_of(in, sign_and_digits, l.a), l.a, nullptr))
                                                if (!is_bad(number, l.b + 2)) out.push_back(number);
                                              return out;
                                            },
                                        .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::group_by_reducer_case
