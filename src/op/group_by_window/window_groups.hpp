// SPDX-License-Identifier: Apache-2.0
// The groups of one group_by_window: those that are being filled, and the one that is delivered.
//
//   applied a = groups.take(in);                    // while no group is delivered: moves elements of the view to their groups
//   groups.let_leave();                             // when a group is full, or the input has ended
//   status why = groups.open_leaving(context, site, reduce, moves);
//   … groups.leaving() …                            // the stream that `reduce` builds from the group
//   groups.close_leaving();
//
// The elements of a group lie one after another in a slab, which is passed to the stages of `reduce` and filled with
// the next group's elements afterwards. If all these stages can begin again (outlet::again), one stream of them serves
// all groups.
// Positions: the ordinals of the elements of each group and of the delivered group, and the position of its stream.
// Keys and sizes
//   are not saved, but computed again from the first element of each group.
// Charged: for each group its entry, its key, and the memory of its elements, with 4 bytes for each; the memory that
// its elements
//   own, until the stream of the group has ended; some free rooms for new groups; and the sizes of some keys.
// Thread: none; it belongs to its stage.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/given_elements.hpp"
#include "engine/held/held_elements.hpp"
#include "engine/held/held_ordinals.hpp"
#include "engine/inner/inner_input.hpp"
#include "engine/batching/group_index.hpp"
#include "op/group_by_window/ordinal_turns.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/op/group_by_window.hpp"

namespace sluice::lib {

class window_groups {
 public:
  /// `ordinal_bits`: the number of low bits of each element's ordinal that are stored with it.
  window_groups(const group_by_window_arguments& a, const element_type& elements, std::shared_ptr<run_context> run,
                const error_gate& gate, int ordinal_bits = 32);
  window_groups(const window_groups&) = delete;
  ~window_groups();

  held_memory& memory() { return memory_; }
  /// Returns the ordinal of the oldest held element, or of the next one if none is held.
  std::uint64_t oldest() const {
    return first_ == kNone ? next_ : groups_[first_].turns.first(*filling_[first_].ordinals());
  }
  std::uint64_t next() const { return next_; }

  /// Fetches the elements of the groups of a restored position. Without a position the input begins here.
  friend task<void> fetch_groups(window_groups& groups, erased_stream& in);

  /// Moves elements of the view to their groups until a group is full, all elements were moved, or one is bad. `done`:
  /// their number.
  /// REQUIRES: no group is full.
  applied take(erased_stream& in);
  /// Drops the element after those that were moved.
  void pass_bad(erased_stream& in);
  bool is_full() const { return full_ != kNone; }
  bool empty() const { return used_ == 0; }
  /// Begins to deliver the full group, or the group of the lowest key if none is full.
  void let_leave();

  bool is_leaving() const { return is_leaving_; }
  /// Opens the stream that `reduce` builds from the leaving group, at the resume position or at its start.
  status open_leaving(const open_context& context, std::uint32_t site, const node_ptr& reduce, bool moves);
  erased_stream& leaving() { return inner_.in; }
  void close_leaving();

  void save(position_writer& w);
  void load(position_reader& r);
  bool may_wait() const { return inner_.may_wait(); }

 private:
  static constexpr std::uint32_t kNone = 0;
  /// The allocator's overhead for a small slab, which begins at a cache line.
  static constexpr std::size_t kRoomBeside = 64;

  /// The elements of a group, and the lower half of the ordinal of each.
  struct group_room {
    explicit group_room(const element_type& t) : elements(t) {}
    slab elements;
    std::unique_ptr<std::uint32_t[]> ordinals;
    std::size_t capacity = 0;
    std::size_t begin = 0, ordinals_begin = 0;  ///< unused places at the front
  };
  struct group {
    explicit group(const element_type& t) : room(t) {}
    group_room room;
    ordinal_turns turns;
    known_key key;
    std::uint64_t size = 0;
    std::uint32_t before = kNone, after = kNone;  ///< the groups with the next older and newer first elements
  };
  /// The place of a group's next element. It is separate from the rest, so that it stays in the cache, and counts up to
  /// 0, so that fill() sees from the value that it stores whether the group is due.
  struct filling {
    char* elements_end = nullptr;  ///< the place after element number `due`, and
    std::uint32_t* ordinals_end = nullptr;
    std::ptrdiff_t next = 0;  ///< the place of the next element, relative to that
    std::size_t due = 0;      ///< the count at which the group is full or needs memory

    std::size_t count() const { return due + static_cast<std::size_t>(next); }
    std::uint32_t* ordinals() const { return ordinals_end - due; }
    void set_count(std::size_t n) { next = static_cast<std::ptrdiff_t>(n - due); }
  };
  struct restored_group {
    held_ordinals ordinals;
    std::unique_ptr<held_elements> held;  ///< used while elements are fetched
  };
  /// The reason why fill() has stopped.
  enum class stop : std::uint8_t { at_end, at_unknown_key, behind_due };

  const key_function& key() const { return static_cast<const key_function&>(*key_); }
  std::size_t count(std::uint32_t g) const { return filling_[g].count(); }
  char* elements(std::uint32_t g) const { return filling_[g].elements_end - filling_[g].due * type_.size; }
  static std::size_t entry_bytes(const known_key& key);
  std::size_t room_bytes(const group_room& r) const {
    if (r.capacity == 0) return 0;
    return kRoomBeside + (r.begin + r.capacity) * type_.size + (r.ordinals_begin + r.capacity) * sizeof(std::uint32_t);
  }

  template <class Move, class Find> std::uint32_t fill(char* from, std::uint32_t n, Move move, Find find, stop& why);
  template <class Find> std::uint32_t fill_by_size(char* from, std::uint32_t n, Find find, stop& why);
  std::uint32_t fill_view(char* from, std::uint32_t n, stop& why);
  status add_unknown(std::uint32_t i);
  /// Returns the index entry of a group: the offset of its filling in bytes, so that fill() needs no multiplication.
  static std::size_t in_index(std::uint32_t g) { return g * sizeof(filling); }
  /// Records that the next n elements were moved or dropped. REQUIRES: they have the same upper half.
  void advance(std::uint64_t n);
  std::uint64_t to_turn() const { return turn_ - next_ % turn_; }
  /// Handles a group that is full, or whose memory is used up.
  status settle_due();

  /// Computes the size of a key's groups. Errors: the function's; invalid_argument: it is less than 1.
  status size_for(const known_key& key, std::uint64_t& size);
  /// Creates an empty group. Errors: resource_exhausted.
  status make_group(const known_key& key, std::uint64_t size, std::uint32_t& g);
  status make_room(std::size_t capacity, group_room& room);
  /// Allocates memory for `capacity` elements, and moves the present ones there. Errors: resource_exhausted.
  status give_room(std::uint32_t g, std::size_t capacity);
  void let_go_of(std::uint32_t g);
  void drop_room(std::uint32_t g);
  /// Reports to the slab which elements are live.
  void settle(std::uint32_t g) { groups_[g].room.elements.set_live(groups_[g].room.begin, count(g)); }
  std::uint32_t lowest();

  restored_group read_group(position_reader& r) const;
  void save_ordinals(std::uint32_t g, position_writer& w) const;
  /// Inserts a fetched group after those with older elements.
  status place_again(restored_group& from, bool leaves);
  status place_all_again();
  status key_again(restored_group& from, known_key& key, std::uint64_t& size);

  const function_ptr key_, size_function_;
  const std::uint64_t size_;  ///< the size of all groups, if no function computes it
  const element_type& type_;
  const bool owns_nothing_;
  held_memory memory_;
  group_index index_;
  std::unique_ptr<char[]> nowhere_;  ///< receives elements whose key has no group, so that fill() needs one test less
  std::uint32_t nowhere_ordinal_ = 0;
  const int ordinal_bits_;
  const std::uint64_t turn_ = std::uint64_t{1} << ordinal_bits_;
  std::deque<group> groups_;      ///< the first is unused; a deque, because a growing vector would briefly exist twice
  std::vector<filling> filling_;  ///< one for each of groups_
  std::vector<std::uint32_t> free_, with_room_;  ///< indexes into groups_ that are free
  std::uint32_t used_ = 0;                       ///< groups that are being filled
  std::uint32_t first_ = kNone, last_ = kNone;   ///< in groups_, ordered by their first elements
  std::uint32_t full_ = kNone;
  std::uint32_t due_ = kNone;           ///< the group after whose element fill() has stopped
  std::vector<std::uint32_t> flushed_;  ///< at the end: all groups, the lowest key last
  std::size_t rooms_made_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> sizes_;  ///< the function's results for keys
  std::size_t sizes_bytes_ = 0;
  std::deque<restored_group> restored_;  ///< until their elements are fetched
  std::optional<restored_group> restored_leaving_;
  bool has_begun_ = false;
  std::uint64_t next_ = 0;       ///< the ordinal of the element that arrives next
  std::uint32_t looked_at_ = 0;  ///< consumed elements of the view
  std::size_t owned_ = 0;        ///< bytes that the elements moved by fill() own
  status bad_;                   ///< the error of the element after those that have keys

  bool is_leaving_ = false;
  std::uint64_t left_before_ = 0;  ///< groups delivered before
  std::uint32_t leaving_ = kNone;  ///< the group that is delivered
  std::size_t leaving_owned_ = 0;  ///< bytes that its elements own
  std::shared_ptr<element_group>
      elements_;               ///< the stream of its elements; between two groups, the stream that can begin again
  bool at_start_ = false;      ///< the stream was opened at its start
  bool stands_ready_ = false;  ///< the stream is at its start again, between two groups
  inner_input inner_;
};

task<void> fetch_groups(window_groups& groups, erased_stream& in);

/// The windows as a saved value of the stage.
struct saved_windows {
  std::unique_ptr<window_groups> groups;
  void save(position_writer& w) const { groups->save(w); }
  void load(position_reader& r) { groups->load(r); }
  bool may_wait() const { return groups->may_wait(); }
};

}  // namespace sluice::lib
