// SPDX-License-Identifier: Apache-2.0
#include "store/element_cache.hpp"

#include <algorithm>
#include <chrono>

#include "sluice/base/buffer.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib {
namespace {

/// Bytes of a piece besides its elements: itself, its entry in the map, and its input's position.
constexpr std::size_t kBesideBytes = 512;
/// The charge exceeds the bytes that are used by up to this number, so that small additions need no lock of the ledger.
constexpr std::size_t kChargeStep = std::size_t{16} << 10;

std::size_t owned_by(const element_type& type, const void* elements, std::size_t n) {
  const std::size_t bytes = type.compact ? n * buffer::kOverheadBytes : 0;
  return type.footprint ? bytes + type.footprint(type, elements, n) : bytes;
}

/// A number that no other pass has, also of another process.
std::uint64_t number_of_pass() {
  static std::atomic<std::uint64_t> passes{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const auto here = reinterpret_cast<std::uintptr_t>(&passes);  // differs between processes
  const std::uint64_t number = passes.fetch_add(1, std::memory_order_relaxed);
  return derive(derive(static_cast<std::uint64_t>(now), here), number) | 1;
}

}  // namespace

bool cache_memory::take(std::size_t more, ledger_line& line) {
  const std::size_t before = bytes_.fetch_add(more, std::memory_order_relaxed);
  const std::size_t held = ledger_->held_bytes(), budget = ledger_->budget_bytes();
  if (before + more > bytes_max() || held + more > budget) {
    bytes_.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  ledger_->charge(more, line);
  return true;
}

void cache_memory::give_back(std::size_t bytes, ledger_line& line) noexcept {
  if (bytes == 0) return;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  ledger_->release(bytes, line);
}

/// Consecutive elements. A closed piece never changes, so it is read without the lock.
struct element_cache::piece {
  piece(const element_type& type, std::uint64_t first, input_position from)
      : elements(type), first_ordinal(first), position(std::move(from)) {}
  std::uint64_t end() const { return first_ordinal + elements.size(); }

  slab elements;
  const std::uint64_t first_ordinal;
  const input_position position;
  std::size_t bytes = 0;
  bool is_closed = false;

  std::uint32_t copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes_most, slab& out) const {
    const element_type& type = elements.type();
    const std::size_t at = ordinal - first_ordinal, left = elements.size() - at;
    const std::size_t each = std::max<std::size_t>(1, bytes / elements.size());
    const std::size_t n = std::min({left, std::size_t{most}, std::max<std::size_t>(1, bytes_most / each)});
    type.copy(type, out.reserve(n), elements.begin() + at * type.size, n, type.size, type.size);
    out.set_live(0, n);
    return static_cast<std::uint32_t>(n);
  }
};

element_cache::element_cache(const element_type& type, std::shared_ptr<cache_memory> memory, std::string_view label,
                             bool has_fixed_order)
    : type_(type),
      memory_(std::move(memory)),
      line_(memory_->ledger().line(purpose::cache, label)),
      has_fixed_order_(has_fixed_order),
      pass_(number_of_pass()) {}

element_cache::~element_cache() {
  pieces_.clear();  // no other thread has this object any more
  memory_->give_back(charged_, line_);
}

std::size_t element_cache::bytes() const {
  mutex_lock lock(mutex_);
  return charged_;
}

std::uint64_t element_cache::length() const {
  mutex_lock lock(mutex_);
  return length_;
}

void element_cache::set_length(std::uint64_t elements) {
  mutex_lock lock(mutex_);
  length_ = elements;
}

const std::shared_ptr<element_cache::piece>* element_cache::piece_at(std::uint64_t ordinal) const {
  auto after = pieces_.upper_bound(ordinal);
  return after == pieces_.begin() ? nullptr : &std::prev(after)->second;
}

std::uint32_t element_cache::copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes, slab& out) const {
  std::shared_ptr<const piece> found;
  {
    mutex_lock lock(mutex_);
    const std::shared_ptr<piece>* here = piece_at(ordinal);
    if (!here || (*here)->end() <= ordinal) return 0;
    if (!(*here)->is_closed) return (*here)->copy(ordinal, most, bytes, out);
    found = *here;
  }
  return found->copy(ordinal, most, bytes, out);
}

element_cache::piece* element_cache::open_piece(std::uint64_t ordinal) const {
  if (ordinal == 0) return nullptr;
  const std::shared_ptr<piece>* here = piece_at(ordinal - 1);
  return here && (*here)->end() == ordinal && !(*here)->is_closed ? here->get() : nullptr;
}

bool element_cache::begins_piece(std::uint64_t ordinal) const {
  mutex_lock lock(mutex_);
  return !open_piece(ordinal);
}

bool element_cache::charge(std::size_t more) {
  const std::size_t used = used_ + more;
  if (used > charged_) {
    const std::size_t missing = used - charged_;
    if (memory_->take(missing + kChargeStep, line_)) charged_ += missing + kChargeStep;
    else if (memory_->take(missing, line_)) charged_ += missing;
    else return false;
  }
  used_ = used;
  return true;
}

element_cache::added element_cache::append(std::uint64_t ordinal, const block& made, input_position from) {
  mutex_lock lock(mutex_);
  if (is_closed_) return added::no_room;
  const std::shared_ptr<piece>* here = piece_at(ordinal);
  if (here && (*here)->end() > ordinal) return added::none;
  auto next = pieces_.upper_bound(ordinal);
  std::size_t n = made.size();
  if (next != pieces_.end()) n = std::min<std::size_t>(n, next->first - ordinal);
  piece* to = open_piece(ordinal);
  std::size_t more = 0;
  if (!to) {
    if (!from) return added::none;  // the piece that it belonged to was closed meanwhile
    to = pieces_.emplace(ordinal, std::make_shared<piece>(type_, ordinal, std::move(from))).first->second.get();
    more += kBesideBytes;
  }
  slab& elements = to->elements;
  const std::size_t before = elements.capacity();
  bool fits = false;
  std::size_t owned = 0;
  try {
    char* room = elements.extend(n);
    type_.copy(type_, room, made.data(), n, type_.size, type_.size);
    if (type_.compact) type_.compact(type_, room, n);
    owned = owned_by(type_, room, n);
    fits = charge(more + owned + (elements.capacity() - before) * type_.size);
    if (fits) elements.add_live(n);
    else if (!type_.trivially_destroyed) type_.destroy(type_, room, n);
  } catch (...) {
    if (to->elements.size() == 0) pieces_.erase(ordinal);
    throw;
  }
  if (!fits) {
    if (elements.size() == 0) pieces_.erase(ordinal);
    else to->is_closed = true;  // its memory is larger than what is charged, and stays so
    return added::no_room;
  }
  to->bytes += owned + n * type_.size;
  to->is_closed = elements.size() >= kPieceElements || to->bytes >= kPieceBytes;
  return n == made.size() ? added::all : added::none;
}

void element_cache::close() {
  mutex_lock lock(mutex_);
  is_closed_ = true;
}

bool element_cache::is_closed() const {
  mutex_lock lock(mutex_);
  return is_closed_;
}

element_cache::place element_cache::place_before(std::uint64_t ordinal) const {
  mutex_lock lock(mutex_);
  const std::shared_ptr<piece>* here = piece_at(ordinal);
  return here ? place{(*here)->first_ordinal, (*here)->position} : place{};
}

std::uint64_t element_cache::prefix() const {
  mutex_lock lock(mutex_);
  return pieces_.empty() ? 0 : pieces_.rbegin()->second->end();
}

element_cache::filling element_cache::try_fill(const std::shared_ptr<element_cache>& of) {
  mutex_lock lock(of->mutex_);
  return std::exchange(of->is_filled_, true) ? filling() : filling(of);
}

element_cache::filling::~filling() {
  if (!of_) return;
  mutex_lock lock(of_->mutex_);
  of_->is_filled_ = false;
}

}  // namespace sluice::lib
