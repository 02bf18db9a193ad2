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

/// Returns the identity by which the stage of `n` finds its record in a position.
stage_identity identity_of(const node& n);

class element_group;  // engine/data/given_elements.hpp
class epoch_links;    // engine/inner/next_epoch.hpp
class error_watch;    // runtime/quarantine_sink.hpp

/// The context of a plan within a run: the inputs of combines, the inner plans and the epochs that it is opened in.
/// Every random draw depends on it.
struct open_context {
  std::shared_ptr<run_context> run;
  std::uint64_t scope = 0;     ///< the sites of the combines (with the input's index) and inner plans around this plan
  std::uint32_t combines = 0;  ///< the number of combines around this plan
  /// a hash of the outer elements that the inner plans around this plan were opened for; 0: no inner plan
  std::uint64_t outers = 0;
  /// `outers` combined with the epochs of the repeats around this plan; 0: no outer element, and each epoch is the
  /// first
  std::uint64_t passes = 0;
  std::uint64_t epoch_number = 0;  ///< of the repeats around this plan, as plan_split::epoch counts
  std::uint32_t depth = 0;         ///< the number of stages below each other in the plans around this inner plan

  /// The error policy of stages without one of their own. It is set by the nearest ignore_errors downstream, by the
  /// stage that opened this inner plan, or else by the run's options.
  error_policy on_error;
  error_account* account = nullptr;  ///< counts the errors under `on_error`; null: only the run counts them
  /// The stream delivers a few elements from a place (op_info::seeks), so no stage in it works ahead of its reader.
  bool on_demand = false;
  /// A with_options downstream has set `on_error`; one further upstream cannot change it.
  bool on_error_is_given = false;
  std::optional<sluice::lib::order> order_given = {};

  /// The file that contains the elements, if the plan was opened for one of several files. Null: unknown, or several
  /// files.
  std::shared_ptr<const std::string> file = {};

  /// The epoch of a repeat whose stages may prepare the next one.
  struct epoch_place {
    std::shared_ptr<epoch_links> links = {};        ///< null: no stage prepares anything
    std::optional<std::uint64_t> next_passes = {};  ///< `passes` of the next epoch; nullopt: this is the last one
  } epoch = {};

  /// The elements that the source of a stage_plan delivers. Null: this plan is not part of a stage_plan.
  std::shared_ptr<element_group> given = {};

  /// In op_lowering::open: the record of the stage that is opened. Before: the record of the stage that reads it. Null: the
  /// consumer of the run reads it.
  site_record* reader = nullptr;
  /// Each stage is opened with the same node every time, so its label is that of its record. False in plans that a
  /// function builds for each element, because the names of their functions may differ.
  bool labels_are_known = true;

  /// The context at the top of a run. An epoch that the user counts is treated as the epoch of a repeat above the whole
  /// plan.
  explicit open_context(std::shared_ptr<run_context> r) : run(std::move(r)), on_error(run->on_error) {}
  open_context(std::shared_ptr<run_context> r, const node& plan, std::uint64_t epoch);
  /// Lowers a plan to its tree of streams, which are not started.
  erased_stream open(const node_ptr& plan) const;
  /// Makes the record of `n`, whose work the stage that is opened does besides its own. What is opened next is an input of
  /// `n`.
  site_record& enter_part(const node& n);
  /// Lowers a plan for a consumer that receives rows in its columns. Returns an empty stream if the plan's last stage
  /// builds elements.
  erased_stream open_rows(const node_ptr& plan, const std::shared_ptr<row_landing>& landing) const;
  /// Lowers a whole chain that records marks, and restores its position. An empty position starts at the beginning.
  result<erased_stream> resume(const node_ptr& plan, std::string position) const;
  /// Does the same for a consumer that receives rows in its columns, if the plan's last stage supports that: otherwise
  /// `landing` becomes null.
  result<erased_stream> resume_rows(const node_ptr& plan, std::string position,
                                    std::shared_ptr<row_landing>& landing) const;
  /// Returns the context for the input of the repeat at `site`, in epoch `number` (from 0).
  open_context in_epoch(std::uint32_t site, std::uint64_t number) const;
  /// Returns this context in the next epoch, for stages that prepare it. REQUIRES: epoch.next_passes.
  open_context of_next_epoch() const {
    open_context next = *this;
    next.passes = *epoch.next_passes;
    next.epoch = {};
    return next;
  }
  /// Returns the context for the plan that the stage at `site` opens for element `ordinal` of its input.
  open_context in_inner_plan(std::uint32_t site, std::uint64_t ordinal) const;
  /// Returns the context for one of the inputs of a combine.
  open_context in_input(const node& combine, std::size_t index) const;
  /// Opens all inputs of a combine.
  input_set open_inputs(const node& combine) const;
  /// Returns the file that stores the bad elements dropped by the stage of n: the one named in the plan, or else the
  /// run's. Null: they are not stored.
  quarantine_sink* quarantine_of(const node& n) const;
  /// Returns the file at `path`. Null: the path is empty.
  quarantine_sink* quarantine_at(const std::string& path) const;
  /// Returns the object that applies the error policy of the stage of n.
  error_gate gate(const node& n) const;
  /// Returns the record of stage n in this run. All openings of the stage share it.
  site_record& site(const node& n) const;
  /// Returns the context for stages that drop bad elements because of `n`, an ignore_errors downstream of them.
  open_context ignoring_errors(const node& n, error_limit errors_max) const;
  /// Returns the context for stages upstream of `n`, a with_options.
  open_context with_options(const node& n, const dataset_options& o) const;
  /// Returns the order in which a stage delivers if its own argument is `own`.
  sluice::lib::order order_of(sluice::lib::order own) const {
    return own == order::sloppy ? own : order_given.value_or(own);
  }
  /// Returns the context for plans that the stage of n opens for its elements. n's own error policy applies to them.
  open_context inside_of(const node& n) const;
  /// Returns the account that a channel of n is charged to. Channels of the same stage in sibling plans share their
  /// estimates.
  channel_memory memory_of(const node& n, std::string_view stage) const { return {run, site(n), stage}; }
  /// Returns the live form of `k`, one of n's arguments, with that argument's name and range. A plain `knob` may be set
  /// to 2³⁰, or to the plan's value if that is larger. The live knob starts at the argument's value, or at `tuned` if
  /// it is autotuned.
  live_knob& live(const node& n, const knob& k, std::int64_t tuned) const;
  /// Returns the initial value of an autotuned parallelism: twice the number of workers.
  std::int64_t tuned_parallelism() const;
  /// Returns the seed that a stage draws with in this context. A seed argument is used unchanged, so two plans with
  /// equal seeds draw alike. Without an argument the seed is derived from (run's seed, scope, site), which no other
  /// stage shares. Both are mixed with `outers` and, unless `same_each_epoch`, with the epochs.
  std::uint64_t seed_of(const node& n, std::int64_t own, bool same_each_epoch = false) const;

 private:
  /// Returns a stream of the same elements that shows them to `watch`.
  erased_stream watched(erased_stream made, const site_record& record, error_watch& watch) const;
  /// Returns the record of `n` as an input of the stage that reads it, and makes it the reader in `inside`.
  site_record& enter(const node& n, open_context& inside) const;
  /// Makes the records of the nodes that rules have removed downstream of `n`, and the last of them the reader.
  void enter_removed(const node& n);
  /// Has the stage of `n` write the records of these nodes into positions, and report their counts.
  void add_removed(const node& n, erased_stream& s) const;
  /// Labels a stream that an operator has opened, and gives it its environment.
  void finish(const node& n, site_record& record, erased_stream& s) const;
  error_account* account_of(const node& n, error_limit errors_max, error_account* around) const;
};

}  // namespace sluice::lib
