// SPDX-License-Identifier: Apache-2.0
#include "engine/expressions/expression_forms.hpp"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "sluice/base/hash.hpp"
#include "sluice/element/none.hpp"
#include "sluice/engine/detail/aggregates.hpp"
#include "sluice/engine/detail/look_functions.hpp"
#include "sluice/engine/ranks.hpp"

namespace sluice::lib {

namespace {

/// A registered function that expressions call: it has a name, a version and captured values.
class registered_callable : public callable {
 public:
  virtual const stage_function& function() const = 0;
};

class called_function final : public registered_callable {
 public:
  explicit called_function(std::shared_ptr<const block_function> f) : f_(std::move(f)) {}
  const element_type& in() const override { return *f_->in; }
  const element_type& out() const override { return *f_->out; }
  bool draws() const override { return f_->draws; }
  std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t ordinal, std::uint64_t seed,
                     status& why) const override {
    block b(nullptr, f_->in, static_cast<char*>(in), n);
    applied a = f_->apply(b, out, {ordinal, seed});
    why = std::move(a.why);
    return a.done;
  }
  const stage_function& function() const override { return *f_; }

 private:
  std::shared_ptr<const block_function> f_;
};

/// A function that returns nothing, which is what its value is: inspect(note(a, b)).
class called_look final : public registered_callable {
 public:
  explicit called_look(std::shared_ptr<const look_function> f) : f_(std::move(f)) {}
  const element_type& in() const override { return *f_->in; }
  const element_type& out() const override { return type_of<none>(); }
  bool draws() const override { return false; }
  std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t, std::uint64_t, status& why) const override {
    applied a = f_->look(block(nullptr, f_->in, static_cast<char*>(in), n));
    std::uninitialized_default_construct_n(static_cast<none*>(out), a.done);
    why = std::move(a.why);
    return a.done;
  }
  const stage_function& function() const override { return *f_; }

 private:
  std::shared_ptr<const look_function> f_;
};

struct map_probe final : block_function {
  applied apply(const block&, void*, const element_place&) const override { return {}; }
};
struct filter_probe final : predicate_function {
  outcome keep(const block&, const element_place&) const override { return {}; }
  outcome keep_while(const block&, const element_place&) const override { return {}; }
};
struct state_probe final : state_function {
  explicit state_probe(const element_type* makes) { out = makes; }
  void* make() const override { return nullptr; }
  void* make_from(void*) const override { return nullptr; }
  void destroy(void*) const noexcept override {}
  void save(const void*, position_writer&) const override {}
  void load(void*, position_reader&) const override {}
  std::size_t owned_bytes(const void*) const override { return 0; }
  void move_state(void*, void*) const override {}
  applied apply(void*, const block&, void*, bool) const override { return {}; }
};
struct key_probe final : key_function {
  applied codes(const block&, key_codes&) const override { return {}; }
  void build_key(std::string_view, void*) const override {}
};

struct rank_probe final : rank_function {
  applied codes(const block&, key_codes&) const override { return {}; }
  void build_key(std::string_view, void*) const override {}
};
struct aggregates_probe final : aggregate_function {
  std::unique_ptr<aggregate_states> make() const override { return nullptr; }
};

struct opens_probe final : plan_function {
  node_ptr plan_for(void*) const override { return nullptr; }
};

struct look_probe final : look_function {
  applied look(const block&) const override { return {}; }
};

}  // namespace

const expression_probes& probes_of_expressions() {
  static const auto& map = *new map_probe;
  static const auto& filter = *new filter_probe;
  static const auto& scan = *new state_probe(&type_of<std::int64_t>());
  static const auto& reduce = *new state_probe(nullptr);
  static const auto& key = *new key_probe;
  static const auto& rank = *new rank_probe;
  static const auto& aggregates = *new aggregates_probe;
  static const auto& look = *new look_probe;
  static const auto& opens = *new opens_probe;
  static const expression_probes all{map, filter, scan, reduce, key, rank, aggregates, look, opens};
  return all;
}

std::vector<std::shared_ptr<const callable>> functions_used::named(std::string_view name, std::string& why) {
  std::vector<std::shared_ptr<const callable>> found;
  for (auto& f : find_functions(name)) {
    if (auto block = std::dynamic_pointer_cast<const block_function>(f))
      found.push_back(std::make_shared<called_function>(std::move(block)));
    else if (auto look = std::dynamic_pointer_cast<const look_function>(f))
      found.push_back(std::make_shared<called_look>(std::move(look)));
    else
      why = absl::StrCat(std::string(name),
                         " cannot be called in an expression: it is awaited, or makes no value of an element");
  }
  return found;
}

void functions_used::note_call(const callable& called) {
  const stage_function& f = static_cast<const registered_callable&>(called).function();
  values_ = stable_hash(
      f.name, derive(derive(values_, static_cast<std::uint64_t>(f.version)), f.values_known ? f.values() : 0));
  values_known_ &= f.values_known;
  facts_.concurrent &= f.facts.concurrent;
  facts_.pure &= f.facts.pure;
  facts_.may_fail |= f.facts.may_fail;
}

namespace {

const element_type* type_of_member(const element_type& t, std::string_view name) {
  for (const member& m : t.members)
    if (m.name == name) return m.type;
  return nullptr;
}

/// Returns true if the expression is the member `name` of the element.
bool is_member(const expression_tree& e, std::string_view name) {
  using tree = expression_tree;
  if (e.kind == tree::member) return e.text == name && e.parts[0].kind == tree::name && e.parts[0].text == "it";
  return e.kind == tree::name && e.text == name && name != "it";
}

/// See stage_function::copies.
std::vector<std::string> members_copied(const expression_tree& e, const element_type& in, const element_type& out) {
  std::vector<std::string> names;
  if (e.kind != expression_tree::structure) return names;
  for (std::size_t i = 0; i != e.names.size(); ++i) {
    const element_type* before = type_of_member(in, e.names[i]);
    if (before && before == type_of_member(out, e.names[i]) && is_member(e.parts[i], e.names[i]))
      names.push_back(e.names[i]);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

function_facts facts_of(const compiled_expression& c) {
  function_facts facts = c.used.facts();
  facts.may_fail |= c.p->may_fail();
  return facts;
}

names_read members_read_by(const compiled_expression& c) {
  return c.p->reads() ? names_read(*c.p->reads()) : names_read();
}

void describe_expression(stage_function& f, const expression& e, const compiled_expression& c,
                         const element_type* out) {
  f.name = e.text();
  f.version = kExpressionLanguageVersion;
  f.is_expression = true;
  f.in = &c.p->in();
  f.out = out;
  f.draws = c.p->draws();
  f.facts = facts_of(c);
  f.uses_place = c.p->uses_place();
  f.reads = members_read_by(c);
  f.values_known = c.used.values_known();
  if (out) f.copies = members_copied(e.tree(), c.p->in(), *out);
}

}  // namespace sluice::lib
