// SPDX-License-Identifier: Apache-2.0
// The stages of a run by their sites: their counters, their error accounts, their memory, the contents of their
// channels, and their knobs, which may be changed during the run.
//
//   for (const site_report& s : report_of(stream).sites) print(s.name, s.elements, s.busy);
//   sites_of(stream)->set_knob(path, "parallelism", 8);              // pipeline/iterate.hpp
//
// node::site identifies a node within its chain; site_report::path identifies it within the run, whose inner plans have
// chains of their own. All streams of a node share one site record, including those of a repeat's epochs and of the
// inner plans that a flat_map or an interleave opens.
// Thread: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/coro/stage_counts.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

class site_record;
struct error_account;
struct stage_errors;

/// The current value of a knob, and its allowed range.
struct knob_report {
  std::string name;
  std::int64_t value = 0, least = 0, most = 0;
  bool is_free = false;  ///< the plan left it to the engine (autotune); false: the user fixed it
};

/// All channels of one name in a stage. A parallel interleave has one channel for each open inner plan. The numbers are
/// sums over the channels that work ahead now.
struct channel_report {
  std::string name;                              ///< "prefetch", "map(decode)", "interleave's inputs"
  std::size_t channels = 0;                      ///< those that work ahead now
  std::uint64_t blocks = 0, blocks_max = 0;      ///< being made, or waiting for the reader; and their limit
  std::uint64_t elements = 0, elements_max = 0;  ///< the same for elements; elements_max 0: only blocks are limited
  std::size_t bytes = 0;                         ///< charged to the memory ledger for them
  /// True: readers make these blocks themselves, because moving them costs more. Then `channels` may be 0.
  bool is_light = false;
};

/// How often and how long a stage has waited for one reason.
struct site_wait {
  std::uint64_t times = 0;
  duration took{};
};

/// Elements of similar size, and the time for them.
struct size_class_report {
  std::uint64_t bytes_max = 0;  ///< the most memory of such an element; 0: no limit
  std::uint64_t elements = 0;   ///< their number, as far as they were timed; estimated
  duration took{};              ///< the time for them
};

/// The counters of one site. Streams add theirs when they look at the clock, every half millisecond or 64 blocks, so
/// the numbers may lag behind by that much.
struct site_report {
  std::uint64_t path = 0;  ///< identifies the site within the run, and is the same in every run of the plan
  std::string name;        ///< "map(parse)"
  /// Its number among the sites of this name, in the order of site_table::report(), from 1; 0 if the name is unique.
  std::uint64_t number = 0;
  bool is_inner = false;  ///< its node belongs to an inner plan, or to an input of a combine
  /// The paths of the sites that it reads from: its inputs, and the ends of the inner plans that it has opened.
  std::vector<std::uint64_t> inputs;
  std::uint64_t elements = 0;          ///< elements delivered
  std::uint64_t passed = 0;            ///< elements skipped
  std::uint64_t blocks = 0;            ///< blocks delivered
  duration busy{};                     ///< its own computing time, without that of its inputs; estimated from samples
  std::uint64_t in_task_elements = 0;  ///< elements made by tasks beside the stage
  duration in_tasks{};                 ///< the part of it in tasks beside the stage: those of a parallel map
  duration in_flight{};                ///< the part of that in which the tasks awaited calls
  duration each{}, each_deviation{};   ///< the mean time for one element, and the standard deviation
  duration longest{};                  ///< the most time for one element, as far as blocks were timed
  std::uint64_t waits = 0;             ///< how often it waited for a channel or a file
  duration waited{};                   ///< how long these waits took
  std::uint64_t room_waits = 0;        ///< how often its pump waited because the channel or the budget was full
  duration room_waited{};              ///< how long these waits took
  /// The same by their reason: `waits_by_reason[std::size_t(wait_reason::disk)]`.
  std::array<site_wait, kWaitReasons> waits_by_reason{};
  /// Times by the memory of an element, or of the input that it was made from if that is larger; the smallest first,
  /// classes without elements left out. Elements of one block count with their mean.
  std::vector<size_class_report> by_size;
  std::uint64_t bytes = 0;                          ///< memory of its elements, estimated from samples
  double each_bytes = 0, each_bytes_deviation = 0;  ///< the mean memory of one element, and the standard deviation
  std::uint64_t largest_bytes = 0;                  ///< the most memory of one element, as far as they were measured
  std::uint64_t elements_in = 0;                    ///< elements that its inputs have delivered
  std::uint64_t bytes_in = 0;                       ///< their memory, and the bytes read from files
  std::uint64_t read_bytes = 0;                     ///< read from files, before inflating
  std::uint64_t reads = 0;                          ///< reads of files that had to wait
  duration reads_took{};          ///< the sum of their times: divided by the run's time, the mean number in flight
  std::uint64_t first_bytes = 0;  ///< files whose first byte was waited for
  duration first_byte_took{};     ///< the sum of the times from the open to the first byte
  std::uint64_t requests = 0;     ///< requests to servers that have begun to answer
  duration answered_after{};      ///< the sum of the times from these requests to the first bytes of their answers
  /// Shares of the run's time, which sum to 1: it computes; it waits for its input, a file or the pace that the plan
  /// demands; it waits until its consumer takes more. All 0 if nothing was measured.
  double busy_share = 0, input_share = 0, blocked_share = 0;
  std::vector<knob_report> knobs;  ///< the knobs that can be changed now
  std::vector<channel_report> channels;
  /// The memory that the stage itself has charged to the ledger, now and at most: a line for each purpose, and one for
  /// each name of a channel. The peaks of different lines may be of different moments.
  std::vector<ledger_line_report> memory;
};

class site_table {
 public:
  /// `ledger`: the one that its stages charge their memory to.
  explicit site_table(std::shared_ptr<memory_ledger> ledger);
  site_table(const site_table&) = delete;
  site_table& operator=(const site_table&) = delete;
  ~site_table();

  /// All sites in the order in which they were first opened: each before its inputs.
  std::vector<site_report> report() const;
  /// The number of sites, with those that have no stage yet.
  std::size_t size() const;
  /// Sets a knob to the allowed value nearest to `value`, effective from the next block on. Returns false if no stage
  /// of that site was opened yet, or if it has no knob of that name.
  bool set_knob(std::uint64_t path, std::string_view name, std::int64_t value);

  // For the engine (src/runtime/sites/site_record.hpp) and the run.
  /// The record of a site; null if it does not exist yet.
  site_record* find(std::uint64_t path) const;
  /// The record of a site; made with this name if it does not exist.
  site_record& add(std::uint64_t path, std::string name, bool is_inner);
  /// The same; name_of(what) is called only if it does not exist, and must not use the table.
  site_record& find_or_add(std::uint64_t path, bool is_inner, std::string (*name_of)(const void*), const void* what);
  /// The account that counts the bad elements that the stage of `record` drops (src/runtime/sites/error_account.hpp).
  /// `around`: null, or an account whose limit applies as well. The same arguments return the same account.
  error_account* account(site_record& record, std::uint64_t errors_max, error_account* around);
  /// Returns true if any account has a limit.
  bool has_error_limits() const { return has_error_limits_.load(std::memory_order_relaxed); }
  /// The counts of the stages that have dropped an element or have a limit. REQUIRES: the caller has the run's lock.
  std::vector<stage_errors> errors() const;

 private:
  struct records;
  records* const records_;
  std::atomic<bool> has_error_limits_{
      false};  ///< relaxed: it only decides how many consecutive errors keep their own status
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::knob_report;
using lib::site_report;
using lib::site_table;
using lib::size_class_report;
using lib::wait_reason;

}  // namespace sluice
