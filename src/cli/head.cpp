// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_argument.hpp"
#include "cli/verbs.hpp"

namespace sluice::cli {

int head(const std::string& plan_or_file, std::uint64_t elements) {
  run_arguments a;
  a.plan = is_file(plan_or_file) ? plan_reading(plan_or_file) : plan_or_file;
  a.output = "jsonl";
  a.limit = elements;
  a.quiet = true;
  return run(a);
}

}  // namespace sluice::cli
