// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verb_options/plan_verbs.hpp"
#include "cli/verbs.hpp"
#include "engine/service/sharding_codec.hpp"
#include "service/client/sent_plan.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/op/distribute.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/splits/split_plan.hpp"
#include "splits/shards.hpp"

namespace sluice::lib::cli {
namespace {

using json = nlohmann::ordered_json;
using split_list = std::vector<plan_split>;

std::string rounds_text(cardinality rounds) {
  if (rounds.kind == cardinality::infinite) return "without end";
  return std::to_string(rounds.elements);
}

json as_json(const split_plan& parts, std::size_t stream, const split_list& splits) {
  const split_stream& s = parts.streams()[stream];
  json list = json::array();
  for (const plan_split& one : splits) {
    json split = json::parse(one.json());
    split["plan"] = plan_text(*parts.plan_of(one));
    list.push_back(std::move(split));
  }
  return {
      {"plan", s.text},   {"rounds", rounds_text(s.rounds)}, {"keeps_order", s.keeps_order}, {"is_exact", s.is_exact},
      {"draws", s.draws}, {"splits", std::move(list)}};
}

void print_json(const split_plan& parts, const std::vector<split_list>& splits) {
  json stages = json::array(), streams = json::array();
  for (const client_stage& stage : parts.client_stages()) {
    json one = {{"stage", stage.text}};
    if (!stage.why.empty()) one["why"] = stage.why;
    stages.push_back(std::move(one));
  }
  for (std::size_t i = 0; i != splits.size(); ++i) streams.push_back(as_json(parts, i, splits[i]));
  const json all = {{"plan", plan_text(*parts.plan())},
                    {"client", parts.client_text()},
                    {"client_stages", stages},
                    {"streams", streams}};
  absl::PrintF("%s\n", all.dump(2, ' ', false, json::error_handler_t::replace));
}

void print_cut(const split_plan& parts) {
  if (parts.client_stages().empty()) return absl::PrintF("# client: reads the splits\n"), void();
  absl::PrintF("# client: %s\n", detail::redacted(parts.client_text()));
  for (const client_stage& stage : parts.client_stages())
    if (!stage.why.empty()) absl::PrintF("#   %s %s\n", detail::redacted(stage.text), stage.why);
}

void print_stream(const split_plan& parts, std::size_t number, const splits_arguments& a, const split_list& splits) {
  const std::uint64_t round = a.round;
  const split_stream& s = parts.streams()[number];
  const std::string name = parts.streams().size() == 1 ? "" : absl::StrCat(" of splits(", number, ")");
  absl::PrintF("# %s%s, %s\n", counted(splits.size(), "split"), name,
               s.keeps_order ? "in the plan's order" : "in another order than the plan's");
  if (splits.size() < a.splits)
    absl::PrintF(
        "# fewer than %d: only numbers, files of records of one length, and files with index=required are divided "
        "further\n",
        a.splits);
  if (s.rounds != cardinality::of(1)) absl::PrintF("# round %d of rounds %s\n", round, rounds_text(s.rounds));
  if (!s.is_exact) absl::PrintF("# random draws, or groups, are those of each split\n");
  for (const plan_split& one : splits) {
    absl::PrintF("%s", plan_text(*parts.plan_of(one)));
    if (s.draws) absl::PrintF("  # --seed %d --epoch %d", one.seed, one.epoch);
    absl::PrintF("\n");
  }
}

/// Returns the stages from the source, or from a stage with several inputs, which is one line.
std::vector<node_ptr> chain_of(const node_ptr& plan) {
  std::vector<node_ptr> chain = {plan};
  while (chain.back()->op->shape == op_info::stage) chain.push_back(chain.back()->inputs[0]);
  return {chain.rbegin(), chain.rend()};
}

/// The part that a service divides: the plan upstream of the distribute that is furthest downstream; without one the whole plan.
struct divided_plan {
  node_ptr plan;
  split_options options = {};
  const node* by = nullptr;        ///< distribute; null: none
  std::vector<node_ptr> client{};  ///< distribute and the stages downstream of it, which run in the consumer
};

bool has_distribute(const node& n) {
  if (n.op == &distribute_op) return true;
  return std::ranges::any_of(n.inputs, [](const node_ptr& input) { return has_distribute(*input); });
}

divided_plan divided(const node_ptr& plan) {
  divided_plan d{.plan = plan};
  const std::vector<node_ptr> chain = chain_of(plan);
  const auto last =
      std::find_if(chain.rbegin(), chain.rend(), [](const node_ptr& n) { return n->op == &distribute_op; });
  if (last == chain.rend()) return d;
  d.by = last->get();
  d.client.assign(last.base() - 1, chain.end());
  d.plan = d.by->inputs[0];
  const distribute_options& o = d.by->as<distribute_arguments>().options;
  d.options.splits = static_cast<std::uint64_t>(o.splits);
  d.options.split_bytes = static_cast<std::uint64_t>(o.split_bytes.value);
  d.options.split_elements = static_cast<std::uint64_t>(o.split_elements);
  d.options.visitation = o.visitation;
  return d;
}

sharding mode_of(const divided_plan& d) {
  return d.by ? d.by->as<distribute_arguments>().options.mode : sharding::dynamic;
}

/// Throws the error of a run of a plan that is not cut into splits.
void check_whole(const divided_plan& d) {
  check_sends(*d.plan);
  const bool may_differ = mode_of(d) == sharding::off && d.options.visitation != visitation::exactly_once;
  if (const status why = why_not_divisible(*d.plan); !may_differ && !why.ok()) throw error(why);
}

std::string place_of(const split_plan* parts, const divided_plan& d, const node_ptr& n) {
  if (std::ranges::find(d.client, n) != d.client.end()) return "client";
  if (!d.by && has_distribute(*n)) return "client: its inputs are distributed, each by itself";
  if (!parts)
    return mode_of(d) == sharding::dynamic ? "no split"
                                           : absl::StrCat("workers, mode=", std::string(mode_name(mode_of(d))));
  for (const client_stage& stage : parts->client_stages())
    if (stage.stage == n) return stage.why.empty() ? "client" : absl::StrCat("client: ", stage.why);
  return "workers";
}

/// The options that were typed; those of distribute apply where none was.
split_options options_of(const splits_arguments& a, const divided_plan& d) {
  split_options o = d.options;
  if (a.splits != 0 || a.split_bytes != 0 || a.split_elements != 0) {
    o.splits = a.splits;
    o.split_bytes = a.split_bytes;
    o.split_elements = a.split_elements;
  }
  if (const visitation typed = visitation_named(a.visitation); typed != visitation::exactly_once) o.visitation = typed;
  o.seed = a.seed;
  o.epoch = a.epoch;
  return o;
}

/// Refuses a plan that a service does not divide into splits.
void check_divided(const divided_plan& d, const node& plan) {
  if (mode_of(d) != sharding::dynamic)
    throw misuse(absl::StrCat(detail::redacted(stage_text(*d.by)),
                              " has no splits: workers run the whole plan or fixed shards of it; "
                              "leave mode out to divide the plan into splits"));
  if (!d.by && has_distribute(plan))
    throw misuse(
        "the plan has distribute in an input of a stage, so each input has splits of its own: give the plan of one "
        "input, up to "
        "its distribute");
}

}  // namespace

void print_places(const node_ptr& plan) {
  const divided_plan d = divided(plan);
  std::unique_ptr<split_plan> parts;
  std::string refused;
  try {
    if (mode_of(d) == sharding::dynamic) parts = std::make_unique<split_plan>(d.plan, d.options);
    else check_whole(d);
  } catch (const error& e) { refused = std::string(e.why().message()); }
  const std::vector<node_ptr> chain = chain_of(plan);
  std::size_t width = 0;
  for (const node_ptr& n : chain) width = std::max(width, detail::redacted(stage_text(*n)).size());
  for (const node_ptr& n : chain)
    absl::PrintF("%s%-*s  # %s\n", n == chain.front() ? "  " : "| ", static_cast<int>(width),
                 detail::redacted(stage_text(*n)), place_of(parts.get(), d, n));
  if (!refused.empty()) absl::PrintF("# %s\n", detail::redacted(refused));
}

int splits(const splits_arguments& a) {
  const node_ptr plan = a.plan_file.empty() ? plan_or_reader(a.plan) : plan_in_file(a.plan_file);
  const divided_plan d = divided(plan);
  check_divided(d, *plan);
  const split_plan parts = [&] {
    try {
      return split_plan(d.plan, options_of(a, d));
    } catch (const error& e) { throw_at_stage(e.why(), *plan, a.plan, a.plan_file); }
  }();
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  std::vector<split_list> all;
  for (std::uint32_t i = 0; i != parts.streams().size(); ++i) {
    const cardinality rounds = parts.streams()[i].rounds;
    const bool has_round = rounds.kind != cardinality::exact || a.round < static_cast<std::uint64_t>(rounds.elements);
    all.push_back(has_round ? sync_wait(rt, parts.splits(rt, i, a.round)) : split_list());
  }
  if (a.as_json) return print_json(parts, all), kOk;
  if (d.by) absl::PrintF("# of the plan upstream of %s\n", detail::redacted(stage_text(*d.by)));
  print_cut(parts);
  for (std::size_t i = 0; i != all.size(); ++i) print_stream(parts, i, a, all[i]);
  return kOk;
}

}  // namespace sluice::lib::cli
