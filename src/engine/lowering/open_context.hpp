// SPDX-License-Identifier: Apache-2.0
// The context in which a plan is lowered to streams: the run, and where the plan stands within it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ahead/channel_memory.hpp"
#include "engine/lowering/error_gate.hpp"
#include "runtime/sites/site_record.hpp"
#include "sluice/base/result.hpp"
#include "sluice/coro/detail/input_set.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// The identity by which the stage of `n` finds its record in a position.
stage_identity identity_of(const node& n);

class element_group;  // engine/data/given_elements.hpp

/// Where a plan stands within a run: in which inputs of combines and inner plans, and in which epoch. All random draws
/// depend on it.
struct open_context {
  std::shared_ptr<run_context> run;
  std::uint64_t scope = 0;     ///< the sites of the combines (with the input's index) and inner plans around this plan
  std::uint32_t combines = 0;  ///< how many combines are around it
  std::uint64_t outers = 0;    ///< the outer elements that the inner plans around it were opened for; 0: none
  std::uint64_t passes =
      0;                    ///< the same and the epochs of the repeats around it; 0: no outer element, all first epochs
  std::uint32_t depth = 0;  ///< stages below each other of the plans that this one is opened inside of

  /// What a bad element does in stages that do not say so themselves: what the nearest ignore_errors downstream says,
  /// or the stage whose inner plan this is; else the run's options.
  error_policy on_error;
  error_account* account = nullptr;  ///< of the one that says so; null: the run
  /// The stream is to give a few elements from a place (op_info::seeks): nothing below works ahead of what it is asked for.
  bool on_demand = false;
  /// A with_options downstream says so, and decides before those upstream of it.
  bool on_error_is_given = false;
  std::optional<sluice::lib::order> order_given = {};

  /// The file that the elements are of, where a plan was opened for each of several; null: none, or it is not known.
  std::shared_ptr<const std::string> file = {};

  /// What the source of a stage_plan gives; null: this is in none.
  std::shared_ptr<element_group> given = {};

  /// In op_info::open: the record of the stage that is opened. Before: of the stage that reads it; null: the consumer
  /// of the run.
  site_record* reader = nullptr;
  /// Each stage is opened with the same node every time, so its label is that of its record. False in plans that a
  /// function builds for each element: these may differ in the names of their functions.
  bool labels_are_known = true;

  /// At the top of a run. An epoch that the user counts is that of a repeat above the whole plan.
  explicit open_context(std::shared_ptr<run_context> r) : run(std::move(r)), on_error(run->on_error) {}
  open_context(std::shared_ptr<run_context> r, const node& plan, std::uint64_t epoch);
  /// Lowers a plan: makes its tree of streams, not yet started.
  erased_stream open(const node_ptr& plan) const;
  /// The same for a consumer that wants rows in its columns. Empty: the plan's last stage makes elements.
  erased_stream open_rows(const node_ptr& plan, const std::shared_ptr<row_landing>& landing) const;
  /// The same for the whole of a chain, which goes on from a position (empty: from its start) and keeps marks.
  result<erased_stream> resume(const node_ptr& plan, std::string position) const;
  /// For the input of the repeat at `site`, in its pass number `number` (from 0).
  open_context in_epoch(std::uint32_t site, std::uint64_t number) const;
  /// For the plan that the stage at `site` opens for the element `ordinal` of its input.
  open_context in_inner_plan(std::uint32_t site, std::uint64_t ordinal) const;
  /// For one of the inputs of a combine.
  open_context in_input(const node& combine, std::size_t index) const;
  /// All inputs of a combine, opened at once.
  input_set open_inputs(const node& combine) const;
  /// Where the bad elements are kept that the stage of n drops: the file that the plan names for it, or that the run has for all.
  quarantine_sink* quarantine_of(const node& n) const;
  /// What errors do in the stage of n.
  error_gate gate(const node& n) const;
  /// What is known of the stage n of this run, however often it is opened.
  site_record& site(const node& n) const;
  /// For stages that drop bad elements because `n`, an ignore_errors downstream of them, says so.
  open_context ignoring_errors(const node& n, error_limit errors_max) const;
  /// For stages upstream of `n`, a with_options.
  open_context with_options(const node& n, const dataset_options& o) const;
  /// What order a stage delivers in that says `own`.
  sluice::lib::order order_of(sluice::lib::order own) const {
    return own == order::sloppy ? own : order_given.value_or(own);
  }
  /// For the plans that the stage of n opens for its elements: what n itself says of errors holds for them, too.
  open_context inside_of(const node& n) const;
  /// What a channel of n is charged to; channels of the same stage in sibling plans learn from each other.
  channel_memory memory_of(const node& n, std::string_view stage) const { return {run, site(n), stage}; }
  /// The live form of `k`, which is one of n's arguments. Its name and its range are that argument's (a plain `knob` may be
  /// set to 2³⁰, or to what the plan says if that is more); it starts at the argument's value, or, for autotune, at
  /// `tuned`.
  live_knob& live(const node& n, const knob& k, std::int64_t tuned) const;
  /// Where an autotuned parallelism starts: at twice the workers.
  std::int64_t tuned_parallelism() const;
  /// The seed a stage draws with here. Its own seed is used as it is, so that two plans with equal seeds draw alike;
  /// without one it draws by (run's seed, scope, site), which no other stage shares. Either is mixed with `outers` and,
  /// unless every epoch is to be the same, with the epochs.
  std::uint64_t seed_of(const node& n, std::int64_t own, bool same_each_epoch = false) const;

 private:
  /// Returns the record of `n`, as an input of the stage that reads it, and makes it the reader in `inside`.
  site_record& enter(const node& n, open_context& inside) const;
  /// Labels a stream that an operator has opened, and gives it its environment.
  void finish(const node& n, site_record& record, erased_stream& s) const;
  error_account* account_of(const node& n, error_limit errors_max, error_account* around) const;
};

}  // namespace sluice::lib
