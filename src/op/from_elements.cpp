// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_elements.hpp"

#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream from_elements_loop(outlet out, saved<std::uint64_t> at, function_ptr function) {
  auto& elements = static_cast<const elements_function&>(*function);
  std::uint64_t total = elements.size();
  block_fit fit(out.type());
  while (*at < total) {
    *at += out.pass(total - *at);
    std::uint32_t n = fit.at_most(out.wanted_of(total - *at));
    if (n == 0) break;
    elements.copy(*at, n, out.room(n));
    *at += n;
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
}

erased_stream open_from_elements(const node& n, open_context&) {
  outlet out(*n.type);
  saved<std::uint64_t> at;
  return from_elements_loop(out, std::move(at), n.as<from_elements_arguments>().function.value);
}

}  // namespace

const op_info from_elements_op{
    .name = "from_elements",
    .doc = "elements that are in memory already",
    .shape = op_info::source,
    .arguments = arguments_of<from_elements_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<from_elements_arguments>().function.value, why); },
    .open = open_from_elements,
    .size =
        [](const node& n) {
          return cardinality::of(static_cast<std::int64_t>(
              static_cast<const elements_function&>(*n.as<from_elements_arguments>().function.value).size()));
        },
    .seeks = seeks_with_inputs,
};

}  // namespace sluice::lib
