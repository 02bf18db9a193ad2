// SPDX-License-Identifier: Apache-2.0
// The implementation of member_map<T>. One source for each T instantiates it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

template <class T> member_map<T>::member_map(std::initializer_list<entry> all) {
  for (const entry& e : all)
    if (T* value = add(e.first)) *value = e.second;
}

template <class T>
member_map<T>::member_map(const member_map& other)
    : entries_(other.entries_ ? new std::vector<entry>(*other.entries_) : nullptr) {}

template <class T> member_map<T>& member_map<T>::operator=(const member_map& other) {
  member_map copy(other);
  std::swap(entries_, copy.entries_);
  return *this;
}

template <class T> std::size_t member_map<T>::size() const noexcept { return entries_ ? entries_->size() : 0; }

template <class T> auto member_map<T>::begin() const noexcept -> const entry* {
  return entries_ ? entries_->data() : nullptr;
}

template <class T> std::size_t member_map<T>::place_of(std::string_view name) const noexcept {
  auto at = std::lower_bound(begin(), end(), name, [](const entry& e, std::string_view n) { return e.first < n; });
  return static_cast<std::size_t>(at - begin());
}

template <class T> T& member_map<T>::insert(std::size_t at, std::string_view name) {
  if (!entries_) entries_ = new std::vector<entry>;
  return entries_->insert(entries_->begin() + static_cast<std::ptrdiff_t>(at), entry{std::string(name), T()})->second;
}

template <class T> T* member_map<T>::add(std::string_view name) {
  const std::size_t at = place_of(name);
  const bool exists = at != size() && begin()[at].first == name;
  return exists ? nullptr : &insert(at, name);
}

template <class T> T& member_map<T>::operator[](std::string_view name) {
  const std::size_t at = place_of(name);
  const bool exists = at != size() && begin()[at].first == name;
  return exists ? (*entries_)[at].second : insert(at, name);
}

template <class T> void member_map<T>::destroy() noexcept {
  delete entries_;
  entries_ = nullptr;
}

}  // namespace sluice::lib
