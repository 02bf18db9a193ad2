// SPDX-License-Identifier: Apache-2.0
// The saved values of a cache stage: its next element, its input, and the cache that it reads and fills.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/inner/inner_input.hpp"
#include "op/cache/passed_rows.hpp"
#include "sluice/coro/outlet.hpp"
#include "sluice/coro/position.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib {

/// Writes what a stage has added to a file, when the stage ends.
class added_to_file {
 public:
  added_to_file() = default;
  explicit added_to_file(std::shared_ptr<element_cache> of) : of_(std::move(of)) { of_->begin_adding(); }
  added_to_file(added_to_file&&) noexcept = default;
  added_to_file& operator=(added_to_file&& other) noexcept {
    added_to_file ended(std::move(*this));
    of_ = std::move(other.of_);
    return *this;
  }
  ~added_to_file() {
    if (of_) of_->end_adding();
  }
  explicit operator bool() const { return of_ != nullptr; }

 private:
  std::shared_ptr<element_cache> of_;
};

/// The next element, the input's position, and the cache that the stage reads and fills.
struct cache_reading {
  std::uint64_t at = 0;  ///< the ordinal of the next element
  std::uint64_t restored_at =
      0;  ///< `at` of the position that the stage was restored from; that of the input is not later
  /// For an input without a fixed order: the pass that the elements come from; 0: a pass of this stage's own.
  std::uint64_t pass = 0;
  inner_input input;                     ///< opened when an element is not in the cache
  passed_rows rows;                      ///< if the consumer receives rows in its columns
  std::shared_ptr<element_cache> cache;  ///< null: the stage reads its input without it
  element_cache::filling filling;
  added_to_file adding;

  void save(position_writer& w) {
    w.number(at);
    w.number(pass);
    element_cache::place near;
    if (cache) near = cache->place_before(at);
    if (!near.position || is_input_nearer(near.ordinal)) return input.save(w);
    w.blob(near.position);
    const inner_openings none;  // the place contains the choices of the pass that made the elements
    none.save(w, none.here());
  }
  void load(position_reader& r) {
    at = restored_at = r.number();
    pass = r.number();
    input.load(r);
  }
  bool in_file() const { return cache && cache->has_file(); }
  bool may_wait() const { return input.may_wait() || in_file(); }

  /// Returns true if the input's own position is at or before the next element, and not before `ordinal`.
  bool is_input_nearer(std::uint64_t ordinal) const {
    if (input.in) return input.in.consumed() >= ordinal && input.in.consumed() <= at;
    return !input.restored.empty() && restored_at >= ordinal;
  }
  /// The input has ended before the element `wanted`, after `length` elements.
  void end(outlet& out, std::uint64_t passed, std::uint64_t wanted, std::uint64_t length) {
    const std::uint64_t missing = std::min(passed, wanted - length);
    out.unpass(missing);
    at = wanted - missing;
    filling = {};
  }
  /// Returns true if the elements of the cache's pass are this stage's.
  bool may_join() const { return (at == 0 && !input.resumes(0)) || pass == cache->pass(); }
  /// Decides whether the stage uses the cache. A pass over an input without a fixed order has elements of its own, unless
  /// it is the one that fills the cache, or the cache is complete.
  void join() {
    if (!cache || cache->has_fixed_order()) return;
    if (!may_join()) cache = nullptr;
    if (cache && cache->length() == element_cache::kUnknown) {
      if (!cache->has_file() || cache->can_write()) filling = element_cache::try_fill(cache);
      if (!filling) cache = nullptr;
    }
    pass = cache ? cache->pass() : 0;
  }
  /// Opens the input at the last known position at or before the element `ordinal`.
  status open(const open_context& context, const node_ptr& plan, std::uint64_t ordinal) {
    element_cache::place near;
    if (cache) near = cache->place_before(ordinal);
    if (near.position && (input.restored.empty() || near.ordinal >= restored_at))
      input.restored = near.position->bytes();
    return input.open_rows(context, plan, 0, rows.landing_of_input());
  }
  /// Returns the element to request from the input if `wanted` is not in the cache: without a fixed order none is skipped,
  /// because a later pass could not make it.
  std::uint64_t to_request(std::uint64_t wanted) const {
    const bool makes_all = filling && !cache->is_closed();
    return makes_all ? std::min(wanted, cache->prefix()) : wanted;
  }
  /// Skips the elements before `ordinal`; the input's position is then that of this element.
  void skip_to(std::uint64_t ordinal) {
    const std::uint64_t skipped = ordinal - input.in.consumed();
    const auto of_view = static_cast<std::uint32_t>(std::min<std::uint64_t>(skipped, input.in.left()));
    input.in.drop(of_view);
    input.in.pass_over(skipped - of_view);
  }
  /// The input's position, if it is needed for the element that it yields next.
  element_cache::input_position place_to_add() {
    if (!cache || !cache->begins_piece(input.in.consumed())) return {};
    auto w = std::make_shared<position_writer>();
    input.in.position(*w);
    return w;
  }
};

}  // namespace sluice::lib
