// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/open_file_system.hpp"

#include <absl/strings/str_cat.h>

#include <cstdlib>
#include <string>

#include "io/local/posix_file_system.hpp"
#include "io/threads/thread_backend.hpp"
#include "io/uring/uring_backend.hpp"

namespace sluice::lib {
namespace {

using backend_result = result<std::unique_ptr<detail::backend>>;

std::unique_ptr<detail::backend> threads(const io_options& options, std::string why = {}) {
  return std::make_unique<detail::thread_backend>(options.threads_max, std::move(why));
}

backend_result open_backend(const io_options& options) {
  if (options.backend == io_backend::threads) return threads(options);
  backend_result ring = detail::uring_backend::open(options.threads_max);
  if (ring.ok()) return ring;
  std::string why(ring.why().message());
  if (options.backend == io_backend::automatic)
    return threads(options, absl::StrCat(why, "; SLUICE_IO=threads uses threads without trying"));
  return unavailable_error(absl::StrCat(why, "; SLUICE_IO=uring requires it; SLUICE_IO=auto or threads uses threads"));
}

}  // namespace

result<io_backend> parse_io_backend(std::string_view text) {
  if (text.empty() || text == "auto") return io_backend::automatic;
  if (text == "uring") return io_backend::uring;
  if (text == "threads") return io_backend::threads;
  return invalid_argument_error(
      absl::StrCat("\"", std::string(text), "\" is no I/O back end; there are uring, threads and auto"));
}

result<std::unique_ptr<file_system>> open_file_system(io_options options) {
  if (options.backend == io_backend::automatic) {
    const char* text = std::getenv("SLUICE_IO");
    result<io_backend> chosen = parse_io_backend(text ? text : "");
    if (!chosen.ok()) return invalid_argument_error(absl::StrCat("SLUICE_IO: ", std::string(chosen.why().message())));
    options.backend = *chosen;
  }
  backend_result io = open_backend(options);
  if (!io.ok()) return io.why();
  return std::unique_ptr<file_system>(std::make_unique<detail::posix_file_system>(*std::move(io)));
}

}  // namespace sluice::lib
