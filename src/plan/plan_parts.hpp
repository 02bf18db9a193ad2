// SPDX-License-Identifier: Apache-2.0
// The functions, plans and paths among a node's arguments, in the order of its text, including those nested in lists,
// maps and structs.
#pragma once

#include <utility>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

class part_visitor {
 public:
  /// Neither is ever null.
  virtual void function(const function_ptr&) {}
  virtual void plan(const node_ptr&) {}
  /// Called for each path that is set.
  virtual void path(const file_path&) {}

 protected:
  ~part_visitor() = default;
};

void visit_parts(const node& n, part_visitor& visitor);

/// Calls visit(const node_ptr&) for each plan, but not for the node's inputs.
template <class F> void for_each_plan(const node& n, F visit) {
  struct plans final : part_visitor {
    F visit;
    explicit plans(F f) : visit(std::move(f)) {}
    void plan(const node_ptr& p) override { visit(p); }
  };
  plans visitor(std::move(visit));
  visit_parts(n, visitor);
}

template <class F> void for_each_function(const node& n, F visit) {
  struct functions final : part_visitor {
    F visit;
    explicit functions(F f) : visit(std::move(f)) {}
    void function(const function_ptr& f) override { visit(f); }
  };
  functions visitor(std::move(visit));
  visit_parts(n, visitor);
}

}  // namespace sluice::lib
