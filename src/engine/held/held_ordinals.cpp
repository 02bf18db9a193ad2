// SPDX-License-Identifier: Apache-2.0
#include "engine/held/held_ordinals.hpp"

#include "sluice/base/assert.hpp"

#include <algorithm>

namespace sluice::lib {

void held_ordinals::drop_front(std::size_t n) {
  SLUICE_REQUIRES(n <= size(), "more ordinals are dropped than are held");
  gone_ += n;
  if (gone_ * 2 < all_.size()) return;
  all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(gone_));
  gone_ = 0;
}

void held_ordinals::save(position_writer& w) const {
  w.number(size());
  std::uint64_t last = 0;
  for (std::size_t i = 0; i != size(); ++i) {
    w.number(at(i) - last);
    last = at(i);
  }
}

void held_ordinals::load(position_reader& r) {
  all_.clear();
  gone_ = 0;
  std::uint64_t last = 0;
  for (std::size_t n = r.count(); n && r.ok(); --n) {
    std::uint64_t ordinal = last + r.number();
    if (!all_.empty() && ordinal <= last) r.fail();
    else all_.push_back(last = ordinal);
  }
}

ordinals_fetch::ordinals_fetch(std::vector<part> parts, std::uint64_t next) : parts_(std::move(parts)), next_(next) {
  for (std::size_t i = 0; i != parts_.size(); ++i) {
    const held_ordinals& of_part = *parts_[i].ordinals;
    elements_ += of_part.size();
    if (of_part.size()) coming_.push_back({of_part.at(0), i, 0});
  }
  std::make_heap(coming_.begin(), coming_.end(), later);
}

status ordinals_fetch::make_places() {
  for (part& p : parts_) {
    status fits = p.held->make_places(p.ordinals->size());
    if (!fits.ok()) return fits;
  }
  return {};
}

void ordinals_fetch::all_built() {
  for (part& p : parts_) p.held->all_built(p.ordinals->size());
}

void ordinals_fetch::pop() {
  std::pop_heap(coming_.begin(), coming_.end(), later);
  coming& c = coming_.back();
  const held_ordinals& of_part = *parts_[c.part].ordinals;
  if (++c.place == of_part.size()) {
    coming_.pop_back();
    return;
  }
  c.ordinal = of_part.at(c.place);
  std::push_heap(coming_.begin(), coming_.end(), later);
}

std::uint64_t ordinals_fetch::next_run(std::uint64_t from, std::vector<held_place>& places) {
  // A request may have delivered fewer elements than it asked for. Those of the last run that are missing are requested
  // again.
  std::size_t fetched = std::min<std::uint64_t>(run_.size(), from - std::min(from, run_first_));
  run_.erase(run_.begin(), run_.begin() + static_cast<std::ptrdiff_t>(fetched));
  run_first_ += fetched;
  if (run_.empty() && !coming_.empty()) run_first_ = coming_.front().ordinal;
  while (run_.size() != kRunMax && !coming_.empty() && coming_.front().ordinal == run_first_ + run_.size()) {
    const coming& c = coming_.front();
    run_.push_back({parts_[c.part].held, c.place});
    pop();
  }
  places = run_;
  return run_first_;
}

}  // namespace sluice::lib
