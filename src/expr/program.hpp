// SPDX-License-Identifier: Apache-2.0
// An expression whose types are known, and that can be computed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"
#include "sluice/expr/expression.hpp"

namespace sluice::lib {

/// A registered function, as expressions call it.
class callable {
 public:
  virtual ~callable() = default;
  virtual const element_type& in() const = 0;
  virtual const element_type& out() const = 0;
  virtual bool draws() const = 0;
  /// Constructs out() for each of the n objects at `in`, which may be moved from and stay to be destroyed by the caller.
  /// `ordinal`: of the first; they need not follow each other. Returns how many were constructed before an error, `why`.
  virtual std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t ordinal, std::uint64_t seed,
                             status& why) const = 0;
};

/// The functions that expressions may call by name.
class callables {
 public:
  virtual ~callables() = default;
  /// Returns the functions of this name: one for each element type that it accepts; a pair or tuple stands for several
  /// arguments. If none can be called, `why` describes the name, if it means anything.
  virtual std::vector<std::shared_ptr<const callable>> named(std::string_view name, std::string& why) = 0;
  /// The expression calls `f`.
  virtual void note_call(const callable& f) = 0;
  /// Its values depend on something that its text does not say, and that has this hash.
  virtual void note_value(std::uint64_t hash) = 0;
  virtual std::vector<std::string> names() const = 0;
};

namespace expressions {
class computed;
}

/// Returns the names of the functions that every expression may call, sorted.
std::vector<std::string> built_in_function_names();
bool is_built_in_function(std::string_view name);

/// The meanings of names other than the element's fields.
struct expression_scope {
  const element_type* state = nullptr;  ///< of `state`, where there is one
  bool is_constant = false;             ///< there is no element
  bool is_looked_at = false;  ///< the element stays as it is: nothing is moved from it; its place is not known
};

class program {
 public:
  /// `wanted`: the type that the values have to have, if it is known; structures are filled by the names of its members.
  /// Errors: throws expression_error.
  program(const expression& e, const element_type& in, callables& functions, const element_type* wanted = nullptr,
          const expression_scope& scope = {});
  ~program();
  program(const program&) = delete;

  const element_type& in() const { return *in_; }
  const element_type& type() const;
  /// Does it use random numbers?
  bool draws() const { return draws_; }

  /// Constructs the values of n elements at `to`, a step of type().size apart. Elements may be moved from. Returns how many were
  /// constructed before an error, `why`. `ordinal`: of the first element. Thread: any, also at the same time.
  std::uint32_t apply(void* elements, std::uint32_t n, void* to, std::uint64_t ordinal, std::uint64_t seed,
                      status& why) const;
  /// Evaluates a bool for elements that are not changed.
  std::uint32_t test(const void* elements, std::uint32_t n, bool* to, std::uint64_t ordinal, std::uint64_t seed,
                     status& why) const;
  /// The error of a new state that takes too much, or none.
  using state_limit = std::function<status(const void* state)>;
  /// Of an expression with a state, which has the type of its values: for one element after the other the value, if it `fits`,
  /// becomes the state at `state`, and a copy of it is constructed at `states`, unless that is null. Returns how many there were
  /// before an error, `why`; the state is as they left it.
  std::uint32_t fold(void* state, void* elements, std::uint32_t n, void* states, const state_limit& fits,
                     status& why) const;
  /// Values that are made at a time, so that they do not take much memory at once.
  std::uint32_t values_at_once() const;

 private:
  const element_type* in_;
  std::unique_ptr<expressions::computed> root_;
  std::size_t variables_ = 0;
  bool draws_ = false;
  bool is_light_ = false;                          ///< its values, and those within it, own nothing
  mutable std::atomic<std::uint32_t> at_once_{1};  ///< what elements before have shown that fits; no part of any value
};

}  // namespace sluice::lib
