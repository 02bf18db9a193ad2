// SPDX-License-Identifier: Apache-2.0
// parse_late: parse_example before shuffle and batch runs in two steps. Where it stood, it checks each record and packs
// its members; directly before the batch, rows are built in columns.
//
//   parse_example(s) | shuffle(n) | batch(m)
//     becomes     parse_example(s, pack) | shuffle(n) | parse_example(s, unpack) | batch(m)
//
// The shuffle then holds one small text for each element, instead of a structure whose texts and lists are allocations
// of their own, and no structure is ever built. Records are checked by the same stage, with the same site, so errors,
// dropped elements, counts and the record of that stage are the same. The stages between yield elements that they do not
// look into, and draw by the numbers of elements. What builds the rows cannot fail, whatever the policy of the run, so it
// has no record.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "element/tensors/row_fit.hpp"
#include "optimizer/rule.hpp"
#include "sluice/op/parse_example.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns true for stages that yield elements of their input without looking into them.
bool looks_into_none(const node& n) {
  static constexpr std::array<std::string_view, 6> kNames = {"prefetch", "repeat", "shard", "shuffle", "skip", "take"};
  return std::ranges::find(kNames, n.op->name) != kNames.end();
}

/// The stages from a batch to the parser, which is the last.
struct chain_to_parser {
  std::vector<node_ptr> passed;  ///< the most downstream first
  node_ptr parser;               ///< null: the chain leads to something else, or has no shuffle
};

chain_to_parser chain_of(const node& batch) {
  chain_to_parser chain;
  bool is_shuffled = false;
  node_ptr at = batch.inputs[0];
  for (; looks_into_none(*at); at = at->inputs[0]) {
    is_shuffled |= at->op->name == "shuffle";
    chain.passed.push_back(at);
  }
  const bool parses = at->op->name == "parse_example" &&
                      at->as<parse_example_arguments>().packing == example_packing::none &&
                      at->as<parse_example_arguments>().built.columns.list.empty();
  if (is_shuffled && parses) chain.parser = std::move(at);
  return chain;
}

bool reads_single_records(const node& parser) { return parser.inputs[0]->type->text != nullptr; }

/// Returns the reason why rows are built before the shuffle; empty if they may be built after the batch.
std::string why_not_late(const chain_to_parser& chain, const in_force& settings) {
  const node& parser = *chain.parser;
  if (!facts_of(parser).keeps_order || settings.is_sloppy) return "it delivers in sloppy order";
  if (!parser.inputs[0]->type->make_texts) return "its records cannot be made of bytes";
  if (row_fit::stacked(*parser.type).may_refuse()) return "its tensors may not stack, and batch reports that";
  if (!can_stack(*parser.type)) return "its structures cannot be stacked";
  for (const member& m : parser.type->members)
    if (m.type->kind == kind::named || m.type->whole) return "its sparse and ragged tensors are not packed";
  if (parser.type->trivially_destroyed) return "its structures own no memory, so they are no larger than packed rows";
  return {};
}

node_ptr with_packing(const node& parser, example_packing how, std::string_view rule) {
  parse_example_arguments a = parser.as<parse_example_arguments>();
  a.packing = how;
  node copy = parser;
  copy.arguments = arguments::of(std::move(a));
  return remade(std::move(copy), rule);
}

node_ptr parsed_late(const node_ptr& batch, const chain_to_parser& chain) {
  const std::string_view rule = parse_late.info.name;
  node_ptr at = with_packing(*chain.parser, example_packing::pack, rule);
  auto on_input = [&at](const node_ptr& n) {
    node copy = *n;
    copy.inputs = {at};
    at = make_node(std::move(copy));
  };
  for (auto stage = chain.passed.rbegin(); stage != chain.passed.rend(); ++stage) on_input(*stage);
  parse_example_arguments a = chain.parser->as<parse_example_arguments>();
  a.packing = example_packing::unpack;
  a.options = {};
  node unpacks{.op = chain.parser->op,
               .arguments = arguments::of(std::move(a)),
               .errors = {.on_error = error_policy::stop},
               .inputs = {at},
               .inserted_by = rule};
  at = remade(std::move(unpacks), rule);
  on_input(batch);
  return remade(*at, rule);
}

node_ptr with_late_parsing(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "batch") return n;
  const chain_to_parser chain = chain_of(*n);
  if (!chain.parser || !reads_single_records(*chain.parser)) return n;
  const std::string why = why_not_late(chain, settings);
  if (why.empty()) return parsed_late(n, chain);
  notes.refuse(parse_late.info.name, stage_text(*chain.parser) + " builds its rows before they are shuffled: " + why);
  return n;
}

}  // namespace

const rule parse_late{
    {"parse_late", "parse_example before shuffle and batch checks records there, and builds rows at the batch"},
    with_late_parsing};

}  // namespace sluice::lib
