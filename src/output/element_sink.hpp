// SPDX-License-Identifier: Apache-2.0
// The destination of a run's elements: nothing, lines on standard output, or files (file_sink).
#pragma once

#include <cstdint>

#include "output/output_place.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class element_sink {
 public:
  element_sink() = default;
  element_sink(const element_sink&) = delete;
  element_sink& operator=(const element_sink&) = delete;
  virtual ~element_sink() = default;

  /// Errors: those of byte_output::write and of element_encoder::append.
  virtual status take(const block& elements) = 0;
  /// After an error of take(): the number of elements of that block that are written completely. kUnknown: the output
  /// is usable only up to its last commit().
  static constexpr std::uint32_t kUnknown = ~0u;
  virtual std::uint32_t taken() const { return kUnknown; }
  /// Called before commit() for a checkpoint: ends a file to which nothing can be added later, so that the checkpoint
  /// need not describe it. The caller then calls send().
  virtual status end_shard() { return {}; }
  /// Makes everything taken so far durable. `place`: the end of the output, for a checkpoint.
  virtual status commit(output_place&) { return {}; }
  /// See byte_output::keep().
  virtual void keep() {}
  /// `may_go_on`: a checkpoint was written, and the run did not reach its end.
  virtual status finish(bool may_go_on) {
    (void)may_go_on;
    return {};
  }
  /// Returns true if send() has bytes to transfer. Only outputs that a task must await have such bytes. After finish()
  /// it returns true until send() has succeeded.
  virtual bool has_unsent() const { return false; }
  /// Transfers the bytes. Must not run during another call. Errors: those of the file system. REQUIRES: has_unsent().
  virtual task<> send();
  /// Returns the number of elements of this type to request at once.
  virtual std::uint32_t wanted(const element_type&) const { return 256; }
  /// Returns true if the reader is gone. That ends the run, and is not an error.
  virtual bool closed() const { return false; }
};

/// Calls end_shard(), and send() if necessary. Errors: theirs.
task<> complete_shard(element_sink& sink);

/// Discards all elements.
class null_sink final : public element_sink {
 public:
  status take(const block&) override { return {}; }
  std::uint32_t wanted(const element_type& t) const override;
};

}  // namespace sluice::lib
