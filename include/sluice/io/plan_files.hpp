// SPDX-License-Identifier: Apache-2.0
// Remote files that are read while a plan is built: csv("https://…") without a schema reads the file's first rows then,
// before a run and its runtime exist.
//
//   plan_files known([](runtime& rt) { add_http(rt, make_asio_network); });     // as long as `known` lives
//   auto rows = parse_plan("csv(\"https://example.org/a.csv\")");
//
// Each file is read by a small runtime of its own, to which the function adds the schemes. Local files need no
// plan_files.
// Errors: errors of the plan: failed_precondition if a path has a scheme and no plan_files object exists; those of
//         opening and reading the file.
// Thread: any. If several objects exist, the newest one is used. The destructor waits for the files that are being
//         read. A plan that is built in a run waits on its worker, as it does for local files.
#pragma once

#include <chrono>
#include <functional>

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class plan_files {
 public:
  /// `io_timeout`: for each file, as in runtime_options::io_timeout.
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
