// SPDX-License-Identifier: Apache-2.0
// Makes a forgotten `co_await` a compile error with a clear message.
//
//   if (s.next()) …                  // error: static assertion failed: sluice: co_await is missing: …
//   auto b = s.next();               // clang: error: call to deleted constructor …: sluice: co_await is missing
//   std::int64_t n = size_of("a");   // error: use of a deleted function: operator std::int64_t, // co_await is missing
//
// Without it, `if (s.next())` would fail with an error about conversions, or even compile. So an awaitable that derives
// from must_be_awaited<T> has the operations that a T would have (`operator bool`, `*`, `->`, conversion to T), and
// each of them is deleted, or fails a static_assert, with the reason as its text.
// Cost: none at run time; no code of this header gets into a program.
#pragma once

// `delete` with a reason. Clang accepts a reason in every language mode, but warns before C++26. Other compilers reject
// it.
#if defined(__clang__) && __clang_major__ >= 19
#define SLUICE_DETAIL_CO_AWAIT_IS_MISSING                                            \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpragmas\"") \
      _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") delete (            \
          "sluice: co_await is missing: write `co_await` before this call")_Pragma("clang diagnostic pop")
#else
#define SLUICE_DETAIL_CO_AWAIT_IS_MISSING delete
#endif

namespace sluice::lib::detail {

struct engine_access;  // coro/detail/engine_access.hpp

struct nothing {};

/// Always false. It depends on a template parameter, so that a static_assert on it fails only in a function that is
/// used.
template <class> inline constexpr bool is_awaited = false;

/// A Base for which `if (x)`, `*x` and `x->` do not compile. T is the type of the `co_await` expression. The members of
/// the Base are for derived classes and for the library (engine_access), not for users.
template <class T, class Base = nothing> class must_be_awaited : protected Base {
  friend struct engine_access;

 public:
  using Base::Base;
  must_be_awaited() = default;
  explicit must_be_awaited(Base&& base) noexcept : Base(static_cast<Base&&>(base)) {}
  template <class Result = T> explicit operator bool() const {
    static_assert(is_awaited<Result>, "sluice: co_await is missing: write `co_await` before this call");
    return false;
  }
  template <class Result = T> Result& operator*() const {
    static_assert(is_awaited<Result>, "sluice: co_await is missing: write `co_await` before this call");
    return *reinterpret_cast<Result*>(const_cast<must_be_awaited*>(this));
  }
  template <class Result = T> Result* operator->() const {
    static_assert(is_awaited<Result>, "sluice: co_await is missing: write `co_await` before this call");
    return nullptr;
  }
};

}  // namespace sluice::lib::detail
