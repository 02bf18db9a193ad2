// SPDX-License-Identifier: Apache-2.0
// parallelize: maps and parsers whose functions may be called concurrently, files of JSON lines or CSV, and interleaves
// of readers of remote files get `parallelism=autotune` if their plan gives them none.
//
//   records | map(f)     becomes     records | map(f, parallelism=autotune)
//
// The knob is no part of fingerprints, and the stage has no record, so checkpoints are the same. The elements keep
// their order. A parallelism that the plan states, also 1, stays as it is. The rule must be chosen, because stages then
// work ahead of their consumer, for elements that nobody may request; so the conditions are those of inject_prefetch.
// Where blocks cost less to make than to move to another core, the stage runs without a channel, as before (engine:
// worth_sharing), so cheap maps cost nothing.
#include <string>

#include "optimizer/ahead.hpp"
#include "optimizer/rule.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Below a repeat, the stage of an input of at most this many elements is opened anew for so few of them that a channel
/// costs more than it gains.
constexpr std::int64_t kFewElements = 1000;

bool is_map(const node& n) {
  return n.op->name == "map" || n.op->name == "parse_example" || n.op->name == "parse_sequence_example";
}

/// Returns the reason why a map stays sequential; empty if it may be parallel.
std::string why_sequential(const node& n, const in_force& settings) {
  const stage_facts f = facts_of(n);
  if (!f.is_concurrent) return "its function does not declare that it may be called concurrently";
  if (f.has_effects) return "its function may have side effects, unless it declares that it is pure";
  // A zip ends with the input that ends first, and the others may fail there: which comes first depends on the inputs
  // that must be waited for.
  if (settings.is_beside_others) return "it belongs to one of several inputs, and the first that ends or fails decides";
  if (settings.feeds_sloppy) return "a stage downstream delivers in sloppy order";
  if (settings.skips_elements) {
    if (f.may_fail) return "it may fail, also at elements that a stage downstream skips";
    if (may_fail_within(n)) return "a stage upstream may fail, also at elements that a stage downstream skips";
  }
  if (settings.is_repeated && !n.inputs.empty()) {
    const cardinality in = cardinality_of(*n.inputs[0]);
    if (in.kind == cardinality::exact && in.elements <= kFewElements) return "repeat opens it again for few elements";
  }
  return why_not_ahead(n, settings);
}

node_ptr made_parallel(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  const knob* parallelism = parallelism_of(*n);
  if (!parallelism || parallelism->is_given || settings.is_inner) return n;
  if (settings.is_joined || (n->history && n->history->joins_input)) return n;  // one stage of several expressions
  const bool is_ordered_map = is_map(*n) && facts_of(*n).keeps_order;
  const bool is_one_file = n->op->name == "jsonl" || n->op->name == "csv";  // cut into texts, which several tasks parse
  if (!is_ordered_map && !is_one_file && !is_interleave_of_remote(*n)) return n;
  if (std::string why = why_sequential(*n, settings); !why.empty()) {
    notes.refuse(parallelize.info.name, stage_text(*n) + " stays sequential: " + why);
    return n;
  }
  return remade(with_parallelism(*n, autotune), parallelize.info.name);
}

}  // namespace

const rule parallelize{
    {"parallelize", "maps and parsers of functions that may be called concurrently get parallelism=autotune", true},
    made_parallel};

}  // namespace sluice::lib
