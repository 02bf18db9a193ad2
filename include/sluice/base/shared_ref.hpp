// SPDX-License-Identifier: Apache-2.0
// shared_ref<T>: a std::shared_ptr<T> that costs little compile time.
//
//   struct schema;                                        // may stay incomplete
//   struct column_schema_arg { shared_ref<const schema> of; };
//   arg.of = std::make_shared<const schema>(…);           // converts in both directions
//   std::shared_ptr<const schema> p = arg.of;
//
// Each class for which a header has a std::shared_ptr costs every program that includes the header about 60
// instantiations of templates of the standard library. A shared_ref costs one
// (docs/internals/decisions/compile_time.md).
// Thread: the same as for a std::shared_ptr.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace sluice::lib {

namespace detail {

/// The common part of all shared_refs: copying, moving and releasing are in the library.
class shared_base {
 public:
  explicit operator bool() const noexcept { return get_ != nullptr; }

 protected:
  shared_base() noexcept;
  shared_base(const void* value, std::shared_ptr<const void> owner) noexcept;
  shared_base(const shared_base& other) noexcept;
  shared_base(shared_base&& other) noexcept;
  shared_base& operator=(const shared_base& other) noexcept;
  shared_base& operator=(shared_base&& other) noexcept;
  ~shared_base();

  const void* value() const noexcept { return get_; }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

 private:
  const void* get_ = nullptr;
  std::shared_ptr<const void> owner_;
};

}  // namespace detail

template <class T> class shared_ref : public detail::shared_base {
 public:
  shared_ref() noexcept = default;
  shared_ref(std::nullptr_t) noexcept {}  // NOLINT: as a pointer
  // Templates, so that neither copying nor testing a shared_ref instantiates std::shared_ptr<T>.
  template <class U>
    requires std::is_convertible_v<U*, T*>
  shared_ref(const std::shared_ptr<U>& p) noexcept : shared_base(static_cast<T*>(p.get()), p) {}  // NOLINT
  T* get() const noexcept { return static_cast<T*>(const_cast<void*>(value())); }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  template <class U>
    requires std::is_same_v<U, T>
  operator std::shared_ptr<U>() const noexcept {  // NOLINT
    return std::shared_ptr<T>(owner(), get());
  }
};

}  // namespace sluice::lib
