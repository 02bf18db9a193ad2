// SPDX-License-Identifier: Apache-2.0
#include "op/group_by_window/window_groups.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "element/batches/blocks.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

namespace {

/// The bytes that tables use for a key, in addition to its group: a table of numbers that is half full, or briefly
/// three quarters, and places in lists.
constexpr std::size_t kTableBytes = 80;
/// The allocator's overhead for a group.
constexpr std::size_t kGroupBeside = 16;
/// The number of keys whose window sizes are cached.
constexpr std::size_t kSizesKept = 1024;
/// The first capacity of a group, which doubles when it is full.
constexpr std::size_t kRoomFirst = 16;
/// The number of free rooms that are retained for new groups, because often many groups are full at about the same
/// time.
constexpr std::size_t kRoomsKept = 16;
/// Large rooms begin at the same offsets of pages and would compete for the same lines of the core's cache. The
/// elements of each room therefore begin some lines after those of the previous one, and its ordinals between them.
constexpr std::size_t kAligned = 256, kBegins = 8, kBeginStep = 8, kOrdinalsBehind = 40;

std::int64_t whole_number_at(const element_type& t, const void* at) {
  return expressions::with_number(expressions::number_of(t), [&]<class N>(std::type_identity<N>) {
    N value{};
    std::memcpy(&value, at, sizeof value);
    return static_cast<std::int64_t>(value);
  });
}

/// Moves one element of a type that owns nothing, by copying kBytes bytes; 0: any number of bytes.
template <std::size_t kBytes> struct move_bytes {
  static constexpr bool kIsCopy = true;
  std::size_t bytes;
  std::size_t size() const { return kBytes ? kBytes : bytes; }
  void operator()(char* to, const char* from) const { std::memcpy(to, from, size()); }
};
/// Moves an element of any other type, and counts what it owns.
struct move_element {
  static constexpr bool kIsCopy = false;
  const element_type& type;
  const bool owns_nothing;
  std::size_t* owned;
  std::size_t size() const { return type.size; }
  void operator()(char* to, char* from) const {
    if (type.compact) type.compact(type, from, 1);
    if (!owns_nothing) *owned += owned_bytes_of(type, from, 1);
    relocate(type, to, from, 1);
  }
};

}  // namespace

window_groups::window_groups(const group_by_window_arguments& a, const element_type& elements,
                             std::shared_ptr<run_context> run, const error_gate& gate, int ordinal_bits)
    : key_(a.key.value),
      size_function_(a.options.window_size_func.value),
      size_(a.window_size ? static_cast<std::uint64_t>(a.window_size->value) : 0),
      type_(elements),
      owns_nothing_(owns_nothing(elements)),
      memory_(std::move(run), gate.line(purpose::window), gate.label(), "what its groups hold",
              "lower window_size, or use fewer keys"),
      index_(key()),
      nowhere_(new char[elements.size]),
      ordinal_bits_(ordinal_bits) {
  groups_.emplace_back(type_);
  filling_.push_back({nowhere_.get() + elements.size, &nowhere_ordinal_ + 1, -1, 1});
}

window_groups::~window_groups() {
  for (std::uint32_t g = first_; g != kNone; g = groups_[g].after)
    if (g != leaving_) settle(g);
}

std::size_t window_groups::entry_bytes(const known_key& key) {
  return sizeof(group) + kGroupBeside + sizeof(filling) + kTableBytes + 2 * key.code.size();
}

status window_groups::size_for(const known_key& key, std::uint64_t& size) {
  size = size_;
  if (!size_function_) return {};
  const std::string code = index_.code_of(key);
  if (auto known = sizes_.find(code); known != sizes_.end()) {
    size = known->second;
    return {};
  }
  slab key_of_group(*key_->out), made(*size_function_->out);
  char* at = key_of_group.reserve(1);
  this->key().build_key(code, at);
  key_of_group.set_live(0, 1);
  char* to = made.reserve(1);
  applied a = static_cast<const block_function&>(*size_function_)
                  .apply(block(nullptr, &key_of_group.type(), at, 1), to, element_place());
  if (!a.why.ok()) return a.why;
  made.set_live(0, 1);
  const std::int64_t given = whole_number_at(*size_function_->out, to);
  if (given < 1)
    return invalid_argument_error("the size of a group is at least 1, and window_size_func gives " +
                                  std::to_string(given));
  size = static_cast<std::uint64_t>(given);
  if (sizes_.size() == kSizesKept) {  // new keys may arrive forever, and the function returns the same size again
    sizes_.clear();
    memory_.shrink_by(std::exchange(sizes_bytes_, 0));
  }
  sizes_.emplace(code, size);
  const std::size_t bytes = code.size() + sizeof(size) + kTableBytes;
  sizes_bytes_ += bytes;
  return memory_.change(bytes, 0);
}

status window_groups::make_group(const known_key& key, std::uint64_t size, std::uint32_t& g) {
  status fits = memory_.change(entry_bytes(key), 0);
  if (!fits.ok()) return fits;
  std::vector<std::uint32_t>& from = with_room_.empty() ? free_ : with_room_;
  if (from.empty()) {
    from.push_back(static_cast<std::uint32_t>(groups_.size()));
    groups_.emplace_back(type_);
    filling_.emplace_back();
  }
  g = from.back();
  from.pop_back();
  group& made = groups_[g];
  made.turns = ordinal_turns(ordinal_bits_, next_);
  made.key = key;
  made.size = size;
  made.before = std::exchange(last_, g);
  made.after = kNone;
  (made.before == kNone ? first_ : groups_[made.before].after) = g;
  filling_[g] = {};
  return {};
}

status window_groups::make_room(std::size_t capacity, group_room& room) {
  room.capacity = capacity;
  if (capacity >= kAligned) {
    room.begin = rooms_made_++ % kBegins * kBeginStep;
    room.ordinals_begin = 2 * (room.begin + kOrdinalsBehind);
  }
  status fits = memory_.change(room_bytes(room), 0);
  if (!fits.ok() && !with_room_.empty()) {
    memory_.shrink_by(room_bytes(room));
    for (std::uint32_t g : with_room_) drop_room(g);
    free_.insert(free_.end(), with_room_.begin(), with_room_.end());
    with_room_.clear();
    fits = memory_.change(room_bytes(room), 0);
  }
  if (!fits.ok()) return fits;
  room.elements.reserve(room.begin + capacity);
  room.ordinals.reset(new std::uint32_t[room.ordinals_begin + capacity]);
  return {};
}

void window_groups::drop_room(std::uint32_t g) {
  memory_.shrink_by(room_bytes(groups_[g].room));
  groups_[g].room = group_room(type_);
}

status window_groups::give_room(std::uint32_t g, std::size_t capacity) {
  group& of = groups_[g];
  filling& to = filling_[g];
  const std::size_t n = to.count();
  if (n != 0 || of.room.capacity == 0) {
    group_room room(type_);
    status fits = make_room(capacity, room);
    if (!fits.ok()) return fits;
    if (n) {
      relocate(type_, room.elements.begin() + room.begin * type_.size, elements(g), n);
      std::copy_n(to.ordinals(), n, room.ordinals.get() + room.ordinals_begin);
      memory_.shrink_by(room_bytes(of.room));
    }
    of.room = std::move(room);  // the previous slab owns no elements
  }
  to.due = std::min<std::uint64_t>(of.size, of.room.capacity);
  to.elements_end = of.room.elements.begin() + (of.room.begin + to.due) * type_.size;
  to.ordinals_end = of.room.ordinals.get() + of.room.ordinals_begin + to.due;
  to.set_count(n);
  return {};
}

void window_groups::let_go_of(std::uint32_t g) {
  group& gone = groups_[g];
  memory_.shrink_by(entry_bytes(gone.key));
  (gone.before == kNone ? first_ : groups_[gone.before].after) = gone.after;
  (gone.after == kNone ? last_ : groups_[gone.after].before) = gone.before;
  gone.key.code.clear();
  if (gone.room.capacity && with_room_.size() == kRoomsKept) drop_room(g);
  (gone.room.capacity ? with_room_ : free_).push_back(g);
}

status window_groups::add_unknown(std::uint32_t i) {
  const known_key key = index_.key_of(i);
  std::uint64_t size = 0;
  status why = size_for(key, size);
  std::uint32_t g = kNone;
  if (why.ok()) why = make_group(key, size, g);
  if (!why.ok()) return why;
  why = give_room(g, std::min<std::uint64_t>(size, kRoomFirst));
  if (!why.ok()) {
    let_go_of(g);
    return why;
  }
  index_.add(key, in_index(g));
  ++used_;
  return {};
}

status window_groups::settle_due() {
  const std::uint32_t g = std::exchange(due_, kNone);
  const std::uint64_t size = groups_[g].size;
  if (count(g) != size) return give_room(g, std::min<std::uint64_t>(size, groups_[g].room.capacity * 2));
  full_ = g;
  return {};
}

template <class Move, class Find>
[[gnu::noinline]] std::uint32_t window_groups::fill(char* from, std::uint32_t n, Move move, Find find, stop& why) {
  filling* const all = filling_.data();
  const auto first = static_cast<std::uint32_t>(next_);
  for (std::uint32_t i = 0; i != n; ++i) {
    const std::size_t at_byte = find(i);
    if (!Move::kIsCopy && at_byte == group_index::kNone) {
      why = stop::at_unknown_key;
      return i;
    }
    filling& to = *reinterpret_cast<filling*>(reinterpret_cast<char*>(all) + at_byte);
    const std::ptrdiff_t at = to.next;
    move(to.elements_end + at * static_cast<std::ptrdiff_t>(move.size()), from + i * move.size());
    to.ordinals_end[at] = first + i;
    to.next = at + 1;
    if (to.next == 0) [[unlikely]] {
      const bool is_known = &to != all;
      if (is_known) due_ = static_cast<std::uint32_t>(&to - all);
      else to.next = -1;  // the entry without a group, whose elements go to nowhere_
      why = is_known ? stop::behind_due : stop::at_unknown_key;
      return i + is_known;
    }
  }
  why = stop::at_end;
  return n;
}

template <class Find> std::uint32_t window_groups::fill_by_size(char* from, std::uint32_t n, Find find, stop& why) {
  if (!type_.relocatable || !owns_nothing_)
    return fill(from, n, move_element{type_, owns_nothing_, &owned_}, find, why);
  switch (type_.size) {
    case 4: return fill(from, n, move_bytes<4>(), find, why);
    case 8: return fill(from, n, move_bytes<8>(), find, why);
    case 16: return fill(from, n, move_bytes<16>(), find, why);
    default: return fill(from, n, move_bytes<0>{type_.size}, find, why);
  }
}

std::uint32_t window_groups::fill_view(char* from, std::uint32_t n, stop& why) {
  if (!index_.has_numbers())
    return fill_by_size(from, n, [this](std::uint32_t i) { return index_.group_of(looked_at_ + i); }, why);
  return index_.by_number().with_finder([&](auto find) {
    const std::uint64_t* const numbers = index_.numbers() + looked_at_;
    return fill_by_size(from, n, [numbers, find](std::uint32_t i) { return find(numbers[i]); }, why);
  });
}

void window_groups::advance(std::uint64_t n) {
  SLUICE_REQUIRES(n <= to_turn(), "the elements have two upper halves");
  next_ += n;
  if (n == 0 || next_ % turn_ != 0) return;
  for (std::uint32_t g = first_; g != kNone; g = groups_[g].after)
    groups_[g].turns.begin(count(g), next_ >> ordinal_bits_);
}

applied window_groups::take(erased_stream& in) {
  SLUICE_REQUIRES(!is_full(), "a full group has not left");
  if (looked_at_ == index_.looked_at() && bad_.ok()) {
    looked_at_ = 0;
    bad_ = index_.look_at(block(nullptr, &in.type(), in.peek().data(), in.left()));
  }
  applied all;
  char* const from = in.peek().data();
  while (looked_at_ != index_.looked_at() && full_ == kNone && all.why.ok()) {
    stop why = stop::at_end;
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(index_.looked_at() - looked_at_, to_turn()));
    const std::uint32_t n = fill_view(from + all.done * type_.size, most, why);
    all.done += n;
    looked_at_ += n;
    advance(n);
    if (why == stop::at_unknown_key) all.why = add_unknown(looked_at_);
    if (why == stop::behind_due) all.why = settle_due();
  }
  if (all.done) in.take(all.done).forget_front(all.done);
  if (owned_) {
    status fits = memory_.change(std::exchange(owned_, 0), 0);
    if (all.why.ok()) all.why = std::move(fits);
  }
  if (all.why.ok() && full_ == kNone) all.why = bad_;
  return all;
}

void window_groups::pass_bad(erased_stream& in) {
  in.drop(1);
  advance(1);
  if (looked_at_ != index_.looked_at()) ++looked_at_;
  else bad_ = {};
}

std::uint32_t window_groups::lowest() {
  if (flushed_.empty()) {
    for (std::uint32_t g = first_; g != kNone; g = groups_[g].after) flushed_.push_back(g);
    std::sort(flushed_.begin(), flushed_.end(),
              [this](std::uint32_t a, std::uint32_t b) { return groups_[b].key < groups_[a].key; });
  }
  const std::uint32_t g = flushed_.back();
  flushed_.pop_back();
  return g;
}

void window_groups::let_leave() {
  leaving_ = full_ != kNone ? std::exchange(full_, kNone) : lowest();
  index_.remove(groups_[leaving_].key);
  settle(leaving_);
  --used_;
  is_leaving_ = true;
}

status window_groups::open_leaving(const open_context& context, std::uint32_t site, const node_ptr& reduce,
                                   bool moves) {
  slab& elements = groups_[leaving_].room.elements;
  leaving_owned_ = owns_nothing_ ? 0 : owned_bytes_of(type_, elements.begin(), elements.size());
  if (!elements_) elements_ = std::make_shared<element_group>(type_, moves);
  elements_->exchange(elements);
  const bool is_known = inner_.openings.has_position_of(left_before_);
  if (std::exchange(stands_ready_, false) && !is_known) return {};
  at_start_ = inner_.restored.empty() && !is_known;
  open_context inside = context.in_inner_plan(site, left_before_);
  inside.given = elements_;
  return inner_.open(inside, reduce, left_before_);
}

void window_groups::close_leaving() {
  group_room& room = groups_[leaving_].room;
  stands_ready_ = at_start_ && inner_.begin_again();
  if (stands_ready_) {
    elements_->exchange(room.elements);
    room.elements.clear();
  } else {
    inner_.in.close();
    elements_.reset();  // work ahead may still use them
    drop_room(leaving_);
  }
  memory_.shrink_by(std::exchange(leaving_owned_, 0));
  let_go_of(std::exchange(leaving_, kNone));
  is_leaving_ = false;
  ++left_before_;
}

}  // namespace sluice::lib
