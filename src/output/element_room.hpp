// SPDX-License-Identifier: Apache-2.0
// Memory for n elements that are not constructed yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "sluice/element/type.hpp"

namespace sluice::lib {

class element_room {
 public:
  element_room(const element_type& t, std::size_t n)
      : align_(static_cast<std::align_val_t>(t.align)),
        memory_(::operator new(std::max<std::size_t>(t.size * n, 1), align_)) {}
  element_room(const element_room&) = delete;
  element_room& operator=(const element_room&) = delete;
  ~element_room() { ::operator delete(memory_, align_); }
  void* get() const { return memory_; }

 private:
  const std::align_val_t align_;
  void* const memory_;
};

}  // namespace sluice::lib
