// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_tensor_slices.hpp"

#include "engine/element_specs.hpp"
#include "engine/open_context.hpp"
#include "engine/tensor_literal.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream slices_loop(outlet out, saved<std::uint64_t> at, function_ptr function) {
  auto& data = static_cast<const tensor_data&>(*function);
  const std::uint64_t total = data.slices();
  block_fit fit(out.type());
  while (*at < total) {
    *at += out.pass(total - *at);
    std::uint32_t n = fit.at_most(out.wanted_of(total - *at));
    if (n == 0) break;
    data.make_slices(*at, n, out.room(n));
    *at += n;
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
}

erased_stream open_slices(const node& n, open_context&) {
  outlet out(*n.type);
  saved<std::uint64_t> at;
  return slices_loop(out, std::move(at), n.as<from_tensor_slices_arguments>().tensors.value);
}

const tensor_data& sliced(const node& n) { return n.as<from_tensor_slices_arguments>().tensors.data(); }

}  // namespace

const op_info from_tensor_slices_op{
    .name = "from_tensor_slices",
    .doc = "the slices of tensors along their first dimension",
    .shape = op_info::source,
    .arguments = arguments_of<from_tensor_slices_arguments>,
    .type = [](const node& n, std::string& why) { return sliced(n).slice_type(why); },
    .open = open_slices,
    .size = [](const node& n) { return cardinality::of_many(sliced(n).slices()); },
    .seeks = seeks_with_inputs,
    .spec =
        [](const node& n) {
          if (sliced(n).slices() == 0) return spec_of(*n.type);
          return spec_of_made(*n.type, [&](void* to) { sliced(n).make_slices(0, 1, to); });
        },
};

}  // namespace sluice::lib
