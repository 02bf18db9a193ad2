// SPDX-License-Identifier: Apache-2.0
// An input that a stage opens when it needs it, as part of the stage's saved values. repeat has one for each epoch,
// concatenate one for each input.
//
//   struct repeat_state { std::uint64_t epoch = 0; inner_input input; … };   // its save() and load() call the input's
//
//   status why = st->input.open(context.in_epoch(site, st->epoch), plan, st->epoch);  // at its start or restored position
//   if (!why.ok()) co_await fail(std::move(why));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "coro/positions/inner_position.hpp"
#include "engine/lowering/open_context.hpp"

namespace sluice::lib {

struct inner_input {
  erased_stream in;
  std::string restored;  ///< its position until it is opened; empty: its start
  inner_openings openings = {};

  /// `number`: how many inputs all runs have opened before it.
  status open(const open_context& context, const node_ptr& plan, std::uint64_t number) {
    std::shared_ptr<row_landing> landing;
    return open_rows(context, plan, number, landing);
  }
  /// As open(), with rows in the columns of the stage, if `landing` is not null and the input supports that: otherwise it
  /// becomes null.
  status open_rows(const open_context& context, const node_ptr& plan, std::uint64_t number,
                   std::shared_ptr<row_landing>& landing) {
    std::string from = openings.position_of(number, std::exchange(restored, {}));
    const bool resumed = !from.empty();
    auto opened = context.resume_rows(plan, std::move(from), landing);
    if (!opened.ok()) return opened.why();
    in = *std::move(opened);
    written_.reset();
    openings.opened(number, in, resumed);
    return {};
  }
  /// Returns true if open() begins at a position, and not at the start.
  bool resumes(std::uint64_t number) const { return !restored.empty() || openings.has_position_of(number); }
  void save(position_writer& w) {
    if (in) w.blob(position());
    else w.text(restored);
    openings.save(w, openings.here());
  }
  void load(position_reader& r) {
    restored = r.text();
    openings.load(r);
  }
  bool may_wait() const { return in && in.may_wait(); }
  /// As erased_stream::begin_again().
  bool begin_again() {
    written_.reset();
    return in.begin_again();
  }

 private:
  /// Returns the position of `in`. All marks that are taken while `in` stands there share it: if inputs are nested, each
  /// of them takes a mark, and would otherwise write the positions of all inputs inside it again.
  std::shared_ptr<const position_writer> position() {
    if (!written_ || written_at_ != in.consumed()) {
      auto w = std::make_shared<position_writer>();
      in.position(*w);
      written_ = std::move(w);
      written_at_ = in.consumed();
    }
    return written_;
  }
  std::shared_ptr<const position_writer> written_ = {};
  std::uint64_t written_at_ = 0;  ///< in.consumed() at that time
};

}  // namespace sluice::lib
