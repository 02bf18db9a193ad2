// SPDX-License-Identifier: Apache-2.0
// group_by_window: what it gives, by plain loops.

#include <cstdint>
#include <string>
#include <utility>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/group_by_window_model.hpp"

namespace sluice::lib::group_by_window_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 remainder(int64 x, int64 of) { return x % of; }

void add_batches(int64s& out, const int64s& group, std::size_t rows) {
  for (std::size_t i = 0; i < group.size(); i += rows)
    out.push_back(folded(int64s(group.begin() + static_cast<std::ptrdiff_t>(i),
                                group.begin() + static_cast<std::ptrdiff_t>(std::min(i + rows, group.size())))));
}

const register_verb window_case("group_by_window",
                                {.build =
                                     [](const verb_plan& p) {
                                       return p.in[0] |
                                              group_by_window([](int64 x) { return remainder(x, 3); }, batch(2), p.a) |
                                              map(folded_batch);
                                     },
                                 .expected =
                                     [](const verb_lists& l) {
                                       int64s out;
                                       auto key = [](int64 x) { return remainder(x, 3); };
                                       for (auto& [k, group] :
                                            groups_of<int64>(l.in(), key, [&](int64) { return l.a; }))
                                         add_batches(out, group, 2);
                                       return out;
                                     },
                                 .resume = {.a = 4, .held = 20, .takes = 2}});

// The size depends on the key, and keys are texts.
const register_verb sized_case(
    "group_by_window by texts",
    {.build =
         [](const verb_plan& p) {
           auto key = [n = p.a](int64 x) { return std::to_string(remainder(x, n)); };
           auto size = [n = p.a](const std::string& k) { return static_cast<int64>(k.size()) + n % 3; };
           auto number = [](std::pair<int64, int64> p) { return number_of(p.first, p.second); };
           return p.in[0] |
                  group_by_window(
                      key, [number](const dataset<int64>& group) { return group | enumerate() | map(number); }, size);
         },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           auto key = [&](int64 x) { return std::to_string(remainder(x, l.a)); };
           auto size = [&](const std::string& k) { return static_cast<int64>(k.size()) + l.a % 3; };
           for (auto& [k, group] : groups_of<std::string>(l.in(), key, size))
             for (std::size_t i = 0; i != group.size(); ++i) out.push_back(number_of(static_cast<int64>(i), group[i]));
           return out;
         },
     .resume = {.takes = 0}});

const register_verb failing_case("group_by_window failing",
                                 {.meets_errors = true,
                                  .build =
                                      [](const verb_plan& p) {
                                        auto key = [b = p.b](int64 x) {
                                          if (is_bad(x, b)) throw_status(data_loss_error("no key"));
                                          return remainder(x, 7);
                                        };
                                        auto size = [b = p.b, n = p.a](int64 k) {
                                          return k == static_cast<int64>(b % 7) ? -n : n;
                                        };
                                        auto half = [b = p.b](int64 x) {
                                          if (is_bad(x, b + 1)) throw_status(data_loss_error("not in a group"));
                                          return number_of(x, 2);
                                        };
                                        return p.in[0] | group_by_window(key, map(half), size);
                                      },
                                  .expected =
                                      [](const verb_lists& l) {
                                        int64s in, out;
                                        for (int64 x : l.in())
                                          if (!is_bad(x, l.b) && remainder(x, 7) != static_cast<int64>(l.b % 7))
                                            in.push_back(x);
                                        auto key = [](int64 x) { return remainder(x, 7); };
                                        for (auto& [k, group] : groups_of<int64>(in, key, [&](int64) { return l.a; }))
                                          for (int64 x : group)
                                            if (!is_bad(x, l.b + 1)) out.push_back(number_of(x, 2));
                                        return out;
                                      },
                                  .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::group_by_window_case
