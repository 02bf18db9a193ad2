// SPDX-License-Identifier: Apache-2.0
// The values that an aggregate reads of the rows of one part of the input, as one column (expression_aggregates.cpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/expressions/expression_forms.hpp"
#include "expr/column_parts.hpp"
#include "expr/functions/numbers.hpp"
#include "expr/program.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

/// The expression whose value an aggregate reads of each row. Immutable.
struct row_value {
  std::shared_ptr<const compiled_expression> c;
  const element_type* type = nullptr;  ///< of a value that exists
  bool is_optional = false;

  expressions::number kind() const { return expressions::number_of(*type); }
};

/// The values of the rows of one part of the input.
class column_of_values {
 public:
  explicit column_of_values(const row_value& v) : value_(v), objects_(v.c->p->type()) {}

  applied compute(const block& in) {
    if (value_.kind() == expressions::number::none)
      return compute_objects(
          in.size(), [&](char* to, status& why) { return value_.c->p->apply(in.data(), in.size(), to, 0, 0, why); });
    applied a;
    make_room(in.size());
    a.done = value_.c->p->numbers(in.data(), in.size(), numbers_.data(), exist_.data(), a.why);
    return a;
  }
  applied compute(const column_view& in) {
    if (value_.kind() == expressions::number::none)
      return compute_objects(in.n, [&](char* to, status& why) { return value_.c->p->apply(in, to, why); });
    values_ = value_.c->p->numbers_in_place(in);
    all_exist_ = values_ != nullptr;
    applied a{in.n, {}};
    if (all_exist_) return a;
    make_room(in.n);
    a.done = value_.c->p->numbers(in, numbers_.data(), exist_.data(), a.why);
    return a;
  }
  /// Returns true if the values of all rows are known to exist.
  bool all_exist() const { return all_exist_; }
  bool exists(std::uint32_t i) const { return all_exist_ || exist_[i] != 0; }
  template <class T> T number_at(std::uint32_t i) const {
    T v;
    std::memcpy(&v, values_ + i * sizeof v, sizeof v);
    return v;
  }
  const char* numbers() const { return values_; }
  const char* object_at(std::uint32_t i) const { return at_[i]; }
  void forget() { objects_.clear(); }

 private:
  void make_room(std::uint32_t n) {
    exist_.resize(n);
    numbers_.resize(n * value_.type->size);
    values_ = numbers_.data();
    all_exist_ = false;
  }
  template <class Apply> applied compute_objects(std::uint32_t n, Apply apply) {
    const element_type& t = value_.c->p->type();
    exist_.resize(n);
    char* to = objects_.reserve(n);
    applied a;
    a.done = apply(to, a.why);
    objects_.set_live(0, a.done);
    at_.resize(n);
    for (std::uint32_t i = 0; i != a.done; ++i) {
      std::size_t exists = 1;
      at_[i] = to + i * t.size;
      if (value_.is_optional) at_[i] = static_cast<const char*>(t.items(t, at_[i], exists));
      exist_[i] = static_cast<char>(exists);
    }
    return a;
  }

  const row_value& value_;
  std::vector<char> numbers_, exist_;
  const char* values_ = nullptr;  ///< the numbers: `numbers_`, or those in a column
  bool all_exist_ = false;
  slab objects_;
  std::vector<const char*> at_;
};

/// The groups of rows: groups[i] is that of row i, or all rows are of one group.
struct groups_of_rows {
  const std::uint32_t* groups;  ///< null: all are of `only`
  std::uint32_t only;
  std::uint32_t operator[](std::uint32_t i) const { return groups ? groups[i] : only; }
};

}  // namespace sluice::lib
