// SPDX-License-Identifier: Apache-2.0
// shard: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/shard_model.hpp"

namespace sluice::lib::shard_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb shard_case(
    "shard", {.build = [](const verb_plan& p) { return p.in[0] | shard(p.a, static_cast<int64>(p.b) % p.a); },
              .expected =
                  [](const verb_lists& l) {
                    return shard_of(l.in(), static_cast<std::size_t>(l.a), l.b % static_cast<std::uint64_t>(l.a));
                  },
              .needs =
                  [](const verb_use& u, std::size_t k) {
                    auto shards = static_cast<std::size_t>(u.a), index = u.b % shards;
                    return k == 0 ? 0 : (k - 1) * shards + index + 1;
                  },
              .resume = {.a = 3, .takes = 3}});

}  // namespace
}  // namespace sluice::lib::shard_case
