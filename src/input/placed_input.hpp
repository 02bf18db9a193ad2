// SPDX-License-Identifier: Apache-2.0
// The bytes of one file after the other, read at any offset. input/byte_source.hpp reads a file from its beginning.
//
//   placed_input in(run, site, "bagz", options);
//   auto opening = in.open("a.bagz");                          // closes the file before it
//   auto reading = in.read(offset, bytes, placed_input::ahead);
//   buffer_ref to = co_await reading;
//
// Bytes in the page cache are read on the calling thread. Reads with `ahead` that must wait start reads of the ranges
// after them (input/range_reader.hpp); reads with `apart` do not disturb these.
// Errors: those of the file; failed_precondition: the file differs from the one that the checkpoint's run has read;
//         data_loss: it has become shorter; invalid_argument: a stream; resource_exhausted: the bytes do not fit into the
//         budget.
// Thread: one caller at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "input/input_memory.hpp"
#include "input/range_reader.hpp"
#include "runtime/live_knob.hpp"
#include "runtime/sites/site_record.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib {

struct placed_input_options {
  std::size_t read_bytes = std::size_t{256} << 10;  ///< the size of a range that is read ahead
  const live_knob* reads_in_flight = nullptr;       ///< null: nothing is read ahead
  std::int64_t reads_untouched = 0;                 ///< the knob's value until it is set; the file may then choose
  page_cache cache = page_cache::keep;
  std::uint64_t epoch = 0;
};

class placed_input {
 public:
  placed_input(std::shared_ptr<run_context> run, site_record& site, const std::string& stage, placed_input_options o);
  placed_input(const placed_input&) = delete;
  ~placed_input() { close(); }

  task<void> open(std::string path);
  void close();
  const std::string& path() const { return path_; }
  /// REQUIRES: a file is open.
  std::uint64_t size_bytes() const { return file_->size_bytes(); }
  enum read_place : std::uint8_t { ahead, apart };
  /// Reads exactly n bytes into a new buffer.
  task<buffer_ref> read(std::uint64_t offset, std::size_t n, read_place where);
  input_memory& memory() { return memory_; }
  const placed_input_options& options() const { return o_; }

 private:
  const std::shared_ptr<run_context> run_;
  site_record& site_;
  const placed_input_options o_;
  input_memory memory_;
  std::string path_;
  std::shared_ptr<file> file_;
  std::optional<range_reader> ranges_;  ///< while a file is open
  bool is_noted_ = false;               ///< the run's table of inputs lists the file as open
};

}  // namespace sluice::lib
