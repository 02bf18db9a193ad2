// SPDX-License-Identifier: Apache-2.0
// An expression whose types are known, and that can be computed.
#pragma once

#include <cstdint>
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
  /// The function `name` that takes elements of the type. Null: there is none, and `why` says why, if a function has that name.
  virtual std::shared_ptr<const callable> find(std::string_view name, const element_type& in, std::string& why) = 0;
  virtual std::vector<std::string> names() const = 0;
};

namespace expressions {
class computed;
}

class program {
 public:
  /// `wanted`: the type that the values have to have, if it is known; structures are filled by the names of its members.
  /// Errors: throws expression_error.
  program(const expression& e, const element_type& in, callables& functions, const element_type* wanted = nullptr);
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
  /// The same of a bool, for elements that are only looked at.
  std::uint32_t test(const void* elements, std::uint32_t n, bool* to, std::uint64_t ordinal, std::uint64_t seed,
                     status& why) const;

 private:
  const element_type* in_;
  std::unique_ptr<expressions::computed> root_;
  std::size_t variables_ = 0;
  bool draws_ = false;
};

}  // namespace sluice::lib
