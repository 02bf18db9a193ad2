// SPDX-License-Identifier: Apache-2.0
#include "expr/checking/conversions.hpp"

#include <utility>

#include "expr/expression_parts.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/element/none.hpp"

namespace sluice::lib::expressions {

namespace {

class items_of_list final : public computed {
 public:
  using computed::computed;
  void eval(evaluation& ev, selection s, void* out) const override { load(type(), ev.items(), type().size, s, out); }
};

class list_converted final : public computed {
 public:
  list_converted(const element_type& wanted, computed_ptr of, computed_ptr item)
      : computed(wanted), of_(std::move(of)), item_(std::move(item)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    const auto* lists = registers_of<span_value>(*of_, ev, s);
    auto* to = static_cast<span_value*>(out);
    const element_type& item = *type().element;
    for (std::uint32_t i = 0; i != s.n; ++i) {
      evaluation::objects& made = ev.kept_objects(item, lists[i].n, 1);
      const char* before = ev.items();
      ev.set_items(lists[i].data);
      try {
        item_->build(ev, {nullptr, static_cast<std::uint32_t>(lists[i].n)}, made.data, item.size);
      } catch (failed_at& bad) {
        ev.set_items(before);
        throw failed_at{s.element(i), std::move(bad.why), std::move(bad.own_status)};
      }
      ev.set_items(before);
      made.constructed = lists[i].n;
      ev.charge_owned(item, made.data, made.constructed);
      to[i] = {made.data, made.constructed};
    }
  }

 private:
  computed_ptr of_, item_;
};

class optional_made final : public made_objects {
 public:
  optional_made(const element_type& t, computed_ptr of) : made_objects(t), of_(std::move(of)) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    const element_type& item = *type().element;
    if (!of_) {
      for (; made.constructed != s.n; ++made.constructed) collect(made, nullptr, 0);
      return made;
    }
    evaluation::kept_scope kept(ev);
    evaluation::objects& values = ev.kept_objects(item, s.n);
    of_->build(ev, s, values.data, item.size);
    values.constructed = s.n;
    for (; made.constructed != s.n; ++made.constructed) collect(made, values.data + made.constructed * item.size, 1);
    kept.outlive(ev.charge_owned(type(), made.data, s.n));
    return made;
  }
  /// Moves n values, 0 or 1, into the next optional.
  void collect(evaluation::objects& made, char* from, std::size_t n) const {
    type().collect(type(), made.data + made.constructed * type().size, from, n, n, type().element->size);
  }

  computed_ptr of_;
};

class optional_converted final : public made_objects {
 public:
  optional_converted(const element_type& t, computed_ptr of, computed_ptr item)
      : made_objects(t), of_(std::move(of)), item_(std::move(item)) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    const element_type &from = of_->type(), &item = *type().element;
    const auto* optionals = registers_of<const void*>(*of_, ev, s);
    for (std::uint32_t i = 0; i != s.n; ++i) {
      evaluation::objects& value = ev.kept_objects(item, 1);
      std::size_t n = 0;
      const char* before = ev.items();
      ev.set_items(static_cast<const char*>(from.items(from, optionals[i], n)));
      try {
        item_->build(ev, {nullptr, static_cast<std::uint32_t>(n)}, value.data, item.size);
      } catch (failed_at& bad) {
        ev.set_items(before);
        throw failed_at{s.element(i), std::move(bad.why), std::move(bad.own_status)};
      }
      ev.set_items(before);
      value.constructed = n;
      type().collect(type(), made.data + i * type().size, value.data, n, n, item.size);
      ++made.constructed;
    }
    kept.outlive(ev.charge_owned(type(), made.data, s.n));
    return made;
  }

  computed_ptr of_, item_;
};

}  // namespace

computed_ptr list_items(const element_type& item) { return std::make_unique<items_of_list>(item); }
computed_ptr converted_list(const element_type& wanted, computed_ptr of, computed_ptr item) {
  return std::make_unique<list_converted>(wanted, std::move(of), std::move(item));
}

computed_ptr made_optional(const element_type& optional, computed_ptr of) {
  return std::make_unique<optional_made>(optional, std::move(of));
}
computed_ptr converted_optional(const element_type& wanted, computed_ptr of, computed_ptr item) {
  return std::make_unique<optional_converted>(wanted, std::move(of), std::move(item));
}
computed_ptr no_value() {
  static const none nothing;
  const void* at = &nothing;
  return std::make_unique<literal>(type_of<none>(), &at, sizeof at);
}
bool is_no_value(const element_type& t) { return &t == &type_of<none>(); }

}  // namespace sluice::lib::expressions
