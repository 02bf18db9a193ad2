// SPDX-License-Identifier: Apache-2.0
#include "sluice/tuner/tuned_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "plan/codecs/argument_codec.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/op/map.hpp"

namespace sluice::lib {
namespace {

/// Results that are not smaller than this share of their elements are no reason to move a map (shrink_before_buffers).
constexpr double kSmallerResults = 0.5;

class pinning {
 public:
  pinning(const tuning_report& chosen, std::span<const site_report> measured) : chosen_(chosen), measured_(measured) {}

  /// `scope`: as open_context has it, of which the paths of sites are derived.
  node_ptr pinned(const node_ptr& n, std::uint64_t scope) const {
    node copy = *n;
    bool is_changed = false;
    for (std::size_t i = 0; i != copy.inputs.size(); ++i) {
      const bool is_combine = n->op->shape == op_info::combine;
      node_ptr in = pinned(n->inputs[i], is_combine ? derive(derive(scope, n->site), i) : scope);
      is_changed |= in != n->inputs[i];
      copy.inputs[i] = std::move(in);
    }
    for (const knob_choice& c : chosen_.knobs)
      if (c.path == derive(scope, n->site)) is_changed |= set(copy, c);
    is_changed |= add_sizes(copy, derive(scope, n->site));
    return is_changed ? make_node(std::move(copy)) : n;
  }

 private:
  static bool set(node& n, const knob_choice& c) {
    const argument_list& list = n.op->arguments();
    const field* f = list.find(c.knob);
    if (!f || !f->type->is_knob()) return false;
    std::shared_ptr<void> copied = list.copy(n.arguments.get());
    const void* at = argument_list::at(copied.get(), *f);
    *static_cast<knob*>(const_cast<void*>(at)) = knob(c.value);  // a member of the copy, which is not const
    n.arguments = arguments(list.tag, std::move(copied));
    return true;
  }

  const site_report* site_at(std::uint64_t path) const {
    const auto found = std::ranges::find(measured_, path, &site_report::path);
    return found == measured_.end() ? nullptr : &*found;
  }

  /// The run may have moved the map already, so its elements are those of the stage that it has read.
  std::optional<element_sizes> sizes_at(std::uint64_t path) const {
    const site_report* made = site_at(path);
    const site_report* read = made && made->inputs.size() == 1 ? site_at(made->inputs[0]) : nullptr;
    if (!read || read->each_bytes < 1 || made->each_bytes < 1) return {};
    return element_sizes{std::llround(read->each_bytes), std::llround(made->each_bytes)};
  }

  bool add_sizes(node& n, std::uint64_t path) const {
    if (n.op != &map_op || n.inputs.size() != 1) return false;
    const std::string_view buffer = n.inputs[0]->op->name;
    if (buffer != "shuffle" && buffer != "prefetch") return false;
    const std::optional<element_sizes> sizes = sizes_at(path);
    map_arguments a = n.as<map_arguments>();
    const bool is_smaller =
        sizes && static_cast<double>(sizes->after) <= kSmallerResults * static_cast<double>(sizes->before);
    if (!is_smaller && !(sizes && a.measured_bytes.is_given())) return false;
    a.measured_bytes = *sizes;
    n.arguments = arguments::of(std::move(a));
    return true;
  }

  const tuning_report& chosen_;
  const std::span<const site_report> measured_;
};

}  // namespace

node_ptr tuned_plan(const node_ptr& plan, const tuning_report& chosen, std::span<const site_report> measured) {
  return pinning(chosen, measured).pinned(plan, 0);
}

}  // namespace sluice::lib
