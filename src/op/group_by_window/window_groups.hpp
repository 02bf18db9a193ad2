// SPDX-License-Identifier: Apache-2.0
// The groups of one group_by_window: those that are being filled, by their keys, and the one that leaves.
//
//   applied a = groups.take(in);                    // while none leaves: moves elements of the view to their groups
//   groups.let_leave();                             // when one is full, or the input has ended
//   status why = groups.open_leaving(context, site, reduce, moves);
//   … groups.leaving() …                            // the stream of what reduce makes of it
//   groups.close_leaving();
//
// Positions: the ordinals of the elements of each group and of the group that leaves, and the position of its stream. Keys and
//   sizes are not saved: they are asked for again of the first element of each group.
// Charged: for each group its entry, key and slots; its elements, until the stream of the group has ended; and sizes of keys.
// Thread: none; it belongs to its stage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/held_elements.hpp"
#include "engine/held_ordinals.hpp"
#include "engine/inner_input.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/op/group_by_window.hpp"

namespace sluice::lib {

class window_groups {
 public:
  window_groups(const group_by_window_arguments& a, const element_type& elements, std::shared_ptr<run_context> run,
                std::string label);
  window_groups(const window_groups&) = delete;

  held_memory& memory() { return memory_; }
  /// The ordinal of the oldest element that is held; of the next one where none is.
  std::uint64_t oldest() const { return firsts_.empty() ? next_ : std::min(next_, *firsts_.begin()); }
  std::uint64_t next() const { return next_; }

  /// Fetches what the groups of a restored position held; without one the input begins here.
  friend task<void> fetch_groups(window_groups& groups, erased_stream& in);

  /// Moves elements of the view to their groups until one is full, all are taken or one is bad: `done` of them. REQUIRES: none
  /// is full.
  applied take(erased_stream& in);
  /// The element behind those that were taken is dropped.
  void pass_bad(erased_stream& in);
  bool is_full() const { return full_ != nullptr; }
  bool empty() const { return groups_.empty(); }
  /// The full group leaves; where none is, that of the lowest key.
  void let_leave();

  bool is_leaving() const { return is_leaving_; }
  /// Opens the stream of what `reduce` makes of the group that leaves, where a resume goes on or at its start.
  status open_leaving(const open_context& context, std::uint32_t site, const node_ptr& reduce, bool moves);
  erased_stream& leaving() { return inner_.in; }
  void close_leaving();

  void save(position_writer& w);
  void load(position_reader& r);
  bool may_wait() const { return inner_.may_wait(); }

 private:
  struct group {
    held_ordinals ordinals;
    std::optional<held_elements> held;  ///< none of one that leaves and has its stream
    std::uint64_t size = 0;
  };
  using group_ptr = std::unique_ptr<group>;
  using table = std::map<std::string, group_ptr, std::less<>>;

  const key_function& key() const { return static_cast<const key_function&>(*key_); }
  static std::size_t entry_bytes(std::string_view code);
  group_ptr make_group();
  /// The size of the groups of a key. Errors: the function's; invalid_argument: it is less than 1.
  status size_for(std::string_view code, std::uint64_t& size);
  /// A group that begins, or an error of its first element.
  status add_group(std::string_view code, table::iterator& at);
  /// Puts a group that was fetched into its place.
  status place_again(group_ptr g);

  const function_ptr key_, size_function_;
  const std::uint64_t size_;  ///< of all groups, if there is no function
  const element_type& type_;
  held_memory memory_;
  table groups_;
  const std::string* full_ = nullptr;  ///< the key of the group that is full
  std::set<std::uint64_t> firsts_;     ///< the first ordinal of each group, and of the one that leaves
  std::map<std::string, std::uint64_t, std::less<>> sizes_;
  std::deque<group_ptr> restored_;  ///< until their elements are fetched
  bool has_begun_ = false;
  std::uint64_t next_ = 0;  ///< the element that comes in next
  key_codes codes_;         ///< of the view
  std::size_t looked_at_ = 0;
  status bad_;  ///< of the element behind those that have codes

  bool is_leaving_ = false;
  std::uint64_t left_before_ = 0;  ///< groups that have left before
  group_ptr gone_;                 ///< the one that leaves
  std::size_t leaving_bytes_ = 0;
  inner_input inner_;
};

task<void> fetch_groups(window_groups& groups, erased_stream& in);

/// As a stage's saved value.
struct saved_windows {
  std::unique_ptr<window_groups> groups;
  void save(position_writer& w) const { groups->save(w); }
  void load(position_reader& r) { groups->load(r); }
  bool may_wait() const { return groups->may_wait(); }
};

}  // namespace sluice::lib
