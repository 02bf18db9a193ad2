// SPDX-License-Identifier: Apache-2.0
// How each type of argument is printed, read, checked and compared, and the list of an arguments struct's members.
//
//   template <class A> const argument_list& arguments_of();      // read off the struct A, once
//
// A codec for a type of an operator's own: declare `template <> const codec& codec_of<T>();` before arguments_of<A> is
// named, and define it.
// Included by operators' sources and by the plan layer, never by public headers: each struct costs its compilation here.
// Thread: codecs and lists are immutable and live for ever.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/argument.hpp"
#include "plan/parts.hpp"
#include "sluice/base/reflect.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// What codecs print to: plan text, JSON, or what a fingerprint is taken of.
class printer {
 public:
  /// `is_meaning`: everything that the elements depend on, defaults and versions too, and no knobs.
  explicit printer(bool is_meaning) : is_meaning_(is_meaning) {}
  bool is_meaning() const { return is_meaning_; }

  /// A number, true or false.
  virtual void plain(std::string_view spelled) = 0;
  /// An enumerator, or a number with a unit.
  virtual void word(std::string_view w) = 0;
  virtual void text(const std::string& s) = 0;
  /// An optional value that is not there.
  virtual void nothing() = 0;
  virtual void function(const stage_function& f) = 0;
  virtual void plan(const node& n) = 0;

  // Lists and fields: begin, then before each item `item`, before each value its name, then end.
  virtual void begin_list() = 0;
  virtual void item() = 0;
  virtual void end_list() = 0;
  virtual void begin_fields() = 0;
  /// `is_key`: of a map, which may be any text.
  virtual void name(std::string_view n, bool is_key) = 0;
  virtual void end_fields() = 0;

 protected:
  ~printer() = default;

 private:
  bool is_meaning_;
};

class reading;

class codec {
 public:
  virtual void print(const void* field, printer& to) const = 0;
  /// Throws misplaced (through `r`) where the argument is none of this type.
  virtual void read(void* field, const argument& a, reading& r) const = 0;
  /// Empty, or the rule that is broken, as it stands behind the field's name: " must be at least 1, and is 0".
  virtual std::string check(const void*) const { return {}; }
  /// It has to be given, and is not.
  virtual bool is_missing(const void*) const { return false; }
  virtual bool equal(const void* a, const void* b) const = 0;
  virtual void visit(const void*, part_visitor&) const {}

  /// Changes speed only: left out of fingerprints.
  virtual bool is_knob() const { return false; }
  /// It may come with each element: a source that lacks it is a reader.
  virtual bool is_later() const { return false; }
  /// Gives a field that is_later() its value.
  virtual void complete(void*, std::string_view) const {}
  virtual bool takes_text() const { return false; }
  virtual bool takes_plan() const { return false; }
  /// Can this function stand here?
  virtual bool takes_function(const stage_function&) const { return false; }
  virtual bool takes_functions() const { return false; }

  /// For the documentation: "count", "true or false".
  virtual std::string type_name() const = 0;
  /// What a stage needs that lacks the field `name`: "buffer_size", "a path", "a function".
  virtual std::string wanted(std::string_view name) const { return std::string(name); }
  /// How `sluice ops` shows a field that has to be given: "buffer_size", "\"path\"".
  virtual std::string placeholder(std::string_view name) const { return std::string(name); }

 protected:
  ~codec() = default;
};

/// Where an argument is read: whose it is, for messages.
class reading {
 public:
  /// Of a call of `op`. `at`: the call's place, which stands for all its arguments' where they have none (JSON).
  reading(std::string_view op, std::size_t at, bool is_json) : path_(op), at_(at), is_json_(is_json) {
    path_ += ": ";
    op_length_ = path_.size();
  }
  /// Reads and checks the argument `a` into `field`. `step`: its name, "[3]" in a list or ".name" in a struct.
  void read(const codec& type, void* field, const argument& a, std::string_view step);
  /// "map: weights[2] expects a number, and is x"
  [[noreturn]] void expected(const argument& a, std::string_view what) const;
  /// "map: function: no function is registered as f"
  [[noreturn]] void fail(const argument& a, std::string_view what) const;
  /// Of the call as a whole, at the argument's name: "map: has no paralelism".
  [[noreturn]] void refuse_name(const argument& a, std::string_view what) const;
  /// The same at the argument's value: "map: order is given twice".
  [[noreturn]] void refuse(const argument& a, std::string_view what) const;

 private:
  std::size_t place_of(std::size_t at) const { return is_json_ ? at_ : at; }
  std::string path_;
  std::size_t op_length_ = 0;
  std::size_t at_;
  bool is_json_;
};

struct field {
  std::string_view name;
  std::size_t offset;
  const codec* type;
  bool required;     ///< the default breaks the type's own rule
  bool by_position;  ///< stands before `options`
};

struct argument_list {
  std::vector<field> fields;
  const char* tag = nullptr;
  const void* defaults = nullptr;
  std::shared_ptr<void> (*copy)(const void*) = nullptr;

  const field* find(std::string_view name) const noexcept;
  static const void* at(const void* a, const field& f) { return static_cast<const char*>(a) + f.offset; }
  static void* at(void* a, const field& f) { return static_cast<char*>(a) + f.offset; }
  bool is_default(const void* a, const field& f) const { return f.type->equal(at(a, f), at(defaults, f)); }
  /// A struct of which fields that is_later() may be missing. Empty, or the first rule that is broken: "needs stop",
  /// "size must be at least 1, and is 0".
  std::string check(const void* a) const;
  bool equal(const void* a, const void* b) const;
  void visit(const void* a, part_visitor& v) const;
  bool has_later() const;
  /// "stop, start, step"
  std::string names() const;
};

/// What a field prints as in plan text.
std::string printed(const codec& type, const void* field);

template <class T> const codec& codec_of();

// --- Those that are no templates. ---

template <> const codec& codec_of<bool>();
template <> const codec& codec_of<std::int64_t>();
template <> const codec& codec_of<double>();
template <> const codec& codec_of<std::string>();
template <> const codec& codec_of<count>();
template <> const codec& codec_of<integer>();
template <> const codec& codec_of<count_or_all>();
template <> const codec& codec_of<knob>();
template <> const codec& codec_of<seed>();
template <> const codec& codec_of<byte_size>();
template <> const codec& codec_of<required_text>();
template <> const codec& codec_of<later_text>();
template <> const codec& codec_of<file_path>();
template <> const codec& codec_of<node_ptr>();

namespace detail {

using function_filter = bool (*)(const stage_function&);

/// Of an enum of one byte whose values are 0, 1, 2 …
const codec& enum_codec(const std::string_view* names, std::size_t n);
/// Of a function_value.
const codec& function_codec(function_filter accepts);
/// Of a plan_or_function; `accepts` null: no function.
const codec& inner_plan_codec(opens which, function_filter accepts);

template <class E, E Value> consteval std::string_view enumerator_name() {
  std::string_view s = __PRETTY_FUNCTION__;  // "… Value = sluice::order::sloppy]", or "(sluice::order)7"
  s = s.substr(s.find("Value = ") + 8);
  s = s.substr(0, s.find_first_of(";]"));
  if (s.find(')') != s.npos) return {};
  return s.substr(s.find_last_of(": ") + 1);
}

template <class E> const codec& codec_of_enum() {
  static_assert(sizeof(E) == 1, "sluice: an enum among arguments has std::uint8_t underneath");
  static constexpr auto names = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, sizeof...(I)>{enumerator_name<E, static_cast<E>(I)>()...};
  }(std::make_index_sequence<16>{});
  static const codec& c = enum_codec(names.data(), names.size());
  return c;
}

template <class Form> bool is_form(const stage_function& f) {
  if constexpr (requires { Form::accepts(f); }) return Form::accepts(f);
  else return dynamic_cast<const Form*>(&f) != nullptr;
}
template <class... Forms> bool is_any_form(const stage_function& f) { return (is_form<Forms>(f) || ...); }

// --- Lists, maps, optional values, structs. The parts that do not depend on the type are in codecs.cpp. ---

/// Items as a list's codec sees them.
class list_codec_base : public codec {
 public:
  explicit list_codec_base(const codec& item) : item_(item) {}
  void print(const void* p, printer& to) const final;
  void read(void* p, const argument& a, reading& r) const final;
  std::string check(const void* p) const final;
  bool equal(const void* a, const void* b) const final;
  void visit(const void* p, part_visitor& v) const final;
  std::string type_name() const final { return "list of " + item_.type_name(); }

 protected:
  virtual std::size_t size(const void* p) const = 0;
  virtual const void* item(const void* p, std::size_t i) const = 0;
  virtual void* add(void* p) const = 0;
  virtual void clear(void* p) const = 0;

 private:
  const codec& item_;
};

template <class T> class list_codec final : public list_codec_base {
 public:
  static_assert(!std::is_same_v<T, bool>, "sluice: std::vector<bool> has no items to point at; take an enum or int64");
  list_codec() : list_codec_base(codec_of<T>()) {}

 private:
  using list = std::vector<T>;
  std::size_t size(const void* p) const override { return static_cast<const list*>(p)->size(); }
  const void* item(const void* p, std::size_t i) const override { return &(*static_cast<const list*>(p))[i]; }
  void* add(void* p) const override { return &static_cast<list*>(p)->emplace_back(); }
  void clear(void* p) const override { static_cast<list*>(p)->clear(); }
};

class map_codec_base : public codec {
 public:
  explicit map_codec_base(const codec& value) : value_(value) {}
  void print(const void* p, printer& to) const final;
  void read(void* p, const argument& a, reading& r) const final;
  std::string check(const void* p) const final;
  bool equal(const void* a, const void* b) const final;
  void visit(const void* p, part_visitor& v) const final;
  std::string type_name() const final { return "map of " + value_.type_name(); }

 protected:
  /// In the order of the keys.
  virtual std::vector<std::pair<const std::string*, const void*>> entries(const void* p) const = 0;
  /// Null: the key is there.
  virtual void* add(void* p, const std::string& key) const = 0;
  virtual void clear(void* p) const = 0;

 private:
  const codec& value_;
};

template <class T> class map_codec final : public map_codec_base {
 public:
  map_codec() : map_codec_base(codec_of<T>()) {}

 private:
  using map = std::map<std::string, T>;
  std::vector<std::pair<const std::string*, const void*>> entries(const void* p) const override {
    std::vector<std::pair<const std::string*, const void*>> all;
    for (auto& [key, value] : *static_cast<const map*>(p)) all.emplace_back(&key, &value);
    return all;
  }
  void* add(void* p, const std::string& key) const override {
    auto [at, is_new] = static_cast<map*>(p)->try_emplace(key);
    return is_new ? &at->second : nullptr;
  }
  void clear(void* p) const override { static_cast<map*>(p)->clear(); }
};

class optional_codec_base : public codec {
 public:
  explicit optional_codec_base(const codec& value) : value_(value) {}
  void print(const void* p, printer& to) const final;
  void read(void* p, const argument& a, reading& r) const final;
  std::string check(const void* p) const final;
  bool equal(const void* a, const void* b) const final;
  void visit(const void* p, part_visitor& v) const final;
  bool is_knob() const final { return value_.is_knob(); }
  bool takes_text() const final { return value_.takes_text(); }
  bool takes_plan() const final { return value_.takes_plan(); }
  bool takes_function(const stage_function& f) const final { return value_.takes_function(f); }
  bool takes_functions() const final { return value_.takes_functions(); }
  std::string type_name() const final { return value_.type_name() + " or nothing"; }

 protected:
  /// Null: there is none.
  virtual const void* value(const void* p) const = 0;
  virtual void* make(void* p) const = 0;
  virtual void reset(void* p) const = 0;

 private:
  const codec& value_;
};

template <class T> class optional_codec final : public optional_codec_base {
 public:
  optional_codec() : optional_codec_base(codec_of<T>()) {}

 private:
  using optional = std::optional<T>;
  const void* value(const void* p) const override {
    auto& o = *static_cast<const optional*>(p);
    return o ? &*o : nullptr;
  }
  void* make(void* p) const override { return &static_cast<optional*>(p)->emplace(); }
  void reset(void* p) const override { static_cast<optional*>(p)->reset(); }
};

/// Of a struct whose list this is.
const codec& struct_codec(const argument_list& list);

/// Fills in which fields are required.
void complete_list(argument_list& list);

template <class T> void add_fields(argument_list& list, T& object, const char* base, bool by_position) {
  with_members(object, [&](auto&... m) {
    std::size_t k = 0;
    auto add = [&](auto& member) {
      using M = std::remove_cvref_t<decltype(member)>;
      std::string_view name = member_names<T>[k++];
      if constexpr (reflectable<M>)
        if (by_position && name == "options" && k == member_count<T>) return add_fields<M>(list, member, base, false);
      auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&member) - base);
      list.fields.push_back({name, offset, &codec_of<M>(), false, by_position});
    };
    (add(m), ...);
    (void)add, (void)k;
  });
}

template <class A> argument_list read_arguments() {
  static const A defaults{};
  argument_list l;
  A object{};
  add_fields<A>(l, object, reinterpret_cast<const char*>(&object), true);
  l.tag = &arguments_tag<A>;
  l.defaults = &defaults;
  l.copy = [](const void* a) -> std::shared_ptr<void> { return std::make_shared<A>(*static_cast<const A*>(a)); };
  complete_list(l);
  return l;
}

template <class T> inline constexpr bool list_type = false;
template <class T> inline constexpr bool list_type<std::vector<T>> = true;
template <class T> inline constexpr bool map_type = false;
template <class T> inline constexpr bool map_type<std::map<std::string, T>> = true;
template <class T> inline constexpr bool optional_type = false;
template <class T> inline constexpr bool optional_type<std::optional<T>> = true;

template <class T> struct function_codec_of {
  static constexpr bool exists = false;
};
template <class... Forms> struct function_codec_of<function_arg<Forms...>> {
  static constexpr bool exists = true;
  static const codec& make() { return function_codec(is_any_form<Forms...>); }
};
template <opens Which, class... Forms> struct function_codec_of<inner_plan<Which, Forms...>> {
  static constexpr bool exists = true;
  static const codec& make() {
    return inner_plan_codec(Which, sizeof...(Forms) == 0 ? nullptr : is_any_form<Forms...>);
  }
};

}  // namespace detail

template <class T> const codec& codec_of() {
  if constexpr (std::is_enum_v<T>) {
    return detail::codec_of_enum<T>();
  } else if constexpr (detail::function_codec_of<T>::exists) {
    static const codec& c = detail::function_codec_of<T>::make();
    return c;
  } else if constexpr (detail::list_type<T>) {
    static const detail::list_codec<typename T::value_type> c;
    return c;
  } else if constexpr (detail::map_type<T>) {
    static const detail::map_codec<typename T::mapped_type> c;
    return c;
  } else if constexpr (detail::optional_type<T>) {
    static const detail::optional_codec<typename T::value_type> c;
    return c;
  } else {
    static_assert(reflectable<T>,
                  "sluice: no codec for an argument of this type (plan/arguments.hpp has those there are)");
    static const codec& c = detail::struct_codec(arguments_of<T>());
    return c;
  }
}

template <class A> const argument_list& arguments_of() {
  static const argument_list list = detail::read_arguments<A>();
  return list;
}

}  // namespace sluice::lib
