// SPDX-License-Identifier: Apache-2.0
// Where a run's elements go: nowhere, to standard output as JSON lines, into a TFRecord file.
#pragma once

#include <memory>
#include <string>

#include "sluice/coro/erased_stream.hpp"

namespace sluice::cli {

class element_sink {
 public:
  virtual ~element_sink() = default;
  /// Errors: unavailable with `closed()`: the reader of our output went away. Else the file's.
  virtual status take(const block& elements) = 0;
  virtual status finish() { return {}; }
  /// How many elements of this type to ask for at once.
  virtual std::uint32_t wanted(const element_type&) const { return 256; }
  /// Nobody reads any more: no error, but the end.
  bool closed() const { return closed_; }

 protected:
  bool closed_ = false;
};

/// One that prints: what it hands over stands there before take() returns, so that a slow pipeline's reader waits for
/// nothing.
class stdout_sink : public element_sink {
 protected:
  /// All of `text`; it is empty afterwards. Errors: unavailable-like, with closed(), where nobody reads any more.
  status write_out(std::string& text);
};

/// `output`: "null", "jsonl" or "tfrecord:PATH". `append`: go on with the file of an earlier run, which stays as it is
/// until finish().
/// Errors: misuse: none of these, or elements of this type cannot go there; `error`: the file cannot be made.
std::unique_ptr<element_sink> open_sink(const std::string& output, const element_type& type, bool append);
/// PATH of "tfrecord:PATH", else empty.
std::string sink_path(const std::string& output);
/// Throws misuse unless open_sink would take these.
void check_sink(const std::string& output, const element_type& type);

}  // namespace sluice::cli
