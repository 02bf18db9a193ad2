// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/enumerate.hpp"

#include <algorithm>
#include <cstring>

#include "engine/open_context.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

erased_stream enumerate_loop(outlet out, one_to_one, erased_stream in, std::uint64_t start) {
  const element_type& type = out.type();
  const std::size_t number_at = type.members[0].offset, element_at = type.members[1].offset;
  block_fit fit(type);
  for (;;) {
    bool more = co_await in.ready({0, fit.at_most(out.wanted()), out.wanted_bytes()});
    if (!more) break;
    std::uint64_t number = start + in.consumed();
    std::uint32_t n = std::min(in.left(), out.wanted());
    char* to = out.room(n);
    in.move_to(to + element_at, n, type.size);
    for (char* at = to + number_at; at != to + number_at + n * type.size; at += type.size, ++number)
      std::memcpy(at, &number, sizeof number);
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
    .open = open_enumerate,
    .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
    .seeks = seeks_with_inputs,
};

verb<detail::numbered> enumerate(enumerate_options o) { return {enumerate_op, arguments::of(enumerate_arguments{o})}; }

}  // namespace sluice::lib
