// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_tensors.hpp"

#include "engine/data/tensor_literal.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream from_tensors_loop(outlet out, saved<bool> done, function_ptr function) {
  auto& data = static_cast<const tensor_data&>(*function);
  if (!*done && out.pass(1) != 0) *done = true;
  if (!*done) {
    data.make_whole(out.room(1));
    *done = true;
    block made = out.made(1);
    co_yield made;
  }
}

erased_stream open_from_tensors(const node& n, open_context&) {
  outlet out(*n.type);
  saved<bool> done;
  return from_tensors_loop(out, std::move(done), n.as<from_tensors_arguments>().value.value);
}

}  // namespace

const op_info from_tensors_op{
    .name = "from_tensors",
    .doc = "one element: a tensor, or a nest of tensors",
    .shape = op_info::source,
    .arguments = arguments_of<from_tensors_arguments>,
    .type = [](const node& n, std::string&) { return n.as<from_tensors_arguments>().value.data().whole_type(); },
    .spec =
        [](const node& n) {
          auto& data = n.as<from_tensors_arguments>().value.data();
          return spec_of_made(*n.type, [&](void* to) { data.make_whole(to); });
        },
    .facts = {.always = {.may_fail = false},
              .size = [](const node&) { return cardinality::of(1); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::numbered},
    .lowering = {.open = open_from_tensors},
};

}  // namespace sluice::lib
