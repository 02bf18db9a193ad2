// SPDX-License-Identifier: Apache-2.0
#include "store/element_cache.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "element/batches/column_bytes.hpp"
#include "sluice/base/random_bits.hpp"
#include "store/cache_piece.hpp"

namespace sluice::lib {
namespace {

/// The charge exceeds the bytes that are used by up to this number, so that small additions need no lock of the ledger.
constexpr std::size_t kChargeStep = std::size_t{16} << 10;
/// A smaller cache in memory uses no chunks, because it may never fill one.
constexpr std::size_t kSettledFrom = std::size_t{4} << 20;
/// Larger pieces stay where they are: they would leave much of a chunk unused, and have few page faults for each element.
constexpr std::size_t kSettledMax = buffer_arena::kChunkBytes / 4;

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

void cache_memory::take_anyway(std::size_t more, ledger_line& line) noexcept {
  bytes_.fetch_add(more, std::memory_order_relaxed);
  ledger_->change(0, more, line);
}

void cache_memory::give_back(std::size_t bytes, ledger_line& line) noexcept {
  if (bytes == 0) return;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  ledger_->release(bytes, line);
}

element_cache::element_cache(const element_type& type, std::shared_ptr<cache_memory> memory, std::string_view label,
                             bool has_fixed_order, std::string path)
    : type_(type),
      memory_(std::move(memory)),
      line_(memory_->ledger().line(purpose::cache, label)),
      has_fixed_order_(has_fixed_order),
      path_(std::move(path)),
      has_file_(!path_.empty()),
      pass_(number_of_pass()),
      behind_(std::make_shared<writer_behind>()) {
  mutex_lock lock(behind_->access);
  behind_->of = this;
}

element_cache::~element_cache() {
  {
    mutex_lock lock(behind_->access);
    behind_->of = nullptr;
  }
  if (file_ && !file_->is_left()) flush();
  if (is_sync_due_) file_->sync().ok();  // a reader notices what the disk has lost
  pieces_.clear();                       // no other thread has this object any more
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

template <class Room>
element_cache::copied element_cache::copy_to(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes,
                                             Room& to) const {
  std::shared_ptr<const piece> found;
  {
    mutex_lock lock(mutex_);
    const std::shared_ptr<piece>* here = piece_at(ordinal);
    if (!here || (*here)->end() <= ordinal || !(*here)->is_loaded) return {};
    if (!(*here)->is_closed) return (*here)->copy_to(ordinal, most, bytes, to);
    found = *here;
  }
  return found->copy_to(ordinal, most, bytes, to);
}

element_cache::copied element_cache::copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes,
                                          slab& out) const {
  return copy_to(ordinal, most, bytes, out);
}

element_cache::copied element_cache::copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes,
                                          column& rows) const {
  return copy_to(ordinal, most, bytes, rows);
}

bool element_cache::yields_rows(const element_type& type) { return can_write_rows(type); }

element_cache::piece* element_cache::open_piece(std::uint64_t ordinal) const {
  if (ordinal == 0) return nullptr;
  const std::shared_ptr<piece>* here = piece_at(ordinal - 1);
  return here && (*here)->end() == ordinal && !(*here)->is_closed ? here->get() : nullptr;
}

bool element_cache::begins_piece(std::uint64_t ordinal) {
  mutex_lock lock(mutex_);
  if (is_closed_ || (has_file() && !become_writer())) return false;
  return !open_piece(ordinal);
}

bool element_cache::charge(std::size_t more) {
  const std::size_t used = used_ + more;
  if (used > charged_) {
    const std::size_t missing = used - charged_;
    if (has_file()) return charge_anyway(more), true;
    if (memory_->take(missing + kChargeStep, line_)) charged_ += missing + kChargeStep;
    else if (memory_->take(missing, line_)) charged_ += missing;
    else return false;
  }
  used_ = used;
  return true;
}

void element_cache::charge_anyway(std::size_t more) {
  used_ += more;
  if (used_ <= charged_) return;
  const std::size_t missing = used_ - charged_ + kChargeStep;
  memory_->take_anyway(missing, line_);
  charged_ += missing;
}

void element_cache::release(std::size_t bytes) {
  used_ -= bytes;
  if (charged_ - used_ <= 2 * kChargeStep) return;
  const std::size_t spare = charged_ - used_ - kChargeStep;
  charged_ -= spare;
  memory_->give_back(spare, line_);
}

void element_cache::settle(piece& complete) {
  const std::size_t bytes = complete.elements.settled_bytes();
  if (bytes == 0 || bytes > kSettledMax || used_ < kSettledFrom) return;
  if (!arena_.has_room_for(bytes)) {
    if (!charge(buffer_arena::kChunkBytes)) return;
    try {
      arena_.add_chunk();
    } catch (const std::bad_alloc&) { return release(buffer_arena::kChunkBytes); }
  }
  const std::size_t before = complete.elements.memory_bytes();
  complete.elements.settle(arena_);
  const std::size_t left = complete.elements.memory_bytes() - bytes;  // the rest is in a chunk, which is charged
  complete.charged -= before - left;
  release(before - left);
}

element_cache::added element_cache::append(std::uint64_t ordinal, const made_elements& made, input_position from,
                                           time_point now, bool may_spill) {
  mutex_lock lock(mutex_);
  if (is_closed_) return added::no_room;
  if (has_file() && !become_writer()) return added::none;
  const std::shared_ptr<piece>* here = piece_at(ordinal);
  if (here && (*here)->end() > ordinal) return added::none;
  auto next = pieces_.upper_bound(ordinal);
  std::size_t n = made.size();
  if (next != pieces_.end()) n = std::min<std::size_t>(n, next->first - ordinal);
  piece* to = open_piece(ordinal);
  std::size_t before = 0;
  if (to) {
    before = to->elements.memory_bytes();
  } else {
    if (!from) return added::none;  // the piece that it belonged to was closed meanwhile
    to = pieces_.emplace(ordinal, std::make_shared<piece>(type_, ordinal, std::move(from))).first->second.get();
    to->begun = now;
    to->elements.expect(of_written_);
  }
  std::size_t bytes = 0;
  try {
    bytes = to->elements.append(made, n);
  } catch (...) {
    if (to->count == 0) pieces_.erase(ordinal);
    throw;
  }
  // Sums of memory may wrap around: rows that become objects may need less.
  const std::size_t more = (to->count == 0 ? kBesideBytes : 0) + to->elements.memory_bytes() - before;
  bool fits = charge(more);
  if (!fits && may_spill) {  // these elements wait in memory for the file
    charge_anyway(more);
    fits = wants_file_ = true;
  }
  if (!fits) {
    to->elements.take_back(n);
    if (to->count == 0) pieces_.erase(ordinal);
    else to->is_closed = true;  // its memory is larger than what is charged, and stays so
    return added::no_room;
  }
  to->count += n;
  to->charged += more;
  to->bytes += bytes;
  to->is_closed =
      to->count >= kPieceElements || to->bytes >= kPieceBytes || (has_file() && now - to->begun >= kPieceTime);
  if (to->is_closed && has_file()) {
    unwritten_.push_back(to->first_ordinal);
    of_written_ = to->count;
  } else if (to->is_closed) {
    settle(*to);
  }
  return n == made.size() ? added::all : added::none;
}

void element_cache::close() {
  mutex_lock lock(mutex_);
  is_closed_ = true;
  close_open_pieces();
  for (std::uint64_t ordinal : unwritten_) {
    auto at = pieces_.find(ordinal);
    release(at->second->charged);
    pieces_.erase(at);
  }
  unwritten_.clear();
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
