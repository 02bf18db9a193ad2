// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/timed_batches.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "ahead/open_channel.hpp"
#include "ahead/ordered_reader.hpp"
#include "ahead/signal_alarm.hpp"
#include "engine/batching/batch_in_making.hpp"
#include "engine/batching/grouping.hpp"
#include "engine/batching/row_batches.hpp"
#include "engine/held/held_fetch.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

namespace {

/// The state that timing decides: the number of elements consumed for each batch, including dropped ones. A resume from
/// a mark builds the batches since that mark again.
struct timed_state {
  decision_log log;
  std::deque<std::uint64_t> replay;

  void save(position_writer& w) {
    w.number(replay.size());
    for (std::uint64_t came : replay) w.number(came);
    w.log(log.here());
  }
  void load(position_reader& r) {
    for (int part = 0; part != 2; ++part)
      for (std::size_t n = r.count(); n; --n) replay.push_back(r.number());
  }
  /// Logs a choice. A replayed choice is not logged again, because a mark taken before it contains it in `replay`.
  void note(std::uint64_t came) {
    if (replay.empty()) log.add(came);
    else replay.pop_front();
  }
};

/// The input after its channel, and the signal that wakes the waiting stage.
struct timed_input {
  std::shared_ptr<ready_signal> signal;
  std::shared_ptr<reader_link> link;
};

/// Returns the end of a wait; a wait longer than the clock can represent never ends.
time_point moment_in(duration wait, time_point now) {
  return wait < time_point::max() - now ? now + wait : time_point::max();
}

/// The rows of the next batch. They are appended to its columns; if one may not stack, they are collected first, so
/// that the row that does not stack is known.
class timed_part {
 public:
  timed_part(const element_type& row, std::uint64_t rows, held_memory& memory, bool drops)
      : memory_(memory),
        maker_(row),
        may_refuse_(maker_.may_refuse()),
        drops_(drops && may_refuse_),
        columns_(row, rows),
        rows_(row, memory) {}

  /// Returns true if rows may be dropped.
  bool drops() const { return drops_; }
  std::uint64_t size() const { return may_refuse_ ? rows_.size() : columns_.rows(); }
  /// Releases the rows and the batch before.
  void forget() {
    if (may_refuse_) return rows_.forget();
    columns_.take();
    memory_.shrink_by(memory_.bytes());
  }
  /// Consumes rows of `b` up to one that does not stack; `bad` has its error. `ordinal`: the input ordinal of the first
  /// row.
  status add(block& b, std::uint64_t ordinal, status& bad) {
    if (!may_refuse_) {
      const std::uint32_t n = b.size();
      status fits = charge_growth(memory_, columns_, 0, b, n, ordinal);
      if (fits.ok()) columns_.append(b, n);
      return fits;
    }
    const element_view all(b.data(), b.size(), b.type().size);
    return rows_.add(b, drops_ ? rows_.fitting(maker_, all, bad) : b.size(), ordinal);
  }
  /// Builds the batch at `to`.
  status make(void* to) {
    if (may_refuse_) {
      std::size_t which = 0;
      status why = rows_.make(maker_, to, which);
      return why.ok() ? status() : row_error(why, memory_.label(), rows_.ordinal_of(which));
    }
    const std::size_t bytes = columns_.bytes();
    ::new (to) batch_storage(columns_.take());
    return memory_.resize(bytes);
  }

 private:
  held_memory& memory_;
  batch_maker maker_;
  const bool may_refuse_, drops_;
  batch_in_making columns_;
  rows_in_making rows_;
};

erased_stream timed_batches_loop(outlet out, saved<timed_state> state, erased_stream in, timed_input ahead,
                                 std::uint64_t rows, duration timeout, std::shared_ptr<run_context> run,
                                 error_gate gate) {
  in.may_go_back();
  held_memory memory(run, gate.line(purpose::batch), gate.label(), "a batch", "lower its size");
  timed_part part(in.type(), rows, memory, gate.skips());
  signal_alarm alarm(ahead.signal, *run->time);
  for (bool ended = false; !ended;) {
    char* to = out.room(1);
    part.forget();
    const bool is_replayed = !state->replay.empty();
    const std::uint64_t most = is_replayed ? state->replay.front() : part.drops() ? demand::kAll : rows;
    if (most == 0 || (most > rows && !part.drops())) co_await fail(damaged_position());
    std::uint64_t came = 0;
    time_point due{};
    while (part.size() != rows && came != most && !ended) {
      const std::uint64_t seen = ahead.signal->count();  // read before the channel is examined
      if (part.size() != 0 && !is_replayed && in.may_wait()) {
        if (run->time->now() >= due) break;
        if (!alarm.is_set()) alarm.set(due);
        urge_one(1, [&ahead](std::size_t) { return ahead.link.get(); });
        co_await ahead.signal->changed_since(seen);
        continue;
      }
      const auto n =
          static_cast<std::uint32_t>(std::min({most - came, rows - part.size(), grouped_at_once(in.type())}));
      auto b = co_await in.next_block({0, n});
      ended = !b;
      if (ended) continue;
      if (part.size() == 0) due = moment_in(timeout, run->time->now());
      came += b.size();
      while (b) {
        status bad;
        status fits = part.add(b, in.consumed() - b.size(), bad);
        if (!fits.ok()) co_await fail(std::move(fits));
        if (bad.ok()) continue;
        auto settled = gate.settle(out, bad, in.consumed() - b.size());
        co_await settled;
        b.drop_front(1);
      }
    }
    alarm.clear();
    if (is_replayed && came != most) {
      status why =
          ended ? shorter_input(in.consumed(), in.consumed() + most - came, memory.label()) : damaged_position();
      co_await fail(std::move(why));
    }
    if (part.size() == 0) break;
    state->note(came);
    status why = part.make(to);
    if (!why.ok()) co_await fail(std::move(why));
    in.hold_from(in.consumed());
    co_yield out.made(1);
  }
}

}  // namespace

erased_stream timed_batches(outlet out, erased_stream in, channel_memory channel, std::uint64_t rows, duration timeout,
                            std::shared_ptr<run_context> run, error_gate gate) {
  timed_input ahead;
  ahead.signal = std::make_shared<ready_signal>(run);
  const element_type& type = in.type();
  channel_options options;
  // Elements that arrive while no request waits become part of the next batch, up to this number. More would be held
  // twice, here and in the columns.
  const std::uint64_t kept = std::min<std::uint64_t>(rows, 1 << 16);
  options.limits = {static_cast<std::uint32_t>(kept), kept};
  options.signal = ahead.signal;
  opened_channel opened = open_channel(std::move(channel), std::move(in), type, std::move(options));
  ahead.link = std::move(opened.link);
  saved<timed_state> state;
  return timed_batches_loop(out, std::move(state), std::move(opened.out), std::move(ahead), rows, timeout,
                            std::move(run), std::move(gate));
}

}  // namespace sluice::lib
