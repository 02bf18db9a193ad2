// SPDX-License-Identifier: Apache-2.0
// tf.data's older names for two operators at once, and for an interleave that works ahead. The plan contains the
// operators that they represent.
//
//   files | map_and_batch(parse, 64, {.parallelism = 4})                    // map(parse, parallelism=4) | batch(64)
//   numbers | shuffle_and_repeat(1000, 3, {.seed = 7})                      // shuffle(1000, seed=7) | repeat(3)
//   list_files("a-*") | parallel_interleave(tfrecord, 4, {.sloppy = true})  // interleave(tfrecord, cycle_length=4,
//                                                                           //            parallelism=4, order=sloppy)
// Plan text and JSON accept them, too: map_and_batch(parse, 64, parallelism=4), shuffle_and_repeat(1000, 3, 7),
// parallel_interleave(tfrecord, 4, sloppy=true).
// See:    map, batch, shuffle, repeat, interleave for their contracts.
#pragma once

#include <utility>

#include "sluice/op/batch.hpp"
#include "sluice/op/interleave.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/repeat.hpp"
#include "sluice/op/shuffle.hpp"

namespace sluice::lib {

struct map_and_batch_options {
  bool drop_remainder = false;
  knob_up_to<65'536> parallelism = {};
  sluice::lib::order order = order::deterministic;
  sluice::lib::seed seed = {};
};
template <class F> auto map_and_batch(F f, count size, map_and_batch_options o = {}) {
  map_options of_map{.parallelism = o.parallelism, .order = o.order, .seed = o.seed};
  return map(std::move(f), of_map) | batch(size, {.drop_remainder = o.drop_remainder});
}

inline auto shuffle_and_repeat(count buffer_size, count_or_all times = -1, shuffle_options o = {}) {
  return shuffle(buffer_size, o) | repeat(times);
}

struct parallel_interleave_options {
  count block_length = 1;
  bool sloppy = false;
};
template <class F>
auto parallel_interleave(F inner, count_up_to<65'536> cycle_length, parallel_interleave_options o = {}) {
  interleave_options of_interleave{.cycle_length = cycle_length,
                                   .block_length = o.block_length,
                                   .parallelism = cycle_length.value,
                                   .order = o.sloppy ? order::sloppy : order::deterministic};
  return interleave(std::move(inner), of_interleave);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::map_and_batch;
using lib::parallel_interleave;
using lib::shuffle_and_repeat;

}  // namespace sluice
