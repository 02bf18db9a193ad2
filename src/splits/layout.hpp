// SPDX-License-Identifier: Apache-2.0
// The layout of a split plan: the cut, and the parts that each stream is split by.
//
// A stream's plan is a chain from its root to a part. A part is a source or a whole plan that is split (numbers, items,
// file, whole), or has parts of its own (rounds: the input of a repeat; sequence: the inputs of a concatenate). The stages
// between the root and the parts work on each element by itself, so they are the same in the plan of every split.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib {

struct field;  // plan/codecs/argument_codec.hpp

struct split_part {
  enum kind_type : std::uint8_t {
    numbers,   ///< ranges of the elements of `at`, which seeks
    items,     ///< the elements of `at`, a list that is read when the plan is split
    file,      ///< the file of the source `at`
    whole,     ///< all elements of the source `at`
    rounds,    ///< inputs[0], once for each epoch of the repeat `at`
    sequence,  ///< the inputs of `at`, one after another
  } kind = whole;
  node_ptr at = {};
  node_ptr opener = {};  ///< of items: the stage that opens a plan for each of them; null: none
  std::vector<split_part> inputs = {};
  bool draws = false;                  ///< `at` or a stage upstream of it draws
  bool is_beside = false;              ///< `at` is, or is upstream of, one of several inputs of a stage
  std::uint32_t leaf = 0, leaves = 1;  ///< the number of the first leaf, and the number of leaves

  bool is_leaf() const { return kind != rounds && kind != sequence; }
};

struct stream_layout {
  node_ptr root;
  split_part parts;
  /// How often the client opens the stream: the epochs of its repeats.
  cardinality openings = cardinality::of(1);
  int client_repeats = 0;
  bool keeps_order = true;
  bool draws_by_split = false;          ///< a stage between the parts and the root draws
  bool has_groups = false;              ///< a group is that of a split (at_least_once)
  std::vector<node_ptr> settings = {};  ///< stages of the client that change those upstream, upstream ones first
};

/// The client's plan: its nodes, down to its streams.
struct client_tree {
  node_ptr at;
  std::int64_t stream = -1;  ///< the number of the stream that replaces `at`; -1: none
  bool is_local = false;     ///< the client runs `at` and everything upstream of it
  std::string why = {};      ///< client_stage
  std::vector<client_tree> inputs = {};
};

struct split_layout {
  node_ptr plan;
  split_options options;
  client_tree client;
  std::vector<stream_layout> streams = {};
  std::vector<split_stream> infos = {};
  std::vector<client_stage> stages = {};
};

/// Errors: those of split_plan's constructor.
split_layout layout_of(const node_ptr& plan, const split_options& options);
/// The number of epochs of a repeat.
cardinality epochs_of(const node& repeat);
/// The number of rounds of a part: the epochs of the repeats around it, or the splits of a part without an end.
cardinality rounds_of(const split_part& p);
/// The source of one file of which ranges of elements can be splits: the part's own, or the one that its opener opens, without
/// its path. Null: none.
node_ptr ranged_source(const split_part& p);
/// The plan with skip and take directly after that source. `plan`: the source, or the opener.
node_ptr with_range_in_file(const node_ptr& plan, std::uint64_t first, std::optional<std::uint64_t> elements);
/// The elements of the plan from number `first` on.
node_ptr range_of(node_ptr plan, std::uint64_t first, std::optional<std::uint64_t> elements);
/// A source that stands for a stream in plans that do not run: "splits(0)".
node_ptr shown_stream(std::int64_t number, const element_type* type);
/// The client's plan over these streams.
node_ptr client_of(const client_tree& t, const std::vector<node_ptr>& streams);
/// The plan with copies of these stages at its end.
node_ptr with_settings(node_ptr plan, const std::vector<node_ptr>& settings);
/// The argument of a stage that chooses the order of its elements. Null: it has none.
const field* order_of_delivery(const node& n);
/// Returns true if the order of a stage's elements depends on timing.
bool is_sloppy(const node& n);
/// Returns true for a stage that opens a plan for each element.
bool opens_plans(const node& n);

/// The splits of one round of a stream.
task<std::vector<plan_split>> list_splits(runtime& rt, std::shared_ptr<const split_layout> layout, std::uint32_t stream,
                                          std::uint64_t round);

}  // namespace sluice::lib
