// SPDX-License-Identifier: Apache-2.0
// The parameters that the arguments of a call belong to: by position, or by the name of a member of the last parameter.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "expr/evaluation.hpp"
#include "expr/program.hpp"
#include "expr/tree.hpp"

namespace sluice::lib::expressions {

/// The arguments of a call, and the parameters of a function that may be called.
class call_arguments {
 public:
  call_arguments(const expression_tree& call, const callable& f);

  /// Returns the required type of the k-th argument; null if the function does not accept it.
  const element_type* type(std::size_t k) const;
  /// Returns true if the function accepts this number of arguments, and all names.
  bool accepted() const;
  /// Returns why it does not: "has no argument colour; it has channels, ratio". Empty if the number is wrong.
  std::string why_not() const;
  /// Combines the values, each of which has the type of its parameter, to one value for the function.
  computed_ptr combined(std::vector<computed_ptr> values) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  bool is_named(std::size_t k) const { return !call_.names.empty() && !call_.names[k].empty(); }
  std::size_t member_named(std::string_view name) const;
  /// The member of the options that the k-th argument is the value of; kNone if none.
  std::size_t option(std::size_t k) const;

  const expression_tree& call_;
  const element_type& in_;
  const element_type* options_;
  std::size_t fixed_, by_position_ = 0;
};

}  // namespace sluice::lib::expressions
