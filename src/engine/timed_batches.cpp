// SPDX-License-Identifier: Apache-2.0
#include "engine/timed_batches.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "ahead/open_channel.hpp"
#include "ahead/ordered_reader.hpp"
#include "ahead/signal_alarm.hpp"
#include "engine/grouping.hpp"
#include "engine/held_fetch.hpp"
#include "engine/row_batches.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

namespace {

/// Timing chooses how many elements come for a batch: its rows, and those that are dropped. Batches since a mark are made
/// again when the mark is resumed.
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
  /// A replayed choice is not logged again: a mark taken before it holds it in `replay`.
  void note(std::uint64_t came) {
    if (replay.empty()) log.add(came);
    else replay.pop_front();
  }
};

/// The input behind its channel, and what wakes a stage that waits for it.
struct timed_input {
  std::shared_ptr<ready_signal> signal;
  std::shared_ptr<reader_link> link;
};

/// Of a wait beyond what a clock can say: never.
time_point moment_in(duration wait, time_point now) {
  return wait < time_point::max() - now ? now + wait : time_point::max();
}

erased_stream timed_batches_loop(outlet out, saved<timed_state> state, erased_stream in, timed_input ahead,
                                 std::uint64_t rows, duration timeout, std::shared_ptr<run_context> run,
                                 error_gate gate) {
  in.may_go_back();
  held_memory memory(run, purpose::batch, gate.label(), "a batch", "lower its size");
  rows_in_making part(in.type(), memory);
  batch_maker maker(in.type());
  const bool may_drop = gate.skips() && maker.may_refuse();
  signal_alarm alarm(ahead.signal, *run->time);
  for (bool ended = false; !ended;) {
    char* to = out.room(1);
    part.forget();
    const bool is_replayed = !state->replay.empty();
    const std::uint64_t most = is_replayed ? state->replay.front() : may_drop ? demand::kAll : rows;
    if (most == 0 || (most > rows && !may_drop)) co_await fail(damaged_position());
    std::uint64_t came = 0;
    time_point due{};
    while (part.size() != rows && came != most && !ended) {
      const std::uint64_t seen = ahead.signal->count();  // before looking at the channel
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
        const std::uint64_t first = in.consumed() - b.size();
        status bad;
        const element_view all(b.data(), b.size(), in.type().size);
        const std::uint32_t fitting = may_drop ? part.fitting(maker, all, bad) : b.size();
        status fits = part.add(b, fitting, first);
        if (!fits.ok()) co_await fail(std::move(fits));
        if (bad.ok()) continue;
        auto settled = gate.settle(out, bad, first + fitting);
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
    std::size_t which = 0;
    status why = part.make(maker, to, which);
    if (!why.ok()) {
      status told = told_of_row(why, memory.label(), part.ordinal_of(which));
      co_await fail(std::move(told));
    }
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
  options.limits = {static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, 1 << 16)), rows};
  options.signal = ahead.signal;
  opened_channel opened = open_channel(std::move(channel), std::move(in), type, std::move(options));
  ahead.link = std::move(opened.link);
  saved<timed_state> state;
  return timed_batches_loop(out, std::move(state), std::move(opened.out), std::move(ahead), rows, timeout,
                            std::move(run), std::move(gate));
}

}  // namespace sluice::lib
