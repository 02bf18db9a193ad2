// SPDX-License-Identifier: Apache-2.0
// The groups of one group_by_reducer: a state for each key, in the order of the keys.
//
//   applied a = groups.take(view, undo);          // while the input goes on
//   status fits = groups.charge();
//   …
//   groups.input_ended();                         // from here on the groups leave, the first one first
//   status why = groups.finish_first(to);
//   groups.drop_first();
//
// Charged: for each group its entry, its key and its state, with what that owns as state_measure goes; until it is dropped.
// Positions: groups that are left are saved by value where that takes no more than kStateBytesMax for all of them, which
//   input_ended() finds out; else, and while the input goes on, only how many were dropped.
// Thread: none; it belongs to its stage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"

#include "engine/held/state_box.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/op/group_by_reducer.hpp"

namespace sluice::lib {

class group_states {
 public:
  /// The functions' types fit each other, and initial_state has no mistake.
  group_states(const group_by_reducer_arguments& a, std::shared_ptr<run_context> run, const error_gate& gate);
  group_states(const group_states&) = delete;
  ~group_states();

  std::size_t size() const { return groups_.size(); }
  /// Moves the elements of `in` into their groups' states, each to uninitialised room. An error is element `done`'s, which has
  /// left no trace if `undo` (state_function::apply).
  applied take(const block& in, bool undo);
  /// Called after take(). Errors: resource_exhausted, with a message that states the number of groups.
  status charge();
  /// Looks at the states that a position may have to hold.
  void input_ended();

  // Groups leave. REQUIRES: the input has ended, and size() > 0.

  /// Builds the element of the first group at uninitialised `to`. Its state is used up then, or, after an error, may be.
  status finish_first(void* to);
  void drop_first();

  /// Did the input end in the run that wrote the position? Then nothing is taken any more.
  bool ended() const { return ended_; }
  /// The number of groups that had been delivered before the checkpoint, and are here again because the input was read
  /// again. The caller removes them.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }
  /// Is a position of now all that is needed? Else a resume takes the input again.
  bool saves_states() const { return ended_ && size() <= saved_by_value_; }
  void save(position_writer& w) const;
  void load(position_reader& r);

 private:
  struct group {
    void* state = nullptr;
    state_measure owned{};
  };
  using table = absl::btree_map<std::string, group, std::less<>>;

  const key_function& key() const { return static_cast<const key_function&>(*key_); }
  const state_function& function() const { return static_cast<const state_function&>(*function_); }
  /// Makes the first state of the group with this key.
  status begin(std::string_view code, group& g);
  void add(table::iterator at);
  void measure(group& g, std::uint32_t calls);
  void erase(table::iterator at);
  std::size_t bytes_of(const table::value_type& entry) const;

  const function_ptr key_, function_, init_, finish_;
  const std::string initial_state_;
  held_memory memory_;
  table groups_;
  key_codes codes_;        ///< of the block that is taken
  slab first_key_;         ///< of a group that begins,
  slab first_state_;       ///< and what init makes of it
  std::size_t more_ = 0;   ///< bytes that are not charged yet,
  std::size_t fewer_ = 0;  ///< or not given back
  std::uint64_t dropped_ = 0;
  std::size_t saved_by_value_ = 0;  ///< the number of groups, the last ones, that a position can hold
  bool ended_ = false;
};

/// The groups as a stage's saved value.
struct saved_groups {
  std::unique_ptr<group_states> groups;
  void save(position_writer& w) const { groups->save(w); }
  void load(position_reader& r) { groups->load(r); }
};

}  // namespace sluice::lib
