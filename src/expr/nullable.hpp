// SPDX-License-Identifier: Apache-2.0
// Values that may be missing, and the operations on them. An operation on optionals is computed for the elements that
// have all of its operands; the other elements have none. Optionals that only other parts read are never built as
// objects: a part stores values, and beside each whether it exists.
#pragma once

#include <cstddef>
#include <vector>

#include "expr/evaluation.hpp"
#include "expr/expression_parts.hpp"

namespace sluice::lib::expressions {

/// A part whose values are optionals.
class nullable : public made_objects {
 public:
  using made_objects::made_objects;
  /// Stores the register of each value and whether it exists. The register of a missing value is zero. Errors: failed_at.
  virtual void eval_optional(evaluation& ev, selection s, void* values, bool* exist) const = 0;

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const final;
};

/// Does the same for any part; a value that is no optional exists.
void eval_optional(const computed& c, evaluation& ev, selection s, void* values, bool* exist);

/// An operand that is an optional, and the number of the variable that has its value.
struct optional_operand {
  computed_ptr part;
  std::size_t variable;
};
/// Computes `body` for the elements whose operands all exist. `optional`: the type of the result; its value, or itself,
/// is the type of `body`.
computed_ptr lifted(const element_type& optional, std::vector<optional_operand> operands, computed_ptr body);
/// && or || of bools, of which at least one may be missing: false && none is false, true || none is true. `b` is
/// computed only if `a` does not decide the result.
computed_ptr both_of_three(computed_ptr a, computed_ptr b, bool is_and);
/// True if the value exists, or, if !wanted, if it is missing.
computed_ptr value_exists(computed_ptr of, bool wanted);
/// The value of an optional that exists for all elements that this part is computed for.
computed_ptr existing_value(computed_ptr of);
/// A bool that is false if the optional bool `of` is missing.
computed_ptr none_as_false(computed_ptr of);
/// The value of an optional, or a replacement of the same register form.
computed_ptr value_or(computed_ptr of, computed_ptr otherwise);

}  // namespace sluice::lib::expressions
