// SPDX-License-Identifier: Apache-2.0
// The memory that a state owns in addition to its object, for the memory budget: an estimate that includes everything
// large.
//
//   std::map<std::string, std::int64_t> counts;
//   detail::bytes_owned_by(counts)               // its nodes, and the memory that their texts have allocated
//
// It covers all `savable` types (coro/saved.hpp). A class that saves itself reports its memory by
//   static std::size_t sluice_footprint(const T* first, std::size_t n);
// Otherwise it is assumed to own as many bytes as it saves. Types with a trivial destructor own nothing and are not
// examined.
// Thread: any that may read the value.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/base/reflect.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib::detail {

template <class S> inline constexpr bool may_own_memory = !std::is_trivially_destructible_v<S>;

/// A node of a map or set without its value: three links, a color or a hash, and the allocator's own bytes.
inline constexpr std::size_t kTreeNodeBytes = 48;

template <class S> std::size_t bytes_owned_by(const S& value);

/// The bytes that all items of a container own.
template <class S> std::size_t bytes_owned_by_items(const S& items) {
  std::size_t bytes = 0;
  if constexpr (may_own_memory<std::remove_cvref_t<decltype(*std::begin(items))>>)
    for (const auto& x : items) bytes += bytes_owned_by(x);
  return bytes;
}

template <class S> std::size_t bytes_owned_by(const S& value) {
  if constexpr (!may_own_memory<S>) {
    return 0;
  } else if constexpr (requires { S::sluice_footprint(&value, std::size_t{1}); }) {
    return S::sluice_footprint(&value, 1);
  } else if constexpr (saves_itself<S>) {
    position_writer w;
    value.save(w);
    return w.size_bytes();
  } else if constexpr (std::is_same_v<S, std::string>) {
    bool is_inside = value.capacity() <= std::string().capacity();
    return is_inside ? 0 : value.capacity() + 1;
  } else if constexpr (pair_like<S>) {
    return bytes_owned_by(value.first) + bytes_owned_by(value.second);
  } else if constexpr (array_like<S>) {
    return bytes_owned_by_items(value);
  } else if constexpr (vector_like<S>) {
    std::size_t room = value.size();
    if constexpr (requires { value.capacity(); }) room = value.capacity();
    return room * sizeof(typename S::value_type) + bytes_owned_by_items(value);
  } else if constexpr (set_like<S>) {
    return value.size() * (sizeof(typename S::value_type) + kTreeNodeBytes) + bytes_owned_by_items(value);
  } else if constexpr (optional_like<S>) {
    return value ? bytes_owned_by(*value) : 0;
  } else if constexpr (tuple_like<S>) {
    return std::apply([](const auto&... member) { return (std::size_t{0} + ... + bytes_owned_by(member)); }, value);
  } else {
    std::size_t bytes = 0;
    with_members(value, [&](const auto&... member) { ((bytes += bytes_owned_by(member)), ...); });
    return bytes;
  }
}

}  // namespace sluice::lib::detail
