// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/node.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_depth.hpp"
#include "plan/reader_template.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/expr/expression.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/rewrite.hpp"

namespace sluice::lib {

namespace {

[[noreturn]] void refuse(const node& n, std::string_view why) {
  throw error(invalid_argument_error(std::string(n.op->name) + ": " + std::string(why)));
}

void check_inputs(const node& n) {
  auto inputs = n.inputs.size();
  switch (n.op->shape) {
    case op_info::source:
      if (inputs != 0) refuse(n, "a source takes no input");
      break;
    case op_info::stage:
      if (inputs != 1) refuse(n, "needs an input");
      break;
    case op_info::combine: {
      const int behind = n.op->inputs_behind_list;
      if (behind < 0 && inputs < 2)
        refuse(n, "needs two inputs or more, as in " + std::string(n.op->name) + "(range(3), range(3))");
      if (behind == 0 && inputs < 1) refuse(n, "needs a list of datasets");
      if (behind > 0 && inputs < 1u + static_cast<unsigned>(behind))
        refuse(n, "needs a list of datasets, and " + std::to_string(behind) + " after it");
    }
  }
  for (auto& input : n.inputs)
    if (!input) refuse(n, "an input is null");
}

void check_arguments(const node& n) {
  auto& list = n.op->arguments();
  if (n.arguments.tag() != list.tag)
    throw error(internal_error(std::string(n.op->name) + ": its arguments are of another operator's struct"));
  if (auto broken = list.check(n.arguments.get()); !broken.empty()) refuse(n, broken);
  if (auto broken = call_arguments().check(&n.errors); !broken.empty()) refuse(n, broken);
  if (n.op->facts.sets_error_policy && n.errors.on_error)
    refuse(
        n,
        "takes no on_error: it has no stage that could fail, and sets skip for those upstream; to have a bad element "
        "of one of them end the run, give that one on_error=stop, or leave this call out");
  if (n.errors.errors_max.is_given() && n.errors.on_error != error_policy::skip)
    refuse(n, "errors_max needs on_error=skip");
  if (n.errors.quarantine.is_given() && n.errors.on_error != error_policy::skip)
    refuse(n, "quarantine needs on_error=skip: only dropped elements are stored");
}

/// Returns the argument with an expression that has no type yet, or null.
const field* with_unbound(const node& n) {
  struct look final : part_visitor {
    bool found = false;
    void function(const function_ptr& f) override {
      found |= dynamic_cast<const unbound_function*>(f.get()) != nullptr;
    }
  } seen;
  for (auto& f : n.op->arguments().fields) {
    f.type->visit(argument_list::at(n.arguments.get(), f), seen);
    if (seen.found) return &f;
  }
  return nullptr;
}

/// Binds expressions to the element type of the (first) input, or to the type of their own argument.
void bind_expressions(node& n) {
  if (!with_unbound(n)) return;
  if (n.inputs.empty()) refuse(n, "an expression is a function of an element, and there is no input");
  auto& list = n.op->arguments();
  std::shared_ptr<void> bound = list.copy(n.arguments.get());
  bind_context context{*n.inputs[0]->type};
  try {
    for (auto& f : list.fields) f.type->bind(argument_list::at(bound.get(), f), context);
  } catch (const expression_error& e) {
    throw expression_error(e.column(), absl::StrCat(std::string(n.op->name), ": ", e.message()));
  }
  n.arguments = arguments(list.tag, std::move(bound));
  if (const field* f = with_unbound(n))
    refuse(n, absl::StrCat("no expression can stand at ", std::string(f->name),
                           "=, which is for functions that C++ registers (SLUICE_FUNCTION), by their names"));
}

bool lacks_later(const node& n) {
  auto& list = n.op->arguments();
  for (auto& f : list.fields)
    if (f.type->is_later() && f.type->is_missing(argument_list::at(n.arguments.get(), f))) return true;
  return false;
}

void derive_facts(node& n) {
  n.lacks_path = lacks_later(n);
  if (n.lacks_path && n.op->shape != op_info::source) refuse(n, "only a source may get an argument later");
  n.depth = 1;
  auto stands_on = [&](const node& below) { n.depth = std::max(n.depth, below.depth + 1); };
  for_each_plan(n, [&](const node_ptr& plan) { stands_on(*plan); });
  for (auto& input : n.inputs) {
    n.lacks_path |= input->lacks_path;
    stands_on(*input);
  }
  if (!is_plan_depth_possible(n.depth)) refuse(n, absl::StrCat("the plan is more than ", plan_depth_limit_text()));
}

}  // namespace

namespace {

/// Returns the stage directly below in the same chain, or null at its start.
const node* next_below(const node& n) { return n.op->shape == op_info::stage ? n.inputs[0].get() : nullptr; }

}  // namespace

std::uint32_t site_above(std::string_view op, const node* below, std::string_view inserted_by) {
  std::uint64_t number = 0;
  for (const node* n = below; n; n = next_below(*n)) number += n->op->name == op && n->inserted_by == inserted_by;
  if (!inserted_by.empty()) number = stable_hash(inserted_by, number);
  // 32 bits keep positions small. If two stages of one chain get the same 32 bits by chance, they are distinguished
  // here.
  auto site = static_cast<std::uint32_t>(stable_hash(op, number));
  for (const node* n = below; n;) {
    bool taken = site == 0 || n->site == site;
    if (taken) site = static_cast<std::uint32_t>(mix(site + 1));
    n = taken ? below : next_below(*n);
  }
  return site ? site : 1;
}

node_ptr make_node(node n) {
  check_inputs(n);
  check_arguments(n);
  bind_expressions(n);
  if (n.op->make_canonical) n.op->make_canonical(n.arguments);
  derive_facts(n);
  std::string why;
  try {
    if (node_ptr matches = n.op->of_matches ? n.op->of_matches(n) : nullptr) return matches;
    n.type = n.op->type(n, why);
  } catch (const error& e) { throw error(e.why().in_stage(n.op->name)); }  // of a file that it infers columns from
  if (!n.type) refuse(n, why);
  if (n.site == 0) n.site = site_above(n.op->name, next_below(n), n.inserted_by);
  return std::make_shared<const node>(std::move(n));
}

node_ptr make_stage(const op_info& op, const arguments& a, const node_ptr& input) {
  return make_node({.op = &op, .arguments = a, .inputs = {input}});
}

node_ptr make_source(const op_info& op, arguments a) { return make_node({.op = &op, .arguments = std::move(a)}); }

node_ptr make_combine(const op_info& op, arguments a, std::vector<node_ptr> inputs) {
  return make_node({.op = &op, .arguments = std::move(a), .inputs = std::move(inputs)});
}

namespace {

/// Returns a copy of a node whose own arguments are missing, with those arguments.
node_ptr completed(const node& source, std::string_view path) {
  node n = source;
  auto& list = n.op->arguments();
  std::shared_ptr<void> complete = list.copy(n.arguments.get());
  for (auto& f : list.fields) {
    void* p = argument_list::at(complete.get(), f);
    if (f.type->is_later() && f.type->is_missing(p)) f.type->complete(p, path);
  }
  n.arguments = arguments(list.tag, std::move(complete));
  n.lacks_path = false;
  return std::make_shared<const node>(std::move(n));  // checked when the reader was made
}

}  // namespace

node_ptr with_path(const node_ptr& reader, std::string_view path) {
  if (!reader->lacks_path) return reader;
  return rewrite(reader, [path](const node_ptr& n) { return lacks_later(*n) ? completed(*n, path) : n; });
}

reader_template::reader_template(node_ptr reader) : reader_(std::move(reader)) {
  if (!reader_->lacks_path) return;
  const node* n = reader_.get();
  for (; n->op->shape == op_info::stage; n = n->inputs[0].get()) chain_.push_back(n);
  chain_.push_back(n);
  if (n->op->shape == op_info::source) std::reverse(chain_.begin(), chain_.end());
  else chain_.clear();
}

node_ptr reader_template::with_path(std::string_view path) const {
  if (chain_.empty()) return lib::with_path(reader_, path);
  node_ptr below = completed(*chain_[0], path);
  for (std::size_t i = 1; i != chain_.size(); ++i) {
    auto n = std::make_shared<node>(*chain_[i]);
    n->inputs[0] = std::move(below);
    n->lacks_path = false;
    below = std::move(n);
  }
  return below;
}

cardinality cardinality::times(std::int64_t n) const {
  SLUICE_REQUIRES(n >= 0, "a cardinality is multiplied by a negative number");
  if (n == 0 || *this == of(0)) return of(0);
  if (kind != exact) return *this;
  std::int64_t product = 0;
  return of(__builtin_mul_overflow(elements, n, &product) ? kMost : product);
}

cardinality cardinality::at_most(std::int64_t n) const {
  SLUICE_REQUIRES(n >= 0, "a cardinality is limited to a negative number");
  if (n == 0 || kind == infinite) return of(n);
  return kind == exact ? of(std::min(elements, n)) : *this;
}

cardinality cardinality::without(std::int64_t n) const {
  SLUICE_REQUIRES(n >= 0, "a negative number of elements is left out");
  return kind == exact && !is_most() ? of(std::max<std::int64_t>(0, elements - n)) : *this;
}

cardinality cardinality::and_then(cardinality next) const {
  if (kind == infinite || next.kind == infinite) return forever();
  if (kind != exact || next.kind != exact) return {};
  std::int64_t sum = 0;
  return of(__builtin_add_overflow(elements, next.elements, &sum) ? kMost : sum);
}

cardinality cardinality::in_groups(std::int64_t n, bool drop_remainder) const {
  SLUICE_REQUIRES(n > 0, "a group has at least one element");
  if (kind != exact || is_most()) return *this;
  return of(elements / n + (!drop_remainder && elements % n != 0));
}

node_ptr with_error_handling(const node_ptr& plan, const error_handling& errors, const node* below) {
  auto handled = [&errors](const node_ptr& n) {
    if (n->errors.on_error || n->op->facts.sets_error_policy) return n;
    node copy = *n;
    copy.errors = errors;
    return make_node(std::move(copy));
  };
  return rewrite(plan, handled, below);
}

namespace {

/// Returns true if the stage yields no more elements than its input.
bool only_drops(const node& n) {
  const output_count outputs = n.op->facts.always.outputs;
  return outputs == output_count::one_per_input || outputs == output_count::at_most_one_per_input;
}

cardinality size_by(cardinality (*size_of)(const node&), const node& n) {
  cardinality size = size_of ? size_of(n) : cardinality{};
  bool may_be_less = n.errors.on_error == error_policy::skip && size != cardinality::of(0);
  return may_be_less ? cardinality{} : size;
}

}  // namespace

cardinality cardinality_of(const node& n) { return size_by(n.op->facts.size, n); }
cardinality_bounds cardinality_bounds_of(const node& n) {
  cardinality size = cardinality_of(n);
  if (size.kind == cardinality::exact) return {size.elements, size};
  if (size.kind == cardinality::infinite) return {cardinality::kMost, size};
  // If the stage itself drops bad elements, its size is only an upper bound.
  cardinality most = n.op->facts.size ? n.op->facts.size(n) : cardinality{};
  if (most.kind == cardinality::unknown && only_drops(n)) most = cardinality_bounds_of(*n.inputs[0]).most;
  return {0, most};
}
cardinality row_cardinality_of(const node& n) { return size_by(n.op->facts.rows, n); }

bool seeks_with_inputs(const node&) { return true; }

status why_not_seekable(const node& n) {
  for (auto& input : n.inputs)
    if (status why = why_not_seekable(*input); !why.ok()) return why;
  if (n.errors.on_error == error_policy::skip)
    return failed_precondition_error(absl::StrCat(std::string(n.op->name),
                                                  " drops bad elements (on_error=skip), so the number of an element is "
                                                  "known only after all elements before it were built"));
  // A reader would seek if its file could be read.
  try {
    if (n.op->facts.seeks && n.op->facts.seeks(n)) return {};
  } catch (const error& unreadable) { return unreadable.why(); }
  return failed_precondition_error(absl::StrCat(
      std::string(n.op->name), " cannot give its element number i without making those before it",
      n.op->arguments().find("index") ? "; an index names the places: sluice index FILE, and index=required" : ""));
}

bool same_plan(const node& a, const node& b) {
  if (&a == &b) return true;
  auto same = [](const node_ptr& x, const node_ptr& y) { return same_plan(*x, *y); };
  return a.op == b.op && a.op->arguments().equal(a.arguments.get(), b.arguments.get()) &&
         call_arguments().equal(&a.errors, &b.errors) && std::ranges::equal(a.inputs, b.inputs, same);
}

plan_holder::plan_holder(node_ptr n) noexcept : node_(std::move(n)) {}
plan_holder::plan_holder(node_ptr n, const element_type& t) : node_(std::move(n)) {
  if (node_->type == &t) return;
  throw error(invalid_argument_error(
      absl::StrCat(std::string(node_->op->name), ": the plan yields ", node_->type->name, ", not ", t.name)));
}
plan_holder::plan_holder(const op_info& op, const arguments& a, const node_ptr& in, const element_type& t)
    : plan_holder(make_stage(op, a, in), t) {}
plan_holder::plan_holder(const op_info& op, const arguments& a, const element_type& t)
    : plan_holder(make_source(op, a), t) {}
plan_holder::plan_holder(const plan_holder& other) noexcept = default;
plan_holder::plan_holder(plan_holder&& other) noexcept = default;
plan_holder& plan_holder::operator=(const plan_holder& other) noexcept = default;
plan_holder& plan_holder::operator=(plan_holder&& other) noexcept = default;
plan_holder::~plan_holder() = default;

}  // namespace sluice::lib
