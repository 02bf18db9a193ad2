// SPDX-License-Identifier: Apache-2.0
// The arguments of an operator: one struct, whose members are the arguments.
//
//   struct shuffle_arguments {              // in the operator's header
//     count buffer_size = {};               // positional and required: its default value is invalid for its type
//     shuffle_options options = {};         // the members of a last member `options` are named arguments
//   };
//   arguments a = arguments::of(shuffle_arguments{100, {.seed = 7}});
//   a.as<shuffle_arguments>().options.seed
//
//   .arguments = arguments_of<shuffle_arguments>,        // in its op_info, the only place that lists the members
//
// Members may be the types of base/field_types.hpp, bool, std::int64_t, double, std::string, enums of one byte,
// and structs of those. Plan text, JSON, equality, fingerprint, rules and the documentation are derived from the struct
// (plan/codecs/arguments_of.hpp, in the library's sources, so that user programs do not include it). Renaming a member
// changes the format of plans.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sluice/base/field_types.hpp"

namespace sluice::lib {

struct node;            // plan/node.hpp
struct stage_function;  // plan/function.hpp
struct bind_context;    // the same
using node_ptr = std::shared_ptr<const node>;
using function_ptr = std::shared_ptr<const stage_function>;

/// A user's function without its type.
struct function_value {
  function_value() noexcept;
  explicit function_value(function_ptr f) noexcept;
  function_value(const function_value& other) noexcept;
  function_value(function_value&& other) noexcept;
  function_value& operator=(const function_value& other) noexcept;
  function_value& operator=(function_value&& other) noexcept;
  ~function_value();

  function_ptr value;
};

/// A required user's function of one of these forms (classes derived from stage_function, or structs with a static
/// `accepts(const stage_function&)`). If several forms are registered under one name, plan text uses the first that is
/// accepted.
template <class... Forms> struct function_arg : function_value {
  function_arg() = default;
  function_arg(function_ptr f) : function_value(std::move(f)) {}  // NOLINT: a function is written as a function
};

/// The same, but it may be missing: `value` is null then.
template <class... Forms> struct optional_function : function_value {
  explicit operator bool() const noexcept { return value != nullptr; }
};

/// A user's function of a whole number instead of an element: a step, an index. In text it may be an expression of
/// `it`, an int64. Not required.
template <class... Forms> struct number_function : function_value {
  number_function() = default;
  number_function(function_ptr f) : function_value(std::move(f)) {}  // NOLINT: as above
};

/// The initial state of a function that is an expression: another expression, which does not depend on an element. In
/// text it may precede the function: scan(0, state + it).
struct initial_value : function_value {};

/// The inner plan of an operator: a plan, or a user's function that returns a plan for an element. One of the two is
/// null.
struct plan_or_function {
  plan_or_function() noexcept;
  explicit plan_or_function(node_ptr p) noexcept;
  explicit plan_or_function(function_ptr f) noexcept;
  plan_or_function(const plan_or_function& other) noexcept;
  plan_or_function(plan_or_function&& other) noexcept;
  plan_or_function& operator=(const plan_or_function& other) noexcept;
  plan_or_function& operator=(plan_or_function&& other) noexcept;
  ~plan_or_function();

  node_ptr plan{};
  function_ptr function{};
};

/// The plans that an inner_plan accepts.
enum class opens : std::uint8_t {
  readers,   ///< only readers: plans that lack their path, which is the element: interleave(tfrecord)
  any_plan,  ///< readers and complete plans
};

/// A required plan that is opened for each element of the input, or a function of one of these forms that returns one.
template <opens Which, class... Forms> struct inner_plan : plan_or_function {
  inner_plan() = default;
  inner_plan(node_ptr p) : plan_or_function(std::move(p)) {}      // NOLINT: as above
  inner_plan(function_ptr f) : plan_or_function(std::move(f)) {}  // NOLINT
};

/// For operators without arguments.
struct no_arguments {};

/// The members of an arguments struct, each with its codec (src/plan/codecs/argument_codec.hpp).
struct argument_list;
/// The list of the struct A. Called by the operator's own source only.
template <class A> const argument_list& arguments_of();
template <> const argument_list& arguments_of<no_arguments>();

namespace detail {
/// Its address identifies the type. Not const, because a linker may merge equal constants.
template <class A> inline char arguments_tag = 0;

[[noreturn]] void refuse_other_arguments();
}  // namespace detail

/// A struct of arguments without its type. Copies share one struct.
class arguments {
 public:
  /// No arguments.
  arguments();
  /// For code that knows the struct only by its argument_list.
  arguments(const char* tag, std::shared_ptr<const void> value) noexcept : tag_(tag), value_(std::move(value)) {}
  /// Owns the struct at `value`, which was made by `new A`.
  arguments(const char* tag, const void* value, void (*destroy)(const void*));
  template <class A> static arguments of(A a) {
    return {&detail::arguments_tag<A>, new A(std::move(a)), [](const void* p) { delete static_cast<const A*>(p); }};
  }
  // Defined in the library, like those of plan_holder, because every stage in a program uses them.
  arguments(const arguments& other) noexcept;
  arguments(arguments&& other) noexcept;
  arguments& operator=(const arguments& other) noexcept;
  ~arguments();

  /// Returns the struct. REQUIRES: it is an A; otherwise the program is aborted.
  template <class A> const A& as() const {
    if (tag_ != &detail::arguments_tag<A>) detail::refuse_other_arguments();
    return *static_cast<const A*>(value_.get());
  }
  const char* tag() const noexcept { return tag_; }
  const void* get() const noexcept { return value_.get(); }

 private:
  const char* tag_ = nullptr;
  std::shared_ptr<const void> value_;
};

}  // namespace sluice::lib
