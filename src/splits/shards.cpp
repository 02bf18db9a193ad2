// SPDX-License-Identifier: Apache-2.0
#include "splits/shards.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan_parts.hpp"
#include "sluice/coro/any_stream.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/op/shard.hpp"
#include "sluice/op/take.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/text.hpp"
#include "splits/layout.hpp"

namespace sluice::lib {
namespace {

/// Finds a stage that delivers in sloppy order, also in the plans that stages open.
class sloppy_search {
 public:
  /// `by`: a stage downstream that lets others deliver in sloppy order, or null. Returns null if all are deterministic.
  const node* find(const node& n, const node* by) {
    if (!seen_.insert({&n, by}).second) return nullptr;
    if (is_sloppy(n) || (by && order_of_delivery(n) && !n.op->facts.options)) return &n;
    if (n.op->facts.options && n.op->facts.options(n).order == order::sloppy) by = &n;
    const node* found = nullptr;
    for_each_plan(n, [&](const node_ptr& inner) {
      if (!found) found = find(*inner, by);
    });
    for (const node_ptr& input : n.inputs)
      if (!found) found = find(*input, by);
    return found;
  }

 private:
  std::set<std::pair<const node*, const node*>> seen_;
};

bool is_reader(const node& n) {
  if (n.op->shape == op_info::source)
    return n.lacks_path || n.op->splits.rule == split_rule::one_file || n.op->splits.rule == split_rule::one_split;
  return std::ranges::any_of(n.inputs, [](const node_ptr& input) { return is_reader(*input); });
}

/// Returns true for a stage that reads the files which its input names.
bool opens_files(const node& n) {
  bool found = false;
  if (n.op->shape == op_info::stage) for_each_plan(n, [&found](const node_ptr& p) { found |= is_reader(*p); });
  return found;
}

class file_sharder {
 public:
  explicit file_sharder(shard_number s) : shard_(s) {}

  node_ptr of(const node_ptr& n) {
    if (opens_files(*n)) return over_inputs(*n, {shard_of_list(n->inputs[0])});
    if (n->op->splits.rule == split_rule::listing) return shard_of_list(n);
    if (n->op->shape == op_info::source)
      refuse(absl::StrCat("the plan reads no list of files at ", stage_text(*n), ", so they cannot be divided"));
    if (n->op->splits.rule == split_rule::all_before && facts_of(*n).may_fail)
      refuse(absl::StrCat(stage_text(*n), " states the number of all elements, and each worker has a part of them: place "
                                          "it after distribute"));
    std::vector<node_ptr> inputs = n->inputs;
    const std::size_t divided = inputs.size() - std::min<std::size_t>(n->op->splits.local_inputs, inputs.size());
    for (std::size_t i = 0; i != divided; ++i) inputs[i] = of(inputs[i]);
    return over_inputs(*n, std::move(inputs));
  }
  /// The lists that were divided.
  const std::vector<node_ptr>& lists() const { return lists_; }

  [[noreturn]] static void refuse(const std::string& why) {
    throw error(failed_precondition_error(absl::StrCat(why, "; use mode=data or mode=dynamic")));
  }

 private:
  node_ptr shard_of_list(const node_ptr& list) {
    lists_.push_back(list);
    shard_arguments a;
    a.shards = static_cast<std::int64_t>(shard_.count);
    a.index = static_cast<std::int64_t>(shard_.index);
    return make_stage(shard_op, arguments::of(a), list);
  }
  /// Sites are computed again, as plan text computes them.
  static node_ptr over_inputs(const node& n, std::vector<node_ptr> inputs) {
    node copy = n;
    copy.inputs = std::move(inputs);
    copy.site = 0;
    copy.history = {};
    return make_node(std::move(copy));
  }

  const shard_number shard_;
  std::vector<node_ptr> lists_;
};

task<std::uint64_t> length_of_list(runtime* rt, node_ptr list, std::uint64_t most, iterate_options how) {
  take_arguments a;
  a.elements = static_cast<std::int64_t>(most);
  any_stream in = open_run(*rt, make_stage(take_op, arguments::of(a), std::move(list)), std::move(how));
  std::uint64_t length = 0;
  status why;
  for (;;) {
    demand d;
    d.elements = 1024;
    auto got = co_await in.try_next_block(d);
    why = std::move(got.why);
    if (!why.ok() || !got.view) break;
    length += got.view.size();
  }
  auto end = cleanup(std::move(in));
  co_await end;
  if (!why.ok()) throw_status(why);
  co_return length;
}

}  // namespace

status why_not_divisible(const node& plan) {
  const node* found = sloppy_search().find(plan, nullptr);
  if (!found) return {};
  return failed_precondition_error(
      absl::StrCat("the plan cannot be divided: ", stage_text(*found),
                   " delivers in sloppy order, which differs on each worker and after each restart; use order=deterministic"));
}

task<node_ptr> shard_of_files(runtime* rt, node_ptr plan, shard_number shard, iterate_options how) {
  file_sharder sharder(shard);
  node_ptr mine = sharder.of(plan);
  for (const node_ptr& list : sharder.lists()) {
    auto counting = length_of_list(rt, list, shard.count, how);
    const std::uint64_t files = co_await counting;
    if (files >= shard.count) continue;
    file_sharder::refuse(absl::StrCat("the plan reads ", files, files == 1 ? " file" : " files", ", and there are ",
                                      shard.count, " workers, so some would have none"));
  }
  co_return mine;
}

}  // namespace sluice::lib
