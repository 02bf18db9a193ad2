// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/enumerate.hpp"

#include <algorithm>
#include <cstring>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// Writes numbers and elements of eight bytes as pairs of words.
void pair_words(char* to, std::uint64_t number, const char* elements, std::uint32_t n) {
  for (std::uint32_t i = 0; i != n; ++i) {
    std::uint64_t element, numbered = number + i;
    std::memcpy(&element, elements + i * sizeof element, sizeof element);
    std::memcpy(to + i * 2 * sizeof element, &numbered, sizeof numbered);
    std::memcpy(to + (i * 2 + 1) * sizeof element, &element, sizeof element);
  }
}

void number_each(erased_stream& in, char* to, std::uint32_t n, const element_type& type, std::uint64_t number) {
  in.move_to(to + type.members[1].offset, n, type.size);
  for (char* at = to + type.members[0].offset; n != 0; --n, at += type.size, ++number)
    std::memcpy(at, &number, sizeof number);
}

erased_stream enumerate_loop(outlet out, one_to_one, erased_stream in, std::uint64_t start) {
  const element_type& type = out.type();
  const element_type& element = *type.members[1].type;
  const bool is_word = element.relocatable && element.trivially_destroyed && element.size == 8 && type.size == 16 &&
                       type.members[0].offset == 0;
  block_fit fit(type);
  for (;;) {
    bool more = co_await in.ready({0, fit.at_most(out.wanted()), out.wanted_bytes()});
    if (!more) break;
    std::uint64_t number = start + in.consumed();
    std::uint32_t n = std::min(in.left(), out.wanted());
    char* to = out.room(n);
    if (is_word) {
      pair_words(to, number, in.peek().data(), n);
      in.drop(n);
    } else {
      number_each(in, to, n, type, number);
    }
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
}

erased_stream open_enumerate(const node& n, open_context& context) {
  outlet out(*n.type);
  auto start = static_cast<std::uint64_t>(n.as<enumerate_arguments>().options.start);
  return enumerate_loop(out, one_to_one(), context.open(n.inputs[0]), start);
}

}  // namespace

const op_info enumerate_op{
    .name = "enumerate",
    .doc = "each element with its number",
    .arguments = arguments_of<enumerate_arguments>,
    .type = [](const node& n, std::string&) { return pair_of(&type_of<std::int64_t>(), n.inputs[0]->type); },
    .spec =
        [](const node& n) {
          spec s = spec_of(*n.type);
          s.parts[1] = element_spec_of(*n.inputs[0]);
          return s;
        },
    .facts = {.always =
                  {.outputs = output_count::one_per_input, .keeps_order = true, .may_fail = false, .has_record = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_enumerate},
};

verb<detail::numbered> enumerate(enumerate_options o) { return {enumerate_op, arguments::of(enumerate_arguments{o})}; }

}  // namespace sluice::lib
