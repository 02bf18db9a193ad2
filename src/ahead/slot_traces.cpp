// SPDX-License-Identifier: Apache-2.0
// The parts of slot_supply that record blocks in a trace: see coro/trace_log.hpp.
#include <algorithm>
#include <string>
#include <utility>

#include "ahead/pump.hpp"
#include "ahead/slot_supply.hpp"
#include "coro/trace_log.hpp"

namespace sluice::lib {

void slot_supply::trace_granted(ring_slot* s) {
  const time_point now = run_->time->now();
  s->trace = {.is_wanted = trace_is_due(traced_at_, now), .track = 0, .began = now, .put = now};
}

void slot_supply::trace_filled(const ring_slot& s, duration took) const {
  const time_point now = run_->time->now();
  const std::string name = "fill " + memory_.record().name();
  trace_work({&memory_.record(), name}, trace_group::task, now - took, now, s.input.size());
}

slot_supply::traced_put slot_supply::trace_put(ring_slot* s) {
  if (!s->trace.is_wanted || !tracing()) return {};
  const time_point now = run_->time->now();
  s->trace.track = trace_track();
  s->trace.put = now;
  return {.is_wanted = true,
          .elements = s->count,
          .at = now,
          .has = {.blocks = in_flight_, .blocks_max = 0, .elements = elements_in_flight_, .elements_max = 0}};
}

void slot_supply::trace_has_put(const traced_put& p, duration took) const {
  const channel_record& channel = memory_.record();
  const trace_series series{&channel, channel.name()};
  const std::string put = "put " + channel.name();
  trace_slice({&channel, put}, trace_group::put, p.at, run_->time->now(), p.elements);
  if (!computation_) {
    const std::string fill = "fill " + channel.name();
    trace_work({&channel, fill}, trace_group::task, p.at - took, p.at, p.elements);
  } else if (computation_->awaits()) {
    trace_span(series, trace_group::task, p.at - took, p.at, p.elements);
  } else {
    trace_work(series, trace_group::task, p.at - took, p.at, p.elements);
  }
  trace_counter(series, trace_group::channel, p.at, p.has.blocks, p.has.elements);
  trace_counter({run_->ledger.get(), "memory"}, trace_group::memory, p.at, run_->ledger->used_bytes(), 0);
}

void slot_supply::trace_taken(ring_slot* s, time_point began) const {
  const ring_slot::traced block = std::exchange(s->trace, {});
  const channel_record& channel = memory_.record();
  const trace_series series{&channel, channel.name()};
  const std::string take = "take " + channel.name();
  const time_point now = run_->time->now();
  trace_slice({&channel, take}, trace_group::take, began, now, s->count);
  trace_span(series, trace_group::channel, block.began, now, s->count);
  // The arrow ends within the slice, also if its times are rounded.
  trace_arrow(series, block.track, block.put, std::max({began, block.put, now - duration(1)}));
  const channel_fill has = fill();
  trace_counter(series, trace_group::channel, now, has.blocks, has.elements);
}

}  // namespace sluice::lib
