// SPDX-License-Identifier: Apache-2.0
// The groups of one group_by_reducer: a state for each key, in the order of the keys.
//
//   applied a = groups.take(view, undo);          // while the input delivers elements
//   status fits = groups.charge();
//   …
//   groups.input_ended();                         // the groups are delivered from here on, in order
//   status why = groups.finish_first(to);
//   groups.drop_first();
//
// Charged: each group's entry, key and state, and the memory of the state as measured by state_measure, until it is
// dropped.
// Positions: if the remaining groups take at most kStateBytesMax, which input_ended() determines, they are saved by
// value. Otherwise,
//   and before the input has ended, only the number of dropped groups is saved.
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
  /// REQUIRES: the functions' types fit each other, and initial_state was checked.
  group_states(const group_by_reducer_arguments& a, std::shared_ptr<run_context> run, const error_gate& gate);
  group_states(const group_states&) = delete;
  ~group_states();

  std::size_t size() const { return groups_.size(); }
  /// Moves the elements of `in` to uninitialised memory and into their groups' states. An error belongs to element
  /// `done`. With `undo` (state_function::apply) that element leaves no trace.
  applied take(const block& in, bool undo);
  /// Call it after take(). Errors: resource_exhausted, with the number of groups.
  status charge();
  /// Measures the states that a position may have to contain.
  void input_ended();

  // Delivering groups. REQUIRES: the input has ended, and size() > 0.

  /// Builds the element of the first group at uninitialised `to`, and consumes its state. After an error the state may
  /// be consumed, too.
  status finish_first(void* to);
  void drop_first();

  /// Returns true if the input had ended in the run that wrote the position. No further element is read then.
  bool ended() const { return ended_; }
  /// Returns the number of groups that were delivered before the checkpoint, and exist again because the input was read
  /// again. The caller removes them.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }
  /// Returns true if a position contains all states. Otherwise a resume reads the input again.
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
  /// Builds the first state of the group with this key.
  status begin(std::string_view code, group& g);
  void add(table::iterator at);
  void measure(group& g, std::uint32_t calls);
  void erase(table::iterator at);
  std::size_t bytes_of(const table::value_type& entry) const;

  const function_ptr key_, function_, init_, finish_;
  const std::string initial_state_;
  held_memory memory_;
  table groups_;
  key_codes codes_;        ///< of the present block
  slab first_key_;         ///< the key of a new group
  slab first_state_;       ///< the result of init for it
  std::size_t more_ = 0;   ///< bytes not charged yet
  std::size_t fewer_ = 0;  ///< bytes not released yet
  std::uint64_t dropped_ = 0;
  std::size_t saved_by_value_ = 0;  ///< the number of last groups that fit into a position
  bool ended_ = false;
};

/// The groups as a saved value of the stage.
struct saved_groups {
  std::unique_ptr<group_states> groups;
  void save(position_writer& w) const { groups->save(w); }
  void load(position_reader& r) { groups->load(r); }
};

}  // namespace sluice::lib
