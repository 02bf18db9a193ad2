// SPDX-License-Identifier: Apache-2.0
// filter_in_source: a filter whose condition uses only index() and random() runs before its source reads the elements.
//
//   fixed_length("a.bin", record_bytes=65536) | filter(random() < 0.01)
//
// The filter finds the numbers of the elements that it keeps, and has the source skip the others. The text of the plan
// stays the same. The draws and numbers are those of the same elements, and the filter has the same record. The errors of
// skipped records would disappear, so the source must be one whose records cannot fail. For the same reason no filter
// becomes the WHERE of a query: also, positions count the rows of the query as written.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "optimizer/rule.hpp"
#include "sluice/op/filter.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Sources that skip at a constant cost, and of which no record has an error. Sorted.
constexpr std::array<std::string_view, 3> kSourcesThatCannotFail{"fixed_length", "npy", "range"};

/// Returns true if only the numbers of elements, and no element, decide.
bool decides_by_number(const stage_function& condition) {
  return condition.is_expression && condition.uses_place && !condition.reads.is_all() &&
         condition.reads.names().empty();
}

/// Returns the reason why a filter by numbers does not run before the source; empty if it may.
std::string why_not_before(const node& filter, const node& source, const in_force& settings) {
  if (!std::ranges::binary_search(kSourcesThatCannotFail, source.op->name))
    return "the errors of records that it drops would disappear";
  if (settings.drops_at(filter) || settings.upstream_of(filter).drops_at(source))
    return "it counts its own elements under on_error=skip";
  return {};
}

node_ptr filter_before_source(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "filter" || n->inputs[0]->op->shape != op_info::source) return n;
  if (n->history && n->history->selects_by_number) return n;
  const stage_function& condition = *n->as<filter_arguments>().function.value;
  const node& source = *n->inputs[0];
  std::string why;
  if (decides_by_number(condition)) why = why_not_before(*n, source, settings);
  else if (source.op->name == "sql" && condition.is_expression)
    why =
        "a WHERE would change the numbers of rows, which positions contain, and hide the errors of the rows that it "
        "drops";
  else return n;
  if (!why.empty()) {
    notes.refuse(filter_in_source.info.name, stage_text(*n) + " runs after " + stage_text(source) + ": " + why);
    return n;
  }
  node selecting = *n;
  std::shared_ptr<node_history> h = history_of(selecting, filter_in_source.info.name);
  h->selects_by_number = true;
  selecting.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(selecting));
}

}  // namespace

const rule filter_in_source{
    {"filter_in_source", "a filter by index() and random() runs before its source reads the elements"},
    filter_before_source};

}  // namespace sluice::lib
