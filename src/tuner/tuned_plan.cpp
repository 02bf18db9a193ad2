// SPDX-License-Identifier: Apache-2.0
#include "sluice/tuner/tuned_plan.hpp"

#include <algorithm>

#include "plan/codecs/argument_codec.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib {
namespace {

class pinning {
 public:
  explicit pinning(const tuning_report& chosen) : chosen_(chosen) {}

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

  const tuning_report& chosen_;
};

}  // namespace

node_ptr tuned_plan(const node_ptr& plan, const tuning_report& chosen) { return pinning(chosen).pinned(plan, 0); }

}  // namespace sluice::lib
