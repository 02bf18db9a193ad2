// SPDX-License-Identifier: Apache-2.0
// The options that all verbs that read have in common: those of files, memory and threads, and those about bad
// elements.
//
//   reading_arguments reading;
//   add_reading_options(verb, reading);        // --attempts, --io, --io-timeout, --memory-budget, --workers
//   …
//   runtime rt(runtime_of(reading));
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/quarantine/quarantine_file.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/runtime/runtime.hpp"

namespace CLI {
class App;
}

namespace sluice::lib::cli {

struct reading_arguments {
  std::int64_t memory_budget_bytes = 0;  ///< 0: the runtime's own choice
  unsigned workers = 0;                  ///< 0: the number of cores
  std::string io = {};
  std::chrono::nanoseconds io_timeout{0};  ///< 0: no timeout
};

/// The treatment of bad elements.
struct error_arguments {
  bool skips = false;
  std::string quarantine = {};  ///< the file for dropped elements; empty: none
  /// The limit on elements dropped by all stages together; one more ends the run.
  std::optional<std::uint64_t> errors_max = {};
};

/// The rules that may rewrite the plan.
struct optimizer_arguments {
  bool is_off = false;
  std::vector<std::string> rules = {};  ///< "NAME=on" and "NAME=off", in the order in which they apply
  bool trusts = false;
  run_switch trust() const { return trusts ? run_switch(true) : run_switch(); }
};

void add_optimizer_options(CLI::App& verb, optimizer_arguments& to);
/// Returns the rules of a run of the program: all, including those that must be chosen, unless the command line says otherwise.
/// Errors: misuse: no rule has that name.
rule_choice rules_of(const optimizer_arguments& a);
void add_reading_options(CLI::App& verb, reading_arguments& to);
/// --attempts, which add_reading_options() has, alone.
void add_attempts_option(CLI::App& verb);
void add_error_options(CLI::App& verb, error_arguments& to);

/// Warnings go to standard error.
runtime_options runtime_of(const reading_arguments& a);

void set_errors(const error_arguments& a, iterate_options& to);
/// The locks of the files for bad elements, for the lifetime of a run.
using quarantine_locks = std::vector<quarantine_lock>;
/// Throws misuse: an option about dropped elements although none are dropped, or a quarantine that is not local; also
/// the errors of lock_quarantines.
[[nodiscard]] quarantine_locks check_errors(const node& plan, const error_arguments& a);
/// Returns "2 bad elements dropped:", the first of them, and their stages; empty if none were dropped.
std::string dropped_text(const run_report& report);
/// Prints dropped_text() on standard error.
void report_dropped(const run_report& report);

}  // namespace sluice::lib::cli
