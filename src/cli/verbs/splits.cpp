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
#include "sluice/coro/sync_wait.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib::cli {
namespace {

using json = nlohmann::ordered_json;
using split_list = std::vector<plan_split>;

split_options options_of(const splits_arguments& a) {
  return {.splits = a.splits,
          .split_bytes = a.split_bytes,
          .split_elements = a.split_elements,
          .visitation = visitation_named(a.visitation),
          .seed = a.seed,
          .epoch = a.epoch};
}

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

std::string place_of(const split_plan* parts, const node_ptr& n) {
  if (!parts) return "no split";
  for (const client_stage& stage : parts->client_stages())
    if (stage.stage == n) return stage.why.empty() ? "client" : absl::StrCat("client: ", stage.why);
  return "workers";
}

}  // namespace

void print_places(const node_ptr& plan) {
  std::unique_ptr<split_plan> parts;
  std::string refused;
  try {
    parts = std::make_unique<split_plan>(plan);
  } catch (const error& e) { refused = std::string(e.why().message()); }
  const std::vector<node_ptr> chain = chain_of(plan);
  std::size_t width = 0;
  for (const node_ptr& n : chain) width = std::max(width, detail::redacted(stage_text(*n)).size());
  for (const node_ptr& n : chain)
    absl::PrintF("%s%-*s  # %s\n", n == chain.front() ? "  " : "| ", static_cast<int>(width),
                 detail::redacted(stage_text(*n)), place_of(parts.get(), n));
  if (!parts) absl::PrintF("# %s\n", detail::redacted(refused));
}

int splits(const splits_arguments& a) {
  const node_ptr plan = a.plan_file.empty() ? plan_or_reader(a.plan) : plan_in_file(a.plan_file);
  const split_plan parts(plan, options_of(a));
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  std::vector<split_list> all;
  for (std::uint32_t i = 0; i != parts.streams().size(); ++i) {
    const cardinality rounds = parts.streams()[i].rounds;
    const bool has_round = rounds.kind != cardinality::exact || a.round < static_cast<std::uint64_t>(rounds.elements);
    all.push_back(has_round ? sync_wait(rt, parts.splits(rt, i, a.round)) : split_list());
  }
  if (a.as_json) return print_json(parts, all), kOk;
  print_cut(parts);
  for (std::size_t i = 0; i != all.size(); ++i) print_stream(parts, i, a, all[i]);
  return kOk;
}

}  // namespace sluice::lib::cli
