// SPDX-License-Identifier: Apache-2.0
// merge_skips: skip(a) | skip(b) becomes skip(a + b).
//
// The record of a skip says whether it has begun. The one that is removed began together with the one that remains.
#include <cstdint>
#include <utility>

#include "optimizer/rule.hpp"
#include "plan/node_history.hpp"
#include "sluice/op/skip.hpp"

namespace sluice::lib {
namespace {

bool is_skip(const node& n) {
  if (n.history && n.history->is_split_bound) return false;
  return n.op->name == "skip" && n.as<skip_arguments>().elements > 0 && !n.errors.on_error;
}

/// Returns the number of elements that the skips removed directly downstream of `n` leave out.
std::int64_t skipped_after(const node& n) {
  std::int64_t sum = 0;
  if (n.history)
    for (const node_ptr& removed : n.history->removed)
      if (is_skip(*removed)) sum += removed->as<skip_arguments>().elements;
  return sum;
}

node_ptr merged_skips(const node_ptr& n, const in_force&, rule_notes&) {
  if (!is_skip(*n) || !is_skip(*n->inputs[0])) return n;
  const node_ptr& inner = n->inputs[0];
  const std::int64_t a = inner->as<skip_arguments>().elements, b = n->as<skip_arguments>().elements;
  if (a > INT64_MAX - b) return n;
  node outer = *n;
  outer.arguments = arguments::of(skip_arguments{a + b});
  node written = *inner;  // without the numbers of those that it stands for, which write their own records
  written.arguments = arguments::of(skip_arguments{a - skipped_after(*inner->inputs[0])});
  outer.inputs = {without_stage(make_node(std::move(written)), merge_skips.info.name)};
  return remade(std::move(outer), merge_skips.info.name);
}

}  // namespace

const rule merge_skips{{"merge_skips", "skip(a) | skip(b) becomes skip(a + b)"}, merged_skips, [](const node& n) {
                         return is_skip(n) ? removal::with_record : removal::never;
                       }};

}  // namespace sluice::lib
