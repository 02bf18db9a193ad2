// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/files.hpp"

#include <utility>

#include "io/paths/file_router.hpp"
#include "sluice/io/open_file_system.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib {
namespace {

result<std::unique_ptr<file_system>> open_local(runtime& rt) {
  if (simulation* world = rt.world())
    return std::unique_ptr<file_system>(std::make_unique<simulated_file_system>(*world));
  io_options options;
  if (!rt.options().io.empty()) {
    auto backend = parse_io_backend(rt.options().io);
    if (!backend.ok()) return backend.why();
    options.backend = *backend;
  }
  options.threads_max = rt.options().blocking_threads_max;
  return open_file_system(options);
}

/// Connects files to the runtime, an earlier layer that holds and names back ends without knowing files.
class file_service final : public io_service {
 public:
  explicit file_service(runtime& rt) : files_([&rt] { return open_local(rt); }) {}
  std::string description() const override { return files_.description(); }
  detail::file_router& files() { return files_; }

 private:
  detail::file_router files_;
};

std::unique_ptr<io_service> make_file_service(runtime& rt) { return std::make_unique<file_service>(rt); }

detail::file_router& router_of(runtime& rt) { return static_cast<file_service&>(rt.io(make_file_service)).files(); }

}  // namespace

file_system& files_of(runtime& rt) { return router_of(rt); }
conditional_files& conditional_files_of(runtime& rt) { return router_of(rt); }

time_point io_deadline(runtime& rt) {
  const duration timeout = rt.options().io_timeout;
  return timeout.count() > 0 ? rt.time().now() + timeout : kNever;
}

void set_files(runtime& rt, std::unique_ptr<file_system> files) { router_of(rt).set_local(std::move(files)); }

void add_files(runtime& rt, std::string scheme, std::unique_ptr<file_system> files) {
  status added = router_of(rt).add(std::move(scheme), std::move(files));
  if (!added.ok()) throw_status(added);
}

}  // namespace sluice::lib
