// SPDX-License-Identifier: Apache-2.0
// The parts of element_cache that work with a file.
#include <string>
#include <utility>

#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/cache_file.hpp"
#include "store/cache_piece.hpp"

namespace sluice::lib {

status element_cache::open_file(const cache_head& head, bool rebuilds, runtime& rt) {
  mutex_lock opening(opening_);
  {
    mutex_lock lock(mutex_);
    if (file_) return {};
  }
  result<std::shared_ptr<block_store>> opened = open_blocks(path_, rebuilds, rt);
  if (!opened.ok()) return opened.why();
  block_store& file = **opened;
  std::string there = file.head();
  const std::string mine = head.bytes(pass());
  status why;
  std::uint64_t pass = this->pass();
  bool is_replaced = false;
  if (there.empty() && file.can_write()) {
    why = file.is_damaged() ? file.replace(mine) : file.begin(mine);
    there = file.head();  // another process may have been faster
    is_replaced = !why.ok() || there == mine;
  }
  if (!is_replaced && !there.empty()) why = head.compare(there, pass);
  std::vector<stored_block> blocks;
  if (why.ok() && !is_replaced) why = file.look(false);
  if (why.ok() && !is_replaced) why = file.scan(blocks);
  const bool is_other =
      !why.ok() && (why.code() == status_code::failed_precondition || why.code() == status_code::data_loss);
  if (is_other && rebuilds && !is_replaced) {
    if (!file.can_write() && !file.is_left())
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

bool element_cache::must_spill() const {
  mutex_lock lock(mutex_);
  return wants_file_ && !file_;
}

status element_cache::spill() {
  mutex_lock opening(opening_);
  if (!must_spill()) return {};
  result<std::unique_ptr<cache_file>> made = cache_file::temporary();
  if (!made.ok()) return made.why();
  status why = (*made)->begin("a temporary file");
  if (!why.ok()) return why;
  mutex_lock lock(mutex_);
  file_ = std::move(*made);
  is_writer_ = true;
  has_file_.store(true, std::memory_order_release);  // a stage that sees it finds the file
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

bool element_cache::is_written_elsewhere() {
  mutex_lock lock(mutex_);
  return !become_writer() && file_->is_written_elsewhere();
}

bool element_cache::must_load(std::uint64_t ordinal) const {
  if (!has_file()) return false;
  mutex_lock lock(mutex_);
  const std::shared_ptr<piece>* here = piece_at(ordinal);
  if (here && (*here)->end() > ordinal) return !(*here)->is_loaded;
  return !is_writer_ && file_->has_grown();
}

bool element_cache::has_piece(std::uint64_t ordinal) const {
  mutex_lock lock(mutex_);
  const std::shared_ptr<piece>* here = piece_at(ordinal);
  return here && (*here)->end() > ordinal;
}

status element_cache::load(std::uint64_t ordinal, bool rebuilds) {
  stored_block b;
  input_position from;
  if (!has_piece(ordinal)) {
    status why = file_->look(true);
    if (!why.ok()) return why;
  }
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
  status why = bytes.ok() ? made->elements.read(*bytes, b.count) : bytes.why();
  if (why.code() == status_code::data_loss && bytes.ok()) why = why.in_file(file_->path(), b.offset);
  if (!why.ok()) {
    if (!rebuilds || why.code() != status_code::data_loss) return why;
    forget(b.ordinal);
    return file_->look(true);  // this stage makes the elements again
  }
  mutex_lock lock(mutex_);
  auto at = pieces_.find(b.ordinal);
  if (at == pieces_.end() || at->second->is_loaded) return {};
  made->count = b.count;
  made->bytes = b.bytes;
  const std::size_t more = made->elements.memory_bytes();
  made->charged = at->second->charged + more;
  made->is_closed = made->is_stored = true;
  made->stored = std::move(b);
  charge(more);
  at->second = std::move(made);
  note_loaded(at->first);
  return {};
}

void element_cache::forget(std::uint64_t ordinal) {
  mutex_lock lock(mutex_);
  auto at = pieces_.find(ordinal);
  if (at == pieces_.end() || at->second->is_loaded) return;
  release(at->second->charged);
  pieces_.erase(at);
}

void element_cache::note_loaded(std::uint64_t ordinal) {
  loaded_.push_back(ordinal);
  const std::size_t most = file_->is_temporary() ? kSpilledLoadedMax : kLoadedMax;
  while (loaded_.size() > most) {
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
      has_failed_behind_ = false;
      if (unwritten_.empty()) return {};
      next = pieces_.find(unwritten_.front())->second;
    }
    stored_block b{.ordinal = next->first_ordinal,
                   .count = static_cast<std::uint32_t>(next->count),
                   .position = next->position->bytes()};
    status why = file_->append(b, next->elements.bytes().parts);
    if (why.code() == status_code::aborted) return close(), status();  // another process writes the rest
    if (!why.ok()) return why;
    mutex_lock lock(mutex_);
    if (unwritten_.empty() || unwritten_.front() != next->first_ordinal) continue;  // close() has dropped it
    unwritten_.pop_front();
    next->stored = std::move(b);
    next->is_stored = true;
    note_loaded(next->first_ordinal);
  }
}

/// A runtime in a simulation has one thread, and a store has slow calls whose errors end the lease.
bool element_cache::may_write_behind(const block_store& file, const runtime& rt) {
  return !rt.world() && !file.is_left();
}

bool element_cache::write_behind(runtime& rt) {
  if (!may_write_behind(*file_, rt)) return false;
  {
    mutex_lock lock(mutex_);
    std::size_t bytes = 0;
    for (std::uint64_t ordinal : unwritten_) bytes += pieces_.find(ordinal)->second->bytes;
    if (has_failed_behind_ || (bytes > kUnwrittenMax && unwritten_.size() > 1)) return false;
  }
  call_behind(rt);
  return true;
}

void element_cache::call_behind(runtime& rt) {
  struct call : blocking_call {
    std::shared_ptr<writer_behind> to;
    static void make(blocking_call& self) noexcept {
      const std::unique_ptr<call> me(static_cast<call*>(&self));
      mutex_lock lock(me->to->access);
      if (me->to->of) me->to->of->write_until_done();
    }
  };
  {
    mutex_lock lock(mutex_);
    if (is_written_behind_) return;
  }
  auto made = std::make_unique<call>();
  made->run = &call::make;
  made->to = behind_;
  mutex_lock lock(mutex_);
  if (std::exchange(is_written_behind_, true)) return;
  lock.unlock();  // without a free thread the call runs here
  rt.blocking_calls().submit(*made.release());
}

void element_cache::write_until_done() noexcept {
  for (;;) {
    bool is_written = false;
    try {
      is_written = write().ok();
    } catch (...) { is_written = false; }  // no memory
    {
      mutex_lock lock(mutex_);
      if (is_written && !unwritten_.empty()) continue;  // a stage has added one since
      if (!is_written || !is_sync_due_) {
        has_failed_behind_ = !is_written;
        is_written_behind_ = false;
        return;
      }
      is_sync_due_ = false;
    }
    status why = file_->sync();
    mutex_lock lock(mutex_);
    if (!why.ok()) sync_error_ = why;
  }
}

status element_cache::take_sync_error() {
  mutex_lock lock(mutex_);
  return std::exchange(sync_error_, status());
}

void element_cache::close_open_pieces() {
  if (!has_file()) return;
  for (const auto& [first, here] : pieces_) {
    if (here->is_closed) continue;
    here->is_closed = true;
    unwritten_.push_back(first);
  }
}

status element_cache::finish(std::uint64_t elements, runtime& rt) {
  {
    mutex_lock lock(mutex_);
    if (!is_writer_ || is_closed_ || file_->is_temporary()) return {};
    close_open_pieces();
  }
  status why = write();
  if (!why.ok() || is_closed()) return why;
  why = file_->finish(elements);
  if (!why.ok()) return why.code() == status_code::aborted ? status() : why;
  if (!may_write_behind(*file_, rt)) return file_->sync();
  {
    mutex_lock lock(mutex_);
    is_sync_due_ = true;
  }
  call_behind(rt);
  return {};
}

void element_cache::begin_adding() {
  mutex_lock lock(mutex_);
  ++adding_;
}

void element_cache::end_adding() noexcept {
  bool is_last = false;
  {
    mutex_lock lock(mutex_);
    is_last = --adding_ == 0;
  }
  if (!file_) return;
  if (!file_->is_left()) flush();
  else if (is_last) leave();
}

void element_cache::flush() noexcept {
  try {
    {
      mutex_lock lock(mutex_);
      if (!file_ || !is_writer_ || file_->is_temporary()) return;
      close_open_pieces();
    }
    write().ok();            // a later run makes again what could not be written
  } catch (...) { return; }  // no memory
}

void element_cache::leave() noexcept {
  try {
    block_store::unwritten blocks;
    {
      mutex_lock lock(mutex_);
      if (std::exchange(is_writer_, false)) close_open_pieces();
      for (std::uint64_t ordinal :
           unwritten_) {  // they stay in memory, since nobody knows whether they will be written
        const piece& p = *pieces_.find(ordinal)->second;
        stored_block b{
            .ordinal = ordinal, .count = static_cast<std::uint32_t>(p.count), .position = p.position->bytes()};
        blocks.emplace_back(std::move(b), p.elements.bytes().parts.joined());
      }
      unwritten_.clear();
    }
    file_->leave(std::move(blocks));
  } catch (...) { return; }  // no memory
}

}  // namespace sluice::lib
