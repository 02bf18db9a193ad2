// SPDX-License-Identifier: Apache-2.0
// rewrite: a changed copy of a plan.
//
//   // Every map gets a channel after it.
//   node_ptr ahead = rewrite(plan, [](const node_ptr& n) {
//     if (n->op->name != "map") return n;
//     return make_node({.op = &prefetch_op, .arguments = arguments::of(prefetch_arguments{2}), .inputs = {n},
//                       .inserted_by = "add_prefetch"});
//   });
//
// rewrite() calls the change once for each node of the plan, inputs first. The change receives a node whose inputs are
// rewritten already. It returns the node that replaces it: the same node, a changed copy, or stages on top of either. A
// node that is the input of several nodes is visited once, and these nodes share its replacement. A node that does not
// change, and whose inputs do not change, is not copied, so a rewrite that changes nothing returns the plan itself.
// Sites:  a copy keeps its site (plan/node.hpp). A new node sets `inserted_by`. One exception: if this rewrite inserts
//   a node upstream of an equal node that an earlier rewrite inserted, the earlier one gets a new site.
// Inner plans are arguments: they are not visited.
// Errors: those of make_node() or the change; internal if the change returns null.
// Thread: any.
#pragma once

#include <type_traits>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// A reference to the function that rewrite() calls. REQUIRES: that function outlives it.
class node_change {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, node_change> && !std::is_function_v<std::remove_reference_t<F>>)
  node_change(F&& f) noexcept  // NOLINT(google-explicit-constructor): a lambda stands in the call
      : function_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* function, const node_ptr& n) {
          return node_ptr((*static_cast<std::remove_reference_t<F>*>(function))(n));
        }) {}
  node_change(node_ptr (*f)(const node_ptr&)) noexcept  // NOLINT(google-explicit-constructor)
      : function_(reinterpret_cast<void*>(f)), call_([](void* function, const node_ptr& n) {
          return reinterpret_cast<node_ptr (*)(const node_ptr&)>(function)(n);
        }) {}
  node_ptr operator()(const node_ptr& n) const { return call_(function_, n); }

 private:
  void* function_;
  node_ptr (*call_)(void*, const node_ptr&);
};

/// Returns the rewritten plan. `below` (may be null) and the nodes upstream of it are not visited; both plans share
/// them.
node_ptr rewrite(const node_ptr& plan, node_change change, const node* below = nullptr);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::rewrite;

}  // namespace sluice
