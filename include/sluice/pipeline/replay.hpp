// SPDX-License-Identifier: Apache-2.0
// Makes a bad element of a quarantine again: the stages run from a position shortly before it, one element after the
// other, until the element fails.
//
//   stored_failure bad = read_failure("bad.jsonl", 3);             // the entry with number 3; the first has number 0
//   replay_report seen = replay(rt, bad);                          // its plan's text, with registered functions
//   for (const replay_step& s : seen.steps) print(s.stage, s.entered, s.left, s.error);
//   replay(rt, bad, {.plan = ds.plan(), .before = &stop_here});    // a plan of C++ functions, under a debugger
//
// The failing stage receives the element alone. `before` is called when it is about to receive it: a breakpoint there is
// one step before the failing call. Rules, parallelism and prefetch of the plan are off. Files are read again, and
// nothing is written: neither outputs nor quarantines.
// Errors: thrown. From read_failure: not_found; failed_precondition: the file is no quarantine; out_of_range: no such
//         entry; data_loss: damaged. From replay: invalid_argument: a plan that this program cannot read, such as one
//         with functions that it lacks; failed_precondition: the entry has no position (its run read a stream, or an older
//         version wrote it), `plan` is another plan, or an input has changed since.
// Cost:   the elements since the last mark before the bad one, as a resume.
// Thread: blocks the caller, which must not be a worker of `rt`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/coro/checkpoint.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// An entry of a quarantine.
struct stored_failure {
  status why;                   ///< the error, with the stage, the file and the numbers of the element
  std::string bytes = {};       ///< of the element, if it has any
  bool is_whole = true;         ///< false: `bytes` are its beginning
  std::uint64_t times = 1;      ///< elements that the entry stands for
  std::string plan = {};        ///< as text, without secrets
  std::uint64_t seed = 0;       ///< of the run
  std::uint64_t delivered = 0;  ///< elements that the consumer had received before
  checkpoint position = {};     ///< of the run, before the element; empty: unknown
  std::string worker = {};      ///< of a service, that has dropped the element; empty: the process of the run has
  std::string split = {};       ///< in which `why` numbers the element, with `worker`
};
stored_failure read_failure(const std::string& path, std::uint64_t number);

/// A stage of the replay: `entered` is the element of its input, `left` the element that it made. Elements are printed as
/// JSON, and their ordinals are those of the streams.
struct replay_step {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::string stage;
  std::uint64_t entered_as = kNone;  ///< kNone: a source, or nothing is known
  std::string entered;
  std::uint64_t left_as = kNone;  ///< kNone: the stage has failed
  std::string left;
  /// The element that left is the one that entered the next stage. Otherwise it is the last one that left before.
  bool is_same = true;
  std::string error;  ///< of the failing stage
};

struct replay_options {
  node_ptr plan = {};  ///< null: read from the text of the entry
  /// Called on a worker when the failing stage is about to receive the element. A source receives none.
  void (*before)(const replay_step& entering) = nullptr;
  changed_inputs on_changed_inputs = changed_inputs::refuse;
  path_rebases rebase = {};
};

struct replay_report {
  bool has_failed = false;     ///< false: the element does not fail any more
  bool is_same_error = false;  ///< the error is that of the entry, word by word
  status why;                  ///< the error now
  /// From the source to the failing stage.
  std::vector<replay_step> steps;
};
replay_report replay(runtime& rt, const stored_failure& bad, const replay_options& o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::read_failure;
using lib::replay;
using lib::replay_options;
using lib::replay_report;
using lib::replay_step;
using lib::stored_failure;

}  // namespace sluice
