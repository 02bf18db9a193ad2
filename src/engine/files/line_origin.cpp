// SPDX-License-Identifier: Apache-2.0
#include "engine/files/line_origin.hpp"

#include <memory>
#include <string>

#include "coro/positions/absent_stage.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/plan/facts.hpp"

namespace sluice::lib {
namespace {

/// Returns the source of a chain if it yields the lines of a file; otherwise null.
const node* source_of_lines(const node& n) {
  const node* at = &n;
  while (at->op->shape == op_info::stage) at = at->inputs[0].get();
  return at != &n && at->op->of_matches && at->type == &type_of<line>() ? at : nullptr;
}

/// Adds the number of elements that a stage leaves out at the start. Returns false if it leaves out others.
bool add_left_out(const node& n, const stage_facts& f, const open_context& context, std::uint64_t& left_out) {
  if (n.op->lowering.absent) {
    const std::unique_ptr<absent_stage> same = n.op->lowering.absent(n);
    if (same && same->contains_input()) return false;
    if (same) left_out += same->left_out();
    return true;
  }
  const bool drops = f.may_fail && n.errors.on_error.value_or(context.on_error) == error_policy::skip;
  const bool is_sloppy = f.keeps_order && context.order_of(order::deterministic) == order::sloppy;
  return f.outputs == output_count::one_per_input && f.keeps_order && !drops && !is_sloppy;
}

std::shared_ptr<const std::string> file_of_source(const node& source) {
  struct look final : part_visitor {
    std::shared_ptr<const std::string> found;
    void path(const file_path& p) override { found = std::make_shared<const std::string>(p.value); }
  } seen;
  visit_parts(source, seen);
  return seen.found;
}

}  // namespace

element_origin origin_of_input(const node& n, const open_context& context) {
  element_origin origin{.file = context.file};
  const node* source = source_of_lines(n);
  if (!source) return origin;
  bool are_known = true;
  std::uint64_t left_out = 0;
  for (const node* at = n.inputs[0].get(); at != source; at = at->inputs[0].get()) {
    const stage_facts f = facts_of(*at);
    if (!f.forwards && f.outputs == output_count::any) return origin;
    are_known = are_known && add_left_out(*at, f, context, left_out);
  }
  if (!origin.file) origin.file = file_of_source(*source);
  if (origin.file && are_known) origin.first_line = left_out;
  return origin;
}

}  // namespace sluice::lib
