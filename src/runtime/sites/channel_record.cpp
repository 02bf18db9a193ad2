// SPDX-License-Identifier: Apache-2.0
#include "runtime/sites/channel_record.hpp"

namespace sluice::lib {

channel_record::member::member(channel_record& of, const void* channel, channel_fill (*look)(const void*))
    : record_(of), channel_(channel), look_(look) {
  absl::MutexLock lock(&record_.mutex_);
  place_ = record_.open_.size();
  record_.open_.push_back(this);
}

channel_record::member::~member() {
  absl::MutexLock lock(&record_.mutex_);
  member* last = record_.open_.back();
  record_.open_[place_] = last;
  last->place_ = place_;
  record_.open_.pop_back();
}

ledger_line_report channel_record::memory() const {
  ledger_line_report r = line_.report();
  r.stage = name_;
  return r;
}

channel_report channel_record::report() const {
  channel_report r;
  r.name = name_;
  r.is_light = costs_.is_light();
  r.bytes = line_.report().used_bytes;
  absl::MutexLock lock(&mutex_);
  r.channels = open_.size();
  for (const member* m : open_) {
    const channel_fill has = m->look_(m->channel_);
    r.blocks += has.blocks;
    r.blocks_max += has.blocks_max;
    r.elements += has.elements;
    r.elements_max += has.elements_max;
  }
  return r;
}

}  // namespace sluice::lib
