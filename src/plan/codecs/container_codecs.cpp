// SPDX-License-Identifier: Apache-2.0
#include "plan/codecs/container_codecs.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::detail {

// --- Lists. ---

void list_codec_base::print(const void* p, printer& to) const {
  to.begin_list();
  for (std::size_t i = 0; i != size(p); ++i) {
    to.item();
    item_.print(item(p, i), to);
  }
  to.end_list();
}

void list_codec_base::read(void* p, const argument& a, reading& r) const {
  if (a.kind != argument::list && a.kind != argument::numbers)
    r.expected(a, absl::StrCat("a list of ", item_.type_name(), "s in brackets"));
  clear(p);
  std::vector<argument> storage;
  std::size_t i = 0;
  for (const argument& one : items_of(a, storage)) r.read(item_, add(p), one, absl::StrCat("[", i++, "]"));
}

std::string list_codec_base::check(const void* p) const {
  for (std::size_t i = 0; i != size(p); ++i) {
    std::string rule = item_.is_missing(item(p, i)) ? " must be given" : item_.check(item(p, i));
    if (!rule.empty()) return absl::StrCat("[", i, "]", rule);
  }
  return {};
}

bool list_codec_base::equal(const void* a, const void* b) const {
  if (size(a) != size(b)) return false;
  for (std::size_t i = 0; i != size(a); ++i)
    if (!item_.equal(item(a, i), item(b, i))) return false;
  return true;
}

void list_codec_base::visit(const void* p, part_visitor& v) const {
  for (std::size_t i = 0; i != size(p); ++i) item_.visit(item(p, i), v);
}

// --- Maps. ---

void map_codec_base::print(const void* p, printer& to) const {
  to.begin_fields();
  for (auto& [key, value] : entries(p)) {
    to.name(*key, true);
    value_.print(value, to);
  }
  to.end_fields();
}

namespace {

/// "{name=[1, 2]}": braces with colons are a structure made by an expression.
std::string example_of(const codec& value) {
  const std::string type = value.type_name();
  return type.starts_with("list of ") ? "{name=[1, 2]}" : "{name=1}";
}

}  // namespace

void map_codec_base::read(void* p, const argument& a, reading& r) const {
  if (a.kind != argument::fields && a.kind != argument::object)
    r.expected(a,
               absl::StrCat("names in braces, each with = and a ", value_.type_name(), ", as in ", example_of(value_)));
  clear(p);
  for (const argument& one : a.items) {
    void* value = add(p, one.name);
    if (!value) r.fail(one, absl::StrCat(one.name, " is given twice"));
    r.read(value_, value, one, absl::StrCat(".", one.name));
  }
}

std::string map_codec_base::check(const void* p) const {
  for (auto& [key, value] : entries(p)) {
    if (!is_utf8(*key)) return " must have names in UTF-8";
    std::string rule = value_.is_missing(value) ? " must be given" : value_.check(value);
    if (!rule.empty()) return absl::StrCat(".", *key, rule);
  }
  return {};
}

bool map_codec_base::equal(const void* a, const void* b) const {
  return std::ranges::equal(entries(a), entries(b),
                            [&](auto& x, auto& y) { return *x.first == *y.first && value_.equal(x.second, y.second); });
}

void map_codec_base::visit(const void* p, part_visitor& v) const {
  for (auto& entry : entries(p)) value_.visit(entry.second, v);
}

// --- Optional values. ---

void optional_codec_base::print(const void* p, printer& to) const {
  if (const void* v = value(p)) value_.print(v, to);
  else to.nothing();
}

void optional_codec_base::read(void* p, const argument& a, reading& r) const {
  bool is_nothing = a.kind == argument::null || (a.kind == argument::word && a.text == "nothing");
  if (is_nothing) reset(p);
  else value_.read(make(p), a, r);
}

std::string optional_codec_base::check(const void* p) const {
  const void* v = value(p);
  if (!v) return {};
  return value_.is_missing(v) ? " must be given" : value_.check(v);
}

bool optional_codec_base::equal(const void* a, const void* b) const {
  const void *x = value(a), *y = value(b);
  return x && y ? value_.equal(x, y) : x == y;
}

void optional_codec_base::visit(const void* p, part_visitor& v) const {
  if (const void* one = value(p)) value_.visit(one, v);
}

// --- Structs. ---

namespace {

class list_of_fields_codec final : public codec {
 public:
  explicit list_of_fields_codec(const argument_list& list) : list_(list) {}

  void print(const void* p, printer& to) const override {
    to.begin_fields();
    for (auto& f : list_.fields) {
      bool is_written = to.is_meaning() ? !f.type->is_knob() : f.required || !list_.is_default(p, f);
      if (!is_written) continue;
      to.name(f.name, false);
      f.type->print(argument_list::at(p, f), to);
    }
    to.end_fields();
  }

  void read(void* p, const argument& a, reading& r) const override {
    if (a.kind != argument::fields && a.kind != argument::object)
      r.expected(a, absl::StrCat("fields in braces (", list_.names(), ")"));
    std::vector<bool> given(list_.fields.size());
    for (const argument& one : a.items) {
      const field* f = list_.find(one.name);
      if (!f) r.fail(one, absl::StrCat("has no ", one.name, " (it has ", list_.names(), ")"));
      auto k = static_cast<std::size_t>(f - list_.fields.data());
      if (given[k]) r.fail(one, one.name + " is given twice");
      given[k] = true;
      r.read(*f->type, argument_list::at(p, *f), one, absl::StrCat(".", one.name));
    }
    for (std::size_t k = 0; k != given.size(); ++k)
      if (list_.fields[k].required && !given[k])
        r.fail(a, "needs " + list_.fields[k].type->wanted(list_.fields[k].name));
  }

  std::string check(const void* p) const override {
    for (auto& f : list_.fields) {
      const void* v = argument_list::at(p, f);
      std::string rule = f.type->is_missing(v) ? " must be given" : f.type->check(v);
      if (!rule.empty()) return absl::StrCat(".", std::string(f.name), rule);
    }
    return {};
  }
  bool equal(const void* a, const void* b) const override { return list_.equal(a, b); }
  void visit(const void* p, part_visitor& v) const override { list_.visit(p, v); }
  std::string type_name() const override { return absl::StrCat("{", list_.names(), "}"); }

 private:
  const argument_list& list_;
};

}  // namespace

const codec& struct_codec(const argument_list& list) { return *new list_of_fields_codec(list); }

}  // namespace sluice::lib::detail
