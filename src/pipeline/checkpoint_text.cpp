// SPDX-License-Identifier: Apache-2.0
#include "pipeline/checkpoint_text.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <ctime>
#include <set>
#include <utility>

#include "io/plan_file_reader.hpp"
#include "output/output_place.hpp"
#include "pipeline/checkpoint_bytes.hpp"
#include "pipeline/order/delivered_order.hpp"
#include "pipeline/position_parts.hpp"
#include "pipeline/seal.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_parts.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// The stages of the chain that ends the plan, by their sites.
std::string stage_named(const node_ptr& plan, std::uint32_t site) {
  for (const node* n = plan.get(); n; n = n->op->shape == op_info::stage ? n->inputs[0].get() : nullptr)
    if (n->site == site) return stage_text(*n);
  return absl::StrFormat("stage %08x", site);
}

std::string counted_elements(std::uint64_t n) { return absl::StrCat(n, n == 1 ? " element" : " elements"); }

std::string line_of(const position_record& r, const node_ptr& plan) {
  std::string line = absl::StrCat("position: ", stage_named(plan, r.site), ": element ", r.ordinal, " is next");
  if (r.to_pass) absl::StrAppend(&line, "; the ", counted_elements(r.to_pass), " before it are made again");
  if (!r.saved.empty()) absl::StrAppend(&line, "; ", r.saved.size(), " bytes of state");
  return line;
}

std::string time_text(std::int64_t ns) {
  const std::time_t seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm utc{};
  char text[32];
  if (!::gmtime_r(&seconds, &utc) || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) == 0) return "?";
  return absl::StrFormat("%s.%09d UTC", text, ns % 1'000'000'000);
}

std::string state_text(const input_state& s) {
  if (s.has(input_state::is_listing)) return absl::StrCat(s.amount, s.amount == 1 ? " name" : " names");
  std::string text = absl::StrCat(s.amount, " bytes");
  if (s.has(input_state::has_time)) absl::StrAppend(&text, ", modified ", time_text(s.modified_ns));
  if (s.has(input_state::has_version)) absl::StrAppend(&text, absl::StrFormat(", ETag with digest %012x", s.version));
  if (s.has(input_state::has_content))
    absl::StrAppend(&text, absl::StrFormat(", content with digest %016x", s.content));
  if (s.has(input_state::has_place)) absl::StrAppend(&text, ", inode ", s.inode, " of device ", s.device);
  return text;
}

void collect_names(const node& n, std::set<std::string>& names) {
  for (const node_ptr& input : n.inputs) collect_names(*input, names);
  for_each_plan(n, [&](const node_ptr& inner) { collect_names(*inner, names); });
  for (const field& f : n.op->arguments().fields) {
    if (!f.type->is_later() || !f.type->takes_text()) continue;
    const auto& text = *static_cast<const required_text*>(argument_list::at(n.arguments.get(), f));
    if (!text.is_given) continue;
    names.insert(text.value);
    if (text.value.find("://") != text.value.npos) continue;
    auto matches = detail::list_for_plan(text.value);
    if (matches.ok()) names.insert(matches->begin(), matches->end());
  }
}

}  // namespace

std::vector<std::string> lines_of_checkpoint(std::string_view file, const node_ptr& plan) {
  std::string attached;
  auto at = read_checkpoint_bytes(file, &attached);
  if (!at.ok()) throw_status(at.why());
  const sealed_position sealed = read_seal(at->bytes);
  if (plan && sealed.fingerprint != fingerprint(*plan))
    throw_status(failed_precondition_error("the checkpoint was made by another plan than the given one"));
  std::vector<std::string> lines;
  lines.push_back(plan ? absl::StrCat("plan: ", plan_text(*plan))
                       : absl::StrFormat("plan: fingerprint %016x; --plan PLAN names its stages", sealed.fingerprint));
  lines.push_back(absl::StrCat("seed: ", sealed.seed));
  lines.push_back(absl::StrCat("epoch: ", sealed.epoch));
  lines.push_back(
      absl::StrCat("bad elements: ", sealed.on_error == error_policy::stop ? "end the run" : "are dropped"));
  if (order_fingerprint print; !sealed.order.empty()) {
    if (!read_order(sealed.order, print)) throw_status(damaged_position());
    lines.push_back(text_of_order(print));
  }
  for (const position_part& p : parts_of_position(sealed.position)) lines.push_back(line_of(p.record, plan));
  std::set<std::string> names;
  if (plan) collect_names(*plan, names);
  for (const seen_input& in : inputs_in_table(sealed.inputs)) {
    std::string name = absl::StrFormat("input %012x", in.key);
    for (const std::string& known : names)
      if (seen_input::key_of(known, in.state.has(input_state::is_listing)) == in.key)
        name = absl::StrCat("input ", known);
    lines.push_back(absl::StrCat(name, ": ", state_text(in.state)));
  }
  output_place place;
  if (!attached.empty() && read_place(attached, place).ok() && !place.empty())
    lines.push_back(absl::StrCat("output: ", place.format, ":", place.path.empty() ? "-" : place.path, ", ",
                                 counted_elements(place.elements)));
  return lines;
}

}  // namespace sluice::lib
