// SPDX-License-Identifier: Apache-2.0
// The plans that C++ makes print as text, and the text, and the JSON of the plan, are read as the same plan.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "op/opened_elements.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::plan_texts_test {
namespace {

using namespace test;
using namespace std::chrono_literals;
using int64 = std::int64_t;

struct made_plan {
  template <class T> made_plan(const dataset<T>& ds, std::string printed) : plan(ds.plan()), text(std::move(printed)) {}
  node_ptr plan;
  std::string text;
};

void round_trip(const std::vector<made_plan>& all) {
  for (const made_plan& p : all) {
    CAPTURE(p.text);
    round_trips(*p.plan, p.text);
  }
}

stream<int64> same_numbers(stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element;
  }
}

SLUICE_FUNCTION(printed_third, [](const int64& x) { return x % 3 == 0; });
SLUICE_FUNCTION(printed_twice, [](int64 x) { return 2 * x; });
SLUICE_FUNCTION(printed_note, [](const int64&) {});
SLUICE_FUNCTION(printed_opened, [](int64 x) { return opened_for(x); });
SLUICE_FUNCTION(printed_coroutine, &same_numbers);
SLUICE_FUNCTION(printed_sum, [](int64& sum, const int64& x) { return sum += x; });
SLUICE_FUNCTION(printed_size, [](int64 digit) { return digit + 1; });

}  // namespace

TEST_CASE("sources that C++ makes print as text, and are read again") {
  round_trip({
      {range(5), "range(5)"},
      {range(10, {.start = 2, .step = 3}), "range(10, start=2, step=3)"},
      {counter(), "counter()"},
      {counter({.start = 1, .step = 2}), "counter(start=1, step=2)"},
      {random({.seed = 7, .below = 6}), "random(seed=7, below=6)"},
      {from_tensors(tensor::of(std::vector<float>{1, 2.5f, -3, 0.1f}, {2, 2})),
       "from_tensors(float32([[1, 2.5], [-3, 0.1]]))"},
      {from_tensors(int64{-5}), "from_tensors(-5)"},
      {from_tensors(0.5), "from_tensors(0.5)"},
      {from_tensors(2.0), "from_tensors(2.0)"},
      {from_tensors(true), "from_tensors(true)"},
      {from_tensors(std::string("a\"b\\\n\xFF")), "from_tensors(\"a\\\"b\\\\\\x0a\\xff\")"},
      {from_tensors(std::pair(int64{1}, std::string("x"))), "from_tensors((1, \"x\"))"},
      {from_tensor_slices(std::pair(tensor::zeros(dtype::uint8, {2, 1}), tensor::of(int64s{3, 4}))),
       "from_tensor_slices((uint8([[0], [0]]), int64([3, 4])))"},
      {from_tensor_slices<int64>(tensor::of(int64s{3, 4})), "from_tensor_slices([3, 4])"},
  });
}

TEST_CASE("readers of files that C++ makes print as text, and are read again") {
  round_trip({
      {fixed_length("a", {.record_bytes = 7, .header_bytes = 2}), "fixed_length(\"a\", 7, header_bytes=2)"},
      {list_files("a-*", {.shuffle = true, .seed = 7}), "list_files(\"a-*\", shuffle=true, seed=7)"},
      {npy("a.npy"), "npy(\"a.npy\")"},
      {list_files("a-*") | flat_map(npy), "list_files(\"a-*\") | flat_map(npy)"},
      {tar("a.tar"), "tar(\"a.tar\")"},
      {list_files("*.tar") | interleave(tar), "list_files(\"*.tar\") | interleave(tar)"},
      {tfrecord("a", {.read_bytes = 4096, .reads_in_flight = 2}),
       "tfrecord(\"a\", read_bytes=4KiB, reads_in_flight=2)"},
      {webdataset("a.tar"), "webdataset(\"a.tar\")"},
      {zip_members("a.zip"), "zip_members(\"a.zip\")"},
      {list_files("*.zip") | interleave(zip_members), "list_files(\"*.zip\") | interleave(zip_members)"},
      {zip_members("a.zip", {.inflated_bytes_max = 1 << 20, .inflate_ratio_max = 50}),
       "zip_members(\"a.zip\", inflated_bytes_max=1MiB, inflate_ratio_max=50)"},
  });
}

TEST_CASE("combinations that C++ makes print as text, and are read again") {
  const std::vector<dataset<int64>> two{range(5), range(7)};
  round_trip({
      {choose_from_datasets({range(2), range(3)}, range(1)), "choose_from_datasets([range(2), range(3)], range(1))"},
      {choose_from_datasets({range(2)}, range(1) | repeat(), {.stop_on_empty_dataset = false}),
       "choose_from_datasets([range(2)], range(1) | repeat, stop_on_empty_dataset=false)"},
      {concatenate(range(4), range(5) | take(2), range(6)), "concatenate(range(4), range(5) | take(2), range(6))"},
      {merge(range(3), range(4)), "merge(range(3), range(4))"},
      {round_robin({range(3), range(5) | take(2)}, {.stop_on_empty_dataset = true}),
       "round_robin([range(3), range(5) | take(2)], stop_on_empty_dataset=true)"},
      {sample_from_datasets(two, {.weights = {0.7, 0.3}, .seed = 1}),
       "sample_from_datasets([range(5), range(7)], weights=[0.7, 0.3], seed=1)"},
      {weighted_flat_map(two, {.weights = {0.75, 0.25}}),
       "weighted_flat_map([range(5), range(7)], weights=[0.75, 0.25])"},
      {zip(range(4), range(5)), "zip(range(4), range(5))"},
      {zip(range(4) | shuffle(2, {.seed = 1}), range(5), zip(range(6), range(7))) | take(3),
       "zip(range(4) | shuffle(2, seed=1), range(5), zip(range(6), range(7))) | take(3)"},
  });
}

TEST_CASE("batches that C++ makes print as text, and are read again") {
  const auto in = range(10);
  round_trip({
      {in | batch(2, {.drop_remainder = true}), "range(10) | batch(2, drop_remainder=true)"},
      {in | batch(4, {.timeout = 50ms}), "range(10) | batch(4, timeout=50ms)"},
      {in | batch(2) | unbatch(), "range(10) | batch(2) | unbatch"},
      {in | batch_by_bytes(4 << 20, {.rows_max = count(9), .oversized = oversized::alone}),
       "range(10) | batch_by_bytes(4MiB, rows_max=9, oversized=alone)"},
      {in | batch_by_tokens(expr("it"), 9, {.padded = true, .rows_max = count(2)}),
       "range(10) | batch_by_tokens(it, 9, padded=true, rows_max=2)"},
      {in | bucket_by_sequence_length(expr("it % 4"), {1, 3}, {4, 2, 1}, {.drop_remainder = true}),
       "range(10) | bucket_by_sequence_length(it % 4, [1, 3], [4, 2, 1], drop_remainder=true)"},
      {in | group_by_window(expr("it % 2"), take(4) | batch(2), 5),
       "range(10) | group_by_window(it % 2, take(4) | batch(2), 5)"},
      {in | group_by_window(expr("it % 2"), batch(2), expr("key + 1")),
       "range(10) | group_by_window(it % 2, batch(2), window_size_func=key + 1)"},
      {in | group_by_window(printed_twice, batch(2), printed_size),
       "range(10) | group_by_window(printed_twice, batch(2), window_size_func=printed_size)"},
      {in | map(expr<int64s>("[it]")) |
           padded_batch(3, {.shapes = {{"it", {4}}}, .values = {{"it", -1}}, .drop_remainder = true}),
       "range(10) | map([it]) | padded_batch(3, shapes={it=[4]}, values={it=-1}, drop_remainder=true)"},
      {in | ragged_batch(3, {.drop_remainder = true}), "range(10) | ragged_batch(3, drop_remainder=true)"},
      {in | batch(4) | rebatch(3), "range(10) | batch(4) | rebatch(3)"},
      {in | batch(4) | rebatch({2, 1}, {.drop_remainder = true}),
       "range(10) | batch(4) | rebatch([2, 1], drop_remainder=true)"},
      {in | window(3), "range(10) | window(3)"},
      {in | window(3, {.shift = 3}), "range(10) | window(3)"},  // the shift that is meant by default
      {in | window(3, {.shift = 1, .stride = 2, .drop_remainder = true}),
       "range(10) | window(3, shift=1, stride=2, drop_remainder=true)"},
      {in | window_batch(3, {.shift = 3}), "range(10) | window_batch(3)"},
      {in | window_batch(3, {.shift = 1, .stride = 2, .drop_remainder = true}),
       "range(10) | window_batch(3, shift=1, stride=2, drop_remainder=true)"},
  });
}

TEST_CASE("stages that C++ makes print as text, and are read again") {
  const auto in = range(10);
  round_trip({
      {in | filter(expr("it > 4")) | assert_cardinality(5), "range(10) | filter(it > 4) | assert_cardinality(5)"},
      {in | count_elements(), "range(10) | count_elements"},
      {in | drop_while(expr("it != 5")), "range(10) | drop_while(it != 5)"},
      {in | enumerate(), "range(10) | enumerate"},
      {in | enumerate({.start = -3}), "range(10) | enumerate(start=-3)"},
      {in | filter(printed_third), "range(10) | filter(printed_third)"},
      {in | flat_map(printed_opened), "range(10) | flat_map(printed_opened)"},
      {in | get_single_element(), "range(10) | get_single_element"},
      {in | batch(4) | global_shuffle({.seed = 1, .reshuffle_each_iteration = false}),
       "range(10) | batch(4) | global_shuffle(seed=1, reshuffle_each_iteration=false)"},
      {in | ignore_errors(), "range(10) | ignore_errors"},
      {in | ignore_errors({.errors_max = 3}), "range(10) | ignore_errors(errors_max=3)"},
      {in | ignore_errors({.errors_share = 0.01, .share_after = 1000}),
       "range(10) | ignore_errors(errors_share=0.01, share_after=1000)"},
      {in | inspect(printed_note), "range(10) | inspect(printed_note)"},
      {in | tap(printed_note), "range(10) | inspect(printed_note)"},
      {in | inspect(expr("printed_twice(it)")), "range(10) | inspect(printed_twice(it))"},
      {in | interleave(printed_opened, {.cycle_length = 3, .order = order::sloppy}),
       "range(10) | interleave(printed_opened, cycle_length=3, order=sloppy)"},
      {in | map(printed_twice), "range(10) | map(printed_twice)"},
      {in | map(printed_twice, {.parallelism = 4, .order = order::sloppy}),
       "range(10) | map(printed_twice, parallelism=4, order=sloppy)"},
      {in | pad_to_cardinality(16), "range(10) | pad_to_cardinality(16)"},
      {in | prefetch(3), "range(10) | prefetch(3)"},
      {in | prefetch(autotune), "range(10) | prefetch"},
      {in | cache(), "range(10) | cache"},
      {in | cache({.over_budget = over_budget::stop_caching}), "range(10) | cache(over_budget=stop_caching)"},
      {in | cache("a.cache"), "range(10) | cache(\"a.cache\")"},
      {in | cache("a", {.on_mismatch = on_mismatch::rebuild}), "range(10) | cache(\"a\", on_mismatch=rebuild)"},
      {in | rate_limit({.elements_per_second = 12.5}), "range(10) | rate_limit(elements_per_second=12.5)"},
      {in | rate_limit({.bytes_per_second = 1 << 20, .burst = 4096}),
       "range(10) | rate_limit(bytes_per_second=1048576, burst=4096)"},
      {in | rejection_resample(expr<int64>("it % 2"), {0.5, 0.25}),
       "range(10) | rejection_resample(it % 2, [0.5, 0.25])"},
      {in | rejection_resample(expr<int64>("it % 2"), {1.5, 0}, {.initial_dist = {3, 1.5}, .seed = 3}),
       "range(10) | rejection_resample(it % 2, [1.5, 0], initial_dist=[3, 1.5], seed=3)"},
      {in | repeat(3), "range(10) | repeat(3)"},
      {in | repeat(), "range(10) | repeat"},
      {in | scan(printed_sum), "range(10) | scan(printed_sum)"},
      {in | scan(100, printed_sum), "range(10) | scan(printed_sum, initial_state=\"00c801\")"},
      {in | shard(3, 0), "range(10) | shard(3, 0)"},
      {in | shuffle(10, {.seed = 7}), "range(10) | shuffle(10, seed=7)"},
      {in | take(3) | skip(-1), "range(10) | take(3) | skip(-1)"},
      {in | sleep(10ms), "range(10) | sleep(10ms)"},
      {in | sleep(90min), "range(10) | sleep(90min)"},
      {in | take_while(expr("it != 5")), "range(10) | take_while(it != 5)"},
      {in | transform(printed_coroutine), "range(10) | transform(printed_coroutine)"},
      {in | unique(), "range(10) | unique"},
      {in | unique({.spill = "/var/tmp"}), "range(10) | unique(spill=\"/var/tmp\")"},
      {in | with_options({.on_error = error_policy::skip, .errors_max = 9, .order = sloppy}),
       "range(10) | with_options(on_error=skip, errors_max=9, order=sloppy)"},
      {in | with_options({.order = deterministic}), "range(10) | with_options(order=deterministic)"},
  });
}

}  // namespace sluice::lib::plan_texts_test
