// SPDX-License-Identifier: Apache-2.0
#include "engine/held/held_elements.hpp"

#include <algorithm>

#include "element/batches/kernels.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

bool owns_nothing(const element_type& type) {
  return !type.compact && (!type.footprint || type.footprint == detail::no_footprint);
}

std::size_t owned_bytes_of(const element_type& type, const void* elements, std::size_t n) {
  std::size_t bytes = type.compact ? n * buffer::kOverheadBytes : 0;
  return type.footprint ? bytes + type.footprint(type, elements, n) : bytes;
}

held_elements::held_elements(const element_type& type, held_memory& memory, std::size_t beside_bytes)
    : type_(type), memory_(memory), beside_bytes_(beside_bytes), owns_nothing_(owns_nothing(type)), elements_(type) {}

held_elements::~held_elements() {
  if (!type_.trivially_destroyed)
    for (std::size_t i = 0; i != built_.size(); ++i)
      if (built_[i]) type_.destroy(type_, at(i), 1);
  elements_.give_back();
  release(charged_);
}

std::size_t held_elements::counted_bytes(const void* elements, std::size_t n, std::size_t stride_bytes) const {
  if (stride_bytes == type_.size || !type_.footprint) return owned_bytes_of(type_, elements, n);
  std::size_t bytes = type_.compact ? n * buffer::kOverheadBytes : 0;
  auto* at = static_cast<const char*>(elements);
  for (std::size_t i = 0; i != n; ++i) bytes += type_.footprint(type_, at + i * stride_bytes, 1);
  return bytes;
}

status held_elements::charge(std::size_t more, std::size_t fewer) {
  charged_ += more - fewer;
  return memory_.change(more, fewer);
}

void held_elements::release(std::size_t bytes) {
  charged_ -= bytes;
  if (bytes) memory_.shrink_by(bytes);
}

/// Charges slots that were never used before. If the slab must grow, its elements are moved, and for that time they
/// take twice the memory.
status held_elements::charge_room(std::uint32_t n) {
  std::size_t moved = elements_.must_grow(n) ? size() * place_bytes() : 0;
  if (moved) {
    status fits = memory_.change(moved, 0);
    memory_.shrink_by(moved);
    if (!fits.ok()) return fits;
  }
  bool behind = n <= elements_.capacity() - elements_.gone_in_front() - size();
  std::size_t used = (behind ? elements_.gone_in_front() : 0) + size() + n;
  if (used <= places_) return {};
  std::size_t more = (used - places_) * place_bytes();
  places_ = used;
  return charge(more, 0);
}

status held_elements::add(block& in, std::uint32_t n) {
  status fits = charge_room(n);
  if (!fits.ok()) return fits;
  if (type_.compact) type_.compact(type_, in.data(), n);
  fits = charge(owned_bytes(in.data(), n), 0);
  if (!fits.ok()) {
    release(owned_bytes(in.data(), n));
    return fits;
  }
  in.move_front(elements_.extend(n), n);
  elements_.add_live(n);
  return fits;
}

status held_elements::take_all(held_elements& from) {
  SLUICE_REQUIRES(size() == 0 && from.built_.empty(), "elements are held, or were not built yet");
  const std::size_t bytes = from.charged_;
  from.release(bytes);  // first, because they are there only once
  status fits = charge(bytes, 0);
  if (!fits.ok()) {
    release(bytes);
    (void)from.charge(bytes, 0);  // bytes are charged also where they do not fit
    return fits;
  }
  elements_.swap(from.elements_);
  std::swap(places_, from.places_);
  return fits;
}

namespace {

/// Loads the bytes of n texts into the cache. They come from any place in memory: a consumer that reads one after the
/// other would wait for each.
void fetch_texts(const element_type& type, const char* elements, std::size_t n) {
  constexpr std::size_t kAtOnce = 128, kLine = 64, kFetchedBytes = 256;
  std::string_view texts[kAtOnce];
  for (std::size_t done = 0; done != n;) {
    const std::size_t some = std::min(kAtOnce, n - done);
    type.texts(elements + done * type.size, some, type.size, texts);
    for (std::size_t i = 0; i != some; ++i) {
      const std::size_t end = std::min(texts[i].size(), kFetchedBytes);  // the processor detects longer accesses itself
      for (std::size_t at = 0; at < end; at += kLine) __builtin_prefetch(texts[i].data() + at);
      if (end) __builtin_prefetch(texts[i].data() + end - 1);
    }
    done += some;
  }
}

}  // namespace

status held_elements::exchange(const std::uint32_t* places, block& in, char* to) {
  const std::uint32_t n = in.size();
  if (slice_slots::holds(type_)) {
    if (!slices_) slices_ = std::make_unique<slice_slots>();
    const std::size_t more = owned_bytes(in.data(), n);
    slices_->exchange(reinterpret_cast<slice*>(at(0)), places, in.as<slice>(), reinterpret_cast<slice*>(to), n);
    in.forget_front(n);
    return charge(more, owned_bytes(to, n));
  }
  if (type_.compact) type_.compact(type_, in.data(), n);
  std::size_t more = owned_bytes(in.data(), n);
  type_.exchange(type_, to, at(0), in.data(), places, n);
  if (type_.texts) fetch_texts(type_, to, n);
  in.forget_front(n);
  return charge(more, owned_bytes(to, n));
}

void held_elements::take(const std::uint32_t* places, std::uint32_t n, char* to) {
  std::size_t left = size();
  for (std::uint32_t i = 0; i != n; ++i) {
    char *taken = at(places[i]), *last = at(--left);
    relocate(type_, to + i * type_.size, taken, 1);
    if (taken != last) relocate(type_, taken, last, 1);
    elements_.set_live(elements_.gone_in_front(), left);
  }
  release(owned_bytes(to, n));
}

void held_elements::move_front(std::size_t n, char* to) {
  if (n == 0) return;  // no slot may exist yet
  relocate(type_, to, at(0), n);
  elements_.forget_front(n);
  if (size() == 0) elements_.set_live(0, 0);
  release(owned_bytes(to, n));
}

void held_elements::drop_front(std::size_t n) {
  release(owned_bytes(at(0), n));
  if (!type_.trivially_destroyed) type_.destroy(type_, at(0), n);
  elements_.forget_front(n);
  if (size() == 0) elements_.set_live(0, 0);
}

std::size_t held_elements::collect(const element_type& list, char* to, std::size_t place, std::size_t n,
                                   std::size_t moved, std::size_t stride) {
  const std::size_t stride_bytes = stride * type_.size;
  std::size_t before = owned_bytes(at(place), moved, stride_bytes);
  list.collect(list, to, at(place), n, moved, stride_bytes);
  std::size_t gone = before - owned_bytes(at(place), moved, stride_bytes);
  charged_ -= gone;
  return gone;
}

status held_elements::make_places(std::uint64_t n) {
  SLUICE_REQUIRES(size() == 0, "elements are held");
  // a forged position may contain any number
  if (n > memory_.budget_bytes() / place_bytes()) return memory_.refused();  // a forged position may say any number
  status fits = charge(n * place_bytes() + bitmap_bytes(n), 0);
  if (!fits.ok()) return fits;
  elements_.reserve(n);
  built_.assign(n, false);
  places_ = n;
  return fits;
}

void held_elements::build(std::uint32_t place, char* from, std::size_t owned) {
  relocate(type_, at(place), from, 1);
  built_[place] = true;
  charged_ += owned;
}

void held_elements::fill_hole(std::uint32_t hole, std::uint32_t last) {
  if (!built_[last]) return;
  relocate(type_, at(hole), at(last), 1);
  built_[hole] = true;
  built_[last] = false;
}

void held_elements::all_built(std::size_t n) {
  release(bitmap_bytes(built_.size()));
  std::vector<bool>().swap(built_);
  elements_.set_live(0, n);
}

}  // namespace sluice::lib
