// SPDX-License-Identifier: Apache-2.0
#include "element/content_bytes.hpp"

#include <new>

#include "sluice/element/tensor.hpp"

namespace sluice::lib {

namespace {

std::size_t all_bytes(const element_type& t, const char* at, std::size_t n) {
  if (t.kind == kind::scalar) return n * t.size;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != n; ++i) bytes += content_bytes(t, at + i * t.size);
  return bytes;
}

}  // namespace

std::size_t content_bytes(const element_type& t, const void* element) {
  auto* at = static_cast<const char*>(element);
  switch (t.kind) {
    case kind::scalar: return t.size;
    case kind::text: return t.text(element).size();
    case kind::tensor: return std::launder(reinterpret_cast<const tensor*>(element))->size_bytes();
    case kind::array: return all_bytes(*t.element, at, t.extent);
    case kind::list:
    case kind::maybe: {
      std::size_t n = 0;
      const void* items = t.items(t, element, n);
      return all_bytes(*t.element, static_cast<const char*>(items), n);
    }
    case kind::structure:
    case kind::pair:
    case kind::tuple: {
      std::size_t bytes = 0;
      for (const member& m : t.members) bytes += content_bytes(*m.type, at + m.offset);
      return bytes;
    }
    case kind::batch: return t.footprint(t, element, 1);
    case kind::named:
    case kind::opaque: break;
  }
  return t.size + (t.footprint ? t.footprint(t, element, 1) : 0);
}

}  // namespace sluice::lib
