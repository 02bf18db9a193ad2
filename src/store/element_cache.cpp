// SPDX-License-Identifier: Apache-2.0
#include "store/element_cache.hpp"

#include <algorithm>
#include <chrono>

#include "sluice/base/buffer.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/element/serialise.hpp"

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

std::string bytes_of_elements(const slab& elements) {
  const element_type& type = elements.type();
  std::string all, one;
  for (std::size_t i = 0; i != elements.size(); ++i) {
    one.clear();
    serialise_bare(type, elements.begin() + i * type.size, one);
    for (std::size_t n = one.size();; n >>= 7) {
      all.push_back(static_cast<char>(n < 128 ? n : n | 128));
      if (n < 128) break;
    }
    all += one;
  }
  return all;
}

/// Returns the error of the first element that cannot be read.
status decode(std::string_view bytes, std::uint32_t count, slab& to) {
  const element_type& type = to.type();
  char* room = to.reserve(count);
  position_reader r(bytes);
  for (std::uint32_t i = 0; i != count; ++i) {
    const std::string_view one = r.text();
    if (!r.ok()) return data_loss_error("a block of the cache lacks elements");
    result<value> read = parse_bare(type, one);
    if (!read.ok()) return read.why();
    type.copy(type, room + i * type.size, read->data(), 1, type.size, type.size);
    to.add_live(1);
  }
  return r.done() ? status() : data_loss_error("a block of the cache has superfluous bytes");
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

void cache_memory::take_anyway(std::size_t more, ledger_line& line) noexcept {
  bytes_.fetch_add(more, std::memory_order_relaxed);
  ledger_->change(0, more, line);
}

void cache_memory::give_back(std::size_t bytes, ledger_line& line) noexcept {
  if (bytes == 0) return;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  ledger_->release(bytes, line);
}

/// Consecutive elements. The elements of a closed piece never change, so they are read without the lock.
struct element_cache::piece {
  piece(const element_type& type, std::uint64_t first, input_position from)
      : elements(type), first_ordinal(first), position(std::move(from)) {}
  std::uint64_t end() const { return first_ordinal + count; }

  slab elements;
  const std::uint64_t first_ordinal;
  const input_position position;
  std::uint64_t count = 0;
  std::size_t bytes = 0;    ///< of the elements, with what they own
  std::size_t charged = 0;  ///< bytes of memory
  time_point begun = {};
  bool is_closed = false;
  bool is_stored = false;
  bool is_loaded = true;
  stored_block stored = {};  ///< if is_stored

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
                             bool has_fixed_order, std::string path)
    : type_(type),
      memory_(std::move(memory)),
      line_(memory_->ledger().line(purpose::cache, label)),
      has_fixed_order_(has_fixed_order),
      path_(std::move(path)),
      pass_(number_of_pass()) {}

element_cache::~element_cache() {
  if (file_) flush();
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
    if (!here || (*here)->end() <= ordinal || !(*here)->is_loaded) return 0;
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

bool element_cache::begins_piece(std::uint64_t ordinal) {
  mutex_lock lock(mutex_);
  if (is_closed_ || (has_file() && !become_writer())) return false;
  return !open_piece(ordinal);
}

bool element_cache::charge(std::size_t more) {
  const std::size_t used = used_ + more;
  if (used > charged_) {
    const std::size_t missing = used - charged_;
    if (has_file()) {
      memory_->take_anyway(missing + kChargeStep, line_);
      charged_ += missing + kChargeStep;
    } else if (memory_->take(missing + kChargeStep, line_)) charged_ += missing + kChargeStep;
    else if (memory_->take(missing, line_)) charged_ += missing;
    else return false;
  }
  used_ = used;
  return true;
}

void element_cache::release(std::size_t bytes) {
  used_ -= bytes;
  if (charged_ - used_ <= 2 * kChargeStep) return;
  const std::size_t spare = charged_ - used_ - kChargeStep;
  charged_ -= spare;
  memory_->give_back(spare, line_);
}

element_cache::added element_cache::append(std::uint64_t ordinal, const block& made, input_position from,
                                           time_point now) {
  mutex_lock lock(mutex_);
  if (is_closed_) return added::no_room;
  if (has_file() && !become_writer()) return added::none;
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
    to->begun = now;
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
    more += owned + (elements.capacity() - before) * type_.size;
    fits = charge(more);
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
  to->count += n;
  to->charged += more;
  to->bytes += owned + n * type_.size;
  to->is_closed =
      to->count >= kPieceElements || to->bytes >= kPieceBytes || (has_file() && now - to->begun >= kPieceTime);
  if (to->is_closed && has_file()) unwritten_.push_back(to->first_ordinal);
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

// --- In a file. ---

status element_cache::open_file(const cache_head& head, bool rebuilds) {
  mutex_lock opening(opening_);
  {
    mutex_lock lock(mutex_);
    if (file_) return {};
  }
  result<std::unique_ptr<cache_file>> opened = cache_file::open(path_, rebuilds);
  if (!opened.ok()) return opened.why();
  cache_file& file = **opened;
  const std::string there = file.head();
  const std::string mine = head.bytes(pass());
  status why;
  std::uint64_t pass = this->pass();
  bool is_replaced = false;
  if (there.empty() && file.can_write()) {
    why = file.is_damaged() ? file.replace(mine) : file.begin(mine);
    is_replaced = true;
  } else if (!there.empty()) {
    why = head.compare(there, pass);
  }
  std::vector<stored_block> blocks;
  if (why.ok() && !is_replaced) why = file.scan(blocks);
  const bool is_other =
      !why.ok() && (why.code() == status_code::failed_precondition || why.code() == status_code::data_loss);
  if (is_other && rebuilds && !is_replaced) {
    if (!file.can_write())
      return unavailable_error("another process writes this cache, so it cannot be replaced now").in_file(path_);
    why = file.replace(mine);
    pass = this->pass();
    blocks.clear();
  }
  if (!why.ok()) return why;
  pass_.store(pass, std::memory_order_relaxed);
  mutex_lock lock(mutex_);
  file_ = std::move(*opened);
  add_blocks(std::move(blocks));
  is_writer_ = file_->can_write();
  return {};
}

void element_cache::add_blocks(std::vector<stored_block> blocks) {
  for (stored_block& b : blocks) {
    if (b.count > b.bytes || b.ordinal + b.count < b.ordinal) continue;  // each element takes a byte at least
    auto next = pieces_.upper_bound(b.ordinal);
    if (next != pieces_.end() && next->first < b.ordinal + b.count) continue;
    if (next != pieces_.begin() && std::prev(next)->second->end() > b.ordinal) {
      // A block that was damaged, and was written again.
      const piece& before = *std::prev(next)->second;
      if (before.first_ordinal != b.ordinal || !before.is_stored || before.is_loaded) continue;
      release(before.charged);
      pieces_.erase(std::prev(next));
    }
    position_writer from;
    from.raw(b.position.data(), b.position.size());
    auto made = std::make_shared<piece>(type_, b.ordinal, std::make_shared<const position_writer>(std::move(from)));
    made->count = b.count;
    made->charged = kBesideBytes + 2 * b.position.size();
    made->is_closed = made->is_stored = true;
    made->is_loaded = false;
    made->stored = std::move(b);
    charge(made->charged);
    pieces_[made->first_ordinal] = std::move(made);
  }
  if (file_->length() != cache_file::kUnknown) length_ = file_->length();
}

status element_cache::add_stored() {
  std::vector<stored_block> blocks;
  status why = file_->scan(blocks);
  return add_blocks(std::move(blocks)), why;
}

bool element_cache::become_writer() {
  if (is_writer_) return true;
  if (!file_->can_write()) return false;
  is_writer_ = add_stored().ok();
  return is_writer_;
}

bool element_cache::can_write() {
  mutex_lock lock(mutex_);
  return become_writer();
}

bool element_cache::must_load(std::uint64_t ordinal) const {
  if (!has_file()) return false;
  mutex_lock lock(mutex_);
  const std::shared_ptr<piece>* here = piece_at(ordinal);
  if (here && (*here)->end() > ordinal) return !(*here)->is_loaded;
  return !is_writer_ && file_->has_grown();
}

status element_cache::load(std::uint64_t ordinal, bool rebuilds) {
  stored_block b;
  input_position from;
  {
    mutex_lock lock(mutex_);
    const std::shared_ptr<piece>* here = piece_at(ordinal);
    if (!here || (*here)->end() <= ordinal) {
      status why = add_stored();
      if (!why.ok()) return why;
      here = piece_at(ordinal);
      if (!here || (*here)->end() <= ordinal) return {};
    }
    if ((*here)->is_loaded) return {};
    b = (*here)->stored;
    from = (*here)->position;
  }
  auto made = std::make_shared<piece>(type_, b.ordinal, from);
  result<std::string> bytes = file_->read(b);
  status why = bytes.ok() ? decode(*bytes, b.count, made->elements) : bytes.why();
  if (why.code() == status_code::data_loss && bytes.ok()) why = why.in_file(path_, b.offset);
  mutex_lock lock(mutex_);
  auto at = pieces_.find(b.ordinal);
  if (at == pieces_.end() || at->second->is_loaded) return {};
  if (!why.ok()) {
    if (!rebuilds || why.code() != status_code::data_loss) return why;
    release(at->second->charged);
    pieces_.erase(at);
    return {};
  }
  made->count = b.count;
  made->bytes = b.count * type_.size + owned_by(type_, made->elements.begin(), b.count);
  made->charged = at->second->charged + made->bytes;
  made->is_closed = made->is_stored = true;
  made->stored = std::move(b);
  charge(made->bytes);
  at->second = std::move(made);
  note_loaded(at->first);
  return {};
}

void element_cache::note_loaded(std::uint64_t ordinal) {
  loaded_.push_back(ordinal);
  while (loaded_.size() > kLoadedMax) {
    auto at = pieces_.find(loaded_.front());
    loaded_.pop_front();
    if (at == pieces_.end() || !at->second->is_stored || !at->second->is_loaded) continue;
    const piece& old = *at->second;
    auto left = std::make_shared<piece>(type_, old.first_ordinal, old.position);
    left->count = old.count;
    left->charged = kBesideBytes + 2 * old.stored.position.size();
    left->is_closed = left->is_stored = true;
    left->is_loaded = false;
    left->stored = old.stored;
    release(old.charged);
    charge(left->charged);
    at->second = std::move(left);  // a stage that copies from the old one shares its ownership
  }
}

bool element_cache::must_write() const {
  if (!has_file()) return false;
  mutex_lock lock(mutex_);
  return !unwritten_.empty();
}

status element_cache::write() {
  mutex_lock writing(writing_);
  for (;;) {
    std::shared_ptr<piece> next;
    {
      mutex_lock lock(mutex_);
      if (unwritten_.empty()) return {};
      next = pieces_.find(unwritten_.front())->second;
    }
    stored_block b{.ordinal = next->first_ordinal,
                   .count = static_cast<std::uint32_t>(next->count),
                   .position = next->position->bytes()};
    status why = file_->append(b, bytes_of_elements(next->elements));
    if (!why.ok()) return why;
    mutex_lock lock(mutex_);
    if (unwritten_.empty() || unwritten_.front() != next->first_ordinal) continue;  // close() has dropped it
    unwritten_.pop_front();
    next->stored = std::move(b);
    next->is_stored = true;
    note_loaded(next->first_ordinal);
  }
}

void element_cache::close_open_pieces() {
  if (!has_file()) return;
  for (const auto& [first, here] : pieces_) {
    if (here->is_closed) continue;
    here->is_closed = true;
    unwritten_.push_back(first);
  }
}

status element_cache::finish(std::uint64_t elements) {
  {
    mutex_lock lock(mutex_);
    if (!is_writer_) return {};
    close_open_pieces();
  }
  status why = write();
  return why.ok() ? file_->finish(elements) : why;
}

void element_cache::flush() noexcept {
  try {
    {
      mutex_lock lock(mutex_);
      if (!file_ || !is_writer_) return;
      close_open_pieces();
    }
    write().ok();            // a later run makes again what could not be written
  } catch (...) { return; }  // no memory
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
