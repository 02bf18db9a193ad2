// SPDX-License-Identifier: Apache-2.0
// Saves the elements of the groups of a group_by_window in positions, and restores them.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "op/group_by_window/window_groups.hpp"

namespace sluice::lib {

void window_groups::save_ordinals(std::uint32_t g, position_writer& w) const {
  const std::size_t n = count(g);
  const std::uint32_t* ordinals = filling_[g].ordinals();
  ordinal_turns::reader at(groups_[g].turns);
  w.number(n);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i != n; ++i) {
    const std::uint64_t ordinal = at.whole(i, ordinals[i]);
    w.number(ordinal - std::exchange(last, ordinal));
  }
}

void window_groups::save(position_writer& w) {
  if (is_leaving_) {
    inner_.save(w);
  } else {
    w.text({});
    inner_.openings.save(w, inner_.openings.here());
  }
  w.number(has_begun_);
  if (!has_begun_) return;
  w.number(next_);
  w.number(left_before_);
  w.number(used_ + restored_.size());
  for (std::uint32_t g = first_; g != kNone; g = groups_[g].after)
    if (g != leaving_) save_ordinals(g, w);
  for (auto& g : restored_) g.ordinals.save(w);
  w.number(is_leaving_);
  if (!is_leaving_) return;
  if (restored_leaving_) restored_leaving_->ordinals.save(w);
  else save_ordinals(leaving_, w);
}

window_groups::restored_group window_groups::read_group(position_reader& r) const {
  restored_group g;
  g.ordinals.load(r);
  if (g.ordinals.size() == 0 || g.ordinals.at(g.ordinals.size() - 1) >= next_) r.fail();
  return g;
}

void window_groups::load(position_reader& r) {
  inner_.load(r);
  has_begun_ = r.number() != 0;
  if (!has_begun_) return;
  next_ = r.number();
  left_before_ = r.number();
  for (std::size_t n = r.count(); n && r.ok(); --n) restored_.push_back(read_group(r));
  is_leaving_ = r.number() != 0;
  if (is_leaving_) restored_leaving_.emplace(read_group(r));
}

status window_groups::key_again(restored_group& from, known_key& key, std::uint64_t& size) {
  status why = index_.look_at(block(nullptr, &type_, from.held->at(0), 1));
  if (why.ok()) {
    key = index_.key_of(0);
    why = size_for(key, size);
  }
  if (!why.ok()) return why.in_stage(memory_.label(), from.ordinals.at(0));
  const bool fits = from.held->size() < size && index_.group_of(0) == group_index::kNone;
  index_.forget_view();
  return fits ? status() : damaged_position();
}

status window_groups::place_again(restored_group& from, bool leaves) {
  const std::size_t n = from.held->size();
  known_key key;
  std::uint64_t size = n;
  status why;
  if (!leaves) why = key_again(from, key, size);
  std::uint32_t g = kNone;
  if (why.ok()) why = make_group(key, size, g);
  if (why.ok()) why = give_room(g, leaves ? n : std::min<std::uint64_t>(size, std::bit_ceil(n + 1)));
  if (!why.ok()) return why;
  if (leaves) {
    leaving_ = g;
  } else {
    index_.add(key, in_index(g));
    ++used_;
  }
  const std::size_t owned = from.held->owned_bytes(from.held->at(0), n);
  from.held->move_front(n, elements(g));
  from.held.reset();
  ordinal_turns& turns = groups_[g].turns;
  turns = ordinal_turns(ordinal_bits_, from.ordinals.at(0));
  std::uint64_t upper = from.ordinals.at(0) >> ordinal_bits_;
  const auto turn_to = [&](std::size_t i, std::uint64_t ordinal) {
    if (ordinal >> ordinal_bits_ != upper) turns.begin(i, upper = ordinal >> ordinal_bits_);
  };
  for (std::size_t i = 0; i != n; ++i) {
    turn_to(i, from.ordinals.at(i));
    filling_[g].ordinals()[i] = static_cast<std::uint32_t>(from.ordinals.at(i));
  }
  turn_to(n, next_);
  filling_[g].set_count(n);
  if (leaves) settle(g);
  return memory_.change(owned, 0);
}

status window_groups::place_all_again() {
  if (is_leaving_) restored_.push_back(std::move(*restored_leaving_));
  restored_leaving_.reset();
  const restored_group* leaving = is_leaving_ ? &restored_.back() : nullptr;
  std::vector<restored_group*> in_order;
  for (restored_group& g : restored_) in_order.push_back(&g);
  std::sort(in_order.begin(), in_order.end(),
            [](const restored_group* a, const restored_group* b) { return a->ordinals.at(0) < b->ordinals.at(0); });
  for (restored_group* g : in_order) {
    status why = place_again(*g, g == leaving);
    if (!why.ok()) return why;
  }
  restored_.clear();
  return {};
}

task<void> fetch_groups(window_groups& groups, erased_stream& in) {
  if (!groups.has_begun_) {
    groups.has_begun_ = true;
    groups.next_ = in.consumed();
  } else {
    std::vector<ordinals_fetch::part> parts;
    auto fetch = [&](window_groups::restored_group& g) {
      g.held = std::make_unique<held_elements>(groups.type_, groups.memory_, sizeof(std::uint64_t));
      parts.push_back({&g.ordinals, &*g.held});
    };
    for (auto& g : groups.restored_) fetch(g);
    if (groups.restored_leaving_) fetch(*groups.restored_leaving_);
    ordinals_fetch list(std::move(parts), groups.next_);
    status fits = list.make_places();
    if (!fits.ok()) co_await fail(std::move(fits));
    auto fetching = fetch_held(in, list, groups.memory_);
    co_await fetching;
    list.all_built();
    status why = groups.place_all_again();
    if (!why.ok()) co_await fail(std::move(why));
  }
}

}  // namespace sluice::lib
