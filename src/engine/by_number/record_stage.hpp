// SPDX-License-Identifier: Apache-2.0
// The stage of sources whose records have numbers: bagz. A format finds the bytes of any record, several of them in
// one read. engine/files/file_stage.hpp is for formats that are read from the beginning.
//
// State:  the number of the next record in all files of the plan. A resume or a skip reads nothing before it.
// Errors: of a file that cannot be opened: under error_policy::skip its records are dropped. failed_precondition: a file
//         has another size or number of records than when the plan was built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/by_number/planned_records.hpp"
#include "engine/files/file_stage.hpp"
#include "input/placed_input.hpp"

namespace sluice::lib {

/// Consecutive records of one file that are in memory.
struct record_run {
  struct place {
    std::uint64_t offset = 0;  ///< in the file
    std::size_t begin = 0, bytes = 0;
  };
  std::uint64_t first = 0;  ///< the number in the file of the first one
  buffer_ref bytes{};
  std::vector<place> places{};
  buffer_ref beside{};     ///< never written: it charges the places, if they are many
  status why{};            ///< the error of the `lost` records after these
  std::uint64_t lost = 0;  ///< not 0 if `why` is not ok

  std::string_view at(std::size_t i) const { return {bytes->data() + places[i].begin, places[i].bytes}; }
  void clear() { *this = {}; }
};

/// The records that are wanted next.
struct record_wish {
  std::uint64_t from = 0;         ///< their number in the file
  std::uint64_t records_max = 1;  ///< as many as are left, or are asked for
  std::size_t bytes = 0;          ///< about this size; a record that is larger is read alone
  placed_input::read_place where = placed_input::ahead;
};

/// A format. A stage uses one object for all of its files.
class record_format {
 public:
  virtual ~record_format() = default;
  /// Finds the records of a file that `in` has just opened. `planned`: the file as the plan has it.
  virtual task<void> open(placed_input& in, const record_file& planned) = 0;
  /// The number of records of the file.
  virtual std::uint64_t records() const = 0;
  /// Reads records from wish.from on: at least one, or an error of one, into `to`. Errors: the file cannot be read.
  virtual task<void> read(placed_input& in, record_wish wish, record_run& to) = 0;
  /// Builds elements of up to n records of `run`, from number `i` of its places on. Returns how many; none: `why` is the
  /// error of record i. By default these are slices of the run's bytes.
  virtual std::uint32_t build(placed_input& in, const record_run& run, std::size_t i, std::uint32_t n, char* to,
                              status& why);
};

/// The initial number of concurrent reads; the file system may choose another.
template <class Arguments> placed_input_options placed_reading_with(const node& n, const open_context& context) {
  const auto& a = n.as<Arguments>();
  placed_input_options reading;
  reading.read_bytes = static_cast<std::size_t>(a.options.read_bytes.value);
  reading.cache = a.options.cache;
  reading.reads_in_flight = &context.live(n, a.options.reads_in_flight, kReadsInFlight);
  if (a.options.reads_in_flight.is_autotuned()) reading.reads_untouched = kReadsInFlight;
  reading.epoch = context.passes;
  return reading;
}

/// `planned`: null: the path is one file whose records are not known.
erased_stream open_record_stage(const node& n, open_context& context, const std::string& path,
                                placed_input_options reading, std::shared_ptr<const planned_records> planned,
                                std::unique_ptr<record_format> format);

}  // namespace sluice::lib
