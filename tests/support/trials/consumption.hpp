// SPDX-License-Identifier: Apache-2.0
// One run of a dataset, consumed in a prescribed way: what came, from where it could have gone on, how it ended.
//
//   consumed c = consume(ds, {.ask_max = 7, .save = true});     // in a simulation, which its seed repeats
//   consumed rest = consume(ds, {.from = c.places[3]});
//
// After the run its stream is cleaned up, and everything it had charged has to be given back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/pipeline/iterate.hpp"
#include "support/test_files.hpp"

namespace sluice::lib::test {

using int64s = std::vector<std::int64_t>;

/// How one run is consumed.
struct consumption {
  checkpoint from = {};
  std::uint64_t skip = 0;                      ///< passed over before the first
  std::size_t elements_max = ~std::size_t{0};  ///< then the stream is dropped where it stands
  std::size_t stop_after = ~std::size_t{0};    ///< elements; then the run is asked to stop
  std::uint32_t ask_max = 0;                   ///< 0: next(); else blocks of a random 1..ask_max
  bool asks_all = false;                       ///< … of ask_max each, and of no more than elements_max in all
  std::uint64_t pass_max = 0;                  ///< by blocks: a random 0..pass_max are passed over before each request
  std::uint64_t marks_every = 0;               ///< elements; 0: never
  bool save = false;
  bool turns_knobs =
      false;  ///< before some requests: a knob that the run has by then, drawn, to a drawn value, often 1
  std::shared_ptr<const test_files> files = {};  ///< that the plan reads; on a real runtime, files_on_disk() has them
  error_policy on_error = error_policy::stop;
  std::uint64_t errors_max = ~std::uint64_t{0};
  std::uint64_t seed = 1;
};

struct consumed {
  int64s elements;
  std::vector<std::uint64_t> ordinals;  ///< by blocks: which element of the run each of them is
  std::vector<checkpoint> places;  ///< places[i]: before element i; one more after the end. Empty: not to be had there
  std::vector<std::uint64_t> errors;  ///< what the run had counted when each of them came, and at the end
  status why;                         ///< of the end
  std::uint64_t knobs_turned = 0;
  std::uint64_t length = 0;  ///< the ordinal after the last request: how many elements the stream has, at its end
  std::string mistake;       ///< of the protocol
  /// What went wrong, for runs that have to end well.
  std::string complaint() const { return mistake.empty() && !why.ok() ? why.to_string() : mistake; }
};

/// The bytes that are charged on this runtime, without those of caches, which belong to datasets.
std::size_t charged_to_runs(runtime& rt);
consumed consume_on(runtime& rt, const dataset<std::int64_t>& ds, const consumption& how);
/// In a simulation of two workers.
consumed consume(const dataset<std::int64_t>& ds, const consumption& how);

}  // namespace sluice::lib::test
