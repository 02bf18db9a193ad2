// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "engine/lowering/element_specs.hpp"
#include "runners/row_run.hpp"
#include "sluice/element/spec.hpp"

namespace sluice::lib::specs_test {
namespace {

using namespace test;

task<std::string> first_unlike(any_stream s, spec promised, std::size_t elements_max) {
  std::string wrong;
  for (std::size_t n = 0; wrong.empty() && n < elements_max;) {
    auto b = co_await s.try_next_block({.elements = 7});
    if (!b.view) break;
    for (std::uint32_t i = 0; wrong.empty() && i != b.view.size(); ++i, ++n)
      if (status why = check(promised, s.type(), b.view.at(i)); !why.ok())
        wrong = "element " + std::to_string(n) + " is not as the spec says: " + why.to_string();
  }
  auto done = cleanup(std::move(s));
  co_await done;
  co_return wrong;
}

}  // namespace

TEST_CASE("elements of rows have the specs that their plans announce") {
  runtime one({.workers = 1});
  every_row([&](const row& r) -> std::string {
    if (r.is_refused()) return difference_of_refusal(r);
    node_ptr plan = plan_of(r);
    spec promised = element_spec_of(*plan);
    if (!holds(spec_of(*plan->type), promised)) return "the spec does not fit the type: " + promised.text();
    if (!r.is_of_a_run() && r.what != row_check::spec)
      return {};  // its plan may wait for a clock or for standard input
    std::size_t elements_max = r.is_of_a_run() ? most_of(r) : 30;
    return sync_wait(one, first_unlike(open_run(one, plan, {.seed = 1}), promised, elements_max));
  });
}

}  // namespace sluice::lib::specs_test
