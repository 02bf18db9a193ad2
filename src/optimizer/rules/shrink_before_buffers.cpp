// SPDX-License-Identifier: Apache-2.0
// shrink_before_buffers: a map whose results are smaller than its elements moves upstream of shuffle and prefetch, so that
// their buffers need less memory.
//
//   rows | shuffle(1000) | map({id})     becomes     rows | map({id}) | shuffle(1000)
//
// The map must not fail, because its errors would appear at other elements, nor use the numbers of its elements, which a
// shuffle changes. A map has no record, so positions are the same. It counts the elements that leave the buffer, as
// before. Sizes are those of types, which do not show the memory of texts, lists and tensors. For these, the map states the sizes
// that an earlier run has measured (map(f, measured_bytes=[65536, 1024]), which tuned_plan() writes); they are figures of data, so
// the rule acts only if they differ by half.
#include <absl/strings/str_cat.h>

#include <memory>
#include <string>
#include <utility>

#include "optimizer/rule.hpp"
#include "sluice/element/type.hpp"
#include "sluice/op/map.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

bool is_buffer(const node& n) { return n.op->name == "shuffle" || n.op->name == "prefetch"; }

/// Measured results may have at most this share of the memory of their elements: other data may have other sizes.
constexpr double kMeasuredShare = 0.5;

bool has_smaller_type(const node& map) {
  const element_type &before = *map.inputs[0]->type, &after = *map.type;
  return after.trivially_destroyed && after.size < before.size;
}

const element_sizes& measured_of(const node& map) { return map.as<map_arguments>().measured_bytes; }

bool is_measured_smaller(const node& map) {
  const element_sizes& s = measured_of(map);
  return s.is_given() && static_cast<double>(s.after) <= kMeasuredShare * static_cast<double>(s.before);
}

/// "elements of 65536 bytes become 1024 bytes, as measured"
std::string measured_text(const node& map) {
  return absl::StrCat("elements of ", measured_of(map).before, " bytes become ", measured_of(map).after,
                      " bytes, as measured");
}

/// Returns the reason why a map may not move upstream of a buffer; empty if it may.
std::string why_no_map_past(const node& map, const node& buffer, const in_force& settings) {
  const stage_facts f = facts_of(map);
  if (f.may_fail) return "it may fail, and its error would come at another element";
  if (f.draws || f.uses_place) return "it uses the numbers of its elements";
  if (f.has_effects) return "it may have side effects";
  if (!f.keeps_order || settings.is_sloppy) return "it delivers in sloppy order";
  if (f.has_record || settings.drops_at(map)) return "it counts its own elements under on_error=skip";
  if (buffer.errors.on_error) return std::string(buffer.op->name) + " has an error policy of its own";
  return {};
}

node_ptr with_map_past(const node_ptr& n) {
  const std::string_view rule = shrink_before_buffers.info.name;
  node map = *n, buffer = *n->inputs[0];
  std::shared_ptr<node_history> of_map = history_of(map, rule), of_buffer = history_of(buffer, rule);
  // Whatever followed the map now follows the buffer, with the same elements.
  auto append = [](std::vector<node_ptr>& to, std::vector<node_ptr>& from) {
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  };
  append(of_buffer->removed, of_map->removed);
  append(of_buffer->counted, of_map->counted);
  if (!std::exchange(of_map->is_counted_elsewhere, true)) of_buffer->counted.push_back(bare(map));
  map.inputs = buffer.inputs;
  map.history = std::shared_ptr<const node_history>(std::move(of_map));
  buffer.history = std::shared_ptr<const node_history>(std::move(of_buffer));
  buffer.inputs = {make_node(std::move(map))};
  return make_node(std::move(buffer));
}

node_ptr with_map_moved(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "map" || !is_buffer(*n->inputs[0])) return n;
  const bool is_by_type = n->as<map_arguments>().function.value->is_expression && has_smaller_type(*n);
  const bool is_measured = !is_by_type && measured_of(*n).is_given();
  if (!is_by_type && !is_measured) return n;
  const std::string_view rule = shrink_before_buffers.info.name;
  const std::string buffer = stage_text(*n->inputs[0]);
  std::string why;
  if (is_measured && !is_measured_smaller(*n)) why = measured_text(*n) + ", which is more than half";
  else why = why_no_map_past(*n, *n->inputs[0], settings);
  if (!why.empty()) {
    notes.refuse(rule, absl::StrCat(stage_text(*n), " stays after ", buffer, ": ", why));
    return n;
  }
  if (is_measured)
    notes.give_reason(rule, absl::StrCat(stage_text(*n), " moves upstream of ", buffer, ": ", measured_text(*n)));
  return with_map_past(n);
}

}  // namespace

const rule shrink_before_buffers{
    {"shrink_before_buffers", "a map that makes elements smaller moves upstream of shuffle and prefetch"},
    with_map_moved};

}  // namespace sluice::lib
