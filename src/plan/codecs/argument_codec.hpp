// SPDX-License-Identifier: Apache-2.0
// How each type of argument is printed, read, checked and compared, and the list of an arguments struct's members.
//
//   const argument_list& list = n.op->arguments();
//   for (const field& f : list.fields) printed(*f.type, list.at(n.arguments.get(), f));
//
// Codecs of single values are in codecs.cpp, those of functions and plans in function_codecs.cpp, and those of lists,
// maps and optional values in container_codecs.hpp. arguments_of.hpp finds the codec of a type.
// Thread: codecs and lists are immutable and live for ever.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plan/codecs/argument.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The destination that codecs print to: plan text, JSON, or the input of a fingerprint.
class printer {
 public:
  /// `is_meaning`: print everything that the elements depend on, including defaults and versions, but no knobs.
  explicit printer(bool is_meaning) : is_meaning_(is_meaning) {}
  bool is_meaning() const { return is_meaning_; }

  /// A number, true or false.
  virtual void plain(std::string_view spelled) = 0;
  /// An enumerator, or a number with a unit.
  virtual void word(std::string_view w) = 0;
  virtual void text(const std::string& s) = 0;
  /// An optional value that is not set.
  virtual void nothing() = 0;
  virtual void function(const stage_function& f) = 0;
  virtual void plan(const node& n) = 0;

  // Lists and fields: begin, then before each item `item`, before each value its name, then end.
  virtual void begin_list() = 0;
  virtual void item() = 0;
  virtual void end_list() = 0;
  virtual void begin_fields() = 0;
  /// `is_key`: the name is a map's key, which may be any text.
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
  static constexpr std::int64_t kUnlimited = INT64_MAX;

  virtual void print(const void* field, printer& to) const = 0;
  /// Throws misplaced (through `r`) if the argument does not have this type.
  virtual void read(void* field, const argument& a, reading& r) const = 0;
  /// Returns the rule that is broken, worded to follow the field's name (" must be at least 1, and is 0"), or an empty
  /// string.
  virtual std::string check(const void*) const { return {}; }
  /// Returns true if a required value is missing.
  virtual bool is_missing(const void*) const { return false; }
  virtual bool equal(const void* a, const void* b) const = 0;
  virtual void visit(const void*, part_visitor&) const {}
  /// Gives an expression the type of its element. Errors: expression_error.
  virtual void bind(void*, bind_context&) const {}

  /// Returns true if the value only changes speed. Fingerprints omit it.
  virtual bool is_knob() const { return false; }
  /// Returns true if fingerprints omit the value while it equals its default.
  virtual bool is_meant_when_given() const { return false; }
  /// The largest value allowed for a count or a knob.
  virtual std::int64_t most() const { return kUnlimited; }
  /// Returns true if text may omit this argument although others follow it; the next argument then comes first.
  virtual bool may_be_left_out() const { return false; }
  /// Returns true if each element may supply the value. A source that lacks the value is a reader.
  virtual bool is_later() const { return false; }
  /// Sets the value of a field that is_later().
  virtual void complete(void*, std::string_view) const {}
  virtual bool takes_text() const { return false; }
  virtual bool takes_plan() const { return false; }
  /// Returns true if this field accepts the function.
  virtual bool takes_function(const stage_function&) const { return false; }
  virtual bool takes_functions() const { return false; }

  /// For the documentation: "count", "true or false".
  virtual std::string type_name() const = 0;
  /// Names what a stage needs if it lacks the field `name`: "buffer_size", "a path", "a function".
  virtual std::string wanted(std::string_view name) const { return std::string(name); }
  /// The form in which `sluice ops` shows a required field: "buffer_size", "\"path\"".
  virtual std::string placeholder(std::string_view name) const { return std::string(name); }

 protected:
  ~codec() = default;
};

/// Returns true if a place accepts the function.
using function_filter = bool (*)(const stage_function&);

/// The place where an argument is read, for messages.
class reading {
 public:
  /// The functions that find plans and functions (build.hpp). Codecs reach them only through this struct, so that
  /// programs that read no plans do not link them.
  struct lookup {
    bool (*is_operator)(std::string_view name);
    bool (*is_function)(std::string_view name);  ///< true for functions of expressions that are not operators
    node_ptr (*plan)(const argument& a, bool may_lack_path);
    function_ptr (*function)(const argument& a, const reading& r, function_filter accepts, std::string_view what);
    function_ptr (*expression)(const argument& a, const reading& r);
    node_ptr (*stages)(const argument& a, const node_ptr& input);
  };
  /// For a call of `op`. `at`: the call's position, which is used for all arguments that have no position of their own
  /// (JSON).
  reading(std::string_view op, std::size_t at, bool is_json, const lookup& l)
      : path_(op), at_(at), is_json_(is_json), lookup_(l) {
    path_ += ": ";
    op_length_ = path_.size();
  }
  /// Returns true if the argument is a plan rather than the name of a function.
  bool is_plan(const argument& a) const;
  node_ptr plan(const argument& a, bool may_lack_path) const { return lookup_.plan(a, may_lack_path); }
  function_ptr function(const argument& a, function_filter accepts, std::string_view what) const {
    return lookup_.function(a, *this, accepts, what);
  }
  function_ptr expression(const argument& a) const { return lookup_.expression(a, *this); }
  /// For values that are read later: `stages` finds a plan that lacks its input.
  const lookup& known() const { return lookup_; }
  /// Reads and checks the argument `a` into `field`. `step`: its name, "[3]" in a list or ".name" in a struct.
  void read(const codec& type, void* field, const argument& a, std::string_view step);
  /// "map: weights[2]"
  const std::string& path() const { return path_; }
  /// The position within the call: "function", "weights[2]".
  std::string_view step() const { return std::string_view(path_).substr(op_length_); }
  /// "map: weights[2] expects a number, and is x"
  [[noreturn]] void expected(const argument& a, std::string_view what) const;
  /// "map: function: there is no function f"
  [[noreturn]] void fail(const argument& a, std::string_view what) const;
  /// Reports an error of the whole call, at the argument's name: "map: has no paralelism".
  [[noreturn]] void refuse_name(const argument& a, std::string_view what) const;
  /// Reports an error of the whole call, at the argument's value: "map: order is given twice".
  [[noreturn]] void refuse(const argument& a, std::string_view what) const;

 private:
  std::size_t place_of(std::size_t at) const { return is_json_ ? at_ : at; }
  std::string path_;
  std::size_t op_length_ = 0;
  std::size_t at_;
  bool is_json_;
  const lookup& lookup_;
};

struct field {
  std::string_view name;
  std::size_t offset;
  const codec* type;
  bool required;     ///< the default breaks the type's own rule
  bool by_position;  ///< precedes `options`
  /// Given the arguments, returns true if the field does not change the elements although its type is no knob.
  /// Fingerprints then have its default. Null: never.
  bool (*is_setting)(const void* arguments) = nullptr;
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
  /// For a struct in which fields that are is_later() may be missing. Returns an empty string or the first rule that is
  /// broken: "needs stop", "size must be at least 1, and is 0".
  std::string check(const void* a) const;
  bool equal(const void* a, const void* b) const;
  void visit(const void* a, part_visitor& v) const;
  bool has_later() const;
  /// "stop, start, step"
  std::string names() const;
};

/// The list of an error_handling: the arguments that every call accepts beside its operator's own.
const argument_list& call_arguments();

/// Returns the field's spelling in plan text.
std::string printed(const codec& type, const void* field);

}  // namespace sluice::lib
