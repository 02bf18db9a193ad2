// SPDX-License-Identifier: Apache-2.0
// The codecs of functions and plans.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plan/codecs/arguments_of.hpp"
#include "plan/codecs/container_codecs.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib {

namespace {

bool same_function(const function_ptr& f, const function_ptr& g) {
  if (!f || !g) return f == g;
  if (f == g) return true;
  if (f->name.empty() || f->name != g->name || f->version != g->version) return false;
  return f->values_known && g->values_known && f->values() == g->values();
}

bool same(const node_ptr& a, const node_ptr& b) { return a && b ? same_plan(*a, *b) : a == b; }

bool is_unbound(const function_ptr& f) { return dynamic_cast<const unbound_function*>(f.get()) != nullptr; }

void bind_function(function_ptr& f, const bind_context& context, function_filter accepts) {
  if (auto* unbound = dynamic_cast<const unbound_function*>(f.get())) f = unbound->bind(context, accepts);
}

std::string check_function(const function_ptr& f, function_filter accepts) {
  if (accepts && is_unbound(f)) return {};
  return f && !(accepts && accepts(*f)) ? " is of a form that this stage cannot use" : "";
}

class function_value_codec : public codec {
 public:
  explicit function_value_codec(function_filter accepts) : accepts_(accepts) {}
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    static_cast<function_value*>(p)->value = r.function(a, accepts_, "the name of a function");
  }
  std::string check(const void* p) const override { return check_function(get(p), accepts_); }
  bool is_missing(const void* p) const override { return !get(p); }
  void bind(void* p, bind_context& context) const override {
    bind_function(static_cast<function_value*>(p)->value, context, accepts_);
  }
  bool equal(const void* a, const void* b) const override { return same_function(get(a), get(b)); }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p)) v.function(get(p));
  }
  bool takes_function(const stage_function& f) const override { return accepts_(f); }
  bool takes_functions() const override { return true; }
  std::string type_name() const override { return "function"; }
  std::string wanted(std::string_view name) const override {
    return name == "function" ? "a function" : absl::StrCat("a function for ", std::string(name));
  }

 private:
  static const function_ptr& get(const void* p) { return static_cast<const function_value*>(p)->value; }
  function_filter accepts_;

 protected:
  ~function_value_codec() = default;
};

class element_function_codec final : public function_value_codec {
 public:
  using function_value_codec::function_value_codec;
};

/// The codec of a function of a number. The function is bound to int64 whatever the elements are, and may be missing.
class number_function_codec final : public function_value_codec {
 public:
  using function_value_codec::function_value_codec;
  std::string check(const void* p) const override {
    const function_ptr& f = static_cast<const function_value*>(p)->value;
    if (f && f->in && f->in != &type_of<std::int64_t>() && !is_unbound(f))
      return absl::StrCat(" is a function of int64, and this one takes ", f->in->name);
    return function_value_codec::check(p);
  }
  bool is_missing(const void*) const override { return false; }
  bool is_meant_when_given() const override { return true; }
  void bind(void* p, bind_context&) const override {
    bind_context number{type_of<std::int64_t>()};
    function_value_codec::bind(p, number);
  }
};

class optional_function_codec final : public detail::optional_codec_base {
 public:
  using optional_codec_base::optional_codec_base;

 private:
  const void* value(const void* p) const override { return static_cast<const function_value*>(p)->value ? p : nullptr; }
  void* make(void* p) const override { return p; }
  void reset(void* p) const override { static_cast<function_value*>(p)->value.reset(); }
};

class initial_value_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    static_cast<initial_value*>(p)->value = r.expression(a);
  }
  void bind(void* p, bind_context& context) const override { context.initial = get(p).get(); }
  bool equal(const void* a, const void* b) const override { return same_function(get(a), get(b)); }
  bool is_meant_when_given() const override { return true; }
  bool may_be_left_out() const override { return true; }
  std::string type_name() const override { return "expression"; }

 private:
  static const function_ptr& get(const void* p) { return static_cast<const initial_value*>(p)->value; }
};

class plan_or_function_codec final : public codec {
 public:
  plan_or_function_codec(opens which, function_filter accepts) : which_(which), accepts_(accepts) {}
  void print(const void* p, printer& to) const override {
    if (get(p).plan) to.plan(*get(p).plan);
    if (get(p).function) to.function(*get(p).function);
  }
  void read(void* p, const argument& a, reading& r) const override {
    auto& field = *static_cast<plan_or_function*>(p);
    if (!r.is_plan(a) && accepts_) {
      field.function = function_of(a, r);
      return;
    }
    bool may_be = r.is_plan(a) || a.kind == argument::word || a.kind == argument::object;
    if (!may_be) r.expected(a, expected());
    field.plan = r.plan(a, true);
    if (which_ == opens::readers && !field.plan->lacks_path) r.fail(a, no_reader(*field.plan));
  }
  std::string check(const void* p) const override {
    auto& [plan, function] = get(p);
    if (plan && function) return " must be a plan or a function, not both";
    if (plan && which_ == opens::readers && !plan->lacks_path) return absl::StrCat(": ", no_reader(*plan));
    return check_function(function, accepts_);
  }
  bool is_missing(const void* p) const override { return !get(p).plan && !get(p).function; }
  void bind(void* p, bind_context& context) const override {
    bind_function(static_cast<plan_or_function*>(p)->function, context, accepts_);
  }
  bool equal(const void* a, const void* b) const override {
    return same(get(a).plan, get(b).plan) && same_function(get(a).function, get(b).function);
  }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p).plan) v.plan(get(p).plan);
    if (get(p).function) v.function(get(p).function);
  }
  bool takes_plan() const override { return true; }
  bool takes_function(const stage_function& f) const override { return accepts_ && accepts_(f); }
  bool takes_functions() const override { return accepts_ != nullptr; }
  std::string type_name() const override { return accepts_ ? "function or reader" : "reader"; }
  std::string wanted(std::string_view) const override { return expected(); }
  std::string placeholder(std::string_view) const override { return type_name(); }

 private:
  /// Explains why a plan that lacks nothing is not a reader.
  static std::string no_reader(const node& plan) {
    const node* source = &plan;
    while (!source->inputs.empty()) source = source->inputs[0].get();
    const auto& fields = source->op->arguments().fields;
    if (std::ranges::any_of(fields, [](const field& f) { return f.type->is_later(); }))
      return "the reader has its path already; it gets one from each element";
    return absl::StrCat("a reader gets a path from each element, and the source of this plan, ",
                        std::string(source->op->name), ", takes none: it would be the same for all");
  }
  /// In flat_map((lines)), `lines` is a field that is called like an operator, and means it.lines: it is read again as
  /// an expression.
  function_ptr function_of(const argument& a, reading& r) const {
    function_ptr f = r.function(a, accepts_, expected());
    if (!f->is_expression || !r.known().is_operator(f->name)) return f;
    argument field = a;
    const std::string text = "it." + f->name;
    field.kind = argument::expression;
    field.source = text;
    return r.function(field, accepts_, expected());
  }
  static const plan_or_function& get(const void* p) { return *static_cast<const plan_or_function*>(p); }
  std::string expected() const { return absl::StrCat(accepts_ ? "a function or " : "", "a reader, such as tfrecord"); }
  opens which_;
  function_filter accepts_;
};

class plan_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.plan(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    bool may_be = a.kind == argument::plan || a.kind == argument::word || a.kind == argument::object;
    if (!may_be) r.expected(a, "a plan");
    *static_cast<node_ptr*>(p) = r.plan(a, false);
  }
  std::string check(const void* p) const override {
    return get(p) && get(p)->lacks_path ? ": the plan is a reader: its source needs a path" : "";
  }
  bool is_missing(const void* p) const override { return !get(p); }
  bool equal(const void* a, const void* b) const override { return same(get(a), get(b)); }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p)) v.plan(get(p));
  }
  bool takes_plan() const override { return true; }
  std::string type_name() const override { return "plan"; }
  std::string wanted(std::string_view name) const override { return absl::StrCat("a plan for ", std::string(name)); }

 private:
  static const node_ptr& get(const void* p) { return *static_cast<const node_ptr*>(p); }
};

}  // namespace

template <> const codec& codec_of<node_ptr>() {
  static const plan_codec c;
  return c;
}

namespace detail {

const codec& function_codec(function_filter accepts) { return *new element_function_codec(accepts); }
const codec& optional_function_codec(function_filter accepts) {
  return *new lib::optional_function_codec(function_codec(accepts));
}
const codec& number_function_codec(function_filter accepts) { return *new lib::number_function_codec(accepts); }
const codec& inner_plan_codec(opens which, function_filter accepts) {
  return *new plan_or_function_codec(which, accepts);
}

}  // namespace detail

template <> const codec& codec_of<initial_value>() {
  static const codec& c = *new initial_value_codec;
  return c;
}

}  // namespace sluice::lib
