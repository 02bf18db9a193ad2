// SPDX-License-Identifier: Apache-2.0
// The value of one program as the element of the next one, and values that several programs share (fused_program.hpp).
//
// A structure that one program builds and the next one reads is never constructed: each of its numbers is a variable
// of the evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "expr/evaluation.hpp"
#include "expr/tree.hpp"

namespace sluice::lib::expressions {

/// The numbers of a value, by their offsets within it.
class earlier_value {
 public:
  struct leaf {
    std::size_t offset;
    const element_type* type;
    std::size_t variable;          ///< the index in evaluation::variables
    mutable bool is_read = false;  ///< a part of a later program reads it
  };
  explicit earlier_value(std::vector<leaf> leaves) : leaves_(std::move(leaves)) {}
  const std::vector<leaf>& leaves() const { return leaves_; }
  /// Returns the part of the value at this offset. REQUIRES: it consists of leaves.
  computed_ptr part(const element_type& t, std::size_t offset) const;

 private:
  std::vector<leaf> leaves_;
};

/// A part of an earlier value. REQUIRES: the value outlives it.
class earlier_part final : public computed {
 public:
  earlier_part(const earlier_value& of, std::size_t offset, computed_ptr value)
      : computed(value->type()), of_(of), offset_(offset), value_(std::move(value)) {}
  void eval(evaluation& ev, selection s, void* out) const override { value_->eval(ev, s, out); }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const override {
    value_->build(ev, s, to, stride);
  }
  const void* in_place(const evaluation& ev, selection s) const override { return value_->in_place(ev, s); }
  computed_ptr part(const element_type& t, std::size_t offset) const { return of_.part(t, offset_ + offset); }

 private:
  const earlier_value& of_;
  std::size_t offset_;
  computed_ptr value_;
};

/// Numbers that occur several times in programs with the same element. The first occurrence that is computed for all
/// elements of its program stores them for the others.
class shared_values {
 public:
  static constexpr std::size_t kMost = 64;
  /// `first_variable`: the first of kMost variables of the evaluation that store the values.
  explicit shared_values(std::size_t first_variable) : first_(first_variable) {}
  /// Counts the parts of a program with this element.
  void count(const expression_tree& e);
  /// Forgets all parts: the programs from here on have another element.
  void forget() {
    times_.clear();
    numbers_.clear();
  }
  /// Returns `c`, the value of `e`, as a shared part if it occurs several times.
  computed_ptr part(const expression_tree& e, computed_ptr c);
  struct value {
    std::size_t variable;
    std::size_t bytes;
  };
  /// The values that have a number, by number.
  const std::vector<value>& all() const { return values_; }

 private:
  std::size_t first_;
  std::map<std::string, std::uint32_t> times_;
  std::map<std::string, std::pair<std::size_t, const element_type*>> numbers_;
  std::vector<value> values_;
};

}  // namespace sluice::lib::expressions
