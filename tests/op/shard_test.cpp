// SPDX-License-Identifier: Apache-2.0
// sluice/op/shard.hpp
#include <algorithm>
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "verbs/shard_model.hpp"

namespace sluice::lib::shard_test {
using namespace test;
using namespace shard_case;
using int64 = std::int64_t;

TEST_CASE("the shards of a stream have its elements, each once") {
  for (int64 shards : {1, 2, 3, 7, 50}) {
    int64s all;
    for (int64 i = 0; i != shards; ++i) {
      auto ds = range(23) | shard(shards, i);
      int64s got = consume(ds, {}).elements;
      CHECK(got ==
            shard_of(consume(range(23), {}).elements, static_cast<std::size_t>(shards), static_cast<std::size_t>(i)));
      CHECK(cardinality_of(*ds.plan()) == cardinality::of(static_cast<int64>(got.size())));
      all.insert(all.end(), got.begin(), got.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == consume(range(23), {}).elements);
  }
}

TEST_CASE("shard makes no elements of other shards") {
  auto made = std::make_shared<int64>(0);
  auto ds = range(100) | map([made](int64 x) {
              ++*made;
              return x;
            }) |
            shard(10, 3);
  CHECK(consume(ds, {}).elements == int64s{3, 13, 23, 33, 43, 53, 63, 73, 83, 93});
  CHECK(*made == 10);
}

}  // namespace sluice::lib::shard_test
