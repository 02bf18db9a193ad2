// SPDX-License-Identifier: Apache-2.0
// What becomes of a run's elements: nothing, or bytes in one of four formats, in a file or on standard output.
#pragma once

#include <memory>
#include <string>

#include "cli/byte_output.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib::cli {

class element_sink {
 public:
  virtual ~element_sink() = default;
  /// Errors: those of byte_output::write.
  virtual status take(const block& elements) = 0;
  /// After an error of take(): how many elements of that block are written whole all the same. kUnknown: the output is of
  /// use only up to its last commit().
  static constexpr std::uint32_t kUnknown = ~0u;
  virtual std::uint32_t taken() const { return kUnknown; }
  /// Everything taken so far is durable. `place`: where it ends, for a checkpoint.
  virtual status commit(output_place&) { return {}; }
  /// As byte_output's.
  virtual void keep() {}
  virtual status finish() { return {}; }
  /// How many elements of this type to ask for at once.
  virtual std::uint32_t wanted(const element_type&) const { return 256; }
  /// Nobody reads any more: no error, but the end.
  virtual bool closed() const { return false; }
};

/// What `--output` says: "null", "jsonl", "raw" (standard output), "jsonl:PATH", "raw:PATH", "tfrecord:PATH",
/// "arrow:PATH", "arrow-binary:PATH". The path "-" is standard output, "./-" a file of that name.
/// A path of a descriptor is not opened: that would begin the file behind it anew, or replace it.
struct output_choice {
  enum class format : std::uint8_t { null, jsonl, raw, tfrecord, arrow, arrow_binary };
  format as = format::null;
  std::string path;  ///< empty: standard output
  /// What is written to as it stands: standard output, or the open file that a path such as /dev/stdout, /dev/fd/3 or
  /// /proc/self/fd/3 names. -1: what the path names.
  int descriptor = -1;

  const char* name() const;
  bool is_arrow() const { return as == format::arrow || as == format::arrow_binary; }
  arrow_options texts() const;
};
/// Throws misuse: none of these, elements of this type cannot go there, or it is a descriptor that was not given to the program.
output_choice read_output(const std::string& text, const element_type& type);

struct sink_options {
  bool goes_on = false;  ///< with what a checkpoint's run wrote, which ended at …
  output_place from = {};
  int stop_fd = -1;  ///< readable once the run is to end: see output_stream
};
/// `cut_bytes`: how much of what stood there was written after the checkpoint, and is gone.
/// Throws `error`: the file cannot be made, or gone on with.
std::unique_ptr<element_sink> open_sink(const output_choice& output, const element_type& type,
                                        const sink_options& options, std::uint64_t& cut_bytes);

}  // namespace sluice::lib::cli
