// SPDX-License-Identifier: Apache-2.0
// An expression whose types are known, and that can be evaluated.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"
#include "sluice/expr/expression.hpp"

namespace sluice::lib {

struct column_view;  // expr/column_parts.hpp

/// A registered function in the form that expressions call.
class callable {
 public:
  virtual ~callable() = default;
  virtual const element_type& in() const = 0;
  virtual const element_type& out() const = 0;
  virtual bool draws() const = 0;
  /// Constructs out() for each of the n objects at `in`. These may be moved from; the caller destroys them. `ordinal`:
  /// of the first object; the objects need not be consecutive elements. Returns the number of objects constructed
  /// before an error, `why`.
  virtual std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t ordinal, std::uint64_t seed,
                             status& why) const = 0;
};

/// The functions that expressions may call by name.
class callables {
 public:
  virtual ~callables() = default;
  /// Returns the functions of this name: one for each element type that it accepts; a pair or tuple represents several
  /// arguments. If none can be called, `why` describes the meaning of the name, if it has any.
  virtual std::vector<std::shared_ptr<const callable>> named(std::string_view name, std::string& why) = 0;
  /// Records that the expression calls `f`.
  virtual void note_call(const callable& f) = 0;
  /// Records that the values depend on data outside the text; `hash` identifies the data.
  virtual void note_value(std::uint64_t hash) = 0;
  virtual std::vector<std::string> names() const = 0;
};

namespace expressions {
class computed;
class earlier_value;
class shared_values;
}  // namespace expressions

/// Returns the names of the functions that every expression may call, sorted.
std::vector<std::string> built_in_function_names();
bool is_built_in_function(std::string_view name);

/// The meanings of names other than the element's fields.
struct expression_scope {
  const element_type* state = nullptr;  ///< of `state`, if it exists
  bool is_constant = false;             ///< no element exists
  bool is_looked_at = false;  ///< the element is only read: nothing is moved from it, and its ordinal is unknown
  bool is_condition = false;  ///< a value that is an optional bool becomes a bool, false where it is none
  /// The value of the programs before this one, which is its element; null: the element is in memory.
  const expressions::earlier_value* earlier = nullptr;
  expressions::shared_values* shared = nullptr;  ///< the parts that are computed once for several programs
  std::size_t first_variable = 0;                ///< variables before this one belong to other programs
};

class program {
 public:
  /// `wanted`: the required type of the values, if known; structures are filled by the names of its members. Errors:
  /// throws expression_error.
  program(const expression& e, const element_type& in, callables& functions, const element_type* wanted = nullptr,
          const expression_scope& scope = {});
  ~program();
  program(const program&) = delete;

  const element_type& in() const { return *in_; }
  const element_type& type() const;
  /// Returns true if the expression uses random numbers.
  bool draws() const { return draws_; }
  /// Returns true if a value may depend on the element's number.
  bool uses_place() const { return uses_place_; }
  /// Returns true unless every element has a value. Registered functions state themselves whether they may fail.
  bool may_fail() const { return may_fail_; }
  /// Returns the names of the element's members that are read, sorted; nullopt: the whole element.
  const std::optional<std::vector<std::string>>& reads() const { return reads_; }

  /// Returns true if rows of columns may be the elements: it moves nothing, and reads no parts for which objects are built.
  bool reads_columns() const { return reads_columns_; }
  /// Returns the value that all elements have, as a register (expr/evaluation.hpp); null: they may differ.
  const void* constant() const;

  /// Constructs the values of n elements at `to`, at intervals of type().size. Elements may be moved from. Returns the
  /// number of values constructed before an error, `why`. `ordinal`: the number of the first element. Thread: any, also
  /// concurrently.
  std::uint32_t apply(void* elements, std::uint32_t n, void* to, std::uint64_t ordinal, std::uint64_t seed,
                      status& why) const;
  /// Does the same for rows of columns, which have no ordinals. REQUIRES: reads_columns().
  std::uint32_t apply(const column_view& rows, void* to, status& why) const;
  /// Evaluates a bool for elements that are not changed.
  std::uint32_t test(const void* elements, std::uint32_t n, bool* to, std::uint64_t ordinal, std::uint64_t seed,
                     status& why) const;
  /// Evaluates numbers, or optional numbers, of elements that are not changed. `exist`: one byte for each, 0 if it is
  /// missing.
  std::uint32_t numbers(const void* elements, std::uint32_t n, char* to, char* exist, status& why) const;
  std::uint32_t numbers(const column_view& rows, char* to, char* exist, status& why) const;
  /// Returns the numbers of these rows if they are consecutive values of a column, and all exist; otherwise null.
  const char* numbers_in_place(const column_view& rows) const;
  /// Returns the error of a new state that exceeds its limit, or ok.
  using state_limit = std::function<status(const void* state)>;
  /// For an expression with a state, which has the type of its values. For each element in order, the value becomes the
  /// state at `state` if it `fits`, and a copy of it is constructed at `states`, unless that is null. Returns the
  /// number of elements before an error, `why`. The state is then the one after these elements.
  std::uint32_t fold(void* state, void* elements, std::uint32_t n, void* states, const state_limit& fits,
                     status& why) const;
  /// Returns the number of values to construct at a time, which bounds their memory.
  std::uint32_t values_at_once() const;

 private:
  struct source;
  std::uint32_t apply(const source& from, std::uint32_t n, void* to, std::uint64_t ordinal, std::uint64_t seed,
                      status& why) const;
  std::uint32_t numbers(const source& from, std::uint32_t n, char* to, char* exist, status& why) const;

  const element_type* in_;
  std::unique_ptr<expressions::computed> root_;
  std::size_t variables_ = 0;
  bool draws_ = false;
  bool uses_place_ = false;
  bool may_fail_ = true;
  bool reads_columns_ = false;
  std::optional<std::vector<std::string>> reads_;
  bool is_light_ = false;                          ///< its values, and the values within it, own no memory
  mutable std::atomic<std::uint32_t> at_once_{1};  ///< the number that fit for earlier elements; affects no value
};

}  // namespace sluice::lib
