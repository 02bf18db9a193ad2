// SPDX-License-Identifier: Apache-2.0
// Verbs that yield elements as they get them: over numbers, texts, records, tensors, elements that can only be moved, and
// elements that count their objects.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/choose_from_datasets_model.hpp"
#include "verbs/concatenate_model.hpp"
#include "verbs/round_robin_model.hpp"
#include "verbs/sample_from_datasets_model.hpp"
#include "verbs/shard_model.hpp"
#include "verbs/shuffle_model.hpp"

namespace sluice::lib::every_kind_test {
namespace {

using namespace test;
using namespace std::chrono_literals;
using int64 = std::int64_t;

template <class In> using element_of = typename std::remove_cvref_t<In>::value_type;

int64s same(const int64s& in) { return in; }
dataset<int64> numbers(int64 n) { return range(n) | batch(3) | unbatch(); }

const conformance kAll{.expected = same, .before_error = same, .needs = one_each};
const conformance kAllAhead{.expected = same, .before_error = same};

}  // namespace

TEST_CASE("stages that yield all elements conform for elements of every kind") {
  conforms_for_elements([](const auto& in) { return in | sleep(10us); }, kAll);
  conforms_for_elements([](const auto& in) { return in | rate_limit({.elements_per_second = 1e6, .burst = 3}); }, kAll);
  conforms_for_elements([](const auto& in) { return in | rate_limit({.bytes_per_second = 1e8, .burst = 100}); }, kAll);
  conforms_for_elements([](const auto& in) { return in | inspect([](const auto&) {}); }, kAll);
  conforms_for_elements(
      [](const auto& in) {
        using row = std::pair<int64, element_of<decltype(in)>>;
        return in | enumerate() | map([](row r) { return std::move(r.second); });
      },
      kAll);
  conforms_for_elements(
      [](const auto& in) {
        using T = element_of<decltype(in)>;
        return in | scan(int64{0}, [](int64& n, T x) {
                 ++n;
                 return x;
               });
      },
      kAll);
}

TEST_CASE("stages that yield all elements conform for elements of every kind, with other inputs or ahead") {
  conforms_for_elements(
      [](const auto& in) {
        using row = std::pair<element_of<decltype(in)>, int64>;
        return zip(in, numbers(1000)) | map([](row r) { return std::move(r.first); });
      },
      kAll);
  conforms_for_elements(
      [](const auto& in) {
        using row = std::tuple<int64, int64, element_of<decltype(in)>>;
        return zip(range(30) | prefetch(2), range(1000), in) | map([](row r) { return std::get<2>(std::move(r)); });
      },
      {.expected = [](const int64s& in) { return first_of(in, 30); }});
  conforms_for_elements([](const auto& in) { return in | prefetch(3); }, kAllAhead);
  conforms_for_elements(
      [](const auto& in) {
        return in | filter([n = std::make_shared<int>()](const element_of<decltype(in)>&) { return ++*n > 0; });
      },
      kAllAhead);
  conforms_for_elements(
      [](const auto& in) { return in | take_while([](const element_of<decltype(in)>&) { return true; }); }, kAllAhead);
  conforms_for_elements(
      [](const auto& in) { return in | drop_while([](const element_of<decltype(in)>&) { return false; }); }, kAll);
  conforms_for_elements([](const auto& in) { return merge(in, in | take(0), in | skip(1000)); },
                        {.expected = same, .ordered = false});
  const auto again = [](const auto& in) { return in | batch(5) | unbatch(); };
  conforms({.stage = again, .expected = same, .needs = [](const int64s& in, std::size_t k) {
              return std::min(in.size(), (k + 4) / 5 * 5);
            }});
  conforms_as<as_text>(again, {.expected = same});
  conforms_as<as_record>(again, {.expected = same});
  conforms_as<as_tensor>(again, {.expected = same});
  conforms_as<as_counting>(again, {.expected = same});
}

TEST_CASE("stages that yield some elements, or in another order, conform for elements of every kind") {
  conforms_for_elements([](const auto& in) { return in | skip(7); },
                        {.expected = [](const int64s& in) { return without_first(in, 7); }, .needs = one_each});
  conforms_for_elements([](const auto& in) { return in | take(30); },
                        {.expected = [](const int64s& in) { return first_of(in, 30); }, .needs = one_each});
  for (int64 index : {0, 2})
    conforms_for_elements([index](const auto& in) { return in | shard(3, index); },
                          {.expected = [index](const int64s& in) {
                            return shard_case::shard_of(in, 3, static_cast<std::size_t>(index));
                          }});
  conforms_for_elements([](const auto& in) { return in | shuffle(9, {.seed = 7}); },
                        {.expected = [](const int64s& in) { return shuffle_case::shuffled(in, 9, mix(7)); },
                         .needs = [](const int64s& in, std::size_t k) { return std::min(in.size(), k + 9); }});
  conforms_for_elements([](const auto& in) { return in | repeat(2); },
                        {.expected = [](const int64s& in) { return concatenate_case::joined(in, in); }});
  conforms_for_elements(
      [](const auto& in) {
        return in | group_by_window([](const element_of<decltype(in)>&) { return 1; }, skip(1), 3);
      },
      {.expected = [](const int64s& in) {
        int64s out;
        for (std::size_t i = 0; i != in.size(); ++i)
          if (i % 3) out.push_back(in[i]);
        return out;
      }});
  conforms_for_elements(
      [](const auto& in) { return concatenate(in | take(20), in | take(3)); },
      {.expected = [](const int64s& in) { return concatenate_case::joined(first_of(in, 20), first_of(in, 3)); },
       .needs = [](const int64s&, std::size_t k) { return k; }});
}

TEST_CASE("stages that make one element of all conform over elements of every kind") {
  conforms_over_kinds(
      [](auto as, const auto& in) {
        return concatenate(in | map(as.made), range(1) | map(as.made)) | take(1) | get_single_element() |
               map(as.number);
      },
      {.expected = [](const int64s& in) { return in.empty() ? int64s{0} : int64s{in[0]}; }});
  conforms_over_kinds([](auto as, const auto& in) { return in | map(as.made) | count_elements(); },
                      {.expected = [](const int64s& in) { return int64s{static_cast<int64>(in.size())}; }});
}

TEST_CASE("verbs that choose among datasets conform for elements of every kind") {
  const auto three = [](const int64s& in) { return std::vector<int64s>{first_of(in, 9), in, without_first(in, 3)}; };
  for (bool stop : {false, true}) {
    conforms_for_elements(
        [stop](const auto& in) {
          return choose_from_datasets({in | take(9), in, in | skip(3)},
                                      range(60) | map([](int64 x) { return choose_from_datasets_case::choice(x, 3); }),
                                      {.stop_on_empty_dataset = stop});
        },
        {.expected = [=](const int64s& in) {
          int64s selector;
          for (int64 x = 0; x != 60; ++x) selector.push_back(choose_from_datasets_case::choice(x, 3));
          return choose_from_datasets_case::chosen(three(in), selector, stop);
        }});
    conforms_for_elements(
        [stop](const auto& in) {
          return round_robin({in | take(9), in, in | skip(3)}, {.stop_on_empty_dataset = stop});
        },
        {.expected = [=](const int64s& in) { return round_robin_case::by_turns(three(in), stop); }});
    conforms_for_elements(
        [stop](const auto& in) {
          return sample_from_datasets({in | take(9), in, in | skip(3)},
                                      {.weights = {1, 2, 1}, .seed = 7, .stop_on_empty_dataset = stop});
        },
        {.expected = [=](const int64s& in) {
          return sample_from_datasets_case::sampled(three(in), {1, 2, 1}, 7, stop);
        }});
  }
  conforms_for_elements(
      [](const auto& in) {
        return sample_from_datasets({in | take(9), in, in | skip(3)},
                                    {.weights_at = step_weights(sample_from_datasets_case::stepped), .seed = 7});
      },
      {.expected = [=](const int64s& in) { return sample_from_datasets_case::sampled_by_step(three(in), 7, false); }});
}

}  // namespace sluice::lib::every_kind_test
