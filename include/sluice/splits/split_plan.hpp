// SPDX-License-Identifier: Apache-2.0
// split_plan: a plan as parts that several workers run, and a client that combines them.
//
//   split_plan parts(list_files("data/*.tfrecord") | interleave(tfrecord) | map(parse) | shuffle(1000) | batch(64));
//   parts.client_text()                                          // "shuffle(1000) | batch(64)"
//   for (const plan_split& s : co_await parts.splits(rt))         // one for each file
//     parts.plan_of(s)                   // from_tensor_slices(["data/a.tfrecord"]) | interleave(tfrecord) | map(parse)
//
// The plan is cut upstream of the first stage whose state spans splits. The part upstream of the cut is a *stream*, which
// is split; the stages downstream run in the client. A stage with several inputs that runs in the client reads one stream
// for each input. docs/splits.md has the rules of all operators.
//
// Order:  the elements of all splits of a stream, in the order of the splits, are the elements of the stream. They have
//         its order if split_stream::keeps_order, otherwise another one (interleave mixes the files of one split only).
//         The client yields what the whole plan yields if it reads the splits in this order. In another order, its stages
//         receive the same elements, and each split's elements in the split's order.
// Draws:  if split_stream::is_exact, all elements are those of the plan in a run with the same seed and epoch. Otherwise
//         stages draw by split: plan_split::seed and plan_split::epoch decide, so each run of a split yields the same
//         elements, and no two splits draw alike.
// Units:  numbers of elements and bytes; a split's `items` are names, or numbers, which a stage opens.
// Errors: the constructor throws failed_precondition: the plan cannot be split, or a part of it cannot be sent to another
//         process; the message names the stage, the reason, and the remedy. invalid_argument: contradicting options, or a
//         plan that lacks its path. splits() throws the errors of listing files, resource_exhausted: more than kItemsMax
//         items, or kSplitsMax splits. plan_of() throws invalid_argument for a split of another plan.
// Thread: immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/coro/task.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/split_rule.hpp"

namespace sluice::lib {

class runtime;
struct split_layout;  // src/splits/layout.hpp

/// The most items of one list that splits() reads.
inline constexpr std::uint64_t kItemsMax = 1'000'000;
/// The most splits of one round.
inline constexpr std::uint64_t kSplitsMax = 1'000'000;

/// "exactly_once", "at_most_once", "at_least_once".
std::string_view to_string(visitation v);
/// The visitation with this name; exactly_once for an unknown one.
visitation visitation_named(std::string_view name);

struct split_options {
  // At most one of these three. None: one split for each file, or 16 for a plan that is split by numbers.
  std::uint64_t splits = 0;          ///< about this number of splits in a round
  std::uint64_t split_bytes = 0;     ///< about this number of bytes of files in each split
  std::uint64_t split_elements = 0;  ///< this number of elements, or of items, in each split
  lib::visitation visitation = visitation::exactly_once;
  std::uint64_t seed = 0;   ///< of the run whose elements the splits yield
  std::uint64_t epoch = 0;  ///< the same
  /// Workers are other processes: their plans must have a text form. False: workers run in this process.
  bool must_travel = true;
};

/// One split: a small value, which can be stored and sent as JSON.
struct plan_split {
  std::uint32_t stream = 0;
  std::uint32_t part = 0;    ///< the source within the stream
  std::uint64_t round = 0;   ///< the epoch of a repeat; for a stream without an end, the number of the split
  std::uint64_t number = 0;  ///< counts the splits of a round
  std::uint64_t first = 0;   ///< elements before the split, in the part or in its item
  std::optional<std::uint64_t> elements = {};  ///< nullopt: all that follow
  std::vector<std::string> items = {};         ///< as plan text: "data/a.tfrecord" in quotes, or a number
  std::uint64_t seed = 0, epoch = 0;           ///< for the run of the split's plan: iterate_options

  std::string json() const;
  /// Errors: throws invalid_argument.
  static plan_split from_json(std::string_view text);
  bool operator==(const plan_split&) const = default;
};

/// A part of the plan that is split.
struct split_stream {
  std::string text;  ///< the plan whose elements its splits yield
  /// 1, unless the part repeats, a repeat of the client opens it again, or it has no end.
  cardinality rounds;
  /// A repeat that runs in the client opens the stream once for each epoch. Each opening reads the next rounds of this
  /// number.
  cardinality rounds_each;
  bool keeps_order = true;  ///< see Order
  bool is_exact = true;     ///< see Draws
  bool draws = false;       ///< a split's plan must run with the seed and the epoch of the split
};

/// A stage that runs in the client.
struct client_stage {
  std::string text;  ///< "shuffle(1000)"
  std::string why;   ///< why no worker runs it; empty: a stage upstream runs in the client
  node_ptr stage;    ///< in the plan as written
};

class split_plan {
 public:
  explicit split_plan(node_ptr plan, const split_options& o = {});
  explicit split_plan(const plan_holder& dataset, const split_options& o = {});

  const node_ptr& plan() const;
  const std::vector<split_stream>& streams() const;

  /// The splits of one round of a stream, in order. Reads the lists of files that the plan names, and the sizes of the files
  /// for `split_bytes`. REQUIRES: rt outlives the task.
  task<std::vector<plan_split>> splits(runtime& rt, std::uint32_t stream = 0, std::uint64_t round = 0) const;
  /// The plan that yields the elements of the split. Its elements have the type of the stream's.
  node_ptr plan_of(const plan_split& s) const;

  /// The plan of the client over its streams: plans that yield the streams' elements. REQUIRES: one for each stream, of
  /// its type.
  node_ptr client_plan(const std::vector<node_ptr>& streams) const;
  /// The type of a stream's elements.
  const element_type& type_of_stream(std::uint32_t stream) const;
  /// "shuffle(1000) | batch(64)"; empty if the client only reads its stream. One of several streams is "splits(0)".
  std::string client_text() const;
  /// The stages of the client, upstream ones first.
  const std::vector<client_stage>& client_stages() const;

 private:
  std::shared_ptr<const split_layout> layout_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::plan_split;
using lib::split_options;
using lib::split_plan;
using lib::visitation;

}  // namespace sluice
