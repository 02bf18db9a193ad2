// SPDX-License-Identifier: Apache-2.0
// Parts that construct objects, mostly tensors, from the values of one or two other parts.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "expr/expression_parts.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::expressions {

inline const tensor& tensor_at(const void* p) { return *static_cast<const tensor*>(p); }

/// Objects that f constructs from the registers of two parts. An exception of f is an error of the element.
template <class R, class A, class B, class F> class made_of_two final : public made_objects {
 public:
  made_of_two(computed_ptr a, computed_ptr b, F f)
      : made_objects(type_of<R>()), a_(std::move(a)), b_(std::move(b)), f_(std::move(f)) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);  // objects own their contents
    const A* a = registers_of<A>(*a_, ev, s);
    const B* b = registers_of<B>(*b_, ev, s);
    each(s, [&](std::uint32_t i) {
      try {
        ::new (static_cast<void*>(made.data + i * sizeof(R))) R(f_(a[i], b[i]));
      } catch (const error& e) { throw bad_value{std::string(e.why().message())}; }
      ++made.constructed;
      kept.outlive(ev.charge_owned(type(), made.data + i * sizeof(R), 1));
    });
    return made;
  }

  computed_ptr a_, b_;
  F f_;
};
template <class R, class A, class B, class F> computed_ptr object_from(computed_ptr a, computed_ptr b, F f) {
  return std::make_unique<made_of_two<R, A, B, F>>(std::move(a), std::move(b), std::move(f));
}
template <class R, class A, class F> computed_ptr object_from(computed_ptr a, F f) {
  auto of_one = [f](const A& x, bool) { return f(x); };
  return object_from<R, A, bool>(std::move(a), literal::of(false), of_one);
}
template <class A, class B, class F> computed_ptr tensor_from(computed_ptr a, computed_ptr b, F f) {
  return object_from<tensor, A, B>(std::move(a), std::move(b), std::move(f));
}
template <class A, class F> computed_ptr tensor_from(computed_ptr a, F f) {
  return object_from<tensor, A>(std::move(a), std::move(f));
}

}  // namespace sluice::lib::expressions
