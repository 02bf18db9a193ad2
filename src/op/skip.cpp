// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/skip.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "coro/positions/absent_stage.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/plain_stages.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The number of elements that are left out by the next request: all of them by the first, and none afterwards. So a
/// position only says whether the stage has begun, which fits a skip that also does the work of another one.
struct leading {
  std::uint64_t left = 0, all = 0;

  void save(position_writer& w) const { w.number(left ? 1 : 0); }
  void load(position_reader& r) { left = r.number() ? all : 0; }
};

erased_stream skip_loop(outlet out, saved<leading> place, erased_stream in) {
  for (;;) {
    std::uint64_t mine = place->left;
    std::uint64_t passed = mine + out.pass(demand::kAll);
    auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
    place->left = 0;
    if (!b) {
      // Only elements that the consumer asked to skip are counted, not those that skip(n) itself leaves out.
      out.unpass(std::min(passed ? in.skip_left() : 0, passed - mine));
      break;
    }
    co_yield b;
  }
}

erased_stream open_skip(const node& n, open_context& context) {
  std::int64_t elements = n.as<skip_arguments>().elements;
  outlet out(*n.type);
  if (elements < 0) return empty_stage(out);
  erased_stream in = context.open(n.inputs[0]);
  if (elements == 0) return in;
  saved<leading> place({static_cast<std::uint64_t>(elements), static_cast<std::uint64_t>(elements)});
  return skip_loop(out, std::move(place), std::move(in));
}

/// Writes the record of a skip between the stage upstream, whose first elements it leaves out, and one that does its work.
class absent_skip final : public absent_stage {
 public:
  explicit absent_skip(std::uint64_t elements) : absent_stage(false, elements) {}
  void save(position_writer& w, std::uint64_t made, std::shared_ptr<const position_writer>) override {
    w.number(made == 0 ? 1 : 0);
  }
  // Ignored: it follows from the ordinal, and the next skip has the same in its record.
  void load(position_reader& r, std::uint64_t, std::string&) override { r.number(); }
};

std::unique_ptr<absent_stage> make_absent_skip(const node& n) {
  const std::int64_t elements = n.as<skip_arguments>().elements;
  if (elements <= 0) return nullptr;
  return std::make_unique<absent_skip>(static_cast<std::uint64_t>(elements));
}

}  // namespace

const op_info skip_op{
    .name = "skip",
    .doc = "all but the first n elements; -1: none",
    .arguments = arguments_of<skip_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false},
              .size =
                  [](const node& n) {
                    std::int64_t skipped = n.as<skip_arguments>().elements;
                    return skipped < 0 ? cardinality::of(0) : cardinality_of(*n.inputs[0]).without(skipped);
                  },
              .seeks = seeks_with_inputs,
              .members = member_use::passed},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_skip, .state_version = 1, .absent = make_absent_skip},
};

preserving skip(count_or_all elements) { return {skip_op, arguments::of(skip_arguments{elements})}; }

}  // namespace sluice::lib
