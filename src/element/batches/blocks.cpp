// SPDX-License-Identifier: Apache-2.0
#include "element/batches/blocks.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "element/batches/kernels.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace {

/// Without a branch, because answers are hard to predict.
template <std::size_t Size>
std::uint32_t move_up_bytes(char* first, std::uint32_t kept, std::uint32_t i, const bool* yes, std::uint32_t n) {
  for (std::uint32_t k = 0; k != n; ++k) {
    char element[Size];
    std::memcpy(element, first + std::size_t{i + k} * Size, Size);
    std::memcpy(first + std::size_t{kept} * Size, element, Size);
    kept += yes[k];
  }
  return kept;
}

/// A structure of std::strings and of members that are bytes, whose members the engine moves one by one.
struct row_of_texts {
  static constexpr std::size_t kPartsMax = 16;
  struct bytes {
    std::size_t at, size;
  };
  std::size_t texts[kPartsMax] = {};
  bytes others[kPartsMax] = {};
  std::size_t text_count = 0, other_count = 0;

  /// Returns false for a type that is no such structure, or has many parts.
  bool describe(const element_type& t) {
    if (t.relocate != detail::relocate_parts || t.members.empty()) return false;
    for (const member& m : t.members) {
      if (text_count == kPartsMax || other_count == kPartsMax) return false;
      bytes* last = other_count == 0 ? nullptr : &others[other_count - 1];
      if (m.type == &type_of<std::string>()) texts[text_count++] = m.offset;
      else if (!m.type->relocatable || !m.type->trivially_destroyed) return false;
      else if (last && last->at + last->size == m.offset) last->size += m.type->size;
      else others[other_count++] = {m.offset, m.type->size};
    }
    return true;
  }

  /// Moves the row at `from` to `to`. Both stay complete rows; the one at `from` has other texts afterwards.
  void move(char* to, char* from) const {
    for (std::size_t k = 0; k != text_count; ++k)
      *reinterpret_cast<std::string*>(to + texts[k]) = std::move(*reinterpret_cast<std::string*>(from + texts[k]));
    for (std::size_t k = 0; k != other_count; ++k) std::memcpy(to + others[k].at, from + others[k].at, others[k].size);
  }
};

void swap_elements(const block& in, std::uint32_t a, std::uint32_t b) {
  const element_type& t = in.type();
  char *x = in.at(a), *y = in.at(b);
  constexpr std::size_t kRoom = 256;
  alignas(std::max_align_t) char room[kRoom];
  std::unique_ptr<char[]> more(t.size > kRoom ? new char[t.size + t.align] : nullptr);
  void* other = room;
  if (more || t.align > alignof(std::max_align_t)) {
    if (!more) more.reset(new char[t.size + t.align]);
    std::size_t space = t.size + t.align;
    other = more.get();
    std::align(t.align, t.size, other, space);
  }
  t.relocate(t, other, x, 1, t.size, t.size);
  t.relocate(t, x, y, 1, t.size, t.size);
  t.relocate(t, y, other, 1, t.size, t.size);
}

}  // namespace

block tail_of(const block& whole, std::uint32_t first) {
  char* at = whole.at(first);
  slab* owner = whole.owner();
  if (owner->begin() < at) {
    auto passed = static_cast<std::uint32_t>(static_cast<std::size_t>(at - owner->begin()) / whole.type().size);
    block(owner, &whole.type(), owner->begin(), passed).drop_front(passed);
  }
  return {owner, &whole.type(), at, whole.size() - first};
}

std::uint32_t move_up(const block& in, std::uint32_t kept, std::uint32_t i, const bool* yes, std::uint32_t n) {
  SLUICE_REQUIRES(kept <= i, "elements move up, not down");
  const element_type& t = in.type();
  const bool is_bytes = t.relocatable && t.trivially_destroyed && t.copy;
  switch (is_bytes ? t.size : 0) {
    case 4: return move_up_bytes<4>(in.at(0), kept, i, yes, n);
    case 8: return move_up_bytes<8>(in.at(0), kept, i, yes, n);
    case 16: return move_up_bytes<16>(in.at(0), kept, i, yes, n);
    case 24: return move_up_bytes<24>(in.at(0), kept, i, yes, n);
    default:
      if (row_of_texts row; !is_bytes && row.describe(t)) {
        for (const bool* end = yes + n; yes != end; ++yes, ++i) {
          if (!*yes) continue;
          if (kept != i) row.move(in.at(kept), in.at(i));
          ++kept;
        }
        return kept;
      }
      for (const bool* end = yes + n; yes != end; ++yes, ++i) {
        if (!*yes) continue;
        if (kept != i && is_bytes) std::memcpy(in.at(kept), in.at(i), t.size);
        else if (kept != i) swap_elements(in, kept, i);
        ++kept;
      }
      return kept;
  }
}

}  // namespace sluice::lib
