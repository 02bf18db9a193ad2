// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/zip.hpp"

#include <algorithm>
#include <vector>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "sluice/coro/detail/input_set.hpp"

namespace sluice::lib {
namespace {

erased_stream zip_loop(outlet out, input_set in) {
  const element_type& type = out.type();
  for (;;) {
    std::uint64_t passed = out.pass(demand::kAll);
    request_to_all asked(in, {passed, out.wanted(), out.wanted_bytes()});
    while (erased_stream* next = asked.next()) co_await next->ready(asked.each());
    std::uint32_t n = std::min(asked.ready(), out.wanted());
    if (n == 0) {
      out.unpass(passed - asked.existed());
      break;
    }
    char* to = out.room(n);
    for (std::size_t i = 0; i != in.size(); ++i) in[i].move_to(to + type.members[i].offset, n, type.size);
    co_yield out.made(n);
  }
}

erased_stream open_zip(const node& n, open_context& context) {
  outlet out(*n.type);
  return zip_loop(out, context.open_inputs(n));
}

const element_type* zipped_type(const node& n, std::string&) {
  if (n.inputs.size() == 2) return pair_of(n.inputs[0]->type, n.inputs[1]->type);
  std::vector<const element_type*> types;
  for (const node_ptr& input : n.inputs) types.push_back(input->type);
  return tuple_of(types);
}

/// Returns the size of the shortest input; unknown if an input of unknown size might be the shortest.
cardinality zipped_size(const node& n) {
  cardinality all = cardinality::forever();
  for (const node_ptr& input : n.inputs) {
    cardinality one = cardinality_of(*input);
    if (one == cardinality::of(0)) return one;
    if (one.kind == cardinality::infinite) continue;
    if (all.kind == cardinality::infinite || one.kind == cardinality::unknown) all = one;
    else if (all.kind == cardinality::exact) all = all.at_most(one.elements);
  }
  return all;
}

}  // namespace

const op_info zip_op{
    .name = "zip",
    .doc = "one element of each input, together",
    .shape = op_info::combine,
    .type = zipped_type,
    .spec =
        [](const node& n) {
          spec s = spec_of(*n.type);
          for (std::size_t i = 0; i != n.inputs.size(); ++i) s.parts[i] = element_spec_of(*n.inputs[i]);
          return s;
        },
    .facts = {.always = {.may_fail = false}, .size = zipped_size, .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::together},
    .lowering = {.open = open_zip},
};

}  // namespace sluice::lib
