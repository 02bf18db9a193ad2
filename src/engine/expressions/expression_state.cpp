// SPDX-License-Identifier: Apache-2.0
// Expressions with a state: scan(0, state + it).
#include <new>

#include "absl/strings/str_cat.h"
#include "engine/expressions/expression_forms.hpp"
#include "engine/held/state_box.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/tree.hpp"
#include "sluice/element/serialise.hpp"

namespace sluice::lib {

namespace {

/// A state is a value of the expression's type; so is each element that a scan builds from it.
struct expression_state final : state_function {
  compiled_expression c;
  value initial;

  expression_state(const expression& e, compiled_expression step, value first, bool makes_elements)
      : c(std::move(step)), initial(std::move(first)) {
    const element_type& t = type();
    describe_expression(*this, e, c, makes_elements ? &t : nullptr);
    captured = c.used.values();
    state_type = &t;
    state_size = t.size;
    owns_memory = t.footprint != nullptr;
    can_undo = always_undoes = true;  // the state changes after everything that can fail
  }
  const element_type& type() const { return c.p->type(); }
  void* make() const override {
    void* to = allocate();
    type().copy(type(), to, initial.data(), 1, type().size, type().size);
    return to;
  }
  void* make_from(void* from) const override {
    void* to = allocate();
    type().copy(type(), to, from, 1, type().size, type().size);
    return to;
  }
  void destroy(void* state) const noexcept override {
    type().destroy(type(), state, 1);
    ::operator delete(state, std::align_val_t(type().align));
  }
  void save(const void* state, position_writer& w) const override {
    std::string bytes;
    serialise_bare(type(), state, bytes);
    w.text(bytes);
  }
  void load(void* state, position_reader& r) const override {
    auto read = parse_bare(type(), r.text());
    if (!read.ok()) return r.fail();
    type().destroy(type(), state, 1);
    type().copy(type(), state, read->data(), 1, type().size, type().size);
  }
  std::size_t owned_bytes(const void* state) const override {
    return type().footprint ? type().footprint(type(), state, 1) : 0;
  }
  void move_state(void* state, void* to) const override { type().copy(type(), to, state, 1, type().size, type().size); }
  applied apply(void* state, const block& in, void* to, bool) const override {
    applied a;
    a.done = c.p->fold(state, in.data(), in.size(), to, [this](const void* next) { return fits(next); }, a.why);
    return a;
  }

 private:
  /// Checks the state's size after each element, because a state that doubles could exhaust memory within a block.
  status fits(const void* state) const {
    const element_type& t = type();
    // A state takes at most as many bytes in a position as in memory, and the size in memory is cheaper to compute.
    if (t.trivially_destroyed || t.size + t.footprint(t, state, 1) <= kStateBytesMax) return {};
    std::string bytes;
    serialise_bare(t, state, bytes);
    return bytes.size() > kStateBytesMax ? resource_exhausted_error(state_too_large(bytes.size())) : status();
  }
  void* allocate() const { return ::operator new(type().size, std::align_val_t(type().align)); }
};

}  // namespace

value value_of_initial(const expression& e, const element_type* wanted) {
  compiled_expression c(e, type_of<std::int64_t>(), wanted, {.is_constant = true});
  const element_type& t = c.p->type();
  if (!t.copy || !can_serialise(t))
    throw expression_error(
        e.tree().at, absl::StrCat("a checkpoint cannot contain ", expressions::shown(t), ", and so it is no state"));
  std::int64_t none = 0;
  void* room = ::operator new(t.size, std::align_val_t(t.align));
  status why;
  value made;
  if (c.p->apply(&none, 1, room, 0, 0, why) == 1) made = value(t, room);
  ::operator delete(room, std::align_val_t(t.align));
  if (!why.ok()) throw expression_error(e.tree().at, why.message());
  std::string bytes;
  serialise_bare(t, made.data(), bytes);
  if (bytes.size() > kStateBytesMax) throw expression_error(e.tree().at, state_too_large(bytes.size()));
  return made;
}

function_ptr make_expression_state(const expression& e, const expression& initial, const element_type& in,
                                   const element_type* wanted, bool makes_elements) {
  const element_type* type = wanted;
  value first = value_of_initial(initial, type);
  // The state has the type of the initial value. If the new state does not fit it, the state has the new one's type: 0
  // in scan(0, state + it) then has the elements' type.
  constexpr int kTries = 4;
  for (int i = 1;; ++i) {
    type = &first.type();
    try {
      compiled_expression step(e, in, type, {.state = type});
      return std::make_shared<expression_state>(e, std::move(step), std::move(first), makes_elements);
    } catch (const expression_error&) {
      if (wanted || i == kTries) throw;
      compiled_expression step(e, in, nullptr, {.state = type});
      const element_type& next = step.p->type();
      if (&next == type) throw;
      try {
        first = value_of_initial(initial, &next);
      } catch (const expression_error&) {
        throw expression_error(e.tree().at,
                               absl::StrCat("the state is ", expressions::shown(*type), " at first, and ",
                                            expressions::shown(next), " afterwards; give the initial state that type"));
      }
    }
  }
}

}  // namespace sluice::lib
