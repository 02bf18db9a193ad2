// SPDX-License-Identifier: Apache-2.0
// if, && and ||: parts that are computed only for some of the elements, so that `x != 0 && 10 / x > 2` is not an error.
#include <cstring>

#include "expr/checking/checker.hpp"

namespace sluice::lib::expressions {

namespace {

/// The numbers of chosen elements, and the position of each in the selection.
struct chosen {
  std::uint32_t* elements;
  std::uint32_t* places;
  std::uint32_t n = 0;

  chosen(evaluation& ev, std::uint32_t most)
      : elements(ev.room_for<std::uint32_t>(most)), places(ev.room_for<std::uint32_t>(most)) {}
  selection as_selection() const { return {elements, n}; }
};

chosen choose_where(evaluation& ev, selection s, const bool* condition, bool wanted) {
  chosen c(ev, s.n);
  for (std::uint32_t i = 0; i != s.n; ++i) {
    c.elements[c.n] = s.element(i);
    c.places[c.n] = i;
    c.n += condition[i] == wanted;
  }
  return c;
}

/// Computes the part for the chosen elements, and stores the registers at their positions in the selection.
void eval_chosen(const computed& part, evaluation& ev, const chosen& c, void* out) {
  if (c.n == 0) return;
  evaluation::scratch here(ev);
  const std::size_t bytes = register_bytes(part.type());
  auto* values = static_cast<char*>(ev.room(c.n * bytes));
  part.eval(ev, c.as_selection(), values);
  auto* to = static_cast<char*>(out);
  for (std::uint32_t i = 0; i != c.n; ++i) std::memcpy(to + c.places[i] * bytes, values + i * bytes, bytes);
}

class choice final : public computed {
 public:
  choice(computed_ptr condition, computed_ptr a, computed_ptr b)
      : computed(a->type()), condition_(std::move(condition)), a_(std::move(a)), b_(std::move(b)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(type()));
    const bool* condition = registers_of<bool>(*condition_, ev, s);
    eval_chosen(*a_, ev, choose_where(ev, s, condition, true), out);
    eval_chosen(*b_, ev, choose_where(ev, s, condition, false), out);
  }

 private:
  computed_ptr condition_, a_, b_;
};

/// The second operand is computed only if the first does not decide the result.
class joined final : public computed {
 public:
  joined(computed_ptr a, computed_ptr b, bool is_and)
      : computed(type_of<bool>()), a_(std::move(a)), b_(std::move(b)), is_and_(is_and) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    auto* to = static_cast<bool*>(out);
    a_->eval(ev, s, to);
    eval_chosen(*b_, ev, choose_where(ev, s, to, is_and_), to);
  }

 private:
  computed_ptr a_, b_;
  bool is_and_;
};

}  // namespace

computed_ptr choose(computed_ptr condition, computed_ptr a, computed_ptr b) {
  return std::make_unique<choice>(std::move(condition), std::move(a), std::move(b));
}

computed_ptr both(computed_ptr a, computed_ptr b, bool is_and) {
  return std::make_unique<joined>(std::move(a), std::move(b), is_and);
}

}  // namespace sluice::lib::expressions
