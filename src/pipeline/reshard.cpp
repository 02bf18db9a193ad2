// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/reshard.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "op/shard/shard_rest.hpp"
#include "pipeline/order/delivered_order.hpp"
#include "pipeline/position_parts.hpp"
#include "pipeline/seal.hpp"
#include "sluice/op/batch.hpp"
#include "sluice/op/shard.hpp"
#include "sluice/plan/rewrite.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

constexpr std::int64_t kConsumersMax = std::int64_t{1} << 16;

[[noreturn]] void refuse_reshard(std::string why) {
  throw_status(failed_precondition_error("reshard: " + std::move(why)));
}
[[noreturn]] void misuse_of_reshard(std::string why) {
  throw_status(invalid_argument_error("reshard: " + std::move(why)));
}

/// The stages of the plan from its end to the shard.
struct sharded_plan {
  std::vector<const node*> downstream;  ///< of the shard, from the end
  const node* shard = nullptr;
};

sharded_plan parts_of(const node_ptr& plan) {
  if (!plan) misuse_of_reshard("there is no plan");
  sharded_plan found;
  std::size_t shards = 0;
  for (const node* n = plan.get();; n = n->inputs[0].get()) {
    if (n->op == &shard_op && ++shards == 1) found.shard = n;
    if (!found.shard) found.downstream.push_back(n);
    if (n->op->shape != op_info::stage) break;
  }
  if (shards != 1)
    misuse_of_reshard(shards == 0 ? "the plan has no shard(n, i) among the stages at its end"
                                  : "the plan has several shards; only one of them can be the consumers'");
  return found;
}

/// How the elements that a stage downstream of the shard has yet to skip lead to elements of its input.
enum class division { each, filter, batch };

division division_of(const node& n) {
  if (n.op == &batch_op) {
    if (!n.as<batch_arguments>().options.timeout.is_given()) return division::batch;
    refuse_reshard(absl::StrCat(stage_text(n), " ends batches by time, so the elements in them are not known"));
  }
  const stage_facts f = facts_of(n);
  const bool is_one = f.outputs == output_count::one_per_input || f.outputs == output_count::at_most_one_per_input;
  const split_rule rule = n.op->splits.rule;
  if (!is_one || (rule != split_rule::each_element && rule != split_rule::settings) || n.op->facts.freezes_epochs)
    refuse_reshard(absl::StrCat(stage_text(n),
                                " has elements or a state of its own, which cannot be divided among other consumers; "
                                "put it upstream of the shard"));
  if (f.draws || f.uses_place)
    refuse_reshard(absl::StrCat(stage_text(n),
                                " depends on the numbers of the consumer's elements, which other consumers "
                                "count otherwise; put it upstream of the shard"));
  return f.outputs == output_count::one_per_input ? division::each : division::filter;
}

/// One consumer's checkpoint.
struct consumer_position {
  sealed_position sealed;
  std::vector<position_part> upstream;  ///< the records of the stages upstream of the shard
  shard_rest rest;
  std::uint64_t delivered = 0;  ///< elements of the shard
  order_fingerprint order;
};

/// Returns the number of elements of the shard that were delivered, and takes the records of the shard and of the stages
/// downstream of it from `parts`. `ahead`: elements that the stage below must make again and skip.
std::uint64_t delivered_by(const sharded_plan& plan, std::vector<position_part>& parts, shard_rest& rest,
                           std::uint64_t ahead, bool drops_elements) {
  const auto take = [&parts](const node& n) -> std::optional<position_part> {
    if (parts.empty() || parts.front().record.site != n.site) return {};
    position_part first = std::move(parts.front());
    parts.erase(parts.begin());
    return first;
  };
  for (const node* n : plan.downstream) {
    division how = division_of(*n);
    if (how == division::each && drops_elements && facts_of(*n).may_fail) how = division::filter;
    if (const auto part = take(*n)) ahead += part->record.to_pass;
    if (ahead == 0 || how == division::each) continue;
    if (how == division::filter)
      refuse_reshard(
          absl::StrCat("in one checkpoint ", ahead, " elements after ", stage_text(*n),
                       " are delivered, and which elements before it they come from is not recorded; save the "
                       "checkpoints of a plan whose stages after the shard do not work ahead, or put the "
                       "stage upstream of the shard"));
    ahead *= static_cast<std::uint64_t>(n->as<batch_arguments>().size.value);
  }
  const auto own = take(*plan.shard);
  if (own) {
    position_reader saved(own->record.saved, own->record.version);
    rest.load(saved);
    if (!saved.ok() || !saved.done()) throw_status(damaged_position());
    return own->record.ordinal + ahead;
  }
  // shard(1, 0) of an earlier version: its elements are those of its input.
  if (plan.shard->as<shard_arguments>().shards != 1 || parts.empty()) throw_status(damaged_position());
  return parts.front().record.ordinal + ahead;
}

bool same_rest(const shard_rest& a, const shard_rest& b) {
  position_writer one, other;
  a.save(one);
  b.save(other);
  return one.bytes() == other.bytes();
}

std::vector<consumer_position> positions_of(const node_ptr& plan, const sharded_plan& parts,
                                            const std::vector<checkpoint>& from) {
  const std::int64_t shards = parts.shard->as<shard_arguments>().shards.value;
  if (shards > kConsumersMax) misuse_of_reshard("there are more than 65,536 consumers");
  std::map<std::uint64_t, std::int64_t> index_of;  // by fingerprint
  for (std::int64_t i = 0; i != shards; ++i) index_of[fingerprint(*with_shard(plan, shards, i))] = i;
  std::vector<std::optional<consumer_position>> found(static_cast<std::size_t>(shards));
  const std::vector<function_identity> functions = identities_of(*plan);
  for (const checkpoint& at : from) {
    const auto index = index_of.find(fingerprint_of_sealed(at.bytes));
    if (index == index_of.end())
      misuse_of_reshard(absl::StrCat("a checkpoint is not of this plan with shard(", shards, ", i), for any i"));
    auto& to = found[static_cast<std::size_t>(index->second)];
    if (to) misuse_of_reshard(absl::StrCat("two checkpoints are of shard(", shards, ", ", index->second, ")"));
    to.emplace();
    to->sealed = unseal_position(at.bytes, index->first, functions, error_policy::skip);
    to->upstream = parts_of_position(to->sealed.position);
    std::uint64_t ahead = 0;
    if (!to->sealed.order.empty()) {  // the stage that counts stands at the end
      if (to->upstream.empty() || !read_order(to->sealed.order, to->order)) throw_status(damaged_position());
      ahead = to->upstream.front().record.to_pass;
      to->upstream.erase(to->upstream.begin());
    }
    to->delivered = delivered_by(parts, to->upstream, to->rest, ahead, to->sealed.on_error != error_policy::stop);
  }
  std::vector<consumer_position> all;
  for (std::int64_t i = 0; i != shards; ++i) {
    auto& one = found[static_cast<std::size_t>(i)];
    if (!one) misuse_of_reshard(absl::StrCat("the checkpoint of shard(", shards, ", ", i, ") is missing"));
    const sealed_position &a = all.empty() ? one->sealed : all[0].sealed, &b = one->sealed;
    if (a.seed != b.seed || a.epoch != b.epoch || a.on_error != b.on_error)
      refuse_reshard(
          "the checkpoints are of runs with different seeds, epochs or error policies, so they have no common rest; "
          "give all consumers one seed (--seed, iterate_options::seed)");
    if (!all.empty() && !same_rest(all[0].rest, one->rest))
      refuse_reshard("the checkpoints were made after different changes of the number of consumers");
    all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace

node_ptr with_shard(const node_ptr& plan, std::int64_t shards, std::int64_t index) {
  const node* old = parts_of(plan).shard;
  return rewrite(plan, [=](const node_ptr& n) {
    if (n->site != old->site || n->op != &shard_op || n->depth != old->depth) return n;
    node changed = *n;
    changed.arguments = arguments::of(shard_arguments{shards, index});
    return make_node(std::move(changed));
  });
}

std::vector<checkpoint> reshard(runtime& rt, const node_ptr& plan, const std::vector<checkpoint>& from,
                                std::int64_t shards, reshard_options o) {
  const sharded_plan parts = parts_of(plan);
  if (shards < 1 || shards > kConsumersMax) misuse_of_reshard("the number of consumers must be 1 to 65,536");
  const std::vector<consumer_position> old = positions_of(plan, parts, from);
  delivered_shards layer{old.size(), {}};
  for (const consumer_position& p : old) layer.delivered.push_back(p.delivered);
  if (o.global_order && !layer.is_prefix()) {
    std::string counts;
    for (std::uint64_t n : layer.delivered) absl::StrAppend(&counts, counts.empty() ? "" : ", ", n);
    refuse_reshard(
        absl::StrCat("the consumers have delivered ", counts,
                     " elements, which are not the first ones of the common order; save the checkpoints after "
                     "the same step of all consumers, or leave out the global order"));
  }
  shard_rest rest = old[0].rest;
  if (status why = rest.add(layer); !why.ok()) refuse_reshard(std::string(why.message()));
  // The stages upstream continue from the place of the consumer that was the least far.
  const consumer_position* first = &old[0];
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i != old.size(); ++i) {
    const std::uint64_t next = old[i].delivered * old.size() + i;
    if (next < least) least = next, first = &old[i];
  }
  std::vector<order_fingerprint> counted;
  for (const consumer_position& p : old) counted.push_back(p.order);
  const order_fingerprint together = union_of(counted);
  std::vector<checkpoint> made;
  for (std::int64_t i = 0; i != shards; ++i) {
    const node_ptr own = with_shard(plan, shards, i);
    iterate_options start;
    start.seed = first->sealed.seed;
    start.epoch = first->sealed.epoch;
    start.on_error = first->sealed.on_error;
    const std::uint64_t print = fingerprint(*own);
    sealed_position sealed =
        unseal_position(open_run(rt, own, start).position().bytes, print, identities_of(*own), first->sealed.on_error);
    std::vector<position_part> records = parts_of_position(sealed.position);
    const auto at = std::ranges::find(records, parts.shard->site, [](const position_part& p) { return p.record.site; });
    std::string bytes;
    if (together.is_counted) {  // the sums of all go to the first consumer, so that those of the new ones add up
      append_record({.site = order_site(*own), .version = 0, .ordinal = 0, .to_pass = 0, .saved = std::string(1, '\0')},
                    bytes);
      order_fingerprint others{.is_counted = true, .is_across_counted = together.is_across_counted};
      sealed.order = written_order(i == 0 ? together : others);
    }
    for (auto p = records.begin(); p != at; ++p) bytes += p->bytes;
    position_writer saved;
    rest.save(saved);
    append_record({.site = parts.shard->site, .version = 0, .ordinal = 0, .to_pass = 0, .saved = saved.bytes()}, bytes);
    for (const position_part& p : first->upstream) bytes += p.bytes;
    sealed.position = std::move(bytes);
    sealed.inputs = first->sealed.inputs;
    made.push_back({seal_position(sealed)});
  }
  return made;
}

}  // namespace sluice::lib
