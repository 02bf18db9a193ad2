// SPDX-License-Identifier: Apache-2.0
#include "runtime/simulated/cores.hpp"

#include "coro/trace_log.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

simulated_cores::place& simulated_cores::idle_place() {
  for (auto& p : places_)
    if (p->on.is_idle()) return *p;
  return *places_.emplace_back(std::make_unique<place>(static_cast<unsigned>(places_.size())));
}

template <class Work> void simulated_cores::turn_of(place& p, const Work& work) {
  // A blocking call starts when its timer fires, on the simulation's thread. So no turn is within another one.
  current_ = &p;
  work();
  current_ = nullptr;
  if (p.on.is_idle() && !p.is_call) --working_;
}

void simulated_cores::run(std::coroutine_handle<> h, const clock& time) {
  SLUICE_REQUIRES(has_idle() && !current_, "all cores are busy");
  place& p = idle_place();
  p.is_call = false;
  ++working_;
  auto turn = [h, &time, number = p.number] {
    if (tracing()) trace_begin_turn("core", number, time.now());
    h.resume();
    if (tracing()) trace_end_turn(time.now());
  };
  turn_of(p, [&] { p.on.start(turn); });
}

void simulated_cores::run(blocking_call& call) {
  place& p = idle_place();
  p.is_call = true;
  turn_of(p, [&] { p.on.start([&call] { call.run(call); }); });
}

void simulated_cores::pause_until(time_point t) {
  current_->until = t;
  current_->on.pause();
}

simulated_cores::next simulated_cores::next_paused() const {
  next n;
  for (const auto& p : places_) {
    if (!p->on.is_paused() || p->until > n.at) continue;
    n.count = p->until == n.at ? n.count + 1 : 1;
    n.at = p->until;
  }
  return n;
}

void simulated_cores::resume(std::size_t choice) {
  const time_point at = next_paused().at;
  for (auto& p : places_)
    if (p->on.is_paused() && p->until == at && choice-- == 0) return turn_of(*p, [&] { p->on.resume(); });
}

}  // namespace sluice::lib
