// SPDX-License-Identifier: Apache-2.0
// The places that a stage finds while it reads a file: for the run that builds an index (pipeline/index_file.hpp), or for
// the index that the stage itself writes when it has read the whole file (file_index::build).
//
//   built_index built(run, source, format);
//   status why = built.begin(wants_own);                      // the file is open at its start, and nothing was read
//   if (auto* p = built.places()) p->places().add(…);          // while elements are found
//   auto ending = built.end(elements);                        // the whole file was read
//
// Errors: a file whose index cannot be written, or exceeds the memory budget, is read all the same; the report of the run
//         has a warning.
// Charged: what was found so far, as an open file of the stage.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/by_number/element_places.hpp"
#include "engine/files/file_stage.hpp"
#include "input/byte_source.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// Writes the index beside its file, unless the file has changed since. Returns the length of the index. Errors:
/// unavailable: the file has changed; those of the file system.
task<std::uint64_t> write_index_of(runtime& rt, const element_places& places);

class built_index {
 public:
  built_index(std::shared_ptr<run_context> run, byte_source& source, const element_format& format,
              const error_gate& gate);

  /// `wants_own`: the stage writes the index. Errors: in a run that builds one: unimplemented: this file has none.
  status begin(bool wants_own);
  /// Null: no places are wanted.
  element_places* places() const { return places_; }
  /// Charges the places that were added. Errors: in a run that builds an index: resource_exhausted.
  status charge();
  /// Elements were lost, so the places would not be those of all elements.
  void abandon();
  task<void> end(std::uint64_t elements);

 private:
  std::shared_ptr<run_context> run_;
  byte_source& source_;
  const element_format& format_;
  const error_gate& gate_;
  std::optional<held_memory> memory_;    ///< while there are places
  std::shared_ptr<element_places> own_;  ///< of an index that the stage writes
  element_places* places_ = nullptr;
};

}  // namespace sluice::lib
