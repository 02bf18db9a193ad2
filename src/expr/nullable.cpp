// SPDX-License-Identifier: Apache-2.0
#include "expr/nullable.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "element/optional_numbers.hpp"
#include "expr/expression_parts.hpp"

namespace sluice::lib::expressions {

namespace {

/// The type of a computed value: a text that is computed is a string.
const element_type& value_type(const element_type& t) { return t.kind == kind::text ? type_of<std::string>() : t; }

/// Some elements of a selection, and the position of each in it.
struct subset {
  std::uint32_t* elements;
  std::uint32_t* places;
  std::uint32_t n = 0;

  subset(evaluation& ev, std::uint32_t most)
      : elements(ev.room_for<std::uint32_t>(most)), places(ev.room_for<std::uint32_t>(most)) {}
  template <class F> static subset of(evaluation& ev, selection s, F chosen) {
    subset some(ev, s.n);
    for (std::uint32_t i = 0; i != s.n; ++i) {
      some.elements[some.n] = s.element(i);
      some.places[some.n] = i;
      some.n += chosen(i);
    }
    return some;
  }
  selection as_selection() const { return {elements, n}; }
};

class lifted_part final : public nullable {
 public:
  lifted_part(const element_type& optional, std::vector<optional_operand> operands, computed_ptr body)
      : nullable(optional), operands_(std::move(operands)), body_(std::move(body)) {}

  void eval_optional(evaluation& ev, selection s, void* values, bool* exist) const override {
    const element_type& value = *type().element;
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(value));
    auto** operands = ev.room_for<char*>(operands_.size());
    auto* one_exists = ev.room_for<bool>(s.n);
    std::fill(exist, exist + s.n, true);
    for (std::size_t k = 0; k != operands_.size(); ++k) {
      operands[k] = static_cast<char*>(ev.room(s.n * operand_bytes(k)));
      expressions::eval_optional(*operands_[k].part, ev, s, operands[k], one_exists);
      for (std::uint32_t i = 0; i != s.n; ++i) exist[i] &= one_exists[i];
    }
    if (!s.at && std::all_of(exist, exist + s.n, [](bool e) { return e; })) {
      for (std::size_t k = 0; k != operands_.size(); ++k) ev.variables[operands_[k].variable] = operands[k];
      expressions::eval_optional(*body_, ev, s, values, exist);
      return;
    }
    eval_some(ev, subset::of(ev, s, [&](std::uint32_t i) { return exist[i]; }), s.n, operands, values, exist);
  }

 private:
  std::size_t operand_bytes(std::size_t k) const {
    return register_bytes(value_type(*operands_[k].part->type().element));
  }

  void eval_some(evaluation& ev, const subset& some, std::uint32_t n, char** operands, void* values,
                 bool* exist) const {
    const std::size_t bytes = register_bytes(*type().element);
    std::memset(values, 0, n * bytes);
    if (some.n == 0) return;
    for (std::size_t k = 0; k != operands_.size(); ++k) {
      const std::size_t size = operand_bytes(k);
      auto* all = static_cast<char*>(ev.room(kChunk * size));  // indexed by element
      for (std::uint32_t i = 0; i != some.n; ++i)
        std::memcpy(all + some.elements[i] * size, operands[k] + some.places[i] * size, size);
      ev.variables[operands_[k].variable] = all;
    }
    auto* results = static_cast<char*>(ev.room(some.n * bytes));
    auto* made = ev.room_for<bool>(some.n);
    expressions::eval_optional(*body_, ev, some.as_selection(), results, made);
    auto* to = static_cast<char*>(values);
    for (std::uint32_t i = 0; i != some.n; ++i) {
      exist[some.places[i]] = made[i];
      if (made[i]) std::memcpy(to + some.places[i] * bytes, results + i * bytes, bytes);
    }
  }

  std::vector<optional_operand> operands_;
  computed_ptr body_;
};

class three_valued final : public nullable {
 public:
  three_valued(computed_ptr a, computed_ptr b, bool is_and)
      : nullable(*maybe_of(&type_of<bool>())), a_(std::move(a)), b_(std::move(b)), is_and_(is_and) {}

  void eval_optional(evaluation& ev, selection s, void* values, bool* exist) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    auto* to = static_cast<bool*>(values);
    expressions::eval_optional(*a_, ev, s, to, exist);
    const subset open = subset::of(ev, s, [&](std::uint32_t i) { return !exist[i] || to[i] == is_and_; });
    if (open.n == 0) return;
    auto* second = ev.room_for<bool>(open.n);
    auto* second_exists = ev.room_for<bool>(open.n);
    expressions::eval_optional(*b_, ev, open.as_selection(), second, second_exists);
    for (std::uint32_t i = 0; i != open.n; ++i) {
      const std::uint32_t place = open.places[i];
      if (second_exists[i] && second[i] == is_and_) continue;  // the first operand is the result
      to[place] = second[i];
      exist[place] = second_exists[i];
    }
  }

 private:
  computed_ptr a_, b_;
  bool is_and_;
};

class existence final : public computed {
 public:
  existence(computed_ptr of, bool wanted) : computed(type_of<bool>()), of_(std::move(of)), wanted_(wanted) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    auto* to = static_cast<bool*>(out);
    expressions::eval_optional(*of_, ev, s, ev.room(s.n * register_bytes(value_type(*of_->type().element))), to);
    if (!wanted_)
      for (std::uint32_t i = 0; i != s.n; ++i) to[i] = !to[i];
  }

 private:
  computed_ptr of_;
  bool wanted_;
};

class value_that_exists final : public computed {
 public:
  explicit value_that_exists(computed_ptr of) : computed(value_type(*of->type().element)), of_(std::move(of)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(type()));
    eval_optional(*of_, ev, s, out, ev.room_for<bool>(s.n));
  }

 private:
  computed_ptr of_;
};

class value_or_other final : public computed {
 public:
  value_or_other(computed_ptr of, computed_ptr otherwise)
      : computed(value_type(*of->type().element)), of_(std::move(of)), otherwise_(std::move(otherwise)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(type()));
    auto* exist = ev.room_for<bool>(s.n);
    eval_optional(*of_, ev, s, out, exist);
    const std::size_t bytes = register_bytes(type());
    auto* others = static_cast<char*>(ev.room(s.n * bytes));
    otherwise_->eval(ev, s, others);
    auto* to = static_cast<char*>(out);
    for (std::uint32_t i = 0; i != s.n; ++i)
      if (!exist[i]) std::memcpy(to + i * bytes, others + i * bytes, bytes);
  }

 private:
  computed_ptr of_, otherwise_;
};

}  // namespace

evaluation::objects& nullable::compute(evaluation& ev, selection s) const {
  evaluation::objects& made = ev.kept_objects(type(), s.n);
  evaluation::scratch here(ev);
  evaluation::kept_scope kept(ev);  // the optionals own their values
  const element_type& item = *type().element;
  const std::size_t bytes = register_bytes(item);
  auto* values = static_cast<char*>(ev.room(s.n * bytes));
  auto* exist = ev.room_for<bool>(s.n);
  eval_optional(ev, s, values, exist);
  evaluation::objects& items = ev.kept_objects(item, s.n);
  for (std::uint32_t i = 0; i != s.n; ++i, ++made.constructed) {
    char* to = made.data + i * type().size;
    if (!exist[i]) {
      type().collect(type(), to, nullptr, 0, 0, item.size);
      continue;
    }
    char* value = items.data + items.constructed * item.size;
    store(item, values + i * bytes, 1, value, item.size);
    ++items.constructed;
    type().collect(type(), to, value, 1, 1, item.size);
  }
  kept.outlive(ev.charge_owned(type(), made.data, s.n));
  return made;
}

namespace {

/// Reads optionals of numbers, which are a part of each element, or other optionals that have a column. Returns false, and
/// reads nothing, if `c` is something else.
bool load_optional_part(const computed& c, const evaluation& ev, selection s, void* values, bool* exist) {
  const auto* part = dynamic_cast<const path*>(&c);
  if (!part) return false;
  if (ev.rows()) {
    if (!is_column_part(c.type())) return false;
    load_optional_rows(part->column_in(ev), ev.first_row(), s, values, exist);
    return true;
  }
  const char* from = ev.elements() + part->offset();
  const std::size_t stride = ev.stride();
  return with_optional_number(c.type(), [&]<class T>(std::type_identity<T>) {
    auto* to = static_cast<T*>(values);
    for (std::uint32_t i = 0; i != s.n; ++i) {
      const auto& one = *reinterpret_cast<const std::optional<T>*>(from + s.element(i) * stride);
      exist[i] = one.has_value();
      to[i] = one.value_or(T());
    }
  });
}

}  // namespace

void eval_optional(const computed& c, evaluation& ev, selection s, void* values, bool* exist) {
  if (auto* n = dynamic_cast<const nullable*>(&c)) return n->eval_optional(ev, s, values, exist);
  const element_type& t = c.type();
  if (t.kind != kind::maybe) {
    c.eval(ev, s, values);
    std::fill(exist, exist + s.n, true);
    return;
  }
  if (load_optional_part(c, ev, s, values, exist)) return;
  evaluation::scratch here(ev);
  const auto* objects = registers_of<const void*>(c, ev, s);
  const element_type& item = *t.element;
  const std::size_t bytes = register_bytes(item);
  auto* to = static_cast<char*>(values);
  for (std::uint32_t i = 0; i != s.n; ++i, to += bytes) {
    std::size_t n = 0;
    const void* value = t.items(t, objects[i], n);
    exist[i] = n != 0;
    if (n != 0) load_each(item, &value, 1, to);
    else std::memset(to, 0, bytes);
  }
}

computed_ptr lifted(const element_type& optional, std::vector<optional_operand> operands, computed_ptr body) {
  return std::make_unique<lifted_part>(optional, std::move(operands), std::move(body));
}
computed_ptr both_of_three(computed_ptr a, computed_ptr b, bool is_and) {
  return std::make_unique<three_valued>(std::move(a), std::move(b), is_and);
}
computed_ptr value_exists(computed_ptr of, bool wanted) { return std::make_unique<existence>(std::move(of), wanted); }
computed_ptr existing_value(computed_ptr of) { return std::make_unique<value_that_exists>(std::move(of)); }
computed_ptr none_as_false(computed_ptr of) { return existing_value(std::move(of)); }
computed_ptr value_or(computed_ptr of, computed_ptr otherwise) {
  return std::make_unique<value_or_other>(std::move(of), std::move(otherwise));
}

}  // namespace sluice::lib::expressions
