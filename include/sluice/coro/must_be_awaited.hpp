// SPDX-License-Identifier: Apache-2.0
// What a compiler says where `co_await` was forgotten.
//
//   if (s.next()) …                  // error: static assertion failed: sluice: co_await is missing: …
//   auto b = s.next();               // clang: error: call to deleted constructor …: sluice: co_await is missing
//   std::int64_t n = size_of("a");   // error: use of a deleted function: operator std::int64_t, // co_await is missing
//
// An awaitable gets the operations that its result would have, and each refuses to compile with that reason.
// Cost: none: nothing of this is ever compiled into a program.
#pragma once

// The reason of a deleted function, where the compiler can take one. (Clang can in every mode, and warns in most.)
#if defined(__clang__) && __clang_major__ >= 19
#define SLUICE_DETAIL_CO_AWAIT_IS_MISSING                                            \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpragmas\"") \
      _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") delete (            \
          "sluice: co_await is missing: write `co_await` before this call")_Pragma("clang diagnostic pop")
#else
#define SLUICE_DETAIL_CO_AWAIT_IS_MISSING delete
#endif

namespace sluice::lib::detail {

struct engine_access;  // coro/engine_access.hpp

struct nothing {};

/// False, and known to be so only when a template is instantiated.
template <class> inline constexpr bool is_awaited = false;

/// A Base whose `if (x)`, `*x` and `x->` do not compile. T: what the await gives. What the Base can do is for the classes above
/// it and the engine, not for users.
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
