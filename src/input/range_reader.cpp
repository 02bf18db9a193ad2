// SPDX-License-Identifier: Apache-2.0
#include "input/range_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "coro/trace_log.hpp"
#include "runtime/run_task.hpp"
#include "sluice/coro/this_stage.hpp"

namespace sluice::lib {
namespace {

/// After this number of consecutive ranges that were in memory already, reading ahead stops.
constexpr std::uint32_t kReadyInARow = 4;

}  // namespace

void add_requests(stage_counts& to, file& from) {
  const request_times answered = from.take_request_times();
  if (answered.requests) to.rare().add_requests(answered.requests, answered.first_byte);
}

/// A range of the file that a task reads; the task owns it until `done`.
struct range_reader::range {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;  ///< that are wanted
  buffer_ref to;
  std::size_t got = 0;
  bool waited = false;
  status why;
  // Release: a thread that reads it also sees the bytes.
  std::atomic<bool> done{false};

  std::uint64_t end() const { return offset + bytes; }
};

range_reader::range_reader(std::shared_ptr<run_context> run, std::shared_ptr<file> from, input_memory& memory,
                           read_ahead_options o)
    : run_(std::move(run)), from_(std::move(from)), memory_(memory), options_(o), next_bytes_(o.range_bytes) {}

run_task range_reader::fetch(std::shared_ptr<run_context>& run, std::shared_ptr<file> from, std::shared_ptr<range> r,
                             std::shared_ptr<ready_signal> done, read_ahead_options how) {
  auto file = std::move(from);
  auto mine = std::move(r);
  auto signal = std::move(done);
  clock* const time = run->time;  // `run` refers to a member of the reader, which may be gone after a wait
  ready_read now = file->try_read_at(mine->offset, mine->to->data(), mine->bytes);
  mine->got = now.bytes;
  mine->why = std::move(now.why);
  if (mine->why.ok() && mine->got < mine->bytes) {
    mine->waited = true;
    const time_point began = time->now();
    buffer_ref to = mine->to;
    auto reading =
        file->read_at(mine->offset + mine->got, std::move(to), mine->got, mine->bytes - mine->got, io_deadline(*run));
    result<std::size_t> rest = co_await reading.as_result();
    if (rest.ok()) mine->got += *rest;
    else mine->why = rest.why();
    if (how.counts) {
      how.counts->rare().add_read(time->now() - began);
      add_requests(*how.counts, *file);
    }
  }
  mine->done.store(true, std::memory_order_release);
  signal->notify(ready_signal::kNobody);
}

range_reader::range* range_reader::find(std::uint64_t offset) {
  if (!ahead_.empty() && offset < ahead_.front()->offset) drop();  // the caller went back
  while (!ahead_.empty() && ahead_.front()->end() <= offset) ahead_.pop_front();
  return ahead_.empty() ? nullptr : ahead_.front().get();
}

std::size_t range_reader::copy(range& r, std::uint64_t offset, char* to, std::size_t n) {
  const auto passed = static_cast<std::size_t>(offset - r.offset);
  const std::size_t given = passed < r.got ? std::min(n, r.got - passed) : 0;
  if (given) std::memcpy(to, r.to->data() + passed, given);
  if (passed + given < r.got || !given) return given;
  ready_in_a_row_ = r.waited ? 0 : ready_in_a_row_ + 1;
  if (ready_in_a_row_ >= kReadyInARow) wanted_ = 0;
  const bool ended = r.got < r.bytes;
  if (ended) {
    drop();  // the bytes beyond the end are requested again once they are reached
    return given;
  }
  spare_ = std::move(r.to);  // its task has ended
  ahead_.pop_front();
  start_behind(offset + given);
  spare_ = {};
  return given;
}

ready_read range_reader::try_read_at(std::uint64_t offset, char* to, std::size_t n) {
  range* r = find(offset);
  if (!r) return from_->try_read_at(offset, to, n);
  if (!r->done.load(std::memory_order_acquire)) return {.must_wait = true};
  ready_read now;
  now.bytes = copy(*r, offset, to, n);
  if (now.bytes) return now;
  now.why = r->why;
  drop();
  return now.why.ok() ? from_->try_read_at(offset, to, n) : now;
}

task<std::size_t> range_reader::read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) {
  if (!find(offset)) {
    if (std::uint32_t most = ranges_max(); most > 1) {
      want_more(most - 1);
      start_behind(offset + n);
    }
    auto reading = read_now(offset, std::move(to), at, n);
    co_return co_await reading;
  }
  want_more(ranges_max());
  std::shared_ptr<range> r = ahead_.front();
  for (;;) {
    std::uint64_t seen = done_->count();
    if (r->done.load(std::memory_order_acquire)) break;
    co_await done_->changed_since(seen, options_.waits_for);
  }
  std::size_t given = copy(*r, offset, to->data() + at, n);
  if (given) co_return given;
  status why = r->why;
  drop();
  if (!why.ok()) co_await fail(std::move(why));
  auto reading = read_now(offset, std::move(to), at, n);
  co_return co_await reading;
}

task<std::size_t> range_reader::read_now(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) {
  stage_base* reader = co_await this_stage();
  const time_point began = run_->time->now();
  auto reading = from_->read_at(offset, std::move(to), at, n, deadline());
  result<std::size_t> got = co_await reading.as_result();
  const time_point now = run_->time->now();
  if (reader) {
    reader->waited(now - began, options_.waits_for);
    if (tracing()) trace_wait(*reader, options_.waits_for, began, now);
  }
  if (options_.counts) {
    stage_counts::rare_counts& counts = options_.counts->rare();
    counts.add_read(now - began);
    add_requests(*options_.counts, *from_);
    if (opening_since_ != kNever) counts.add_first_byte(now - std::exchange(opening_since_, kNever));
  }
  if (!got.ok()) co_await fail(got.why());
  co_return *got;
}

std::uint32_t range_reader::ranges_max() const {
  if (!options_.ranges_max) return 1;
  const std::int64_t said = options_.ranges_max->get();
  const auto most = static_cast<std::uint32_t>(said);
  return said == options_.untouched ? std::max(most, options_.ranges_if_untouched) : most;
}

void range_reader::want_more(std::uint32_t most) {
  wanted_ = std::clamp<std::uint32_t>(std::max(wanted_ * 2, options_.ahead_at_once), 1, most);
}

void range_reader::start_behind(std::uint64_t offset) {
  if (!ahead_.empty()) offset = ahead_.back()->end();
  while (ahead_.size() < wanted_ && start(offset)) offset = ahead_.back()->end();
}

bool range_reader::start(std::uint64_t offset) {
  const std::uint64_t size = from_->size_bytes();
  if (offset >= size) return false;
  auto r = std::make_shared<range>();
  r->offset = offset;
  // If memory is short, shorter ranges are read.
  for (std::size_t bytes = next_bytes_; !r->to; bytes /= 2) {
    if (bytes < options_.range_bytes) return false;
    r->bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size - offset));
    const buffer* spare = spare_ ? spare_.get() : nullptr;
    if (memory_.make_buffer_ahead(r->bytes, r->to, std::move(spare_)) && options_.waits_long && r->to.get() != spare)
      memory_.make_ready(r->to);
  }
  next_bytes_ =
      std::clamp(next_bytes_ * 2, options_.range_bytes, std::max(options_.range_bytes, options_.range_bytes_max));
  if (!done_) done_ = std::make_shared<ready_signal>(run_);
  ahead_.push_back(r);
  fetch(run_, from_, std::move(r), done_, options_);
  return true;
}

}  // namespace sluice::lib
