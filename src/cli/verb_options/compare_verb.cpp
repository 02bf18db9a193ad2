// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/compare_verb.hpp"

#include <memory>

#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {

void add_compare(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto a = std::make_shared<compare_arguments>();
  auto* own = app.add_subcommand(
      "compare",
      "find the first element in which two outputs or plans differ, by their texts; or where two runs diverge, by the "
      "order fingerprints in their reports or checkpoints");
  own->add_option("A", a->left, "a plan, a file, or a folder that --output DIR/ wrote; or a report or checkpoint")
      ->required();
  own->add_option("B", a->right, "another one")->required();
  own->add_option("--seed", a->seed, "the seed of both runs, for stages without one in the plan")
      ->check(whole(0, ~std::uint64_t{0}))
      ->capture_default_str();
  add_reading_options(*own, reading);
  own->callback([&verb, &reading, a] {
    verb = [&reading, a] {
      a->reading = reading;
      return compare(*a);
    };
  });
}

}  // namespace sluice::lib::cli
