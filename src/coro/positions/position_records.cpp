// SPDX-License-Identifier: Apache-2.0
#include "coro/positions/position_records.hpp"

namespace sluice::lib {

position_records::position_records(std::string bytes) : bytes_(std::move(bytes)) {
  position_reader all(bytes_);
  while (!all.done()) {
    position_record one;
    all.raw(&one.site, sizeof one.site);
    position_reader body(all.text());
    one.ordinal = body.number();
    std::uint64_t pass_and_flag = body.number();
    one.to_pass = pass_and_flag >> 1;
    if (pass_and_flag & 1) one.version = static_cast<std::uint32_t>(body.number());
    one.saved = body.remaining();
    if (!all.ok() || !body.ok() || one.to_pass > one.ordinal || entries_.size() == kRecordsMax) {
      damaged();
      return;
    }
    entries_.push_back({one});
  }
}

const position_record* position_records::take(std::uint32_t site) {
  while (first_ < entries_.size() && entries_[first_].taken) ++first_;
  for (std::size_t i = first_; i < entries_.size(); ++i) {
    entry& e = entries_[i];
    if (e.taken || e.record.site != site) continue;
    e.taken = true;
    return &e.record;
  }
  return nullptr;
}

void position_records::damaged() { refuse(damaged_position()); }

status position_records::finish() const {
  if (!why_.ok()) return why_;
  for (const entry& e : entries_)
    if (!e.taken && (!e.record.saved.empty() || e.record.to_pass)) return damaged_position();
  return {};
}

}  // namespace sluice::lib
