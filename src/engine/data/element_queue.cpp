// SPDX-License-Identifier: Apache-2.0
#include "sluice/engine/element_queue.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sluice::lib {

struct element_queue::finished_list : std::vector<std::pair<std::unique_ptr<pending>, status>> {};
struct element_queue::pending_list {
  std::vector<std::unique_ptr<pending>> all;
};

element_queue::element_queue(const element_type& type, limits l)
    : type_(type), limits_(l), elements_(type), pending_(new pending_list) {}

element_queue::~element_queue() { delete pending_; }

element_queue::push_awaiter::push_awaiter(std::shared_ptr<element_queue> q, void* value, std::size_t bytes)
    : queue_(std::move(q)), value_(value), bytes_(bytes) {}

element_queue::push_awaiter::~push_awaiter() { abandon(); }

detail::attempt element_queue::push_awaiter::try_now(detail::wake_list& woken) {
  bool others_wait = queue_->senders_.front() || !queue_->pending_->all.empty();  // they are served first
  if (others_wait && !queue_->closed_) return detail::attempt::pending;
  return queue_->offer(value_, bytes_, sent_, why_, woken);
}

status element_queue::resend_error() const {
  return failed_precondition_error(
      "from_channel: a run was resumed at element " + std::to_string(front_) +
      ", and the producer has to push the elements from there on; ask resume_from() first");
}

bool element_queue::admits(std::size_t bytes) {
  bool is_empty = elements_.size() == 0;
  if (!is_empty && (elements_.size() >= limits_.elements || bytes > limits_.bytes || bytes_ > limits_.bytes - bytes))
    return false;
  if (!line_) return true;
  if (run_->ledger->try_charge(bytes, *line_, std::weak_ptr<room_waiter>(weak_from_this()))) return true;
  if (!is_empty) return false;
  run_->ledger->charge(bytes, *line_);  // the run may be waiting for this one
  return true;
}

void element_queue::put(void* value, std::size_t bytes, detail::wake_list& woken) {
  char* to = elements_.extend(1);
  type_.relocate(type_, to, value, 1, type_.size, type_.size);
  elements_.add_live(1);
  bytes_ += bytes;
  if (detail::waiter* reader = readers_.front()) reader->wake_into(woken);
}

detail::attempt element_queue::offer(void* value, std::size_t bytes, bool& sent, status& why,
                                     detail::wake_list& woken) {
  if (closed_ || abandoned_) return detail::attempt::done;
  if (resend_due_) {
    why = resend_error();
    return detail::attempt::failed;
  }
  if (!admits(bytes)) return detail::attempt::pending;
  put(value, bytes, woken);
  sent = true;
  return detail::attempt::done;
}

void element_queue::admit(detail::wake_list& woken, finished_list& served) {
  if (closed_ || abandoned_ || resend_due_) return;
  while (auto* w = static_cast<push_awaiter*>(senders_.front())) {
    if (!admits(w->bytes_)) return;
    put(w->value_, w->bytes_, woken);
    w->sent_ = true;
    w->wake_into(woken);
  }
  std::size_t n = 0;
  for (; n != pending_->all.size() && admits(pending_->all[n]->bytes_); ++n) {
    put(pending_->all[n]->value_, pending_->all[n]->bytes_, woken);
    served.emplace_back(std::move(pending_->all[n]), status());
  }
  pending_->all.erase(pending_->all.begin(), pending_->all.begin() + static_cast<std::ptrdiff_t>(n));
}

void element_queue::refuse_waiting(const status& why, detail::wake_list& woken, finished_list& refused) {
  while (detail::waiter* w = senders_.front()) w->wake_into(woken, why);
  for (auto& p : pending_->all) refused.emplace_back(std::move(p), why);
  pending_->all.clear();
}

void element_queue::call(finished_list& list, bool sent) noexcept {
  for (auto& [p, why] : list) p->finished(sent, std::move(why));
  list.clear();
}

element_queue::pushed element_queue::try_push(void* value, std::size_t bytes) {
  bool sent = false;
  status why;
  detail::attempt a;
  {
    detail::waking_lock lock(mutex_);
    bool others_wait = senders_.front() || !pending_->all.empty();
    if (others_wait && !closed_) return pushed::full;
    a = offer(value, bytes, sent, why, lock.woken);
  }
  if (a == detail::attempt::failed) throw_status(why);
  return sent ? pushed::sent : a == detail::attempt::done ? pushed::closed : pushed::full;
}

void element_queue::push(std::unique_ptr<pending> p) {
  bool sent = false;
  status why;
  {
    detail::waking_lock lock(mutex_);
    bool others_wait = senders_.front() || !pending_->all.empty();
    detail::attempt a =
        others_wait && !closed_ ? detail::attempt::pending : offer(p->value_, p->bytes_, sent, why, lock.woken);
    if (a == detail::attempt::pending) {
      pending_->all.push_back(std::move(p));
      return;
    }
  }
  p->finished(sent, std::move(why));
}

std::unique_ptr<element_queue::pending> element_queue::abandon(const pending* p) {
  mutex_lock lock(mutex_);
  auto at = std::find_if(pending_->all.begin(), pending_->all.end(), [p](auto& other) { return other.get() == p; });
  if (at == pending_->all.end()) return nullptr;
  std::unique_ptr<pending> taken = std::move(*at);
  pending_->all.erase(at);
  return taken;
}

void element_queue::push_awaiter::left(detail::wake_list& woken) noexcept {
  // A smaller element after this one may fit. Senders that are not coroutines are served when the next element is
  // received.
  while (auto* w = static_cast<push_awaiter*>(queue_->senders_.front())) {
    if (!queue_->admits(w->bytes_)) return;
    queue_->put(w->value_, w->bytes_, woken);
    w->sent_ = true;
    w->wake_into(woken);
  }
}

void element_queue::close(status why) {
  finished_list refused;
  {
    detail::waking_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    why_ = std::move(why);
    if (detail::waiter* reader = readers_.front()) reader->wake_into(lock.woken);
    refuse_waiting({}, lock.woken, refused);
  }
  call(refused, false);
}

std::uint64_t element_queue::resume_from() {
  mutex_lock lock(mutex_);
  resend_due_ = false;
  return front_ + elements_.size();
}

std::size_t element_queue::size() const {
  mutex_lock lock(mutex_);
  return elements_.size();
}

status element_queue::attach(std::shared_ptr<run_context> run, ledger_line& line) {
  mutex_lock lock(mutex_);
  if (run_) return failed_precondition_error("another run reads this channel; a channel has one run at a time");
  run_ = std::move(run);
  line_ = &line;
  run_->ledger->charge(bytes_, line);
  return {};
}

void element_queue::detach() {
  mutex_lock lock(mutex_);
  std::shared_ptr<run_context> run = std::move(run_);
  ledger_line& line = *std::exchange(line_, nullptr);
  std::size_t bytes = bytes_;
  lock.unlock();
  run->ledger->release(bytes, line);
}

std::size_t element_queue::drop_all() {
  elements_.clear();
  return std::exchange(bytes_, 0);
}

void element_queue::resume_at(std::uint64_t ordinal) {
  finished_list refused;
  std::size_t dropped = 0;
  {
    detail::waking_lock lock(mutex_);
    if (ordinal == front_) return;
    dropped = drop_all();
    front_ = ordinal;
    resend_due_ = true;
    refuse_waiting(resend_error(), lock.woken, refused);
  }
  credit(dropped);
  call(refused, false);
}

void element_queue::begin() {
  mutex_lock lock(mutex_);
  front_ = 0;
}

void element_queue::abandon_reading() {
  finished_list refused;
  {
    detail::waking_lock lock(mutex_);
    abandoned_ = true;
    refuse_waiting({}, lock.woken, refused);
  }
  call(refused, false);
}

bool element_queue::may_wait() const {
  mutex_lock lock(mutex_);
  return elements_.size() == 0 && !closed_;
}

std::uint32_t element_queue::take(char* to, std::uint32_t n) {
  std::size_t freed = 0;
  {
    mutex_lock lock(mutex_);
    n = static_cast<std::uint32_t>(std::min<std::size_t>(n, elements_.size()));
    if (n == 0) return 0;
    block front = elements_.view();
    freed = n * type_.size;
    if (type_.footprint) freed += type_.footprint(type_, front.data(), n);
    freed = std::min(freed, bytes_);
    if (to) front.move_front(to, n);
    else front.drop_front(n);
    bytes_ -= freed;
    front_ += n;
  }
  credit(freed);
  finished_list served;
  {
    detail::waking_lock lock(mutex_);
    if (is_half_empty()) admit(lock.woken, served);
  }
  call(served, true);
  return n;
}

// Without the mutex: crediting calls those who wait for room, and this queue may be one of them. Only the reader calls it,
// and attaches and detaches its run.
void element_queue::credit(std::size_t bytes) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (bytes && run_) run_->ledger->release(bytes, *line_);
}

void element_queue::room_again() noexcept {
  finished_list served;
  {
    detail::waking_lock lock(mutex_);
    admit(lock.woken, served);
  }
  call(served, true);
}

status element_queue::why() const {
  mutex_lock lock(mutex_);
  return why_;
}

}  // namespace sluice::lib
