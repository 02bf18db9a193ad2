// SPDX-License-Identifier: Apache-2.0
// The parts of expressions, except literals and conversions (numbers.hpp) and conditions (conditions.cpp).
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "expr/column_parts.hpp"
#include "expr/functions/numbers.hpp"
#include "expr/program.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::expressions {

/// The element, or a part at a fixed offset within it.
class path final : public computed {
 public:
  path(std::shared_ptr<std::vector<path*>> all, const element_type& t, std::size_t offset)
      : computed(t), all_(std::move(all)), offset_(offset) {
    all_->push_back(this);
  }
  ~path() override { std::erase(*all_, this); }
  void eval(evaluation& ev, selection s, void* out) const override {
    if (ev.rows()) return eval_rows(ev, s, out);
    load(type(), ev.elements() + offset_, ev.stride(), s, out);
  }
  const void* in_place(const evaluation& ev, selection s) const override {
    if (type().kind != kind::scalar || s.at) return nullptr;
    if (ev.rows()) return numbers_in_place(column_in(ev), ev.first_row());
    return ev.stride() == type().size ? ev.elements() + offset_ : nullptr;
  }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const override {
    if (moves_) return;
    if (ev.rows()) return copy_rows(column_in(ev), ev.first_row(), s, to, stride);
    const char* from = ev.elements() + offset_;
    if (!s.at) return type().copy(type(), to, from, s.n, stride, ev.stride());
    std::uint32_t i = 0;
    try {
      for (; i != s.n; ++i) type().copy(type(), to + i * stride, from + s.at[i] * ev.stride(), 1, stride, ev.stride());
    } catch (...) {
      destroy_each(type(), to, stride, i);
      throw;
    }
  }
  void unbuild(char* to, std::size_t stride, std::uint32_t n) const override {
    if (!moves_) computed::unbuild(to, stride, n);
  }
  void take(evaluation& ev, std::uint32_t n, char* to, std::size_t stride) const override {
    if (!moves_) return;
    char* from = ev.elements() + offset_;
    type().relocate(type(), to, from, n, stride, ev.stride());
    type().construct(type(), from, n, ev.stride());  // the owner destroys them
  }

  /// The column of this part. REQUIRES: the elements are rows of a column.
  const column& column_in(const evaluation& ev) const { return part_of_rows(*ev.rows(), type(), offset_); }
  std::size_t offset() const { return offset_; }
  std::size_t end() const { return offset_ + type().size; }
  bool moves() const { return moves_; }
  void let_move() { moves_ = true; }
  bool can_move() const { return type().construct && !(type().trivially_destroyed && type().copy); }
  computed_ptr part(const element_type& t, std::size_t offset) const {
    return std::make_unique<path>(all_, t, offset_ + offset);
  }

 private:
  void eval_rows(evaluation& ev, selection s, void* out) const {
    if (type().kind == kind::scalar || type().kind == kind::text)
      return load_rows(column_in(ev), ev.first_row(), s, out);
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    build(ev, s, made.data, type().size);
    made.constructed = s.n;
    ev.charge_owned(type(), made.data, s.n);
    load(type(), made.data, type().size, {nullptr, s.n}, out);
  }

  std::shared_ptr<std::vector<path*>> all_;
  std::size_t offset_;
  bool moves_ = false;
};

/// The state, or a part at a fixed offset within it.
class state_path final : public computed {
 public:
  state_path(const element_type& t, std::size_t offset) : computed(t), offset_(offset) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const void* at = ev.state() + offset_;
    const std::size_t bytes = register_bytes(type());
    auto* to = static_cast<char*>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) load_each(type(), &at, 1, to + i * bytes);
  }
  computed_ptr part(const element_type& t, std::size_t offset) const {
    return std::make_unique<state_path>(t, offset_ + offset);
  }

 private:
  std::size_t offset_;
};

/// Returns a part at a fixed offset within a part that is in memory; null if `c` is not in memory.
computed_ptr part_in_memory(const computed& c, const element_type& t, std::size_t offset);

/// The member of a computed object.
class member_part final : public computed {
 public:
  member_part(computed_ptr of, const element_type& t, std::size_t offset)
      : computed(t), of_(std::move(of)), offset_(offset) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(type()));
    auto* objects = ev.room_for<const void*>(s.n);
    of_->eval(ev, s, objects);
    for (std::uint32_t i = 0; i != s.n; ++i) objects[i] = static_cast<const char*>(objects[i]) + offset_;
    load_each(type(), objects, s.n, out);
  }

 private:
  computed_ptr of_;
  std::size_t offset_;
};

/// An item of a list.
class item_part final : public computed {
 public:
  item_part(computed_ptr of, computed_ptr index, const element_type& t)
      : computed(t), of_(std::move(of)), index_(std::move(index)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(type()));
    const auto* lists = registers_of<span_value>(*of_, ev, s);
    const auto* at = registers_of<std::int64_t>(*index_, ev, s);
    auto* objects = ev.room_for<const void*>(s.n);
    each(s, [&](std::uint32_t i) {
      auto n = static_cast<std::int64_t>(lists[i].n);
      std::int64_t k = at[i] < 0 ? at[i] + n : at[i];
      if (k < 0 || k >= n) throw bad_value{absl::StrCat("index ", at[i], " of a list of ", n)};
      objects[i] = lists[i].data + static_cast<std::size_t>(k) * type().size;
    });
    load_each(type(), objects, s.n, out);
  }

 private:
  computed_ptr of_, index_;
};

/// Builds a structure, pair or tuple from its members.
class made_structure final : public computed {
 public:
  made_structure(const element_type& t, std::vector<computed_ptr> parts) : computed(t), parts_(std::move(parts)) {}

  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    build(ev, s, made.data, type().size);
    made.constructed = s.n;
    ev.charge_owned(type(), made.data, s.n, true);
    auto* to = static_cast<const void**>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) to[i] = made.data + i * type().size;
  }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const override {
    std::size_t k = 0;
    try {
      for (; k != parts_.size(); ++k) parts_[k]->build(ev, s, to + offset(k), stride);
    } catch (...) {
      while (k-- != 0) parts_[k]->unbuild(to + offset(k), stride, s.n);
      throw;
    }
  }
  void unbuild(char* to, std::size_t stride, std::uint32_t n) const override {
    for (std::size_t k = 0; k != parts_.size(); ++k) parts_[k]->unbuild(to + offset(k), stride, n);
  }
  void take(evaluation& ev, std::uint32_t n, char* to, std::size_t stride) const override {
    for (std::size_t k = 0; k != parts_.size(); ++k) parts_[k]->take(ev, n, to + offset(k), stride);
  }
  const std::vector<computed_ptr>& parts() const { return parts_; }

 private:
  std::size_t offset(std::size_t k) const { return type().members[k].offset; }

  std::vector<computed_ptr> parts_;
};

/// [a, b, c], as a list or an array.
class made_list final : public computed {
 public:
  made_list(const element_type& list, std::vector<computed_ptr> parts) : computed(list), parts_(std::move(parts)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const element_type& item = *type().element;
    const std::size_t n = parts_.size();
    evaluation::objects& made = ev.kept_objects(item, n * s.n, s.n);
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);  // items are copies
    std::vector<char*> registers;
    for (auto& part : parts_) {
      registers.push_back(static_cast<char*>(ev.room(s.n * register_bytes(item))));
      part->eval(ev, s, registers.back());
    }
    auto* to = static_cast<span_value*>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) {
      to[i] = {made.data + i * n * item.size, n};
      for (std::size_t k = 0; k != n; ++k) {
        store(item, registers[k] + i * register_bytes(item), 1, made.data + made.constructed * item.size, item.size);
        ++made.constructed;
      }
      kept.outlive(ev.charge_owned(item, to[i].data, n, true));
    }
  }

  const std::vector<computed_ptr>& parts() const { return parts_; }
  std::vector<computed_ptr> take_parts() { return std::move(parts_); }

 private:
  std::vector<computed_ptr> parts_;
};

class variable_part final : public computed {
 public:
  variable_part(const element_type& t, std::size_t number) : computed(t), number_(number) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const std::size_t bytes = register_bytes(type());
    const char* all = ev.variables[number_];
    auto* to = static_cast<char*>(out);
    if (!s.at) {
      std::memcpy(to, all, s.n * bytes);
      return;
    }
    for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(to + i * bytes, all + s.element(i) * bytes, bytes);
  }
  const void* in_place(const evaluation& ev, selection s) const override {
    return s.at ? nullptr : ev.variables[number_];
  }

 private:
  std::size_t number_;
};

class let_part final : public computed {
 public:
  let_part(std::size_t number, computed_ptr value, computed_ptr body)
      : computed(body->type()), number_(number), value_(std::move(value)), body_(std::move(body)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, is_number(type()));
    set(ev, s);
    body_->eval(ev, s, out);
  }

 private:
  void set(evaluation& ev, selection s) const {
    const std::size_t bytes = register_bytes(value_->type());
    auto* all = static_cast<char*>(ev.room(kChunk * bytes));
    if (s.at) {
      evaluation::scratch here(ev);
      auto* values = static_cast<char*>(ev.room(s.n * bytes));
      value_->eval(ev, s, values);
      for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(all + s.at[i] * bytes, values + i * bytes, bytes);
    } else {
      value_->eval(ev, s, all);
    }
    ev.variables[number_] = all;
  }
  std::size_t number_;
  computed_ptr value_, body_;
};

/// A part whose values are consecutive constructed objects.
class made_objects : public computed {
 public:
  using computed::computed;
  void eval(evaluation& ev, selection s, void* out) const final {
    const evaluation::objects& results = compute(ev, s);
    load(type(), results.data, type().size, {nullptr, s.n}, out);
  }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const final {
    evaluation::kept_scope kept(ev);
    evaluation::objects& results = compute(ev, s);
    results.constructed = 0;
    type().relocate(type(), to, results.data, s.n, stride, type().size);
  }

 private:
  /// Computes the objects of the selection, which `ev` retains. Errors: failed_at.
  virtual evaluation::objects& compute(evaluation& ev, selection s) const = 0;
};

/// A call of a registered function of one value.
class called final : public made_objects {
 public:
  /// `draw`: the number of the call if it makes random draws; otherwise 0.
  called(std::shared_ptr<const callable> f, computed_ptr argument, std::uint64_t draw)
      : made_objects(f->out()), f_(std::move(f)), argument_(std::move(argument)), draw_(draw) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& results = ev.kept_objects(type(), s.n);
    evaluation::kept_scope kept(ev);  // results own their contents
    const element_type& in = f_->in();
    evaluation::objects& arguments = ev.kept_objects(in, s.n);
    argument_->build(ev, s, arguments.data, in.size);
    arguments.constructed = s.n;
    ev.charge_owned(in, arguments.data, s.n);
    // The first call uses the same draws as the function alone: map(f) is map(f(it)).
    const std::uint64_t seed = draw_ > 1 ? derive(ev.seed(), draw_) : ev.seed();
    const bool owns = !type().trivially_destroyed;
    for (std::uint32_t i = 0; i != s.n;) {
      // Makes one call, unless the elements are not consecutive and need their own ordinals, or each result may be
      // large.
      std::uint32_t n = s.at || owns ? 1 : s.n;
      status why;
      std::uint32_t done = f_->call(arguments.data + i * in.size, n, results.data + i * type().size,
                                    ev.ordinal() + s.element(i), seed, why);
      results.constructed += done;
      if (done != n) throw failed_at{s.element(i + done), {}, std::move(why)};
      if (owns) kept.outlive(ev.charge_owned(type(), results.data + i * type().size, 1));
      i += n;
    }
    return results;
  }

  std::shared_ptr<const callable> f_;
  computed_ptr argument_;
  std::uint64_t draw_;
};

/// Converts a text to a string, the only type of computed texts.
class as_string final : public computed {
 public:
  explicit as_string(computed_ptr of) : computed(type_of<std::string>()), of_(std::move(of)) {}
  void eval(evaluation& ev, selection s, void* out) const override { of_->eval(ev, s, out); }
  const computed& of() const { return *of_; }

 private:
  computed_ptr of_;
};

}  // namespace sluice::lib::expressions
