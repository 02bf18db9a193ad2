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
  /// After an error of take(): how many elements of that block are written whole all the same. kUnknown: the output is of
  /// use only up to its last commit().
  static constexpr std::uint32_t kUnknown = ~0u;
  virtual std::uint32_t taken() const { return kUnknown; }
  /// Everything taken so far is durable. `place`: where it ends, for a checkpoint.
  virtual status commit(output_place&) { return {}; }
  /// The same as byte_output's.
  virtual void keep() {}
  /// `may_go_on`: a checkpoint was written, and the run did not come to its end.
  virtual status finish(bool may_go_on) {
    (void)may_go_on;
    return {};
  }
  /// Are there bytes that send() should take to where they go? (Of outputs that a task has to await.) After finish() there are
  /// until send() has ended well.
  virtual bool has_unsent() const { return false; }
  /// Not while another call is going on. Errors: those of the file system. REQUIRES: has_unsent().
  virtual task<> send();
  /// How many elements of this type to ask for at once.
  virtual std::uint32_t wanted(const element_type&) const { return 256; }
  /// Nobody reads any more: no error, but the end.
  virtual bool closed() const { return false; }
};

/// Elements go nowhere.
class null_sink final : public element_sink {
 public:
  status take(const block&) override { return {}; }
  std::uint32_t wanted(const element_type& t) const override;
};

}  // namespace sluice::lib
