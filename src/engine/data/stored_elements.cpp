// SPDX-License-Identifier: Apache-2.0
#include "engine/data/stored_elements.hpp"

#include <cstdint>
#include <utility>

#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {
namespace {

erased_stream stored_elements_loop(outlet out, saved<std::uint64_t> at, function_ptr function,
                                   [[maybe_unused]] std::shared_ptr<held_memory> memory) {
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

}  // namespace

erased_stream stored_elements(function_ptr elements, std::shared_ptr<held_memory> memory) {
  outlet out(*elements->out);
  saved<std::uint64_t> at;
  return stored_elements_loop(out, std::move(at), std::move(elements), std::move(memory));
}

}  // namespace sluice::lib
