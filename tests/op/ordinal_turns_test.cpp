// SPDX-License-Identifier: Apache-2.0
// src/op/group_by_window/ordinal_turns.hpp, and groups of which only a few bits of each ordinal are kept.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "op/group_by_window/ordinal_turns.hpp"
#include "op/group_by_window/window_groups.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_numbers.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::ordinal_turns_test {
namespace {

using int64 = std::int64_t;

struct groups_told {
  std::vector<std::string> positions;
  std::vector<std::uint64_t> oldest;
};
/// Fills groups of `plan`, a group_by_window, from its input, lets each that is full go, and says where it stands now and then.
task<void> fill_groups(std::shared_ptr<run_context> run, node_ptr plan, int bits, groups_told& told) {
  auto& a = plan->as<group_by_window_arguments>();
  const open_context context(run);
  erased_stream in = context.open(plan->inputs[0]);
  window_groups groups(a, in.type(), run, context.gate(*plan), bits);
  auto fetching = fetch_groups(groups, in);
  co_await fetching;
  for (bool more = true; more;) {
    more = co_await in.ready({0, 7});
    while (more && in.left()) {
      applied some = groups.take(in);
      if (!some.why.ok()) throw_status(some.why);
      position_writer w;
      groups.save(w);
      told.positions.push_back(w.bytes());
      told.oldest.push_back(groups.oldest());
      if (!groups.is_full()) continue;
      groups.let_leave();
      status why = groups.open_leaving(open_context(run), plan->site, a.reduce.plan, true);
      if (!why.ok()) throw_status(why);
      groups.close_leaving();
    }
  }
}

}  // namespace

TEST_CASE("lower halves of ordinals, and the places where the upper half changes, determine the ordinals") {
  test::random_numbers random(3);
  for (int bits : {1, 3, 8, 31, 32}) {
    for (int trial = 0; trial != 200; ++trial) {
      const std::uint64_t gaps = std::uint64_t{1} << random.below(static_cast<std::uint64_t>(bits) + 3);
      std::vector<std::uint64_t> ordinals{random.below(gaps * 5)};
      ordinal_turns turns(bits, ordinals[0]);
      std::vector<std::uint32_t> lower{static_cast<std::uint32_t>(ordinals[0])};
      while (ordinals.size() != 60) {
        const std::uint64_t next = ordinals.back() + 1 + random.below(gaps);
        if (next >> bits != ordinals.back() >> bits) turns.begin(ordinals.size(), next >> bits);
        ordinals.push_back(next);
        lower.push_back(static_cast<std::uint32_t>(next));
      }
      CHECK(turns.first(lower[0]) == ordinals[0]);
      ordinal_turns::reader at(turns);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k != ordinals.size(); ++k) wrong += at.whole(k, lower[k]) != ordinals[k];
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("groups resume for any number of stored ordinal bits") {
  // Rare keys beside common ones: their groups reach over many turns of 4, 16 and 64 elements.
  auto plan = parse_plan("range(2000) | group_by_window(if(it % 97 == 0, it % 5 + 10, it * it % 3), batch(4), 16)");
  auto told = [&](int bits) {
    runtime rt({.workers = 1});
    auto s = range(1).iterate(rt);  // whose run it is
    groups_told t;
    sync_wait(rt, fill_groups(test::tree_of(s).stage()->env->run->shared_from_this(), plan, bits, t));
    return t;
  };
  const groups_told whole = told(32);
  CHECK(whole.positions.size() > 300);
  for (int bits : {2, 4, 6}) {
    CAPTURE(bits);
    const groups_told some = told(bits);
    // A view is cut where the upper half turns: so there are more places, among them all of the others.
    std::size_t at = 0, missing = 0;
    for (std::size_t i = 0; i != whole.positions.size(); ++i) {
      while (at != some.positions.size() &&
             (some.positions[at] != whole.positions[i] || some.oldest[at] != whole.oldest[i]))
        ++at;
      missing += at == some.positions.size();
    }
    CHECK(missing == 0);
  }
}

}  // namespace sluice::lib::ordinal_turns_test
