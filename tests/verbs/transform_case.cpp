// SPDX-License-Identifier: Apache-2.0
// transform: what it gives, by plain loops.

#include <cstdint>
#include <utility>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::transform_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// --- For the random plans: a coroutine for each way to be resumed. ---

stream<int64> with_previous(stream<int64> in) {
  int64 previous = 7;
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield added(element, previous);
    previous = element;
  }
  co_yield previous;
}

stream<int64> expanded(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    for (int64 i = 0; i < (element & 3); ++i) co_yield added(times(element, 4), i);
  }
}

struct running {
  int64 sum = 0;
  int64 count = 0;
};

stream<int64> summed(saved<running> state, stream<int64> in) {
  while (auto x = co_await in.next()) {
    state->sum = added(state->sum, *x);
    ++state->count;
    co_yield added(times(state->sum, 3), state->count);
  }
  co_yield times(state->sum, -1);
}

stream<int64> paired(saved<running> state, stream<int64> in) {
  for (;;) {
    state.commit();
    auto a = co_await in.next();
    if (!a) break;
    int64 first = *a;
    auto b = co_await in.next();
    bool complete = b != nullptr;
    int64 second = complete ? *b : -1;
    ++state->count;
    co_yield added(added(times(first, 31), second), state->count);
    if (!complete) break;
  }
}

/// Commits in the middle of what it makes of one element.
stream<int64> stuttered(saved<running> state, stream<int64> in) {
  state.commit();
  while (auto x = co_await in.next()) {
    int64 element = *x;
    for (state->count = 0; state->count < (element & 1) + 1;) {
      ++state->count;
      co_yield added(element, state->count);
    }
    state.commit();
  }
}

int64s with_previous_of(const verb_lists& l, bool at_end) {
  int64s out;
  int64 previous = 7;
  for (int64 x : l.in()) out.push_back(added(x, std::exchange(previous, x)));
  if (at_end) out.push_back(previous);
  return out;
}
int64s summed_of(const verb_lists& l, bool at_end) {
  int64s out;
  int64 sum = 0;
  for (int64 x : l.in()) {
    sum = added(sum, x);
    out.push_back(added(times(sum, 3), static_cast<int64>(out.size()) + 1));
  }
  if (at_end) out.push_back(times(sum, -1));
  return out;
}
int64s paired_of(const verb_lists& l, bool at_end) {
  int64s in = l.in(), out;
  if (in.size() % 2 && at_end) in.push_back(-1);
  for (std::size_t i = 0; i + 1 < in.size(); i += 2)
    out.push_back(added(added(times(in[i], 31), in[i + 1]), static_cast<int64>(out.size()) + 1));
  return out;
}

const register_verb transform_case("transform",
                                   {.before_error = [](const verb_lists& l) { return with_previous_of(l, false); },
                                    .build = [](const verb_plan& p) { return p.in[0] | transform(with_previous); },
                                    .expected = [](const verb_lists& l) { return with_previous_of(l, true); },
                                    .resume = {.takes = 0}});

const register_verb transform_stateless_case("transform stateless",
                                             {.any_order = true,
                                              .passes_errors = true,
                                              .build =
                                                  [](const verb_plan& p) {
                                                    return p.in[0] | transform([](stream<int64> s) {
                                                             return expanded(stateless(), std::move(s));
                                                           });
                                                  },
                                              .expected =
                                                  [](const verb_lists& l) {
                                                    int64s out;
                                                    for (int64 x : l.in())
                                                      for (int64 k = 0; k < (x & 3); ++k)
                                                        out.push_back(added(times(x, 4), k));
                                                    return out;
                                                  },
                                              .resume = {.takes = 2}});

const register_verb transform_saved_case("transform saved",
                                         {.before_error = [](const verb_lists& l) { return summed_of(l, false); },
                                          .build =
                                              [](const verb_plan& p) {
                                                return p.in[0] | transform([](stream<int64> s) {
                                                         return summed(saved<running>(), std::move(s));
                                                       });
                                              },
                                          .expected = [](const verb_lists& l) { return summed_of(l, true); }});

const register_verb transform_committing_case("transform committing",
                                              {.before_error = [](const verb_lists& l) { return paired_of(l, false); },
                                               .build =
                                                   [](const verb_plan& p) {
                                                     return p.in[0] | transform([](stream<int64> s) {
                                                              return paired(saved<running>(), std::move(s));
                                                            });
                                                   },
                                               .expected = [](const verb_lists& l) { return paired_of(l, true); },
                                               .resume = {.takes = 2}});

const register_verb transform_stuttering_case("transform stuttering",
                                              {.passes_errors = true,
                                               .build =
                                                   [](const verb_plan& p) {
                                                     return p.in[0] | transform([](stream<int64> s) {
                                                              return stuttered(saved<running>(), std::move(s));
                                                            });
                                                   },
                                               .expected =
                                                   [](const verb_lists& l) {
                                                     int64s out;
                                                     for (int64 x : l.in())
                                                       for (int64 k = 1; k <= (x & 1) + 1; ++k)
                                                         out.push_back(added(x, k));
                                                     return out;
                                                   }});

}  // namespace
}  // namespace sluice::lib::transform_case
