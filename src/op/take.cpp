// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/take.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "coro/positions/absent_stage.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream take_loop(outlet out, saved<std::uint64_t> left, erased_stream in) {
  while (*left) {
    // a request always asks for one element, because only then the count is known
    std::uint64_t passed = out.pass(*left - 1);
    auto b = co_await in.next_block({passed, out.wanted_of(*left - passed), out.wanted_bytes()});
    if (!b) {
      if (passed) out.unpass(in.skip_left());
      break;
    }
    *left -= passed + b.size();
    co_yield b;
  }
}

erased_stream open_take(const node& n, open_context& context) {
  erased_stream in = context.open(n.inputs[0]);
  std::int64_t elements = n.as<take_arguments>().elements;
  if (elements < 0) return in;
  outlet out(*n.type);
  saved<std::uint64_t> left(static_cast<std::uint64_t>(elements));
  return take_loop(out, std::move(left), std::move(in));
}

/// Its record states how many elements are left, which follows from the number of those made.
class absent_take final : public absent_stage {
 public:
  explicit absent_take(std::int64_t elements) : absent_stage(false), elements_(static_cast<std::uint64_t>(elements)) {}
  void save(position_writer& w, std::uint64_t made, std::shared_ptr<const position_writer>) override {
    w.number(elements_ - std::min(made, elements_));
  }
  // Ignored: it follows from the ordinal, and the rule that removes a take knows that another one ends the stream.
  void load(position_reader& r, std::uint64_t, std::string&) override { r.number(); }

 private:
  const std::uint64_t elements_;
};

std::unique_ptr<absent_stage> make_absent_take(const node& n) {
  const std::int64_t elements = n.as<take_arguments>().elements;
  return elements < 0 ? nullptr : std::make_unique<absent_take>(elements);
}

}  // namespace

const op_info take_op{
    .name = "take",
    .doc = "the first n elements; -1: all",
    .arguments = arguments_of<take_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false},
              .size =
                  [](const node& n) {
                    cardinality in = cardinality_of(*n.inputs[0]);
                    std::int64_t most = n.as<take_arguments>().elements;
                    return most < 0 ? in : in.at_most(most);
                  },
              .seeks = seeks_with_inputs,
              .members = member_use::passed},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_take, .absent = make_absent_take},
};

preserving take(count_or_all elements) { return {take_op, arguments::of(take_arguments{elements})}; }

}  // namespace sluice::lib
