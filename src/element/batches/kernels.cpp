// SPDX-License-Identifier: Apache-2.0
#include "element/batches/kernels.hpp"

#include <cstring>

namespace sluice::lib::detail {

namespace {

// A constant size turns memcpy into a few moves. One kernel serves all relocatable types of its size.
template <std::size_t Size>
void relocate_sized(const element_type&, void* to, void* from, std::size_t n, std::size_t to_stride,
                    std::size_t from_stride) {
  if (to_stride == Size && from_stride == Size) {
    std::memcpy(to, from, n * Size);
    return;
  }
  auto* t = static_cast<char*>(to);
  auto* f = static_cast<const char*>(from);
  for (; n != 0; --n, t += to_stride, f += from_stride) std::memcpy(t, f, Size);
}

void relocate_any(const element_type& type, void* to, void* from, std::size_t n, std::size_t to_stride,
                  std::size_t from_stride) {
  if (to_stride == type.size && from_stride == type.size) {
    std::memcpy(to, from, n * type.size);
    return;
  }
  auto* t = static_cast<char*>(to);
  auto* f = static_cast<const char*>(from);
  for (; n != 0; --n, t += to_stride, f += from_stride) std::memcpy(t, f, type.size);
}

template <std::size_t Size>
void exchange_sized(const element_type&, void* out, void* slots, void* in, const std::uint32_t* at, std::size_t n) {
  auto* o = static_cast<char*>(out);
  auto* s = static_cast<char*>(slots);
  auto* v = static_cast<const char*>(in);
  for (std::size_t i = 0; i != n; ++i, o += Size, v += Size) {
    char* slot = s + std::size_t{at[i]} * Size;
    std::memcpy(o, slot, Size);
    std::memcpy(slot, v, Size);
  }
}

void exchange_any(const element_type& type, void* out, void* slots, void* in, const std::uint32_t* at, std::size_t n) {
  auto* o = static_cast<char*>(out);
  auto* v = static_cast<const char*>(in);
  for (std::size_t i = 0; i != n; ++i, o += type.size, v += type.size) {
    char* slot = static_cast<char*>(slots) + std::size_t{at[i]} * type.size;
    std::memcpy(o, slot, type.size);
    std::memcpy(slot, v, type.size);
  }
}

template <class F> void each_part(const element_type& t, F f) {
  for (auto& m : t.members) f(*m.type, m.offset);
  if (t.kind == kind::array)
    for (std::size_t i = 0; i != t.extent; ++i) f(*t.element, i * t.element->size);
}

const char* plus(const void* p, std::size_t bytes) { return static_cast<const char*>(p) + bytes; }
char* plus(void* p, std::size_t bytes) { return static_cast<char*>(p) + bytes; }

}  // namespace

relocate_kernel relocate_bytes_kernel(std::size_t size) {
  switch (size) {
    case 1: return relocate_sized<1>;
    case 2: return relocate_sized<2>;
    case 4: return relocate_sized<4>;
    case 8: return relocate_sized<8>;
    case 12: return relocate_sized<12>;
    case 16: return relocate_sized<16>;
    case 24: return relocate_sized<24>;
    case 32: return relocate_sized<32>;
    case 40: return relocate_sized<40>;
    case 48: return relocate_sized<48>;
    case 64: return relocate_sized<64>;
    case 96: return relocate_sized<96>;
    default: return relocate_any;
  }
}

exchange_kernel exchange_bytes_kernel(std::size_t size) {
  switch (size) {
    case 1: return exchange_sized<1>;
    case 2: return exchange_sized<2>;
    case 4: return exchange_sized<4>;
    case 8: return exchange_sized<8>;
    case 16: return exchange_sized<16>;
    case 24: return exchange_sized<24>;
    case 32: return exchange_sized<32>;
    case 40: return exchange_sized<40>;
    case 48: return exchange_sized<48>;
    case 64: return exchange_sized<64>;
    case 96: return exchange_sized<96>;
    default: return exchange_any;
  }
}

void copy_bytes(const element_type& t, void* to, const void* from, std::size_t n, std::size_t to_stride,
                std::size_t from_stride) {
  relocate_any(t, to, const_cast<void*>(from), n, to_stride, from_stride);
}

void relocate_parts(const element_type& t, void* to, void* from, std::size_t n, std::size_t to_stride,
                    std::size_t from_stride) {
  each_part(t, [=](const element_type& part, std::size_t offset) {
    part.relocate(part, plus(to, offset), plus(from, offset), n, to_stride, from_stride);
  });
}

void exchange_one_by_one(const element_type& t, void* out, void* slots, void* in, const std::uint32_t* at,
                         std::size_t n) {
  for (std::size_t i = 0; i != n; ++i) {
    void* slot = plus(slots, at[i] * t.size);
    t.relocate(t, plus(out, i * t.size), slot, 1, t.size, t.size);
    t.relocate(t, slot, plus(in, i * t.size), 1, t.size, t.size);
  }
}

void destroy_parts(const element_type& t, void* p, std::size_t n) {
  each_part(t, [=, &t](const element_type& part, std::size_t offset) {
    if (part.trivially_destroyed) return;
    for (std::size_t i = 0; i != n; ++i) part.destroy(part, plus(p, i * t.size + offset), 1);
  });
}

void copy_parts(const element_type& t, void* to, const void* from, std::size_t n, std::size_t to_stride,
                std::size_t from_stride) {
  each_part(t, [=](const element_type& part, std::size_t offset) {
    part.copy(part, plus(to, offset), plus(from, offset), n, to_stride, from_stride);
  });
}

void construct_parts(const element_type& t, void* p, std::size_t n, std::size_t stride) {
  each_part(t, [=](const element_type& part, std::size_t offset) { part.construct(part, plus(p, offset), n, stride); });
}

std::size_t footprint_parts(const element_type& t, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  each_part(t, [&](const element_type& part, std::size_t offset) {
    if (part.trivially_destroyed) return;
    for (std::size_t i = 0; i != n; ++i) bytes += part.footprint(part, plus(p, i * t.size + offset), 1);
  });
  return bytes;
}

void compact_parts(const element_type& t, void* p, std::size_t n) {
  each_part(t, [=, &t](const element_type& part, std::size_t offset) {
    if (!part.compact) return;
    for (std::size_t i = 0; i != n; ++i) part.compact(part, plus(p, i * t.size + offset), 1);
  });
}

void destroy_nothing(const element_type&, void*, std::size_t) {}
std::size_t no_footprint(const element_type&, const void*, std::size_t) { return 0; }

}  // namespace sluice::lib::detail
