// SPDX-License-Identifier: Apache-2.0
// sluice/op/shard.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "verbs/shard_model.hpp"

namespace sluice::lib::shard_test {
namespace {

using namespace test;
using namespace shard_case;
using int64 = std::int64_t;

}  // namespace

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

// It passes over the last batch, and so learns that there are no more: the place is behind that one.
TEST_CASE("a shard that has ended resumes at its end, for any input", "[every_verb]") {
  auto lists = range(25) | map([](int64 x) { return int64s(1, x); });
  auto rows_of = [](const auto& b) { return static_cast<int64>(b.size()); };
  for (const dataset<int64>& upstream :
       {range(25) | map([](int64 x) { return x; }), lists | batch(1) | map(rows_of),
        lists | padded_batch(1) | map(rows_of), lists | ragged_batch(1) | map(rows_of),
        lists | window(1) | map(rows_of), lists | window_batch(1) | map(rows_of),
        lists | batch_by_bytes(8, {.rows_max = 1}) | map(rows_of), lists | batch(1) | unbatch() | map(rows_of),
        lists | batch(5) | rebatch(1) | map(rows_of), lists | flat_map([](const int64s& l) { return from_range(l); }),
        lists | bucket_by_sequence_length([](const int64s& l) { return l.size(); }, {3}, {1, 1}) | map(rows_of)}) {
    auto ds = upstream | shard(2, 1);
    CAPTURE(plan_text(*ds.plan()));
    consumed whole = consume(ds, {.save = true});
    CHECK(whole.elements.size() == 12);
    consumed rest = consume(ds, {.from = whole.places.back()});
    CHECK(rest.elements.empty());
    CHECK(rest.why.ok());
  }
}

TEST_CASE("shard conforms for elements of every kind") {
  for (int64 index : {0, 2})
    conforms_for_elements(
        [index](const auto& in) { return in | shard(3, index); },
        {.expected = [index](const int64s& in) { return shard_of(in, 3, static_cast<std::size_t>(index)); }});
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

TEST_CASE("shard prints as text, and is read again; a shard that there is not is refused") {
  round_trips(*(range(10) | shard(3, 0)).plan(), "range(10) | shard(3, 0)");
}

}  // namespace sluice::lib::shard_test
