// SPDX-License-Identifier: Apache-2.0
#include "coro/trace_log.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sluice/coro/stage.hpp"

namespace sluice::lib {
namespace {

/// A shorter wait does not matter (sluice/profile/verdict.hpp).
constexpr duration kTracedWaitMin = std::chrono::microseconds(50);
/// A turn in which nothing was recorded is shown if it is so long that it explains why others wait.
constexpr duration kTracedTurnMin = std::chrono::microseconds(50);

struct recording {
  lib::mutex mutex;
  std::vector<std::shared_ptr<trace_buffer>> buffers ABSL_GUARDED_BY(mutex);
  std::map<const void*, std::string> names ABSL_GUARDED_BY(mutex);
  std::atomic<std::uint64_t> number{0};  ///< of the recording; relaxed: threads compare it with their own
  std::atomic<std::size_t> records{0};
  std::atomic<std::size_t> records_max{0};
  std::atomic<std::int64_t> gap{0};
  std::atomic<bool> is_full{false};
  std::atomic<std::int64_t> full_at{0};
};

/// Never destroyed: threads may record until the process ends.
recording& the_recording() {
  static auto* one = new recording;
  return *one;
}

/// The buffer and the track of the current thread.
struct traced_thread {
  std::uint64_t recording = 0;  ///< the number of the recording that `buffer` belongs to; 0: none
  std::shared_ptr<trace_buffer> buffer;
  const char* kind = nullptr;
  unsigned number = 0;
  bool is_in_turn = false;
  time_point turn_began{};
  bool has_recorded = false;  ///< in this turn
};
thread_local traced_thread t_traced;

/// Returns the buffer of this thread. Errors: std::bad_alloc.
trace_buffer& own_buffer() {
  traced_thread& me = t_traced;
  recording& all = the_recording();
  const std::uint64_t number = all.number.load(std::memory_order_relaxed);
  if (me.recording == number && me.buffer) return *me.buffer;
  mutex_lock lock(all.mutex);
  auto made = std::make_shared<trace_buffer>(static_cast<std::uint32_t>(all.buffers.size()) + 1);
  all.buffers.push_back(made);
  me.buffer = std::move(made);
  me.recording = number;
  return *me.buffer;
}

/// Counts one more record. Returns false, and ends the recording, if it is full.
bool has_room(std::int64_t end) {
  recording& all = the_recording();
  if (all.records.fetch_add(1, std::memory_order_relaxed) < all.records_max.load(std::memory_order_relaxed))
    return true;
  if (!all.is_full.exchange(true, std::memory_order_relaxed)) all.full_at.store(end, std::memory_order_relaxed);
  trace_is_on.store(false, std::memory_order_relaxed);
  return false;
}

std::uint32_t number_of(std::vector<trace_buffer::named>& all, trace_series s, trace_group g) {
  auto is_same = [&](const trace_buffer::named& n) { return n.key == s.key && n.group == g && n.name == s.name; };
  auto at = std::find_if(all.begin(), all.end(), is_same);
  if (at == all.end()) at = all.insert(all.end(), {s.key, std::string(s.name), g});
  return static_cast<std::uint32_t>(at - all.begin());
}

std::string known_name(trace_series s) {
  recording& all = the_recording();
  mutex_lock lock(all.mutex);
  auto at = all.names.find(s.key);
  return at == all.names.end() ? std::string(s.name) : at->second;
}

std::int64_t ns_of(time_point t) { return t.time_since_epoch().count(); }

/// Adds a record, unless the recording has ended or no memory is left for it.
void add(trace_series s, trace_record r) noexcept {
  if (!tracing() || !has_room(r.end)) return;
  try {
    trace_buffer& to = own_buffer();
    mutex_lock lock(to.mutex);
    to.kind = t_traced.kind;
    to.number = t_traced.number;
    r.series = number_of(to.series, s, r.group);
    to.records.push_back(r);
    t_traced.has_recorded = true;
  } catch (const std::bad_alloc&) { trace_is_on.store(false, std::memory_order_relaxed); }
}

trace_record slice_of(trace_group g, time_point began, time_point ended, std::uint64_t elements, std::uint64_t weight) {
  return {.what = trace_record::kind::slice,
          .group = g,
          .begin = ns_of(began),
          .end = ns_of(ended),
          .first = elements,
          .second = weight};
}

}  // namespace

bool trace_start(std::size_t records_max, duration gap) {
  recording& all = the_recording();
  mutex_lock lock(all.mutex);
  if (tracing()) return false;
  all.buffers.clear();
  all.names.clear();
  all.number.fetch_add(1, std::memory_order_relaxed);
  all.records.store(0, std::memory_order_relaxed);
  all.records_max.store(records_max, std::memory_order_relaxed);
  all.gap.store(gap.count(), std::memory_order_relaxed);
  all.is_full.store(false, std::memory_order_relaxed);
  trace_is_on.store(true, std::memory_order_relaxed);
  return true;
}

void trace_name(const void* key, const std::string& name) noexcept {
  recording& all = the_recording();
  try {
    mutex_lock lock(all.mutex);
    all.names.try_emplace(key, name);
  } catch (const std::bad_alloc&) { trace_stop(); }
}

void trace_stop() noexcept { trace_is_on.store(false, std::memory_order_relaxed); }

trace_contents trace_read() {
  recording& all = the_recording();
  mutex_lock lock(all.mutex);
  return {.buffers = all.buffers,
          .names = all.names,
          .records_max = all.records_max.load(std::memory_order_relaxed),
          .is_full = all.is_full.load(std::memory_order_relaxed),
          .full_at = all.full_at.load(std::memory_order_relaxed)};
}

void trace_begin_turn(const char* kind, unsigned number, time_point now) noexcept {
  traced_thread& me = t_traced;
  me.kind = kind;
  me.number = number;
  me.is_in_turn = true;
  me.turn_began = now;
  me.has_recorded = false;
}

void trace_end_turn(time_point now) noexcept {
  traced_thread& me = t_traced;
  if (!std::exchange(me.is_in_turn, false)) return;
  if (me.has_recorded || now - me.turn_began >= kTracedTurnMin)
    add({nullptr, "turn"}, slice_of(trace_group::turn, me.turn_began, now, 0, 1));
}

std::uint32_t trace_track() noexcept {
  try {
    return tracing() ? own_buffer().track : 0;
  } catch (const std::bad_alloc&) { return 0; }
}

void trace_slice(trace_series s, trace_group g, time_point began, time_point ended, std::uint64_t elements,
                 std::uint64_t weight) noexcept {
  add(s, slice_of(g, began, ended, elements, weight));
}

void trace_work(trace_series s, trace_group g, time_point began, time_point ended, std::uint64_t elements) noexcept {
  const traced_thread& me = t_traced;
  if (me.is_in_turn && began >= me.turn_began) add(s, slice_of(g, began, ended, elements, 1));
}

void trace_span(trace_series s, trace_group g, time_point began, time_point ended, std::uint64_t elements,
                std::uint64_t weight) noexcept {
  trace_record r = slice_of(g, began, ended, elements, weight);
  const traced_thread& me = t_traced;
  if (me.is_in_turn && began >= me.turn_began) add(s, r);
  r.what = trace_record::kind::span;
  add(s, r);
}

void trace_counter(trace_series s, trace_group g, time_point now, std::uint64_t first, std::uint64_t second) noexcept {
  trace_record r = slice_of(g, now, now, first, second);
  r.what = trace_record::kind::counter;
  add(s, r);
}

void trace_arrow(trace_series s, std::uint32_t from, time_point began, time_point now) noexcept {
  if (from == 0) return;
  trace_record r = slice_of(trace_group::channel, began, now, 0, 1);
  r.what = trace_record::kind::arrow;
  r.from = from;
  add(s, r);
}

void trace_wait(trace_series s, wait_reason why, time_point began, time_point ended) noexcept {
  static constexpr std::array<std::string_view, kWaitReasons> kFor = {
      " waits for input",       " waits for its calls",       " waits for a disk",
      " waits for the network", " waits for its pace",        " waits for a thread",
      " waits for room ahead",  " waits for its parallelism", " waits for memory"};
  if (ended - began < kTracedWaitMin) return;
  try {
    const std::string name = known_name(s).append(kFor[static_cast<std::size_t>(why)]);
    trace_record r = slice_of(trace_group::wait, began, ended, 0, 1);
    r.what = trace_record::kind::span;
    add({s.key, name}, r);
  } catch (const std::bad_alloc&) { trace_stop(); }
}

void trace_wait(const stage_base& s, wait_reason why, time_point began, time_point ended) noexcept {
  trace_wait({s.counts(), s.label()}, why, began, ended);
}

void trace_consumer_wait(const void* run, time_point began, time_point ended) noexcept {
  if (ended - began < kTracedWaitMin) return;
  trace_record r = slice_of(trace_group::wait, began, ended, 0, 1);
  r.what = trace_record::kind::span;
  add({run, "the consumer waits"}, r);
}

bool trace_is_due(time_point& last, time_point now) noexcept {
  if (last != time_point{} && now - last < duration(the_recording().gap.load(std::memory_order_relaxed))) return false;
  last = now;
  return true;
}

}  // namespace sluice::lib
