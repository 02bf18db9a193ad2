// SPDX-License-Identifier: Apache-2.0
#include "coro/positions/absent_stage.hpp"

#include <algorithm>
#include <utility>

#include "coro/positions/position_records.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {

absent_stage::~absent_stage() = default;

void stage_base::add_absent(std::unique_ptr<absent_stage> stage) {
  if (!absent_) absent_ = new absent_stages;
  absent_->all.push_back(std::move(stage));
}

namespace {

/// Returns the number of elements that the stage of the record has made.
std::uint64_t made_of(const mark& m) { return m.ordinal - std::min(m.ordinal, m.left_out); }

}  // namespace

void stream_base::add_absent_records(mark& m) const {
  for (const auto& stage : child_->absent_->all) {
    mark outer;
    outer.ordinal = m.ordinal;
    outer.left_out = m.left_out + stage->left_out();
    outer.site = stage->known_as().site;
    outer.version = stage->known_as().version;
    if (stage->contains_input()) {
      auto input = std::make_shared<position_writer>();
      input->record(m, m.ordinal);
      stage->save(outer.state, made_of(m), std::move(input));
      outer.own_bytes = outer.state.size_bytes();
    } else {
      stage->save(outer.state, made_of(m), nullptr);
      outer.own_bytes = outer.state.size_bytes();
      outer.state.record(m, m.ordinal);
    }
    m = std::move(outer);
  }
}

void stream_base::restore_absent(std::size_t absent, position_records& from) {
  if (absent == 0) return restore_stage(from);
  absent_stage& stage = *child_->absent_->all[absent - 1];
  const position_record* own = from.take(stage.known_as().site);
  if (!own) return from.damaged();
  if (status why = version_mismatch(*own, stage.known_as(), child_->label()); !why.ok())
    return from.refuse(std::move(why));
  position_reader r(own->saved, own->version);
  std::string input;
  const std::uint64_t made = own->ordinal - own->to_pass;
  stage.load(r, made, input);
  from.refuse(r.why());
  if (!r.ok() || !r.done()) return from.damaged();
  std::uint64_t left_out = 0;
  for (std::size_t i = 0; i != absent; ++i) left_out += child_->absent_->all[i]->left_out();
  if (stage.has_ended()) {
    child_->end();
    fetched_ = counted_ = made + left_out;
  } else if (!stage.contains_input()) {
    restore_absent(absent - 1, from);
  } else if (!input.empty()) {
    position_records records(std::move(input));
    restore_absent(absent - 1, records);
    from.refuse(records.finish());
  }
  const std::uint64_t missing = left_out - std::min(left_out, consumed());  // of the elements that are left out
  if (consumed() - (left_out - missing) != made) from.damaged();
  if (own->to_pass) todo_ += own->to_pass + missing;
}

}  // namespace sluice::lib
