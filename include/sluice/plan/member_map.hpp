// SPDX-License-Identifier: Apache-2.0
// member_map<T>: values of an argument for single members, by their names.
//
//   padded_batch(4, {.shapes = {{"tokens", {128}}}, .values = {{"tokens", -1}}})
//   padded_batch_options o;
//   o.values["tokens"] = -1;
//
// It is written and printed like a std::map<std::string, T>, and can be made from one. It is a class of its own because
// <map> would cost every program that includes sluice some hundredths of a second
// (docs/internals/decisions/compile_time.md).
// T:     pad_value and lists of int64 (src/engine/lowering/member_maps.cpp); the remaining definitions are in
// src/plan/member_map.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

template <class T> class member_map {
 public:
  struct entry {
    std::string first;
    T second;
  };
  using value_type = entry;

  member_map() noexcept = default;
  /// If two entries have the same name, the first counts.
  member_map(std::initializer_list<entry> all);
  template <class Map>
    requires requires { typename Map::mapped_type; }
  member_map(const Map& all) {  // NOLINT: is the same
    for (const auto& [name, value] : all) (*this)[name] = value;
  }
  member_map(const member_map& other);
  member_map(member_map&& other) noexcept : entries_(other.entries_) { other.entries_ = nullptr; }
  member_map& operator=(const member_map& other);
  member_map& operator=(member_map&& other) noexcept {
    clear();
    entries_ = other.entries_;
    other.entries_ = nullptr;
    return *this;
  }
  ~member_map() { clear(); }

  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept;
  /// The entries, sorted by name.
  const entry* begin() const noexcept;
  const entry* end() const noexcept { return begin() + size(); }
  /// Returns null if the name exists already.
  T* add(std::string_view name);
  T& operator[](std::string_view name);
  void clear() noexcept {
    if (entries_) destroy();
  }

 private:
  void destroy() noexcept;
  /// The index of the first entry whose name is not less than this one.
  std::size_t place_of(std::string_view name) const noexcept;
  T& insert(std::size_t at, std::string_view name);

  std::vector<entry>* entries_ = nullptr;  ///< null if empty
};

}  // namespace sluice::lib
