// SPDX-License-Identifier: Apache-2.0
// The elements of a stage that reads its whole input before it delivers the first of them.
//
//   while (more results) { construct one at results.room(); results.add_made(); }
//   status fits = results.input_ended();
//   …
//   results.move_front(n, to);                    // delivers
//
// Charged: the elements and what they own, until they are delivered.
// Positions: the elements that are left are saved by value if they take at most kStateBytesMax and their type can be
//   written. Otherwise, and before the input has ended, only the number of delivered elements is saved, and a resume
//   reads the input again.
// Thread: none; it belongs to its stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/lowering/error_gate.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class final_elements {
 public:
  /// `gate`: the stage's, whose line is charged. `what` and `advice`: as for held_memory.
  final_elements(const element_type& t, std::shared_ptr<run_context> run, const error_gate& gate, std::string_view what,
                 std::string_view advice);
  final_elements(const final_elements&) = delete;

  std::size_t size() const { return elements_.size(); }

  /// Returns room for one more element, to be constructed there.
  char* room() { return elements_.extend(1); }
  void add_made() { elements_.add_live(1); }
  /// Called once, when all elements are there. Errors: resource_exhausted; data_loss: the position that was loaded is of
  /// other elements.
  status input_ended();

  void move_front(std::size_t n, char* to);
  void drop_front(std::size_t n);

  /// Returns true if the input had ended in the run that wrote the position. Nothing more is read then.
  bool ended() const { return ended_; }
  /// Returns true if a position contains the elements. Otherwise a resume reads the input again.
  bool saves_elements() const { return ended_ && size() <= saved_by_value_; }
  void save(position_writer& w) const;
  void load(position_reader& r);

 private:
  void removed(std::size_t n, std::size_t bytes);

  const element_type& type_;
  held_memory memory_;
  slab elements_;
  std::uint64_t delivered_ = 0;
  std::size_t saved_by_value_ = 0;  ///< the number of elements, the last ones, that a position can contain
  bool ended_ = false;
};

/// The elements as a stage's saved value.
struct saved_final_elements {
  std::unique_ptr<final_elements> elements;
  void save(position_writer& w) const { elements->save(w); }
  void load(position_reader& r) { elements->load(r); }
};

}  // namespace sluice::lib
