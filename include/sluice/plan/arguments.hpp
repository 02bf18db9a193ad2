// SPDX-License-Identifier: Apache-2.0
// What an operator takes in its parentheses: one struct whose members are the arguments.
//
//   struct shuffle_arguments {              // in the operator's header
//     count buffer_size = {};               // by position, and required: its default breaks its type's own rule
//     shuffle_options options = {};         // the members of a last member `options` are arguments that have names
//   };
//   arguments a = arguments::of(shuffle_arguments{100, {.seed = 7}});
//   a.as<shuffle_arguments>().options.seed
//
//   .arguments = arguments_of<shuffle_arguments>,        // in its op_info: the one place where the struct is named as a list
//
// Members may be the types of base/field_types.hpp, bool, std::int64_t, double, std::string, enums of one byte, functions and
// inner plans (below), whole plans (node_ptr), and std::vector, std::optional, std::map<std::string, …> and structs of those.
// Plan text, JSON, equality, fingerprint, rules and the documentation are derived from the struct (plan/arguments_of.hpp, in the
// library's sources: a user's program pays for none of it). Renaming a member changes the format of plans.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sluice/base/field_types.hpp"

namespace sluice::lib {

struct node;            // plan/node.hpp
struct stage_function;  // plan/function.hpp
using node_ptr = std::shared_ptr<const node>;
using function_ptr = std::shared_ptr<const stage_function>;

/// A user's function, whichever forms the operator calls.
struct function_value {
  function_ptr value{};
};

/// A user's function that has to be given, in one of these forms (classes derived from stage_function, or structs with a
/// static `accepts(const stage_function&)`). Of several forms under one name, plan text takes the first that fits.
template <class... Forms> struct function_arg : function_value {
  function_arg() = default;
  function_arg(function_ptr f) : function_value{std::move(f)} {}  // NOLINT: a function is written as a function
};

/// What is opened for each element: a plan, or what a user's function makes of the element.
struct plan_or_function {
  node_ptr plan{};
  function_ptr function{};
};

/// Which plans an inner_plan may be.
enum class opens : std::uint8_t {
  readers,   ///< those that lack their path, which comes with each element: interleave(tfrecord)
  any_plan,  ///< those, and plans that have all they need
};

/// A plan that is opened for each element of the input, or a function of one of these forms that makes one.
template <opens Which, class... Forms> struct inner_plan : plan_or_function {
  inner_plan() = default;
  inner_plan(node_ptr p) : plan_or_function{std::move(p), {}} {}      // NOLINT: as above
  inner_plan(function_ptr f) : plan_or_function{{}, std::move(f)} {}  // NOLINT
};

/// Of operators that take nothing.
struct no_arguments {};

/// The members of an arguments struct, each with its codec (src/plan/codec.hpp).
struct argument_list;
/// That of the struct A. Called by the operator's own source only.
template <class A> const argument_list& arguments_of();
template <> const argument_list& arguments_of<no_arguments>();

namespace detail {
/// Its address stands for the type. Not const, so that no linker gives two types one.
template <class A> inline char arguments_tag = 0;

[[noreturn]] void refuse_other_arguments();
}  // namespace detail

/// An arguments struct with its type forgotten. Copies share it.
class arguments {
 public:
  /// A no_arguments.
  arguments();
  /// For code that knows the struct by its list only.
  arguments(const char* tag, std::shared_ptr<const void> value) noexcept : tag_(tag), value_(std::move(value)) {}
  /// Of a `new A`, which it owns.
  arguments(const char* tag, const void* value, void (*destroy)(const void*));
  template <class A> static arguments of(A a) {
    return {&detail::arguments_tag<A>, new A(std::move(a)), [](const void* p) { delete static_cast<const A*>(p); }};
  }
  // In the library, as those of plan_holder are: every stage that a program writes down has some of each.
  arguments(const arguments& other) noexcept;
  arguments(arguments&& other) noexcept;
  arguments& operator=(const arguments& other) noexcept;
  ~arguments();

  /// The struct. It must be an A: another type ends the program.
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
