// SPDX-License-Identifier: Apache-2.0
// Opens the inner plan for an element of an interleave's input, with a channel if the interleave is parallel.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ahead/ordered_reader.hpp"
#include "ahead/ready_signal.hpp"
#include "coro/positions/inner_position.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/reader_template.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

/// An inner stream, and the handle that starts its pump before the first request.
struct inner_stream {
  erased_stream in;
  std::shared_ptr<reader_link> ahead;  ///< null: computed on demand
};

class inner_plans {
 public:
  /// `parallelism`: each inner stream gets a channel, and at most this number work at a time. Null: inner streams have
  /// no channels and are computed on demand. `in`: the order in which the stage requests them.
  inner_plans(const node& n, const plan_or_function& inner, const open_context& context, live_knob* parallelism,
              order in = order::deterministic);
  inner_plans(inner_plans&&) = default;

  /// Opens the inner stream of the outer element that `outer` views, without starting it. `ordinal`: the element's
  /// number. The stream begins at the restored position, or at its start if that is empty. `openings` records the
  /// opening, and replays recorded ones.
  /// Thread: one call at a time.
  result<inner_stream> open(const block& outer, std::uint64_t ordinal, inner_openings& openings,
                            std::string position = {}) const;
  bool parallel() const { return permits_ != nullptr; }
  const error_gate& gate() const { return gate_; }
  const std::shared_ptr<run_context>& run() const { return context_.run; }
  /// Returns the signal that is notified when one of the inner channels has a block. REQUIRES: parallel().
  ready_signal& signal() const { return *signal_; }
  const std::shared_ptr<ready_signal>& shared_signal() const { return signal_; }

 private:
  /// A reader, prepared once.
  struct prepared_reader {
    reader_template plan;
    std::optional<bool> names_file = {};  ///< its source has one path, as its first opening has shown
  };

  node_ptr plan_for(const block& outer) const;
  /// The file that the elements of `plan` are of, if it is known. `outer`: the element that it was made for.
  std::shared_ptr<const std::string> file_for(const block& outer, const node_ptr& plan) const;

  function_ptr function_;                    ///< a user's function from element to dataset; null:
  std::unique_ptr<prepared_reader> reader_;  ///< a plan that lacks its path
  std::uint32_t site_;                       ///< of the stage
  const element_type* type_;
  open_context context_;
  error_gate gate_;
  order order_;
  site_record& record_;  ///< of the stage
  std::shared_ptr<pump_permits> permits_;
  std::shared_ptr<ready_signal> signal_;
};

}  // namespace sluice::lib
