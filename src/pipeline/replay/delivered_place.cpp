// SPDX-License-Identifier: Apache-2.0
#include "pipeline/replay/delivered_place.hpp"

#include <algorithm>
#include <utility>

#include "plan/plan_parts.hpp"
#include "sluice/coro/outlet.hpp"

namespace sluice::lib {
namespace {

erased_stream place_loop(outlet out, one_to_one, erased_stream in, environment* run,
                         std::shared_ptr<delivered_place> to) {
  mark_watch marks;
  for (;;) {
    if (marks.due(*run) && in.has_consistent_state()) {
      mark here = in.place();
      to->marked(std::move(here));
    }
    auto b = co_await in.next_block({0, out.wanted(), out.wanted_bytes()});
    if (!b) break;
    to->delivered(in.consumed());
    co_yield b;
  }
}

}  // namespace

void delivered_place::marked(mark m) {
  mutex_lock lock(mutex_);
  if (!marks_.empty() && marks_.back().ordinal >= m.ordinal) return;
  if (marks_.size() == 2) marks_.erase(marks_.begin());
  marks_.push_back(std::move(m));
}

std::string delivered_place::position() const {
  mutex_lock lock(mutex_);
  if (marks_.empty()) return {};
  const std::uint64_t now = elements();
  const mark& from = marks_.back().ordinal < now ? marks_.back() : marks_.front();
  position_writer w;
  w.record(from, std::max(from.ordinal, now));
  return w.bytes();
}

erased_stream keep_place(erased_stream in, environment& run, std::shared_ptr<delivered_place> to) {
  outlet out(in.type());
  to->delivered(in.consumed());
  erased_stream s = place_loop(out, one_to_one{}, std::move(in), &run, std::move(to));
  s.stage()->set_label("quarantine");
  s.stage()->stay_nameless();
  s.set_environment(&run);
  return s;
}

bool names_quarantine(const node& plan) {
  if (plan.errors.quarantine.is_given()) return true;
  bool found = false;
  for_each_plan(plan, [&found](const node_ptr& inner) { found |= names_quarantine(*inner); });
  return found ||
         std::any_of(plan.inputs.begin(), plan.inputs.end(), [](const node_ptr& in) { return names_quarantine(*in); });
}

}  // namespace sluice::lib
