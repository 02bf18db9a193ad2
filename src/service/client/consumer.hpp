// SPDX-License-Identifier: Apache-2.0
// consumer: what the two stages of a distributed stream share: the plan as the dispatcher knows it, the consumer's place in
// a job, and the link to the dispatcher. core/consumer_core.hpp decides when to call.
//
//   auto joining = me->join(place);                                  // registers the plan, opens the job's iteration
//   auto asking = me->next_split(ordinal);                           // nullopt: the end
//   auto reporting = me->finished(split);                            // the dispatcher stores it later
//
// Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/client/service_link.hpp"
#include "service/core/consumer_core.hpp"
#include "service/host/core_loop.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/op/distribute.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// The name under which a dispatcher knows a consumer. Part of positions, so that a resumed run is the same consumer and
/// gets the same splits.
struct membership {
  std::string job, name;
  std::uint64_t pass = 0;  ///< the iteration of the job: the number of the epoch
};

/// A split, as the first of the two stages gives it to the second.
struct assigned_split {
  std::string dataset, iteration, consumer, payload, worker;
  std::uint64_t split = 0, seed = 0, epoch = 0;

  std::string text() const;
  /// REQUIRES: the text is one.
  static assigned_split read(std::string_view text);
};

class joined_consumer;
class quarantine_sink;  // runtime/quarantine_sink.hpp

class consumer {
 public:
  /// `stream`: of the plan's streams, which draw apart. `leaves`: if the stream ends early, and nothing can continue it
  /// (no position was saved, and the consumer has no name), it returns its unfinished splits to the dispatcher.
  consumer(std::shared_ptr<run_context> run, std::shared_ptr<service_link> link, dataset_info info,
           distribute_options options, sent_rules rules, std::uint32_t stream, bool leaves);
  ~consumer();

  const std::shared_ptr<run_context>& run() const { return run_; }
  service_link& link() const { return *link_; }
  const distribute_options& options() const { return options_; }
  const dataset_info& info() const { return info_; }
  /// Returns the rules that workers apply to the plans of this run.
  const sent_rules& rules() const { return rules_; }
  /// The files for the bad elements of stages on workers, by the paths that the plan and the run name. Empty: none. Set
  /// before a stage uses the consumer.
  using quarantine_sinks = std::map<std::string, quarantine_sink*, std::less<>>;
  void set_quarantines(quarantine_sinks all) { quarantines_ = std::move(all); }
  const quarantine_sinks& quarantines() const { return quarantines_; }
  /// Distinguishes starts of this process.
  std::uint64_t incarnation() const { return incarnation_; }
  /// Returns the number of this start, open_job_reply::start. REQUIRES: joined.
  std::optional<std::uint64_t> start() const;
  /// The credit of each of the splits that are read at once.
  std::size_t credit_bytes() const;

  task<status> join(membership as);
  // REQUIRES: joined.
  task<result<std::optional<assigned_split>>> next_split(std::uint64_t ordinal);
  /// Returns false if the dispatcher has not assigned this ordinal.
  task<result<bool>> knows(std::uint64_t ordinal);
  /// All splits at lower ordinals were finished before. Before the first next_split().
  void resume_at(std::uint64_t ordinal);
  /// The split was finished before.
  void was_finished(const assigned_split& split);
  /// Reports the split. Does not wait for the dispatcher, which may be away, except after the last split: then until it
  /// has stored the reports of all splits. `is_empty`: it had no element.
  task<status> finished(assigned_split split, bool is_empty);
  /// After next_split() has returned no split: waits until the dispatcher has stored all reports.
  task<status> all_stored();
  /// For the watch over stuck splits: the stage waits for an element of the split, and does not wait any more.
  void waits(const assigned_split& split, const std::string& worker);
  void waits_no_more(const assigned_split& split);
  void delivered(const assigned_split& split, std::uint64_t offset);

 private:
  std::shared_ptr<joined_consumer> joined() const;

  const std::shared_ptr<run_context> run_;
  const std::shared_ptr<service_link> link_;
  const dataset_info info_;
  const distribute_options options_;
  const sent_rules rules_;
  quarantine_sinks quarantines_;
  const std::uint32_t stream_;
  const std::uint64_t incarnation_;
  const bool leaves_;
  mutable mutex mutex_;
  std::shared_ptr<joined_consumer> joined_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> start_ ABSL_GUARDED_BY(mutex_);
  assigned_split common_ ABSL_GUARDED_BY(mutex_);  ///< the members that all splits have in common
};

/// A number that no other process draws; in a simulation it depends on the seed.
std::uint64_t unique_number(runtime& rt);

}  // namespace sluice::lib
