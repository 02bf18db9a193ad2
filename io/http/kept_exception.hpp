// SPDX-License-Identifier: Apache-2.0
// Stores an exception thrown in a callback from C code until that code has returned: exceptions must not pass through
// frames of C.
//
//   static int on_name(parser* p, …) noexcept {
//     return of(p).thrown.run([&] { of(p).name.append(at, n); }) ? 0 : -1;
//   }
//   …
//   c_parse(…);
//   thrown.rethrow();
//
// Thread: one.
#pragma once

#include <exception>
#include <utility>

namespace sluice::lib::detail {

class kept_exception {
 public:
  /// Calls `f`. Returns false if `f` throws.
  template <class F> bool run(F f) noexcept {
    try {
      f();
      return true;
    } catch (...) {
      kept_ = std::current_exception();
      return false;
    }
  }
  void rethrow() {
    if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
  }

 private:
  std::exception_ptr kept_;
};

}  // namespace sluice::lib::detail
