// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/range.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/count_up.hpp"
#include "engine/batching/row_landing.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// Returns the number of values in [start, stop) by step. It is computed without overflow: the distance is unsigned.
std::uint64_t length_of(const range_arguments& a) {
  auto& o = a.options;
  auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  if (o.step > 0)
    return o.start >= a.stop ? 0 : (distance(o.start, a.stop) - 1) / static_cast<std::uint64_t>(o.step) + 1;
  return o.start <= a.stop ? 0 : (distance(a.stop, o.start) - 1) / (0 - static_cast<std::uint64_t>(o.step)) + 1;
}

erased_stream range_loop(outlet out, saved<std::uint64_t> made, range_arguments a) {
  std::uint64_t total = length_of(a);
  auto step = static_cast<std::uint64_t>(a.options.step);
  while (*made < total) {
    *made += out.pass(total - *made);
    std::uint32_t n = out.wanted_of(total - *made);
    if (n == 0) break;
    auto* to = reinterpret_cast<std::int64_t*>(out.room(n));
    count_up(to, n, static_cast<std::uint64_t>(a.options.start) + *made * step, step);
    *made += n;
    co_yield out.made(n);
  }
}

/// The loop that writes into the columns of a batch.
erased_stream range_rows_loop(outlet out, saved<std::uint64_t> made, range_arguments a,
                              std::shared_ptr<row_landing> landing) {
  std::uint64_t total = length_of(a);
  auto step = static_cast<std::uint64_t>(a.options.step);
  std::uint32_t written = 0;  // all receipts are equal and stay in the outlet's memory
  while (*made < total) {
    *made += out.pass(total - *made);
    std::uint32_t n = out.wanted_of(total - *made);
    if (n == 0) break;
    auto* receipts = reinterpret_cast<landed_row*>(out.room(n));
    if (n > written) {
      std::fill_n(receipts, n, landed_row{sizeof(std::int64_t)});
      written = n;
    }
    auto* to = reinterpret_cast<std::int64_t*>(landing->rows->append_values(n));
    count_up(to, n, static_cast<std::uint64_t>(a.options.start) + *made * step, step);
    *made += n;
    co_yield out.made(n);
  }
}

erased_stream open_range_rows(const node& n, open_context&, const std::shared_ptr<row_landing>& landing) {
  outlet out(landed_row_type());
  saved<std::uint64_t> made;
  return range_rows_loop(out, std::move(made), n.as<range_arguments>(), landing);
}

erased_stream open_range(const node& n, open_context&) {
  outlet out(*n.type);
  saved<std::uint64_t> made;
  return range_loop(out, std::move(made), n.as<range_arguments>());
}

void pick_of_range(const node& n, std::span<const std::uint64_t> numbers, char* to) {
  auto& o = n.as<range_arguments>().options;
  const auto start = static_cast<std::uint64_t>(o.start), step = static_cast<std::uint64_t>(o.step);
  auto* made = reinterpret_cast<std::int64_t*>(to);
  for (std::size_t i = 0; i != numbers.size(); ++i) made[i] = static_cast<std::int64_t>(start + numbers[i] * step);
}

}  // namespace

const op_info range_op{
    .name = "range",
    .doc = "whole numbers from start to before stop, by step",
    .shape = op_info::source,
    .arguments = arguments_of<range_arguments>,
    .type = [](const node& n, std::string& why) -> const element_type* {
      if (n.as<range_arguments>().options.step == 0) {
        why = "step must not be 0";
        return nullptr;
      }
      return &type_of<std::int64_t>();
    },
    .facts = {.always = {.may_fail = false},
              .size = [](const node& n) { return cardinality::of_many(length_of(n.as<range_arguments>())); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::numbered},
    .lowering = {.open = open_range, .open_rows = open_range_rows, .pick = pick_of_range},
};

dataset<std::int64_t> range(integer stop, range_options o) {
  return dataset<std::int64_t>(make_source(range_op, arguments::of(range_arguments{stop, o})));
}

}  // namespace sluice::lib
