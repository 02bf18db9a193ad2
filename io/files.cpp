// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/files.hpp"

#include "sluice/io/open_file_system.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib {
namespace {

/// The runtime, left of this layer, holds and names back ends without knowing what files are.
class file_service final : public io_service {
 public:
  explicit file_service(std::unique_ptr<file_system> files) : files_(std::move(files)) {}
  std::string description() const override { return files_->description(); }
  file_system& files() { return *files_; }

 private:
  std::unique_ptr<file_system> files_;
};

std::unique_ptr<io_service> make_file_service(runtime& rt) {
  if (simulation* world = rt.world())
    return std::make_unique<file_service>(std::make_unique<simulated_file_system>(*world));
  io_options options;
  if (!rt.options().io.empty()) options.backend = parse_io_backend(rt.options().io).value();
  options.threads_max = rt.options().blocking_threads_max;
  auto opened = open_file_system(options);
  return std::make_unique<file_service>(std::move(opened).value());
}

}  // namespace

file_system& files_of(runtime& rt) { return static_cast<file_service&>(rt.io(make_file_service)).files(); }

void set_files(runtime& rt, std::unique_ptr<file_system> files) {
  rt.set_io(std::make_unique<file_service>(std::move(files)));
}

}  // namespace sluice::lib
