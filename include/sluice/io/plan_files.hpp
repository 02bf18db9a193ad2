// SPDX-License-Identifier: Apache-2.0
// Remote files that plans are made by: csv("https://…") without a schema looks at the file's first rows when the plan is
// made, which is before a run and its runtime.
//
//   plan_files known([](runtime& rt) { add_http(rt, make_asio_network); });     // while it lives
//   auto rows = parse_plan("csv(\"https://example.org/a.csv\")");
//
// Each file is read by a small runtime of its own, to which the function adds the schemes that there are. Local files need
// no plan_files.
// Errors: of the plan: failed_precondition, where a path has a scheme and no plan_files lives; those of opening and reading
//         the file.
// Thread: any. Where several live, the one that was made last counts. The destructor waits for the files that are being read. A
//         plan that is made in a run waits on its worker, as it does for local files.
#pragma once

#include <chrono>
#include <functional>

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class plan_files {
 public:
  /// `io_timeout`: as runtime_options::io_timeout, of each file.
  explicit plan_files(std::function<void(runtime&)> add_schemes,
                      std::chrono::nanoseconds io_timeout = std::chrono::nanoseconds{0});
  ~plan_files();
  plan_files(const plan_files&) = delete;
  plan_files& operator=(const plan_files&) = delete;

 private:
  const std::function<void(runtime&)> add_schemes_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::plan_files;

}  // namespace sluice
