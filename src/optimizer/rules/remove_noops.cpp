// SPDX-License-Identifier: Apache-2.0
// remove_noops: stages that yield the elements of their input, unchanged.
//
// take(-1) and skip(0) open the stage of their input, so nothing of them is in positions or reports. The
// record of repeat(1) contains the position of its input, and stays (op/repeat.cpp). A parallel identity map works ahead
// like a prefetch, and stays.
#include <string>

#include "optimizer/rule.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/repeat.hpp"
#include "sluice/op/skip.hpp"
#include "sluice/op/take.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

bool opens_no_stage(const node& n) {
  if (n.op->name == "take") return n.as<take_arguments>().elements < 0;
  return n.op->name == "skip" && n.as<skip_arguments>().elements == 0;
}

bool is_identity(const node& n) {
  if (n.op->name != "map" || n.type != n.inputs[0]->type) return false;
  const stage_function& f = *n.as<map_arguments>().function.value;
  return f.is_expression && f.name == "it";
}

/// Returns the reason why an identity map stays; empty if it may be removed.
std::string why_map_stays(const node& n, const in_force& settings) {
  const map_options& o = n.as<map_arguments>().options;
  if (o.parallelism.value != 1) return "works ahead with parallelism, as a prefetch does";
  if (o.order == order::sloppy || settings.is_sloppy) return "delivers in sloppy order, and so works ahead";
  if (n.errors.on_error || settings.drops) return "counts its own elements under on_error=skip";
  return {};
}

removal remains_of_noop(const node& n) {
  if (opens_no_stage(n)) return removal::traceless;
  const bool is_repeat = n.op->name == "repeat" && n.as<repeat_arguments>().times == 1;
  return is_repeat || is_identity(n) ? removal::with_record : removal::never;
}

node_ptr without_noop(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->shape != op_info::stage) return n;
  const bool is_repeat = n->op->name == "repeat" && n->as<repeat_arguments>().times == 1;
  if ((is_repeat || opens_no_stage(*n)) && n->errors.on_error) {
    notes.refuse(remove_noops.info.name, stage_text(*n) + " stays: it has an error policy of its own");
    return n;
  }
  if (opens_no_stage(*n)) return without_trace(n, remove_noops.info.name);
  if (is_repeat) return without_stage(n, remove_noops.info.name);
  if (!is_identity(*n)) return n;
  std::string why = why_map_stays(*n, settings);
  if (why.empty()) return without_stage(n, remove_noops.info.name);
  notes.refuse(remove_noops.info.name, stage_text(*n) + " stays: it " + why);
  return n;
}

}  // namespace

const rule remove_noops{{"remove_noops", "remove take(-1), skip(0), repeat(1) and a sequential map(it)"},
                        without_noop,
                        remains_of_noop};

}  // namespace sluice::lib
