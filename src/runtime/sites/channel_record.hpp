// SPDX-License-Identifier: Apache-2.0
// The data that the channels of one name in a stage share: the sizes and costs that they have learned, their line of
// the ledger, and a list of those that are open.
//
// A stage may have one channel, or one for each inner plan that it has open.
// Thread: any.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sites/cost_estimate.hpp"
#include "runtime/sites/size_estimate.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

/// The contents of one channel, and its limits.
struct channel_fill {
  std::uint64_t blocks = 0, blocks_max = 0;
  std::uint64_t elements = 0, elements_max = 0;  ///< elements_max 0: only blocks are limited
};

class channel_record {
 public:
  channel_record(std::string name, own_ledger_line line) : name_(std::move(name)), line_(std::move(line)) {}
  channel_record(const channel_record&) = delete;

  const std::string& name() const { return name_; }
  size_estimate& sizes() { return sizes_; }
  cost_estimate& costs() { return costs_; }
  ledger_line& line() const { return line_.get(); }
  ledger_line_report memory() const;
  channel_report report() const;

  /// An open channel; in the list of its record as long as this object lives. `look(channel)` returns the contents of
  /// the channel. It is called on any thread, and calls nothing of the record. (A virtual function could be called
  /// while the object that has it is destroyed.)
  class member {
   public:
    member(channel_record& of, const void* channel, channel_fill (*look)(const void*));
    member(const member&) = delete;
    ~member();

   private:
    friend channel_record;
    channel_record& record_;
    const void* const channel_;
    channel_fill (*const look_)(const void*);
    std::size_t place_ = 0;  ///< in record_.open_; guarded by its mutex
  };

 private:
  const std::string name_;
  const own_ledger_line line_;
  size_estimate sizes_;
  cost_estimate costs_;
  mutable absl::Mutex mutex_;
  std::vector<member*> open_ ABSL_GUARDED_BY(mutex_);  ///< in no order
};

}  // namespace sluice::lib
