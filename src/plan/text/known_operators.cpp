// SPDX-License-Identifier: Apache-2.0
// Operators by their names, in a file of its own: linking it links the table, and thus every operator. Only the code
// that reads plans (plan_builder.cpp) or lists operators links it.
#include <atomic>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

namespace {

std::atomic<const std::span<const op_info* const>*> scoped{nullptr};  // tests only; relaxed suffices, because no other
                                                                      // thread uses it

}  // namespace

scoped_operators::scoped_operators(std::span<const op_info* const> table) {
  scoped.store(new std::span<const op_info* const>(table));
}
scoped_operators::~scoped_operators() { delete scoped.exchange(nullptr); }

std::span<const op_info* const> known_operators() {
  auto* table = scoped.load();
  return table ? *table : operators();
}

const op_info* find_op(std::string_view name) {
  for (auto* op : known_operators())
    if (op->name == name) return op;
  return nullptr;
}

}  // namespace sluice::lib
