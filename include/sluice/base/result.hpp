// SPDX-License-Identifier: Apache-2.0
// A value, or the status that describes why it is missing.
//
//   result<int> r = parse(text);
//   if (!r.ok()) return r.why();
//   use(*r);
#pragma once

#include <optional>
#include <utility>

#include "sluice/base/status.hpp"

namespace sluice::lib {

template <class T> class [[nodiscard]] result {
 public:
  using value_type = T;
  result(status why) : why_(std::move(why)) {  // NOLINT: `return some_error(…)` is the point
    if (why_.ok()) why_ = internal_error("a result was made from an ok status");
  }
  result(T value) : value_(std::move(value)) {}  // NOLINT

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  /// Returns why the value is missing; an ok status if it is not.
  const status& why() const noexcept { return why_; }
  // REQUIRES for * and ->: ok(). After the value was moved out, ok() stays true.
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// Returns the value; throws `error` if it is missing.
  T& value() & {
    if (!value_) throw_status(why_);
    return *value_;
  }
  T&& value() && {
    if (!value_) throw_status(why_);
    return std::move(*value_);
  }

 private:
  status why_;
  std::optional<T> value_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::result;

}  // namespace sluice
