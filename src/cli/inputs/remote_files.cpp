// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/remote_files.hpp"

#include <absl/strings/str_format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/messages/exit_status.hpp"
#include "io/paths/file_router.hpp"
#include "sluice/io/files.hpp"

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
#include "sluice/io/asio_network.hpp"
#include "sluice/io/http.hpp"
#if SLUICE_HAVE_STORES
#include "sluice/io/gcs.hpp"
#include "sluice/io/hdfs.hpp"
#include "sluice/io/s3.hpp"
#endif
#endif

namespace sluice::lib::cli {
namespace {

std::uint32_t attempts_max = 0;  // written before the first runtime exists

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
/// Prints one of all retries of a second: a server that is down fails many requests alike.
void print_retry(const http_retry& next) {
  using std::chrono::steady_clock;
  static std::atomic<steady_clock::rep> printed{0};  // relaxed: no other memory depends on it
  const steady_clock::rep now = steady_clock::now().time_since_epoch().count();
  steady_clock::rep last = printed.load(std::memory_order_relaxed);
  if (last != 0 && now - last < steady_clock::duration(std::chrono::seconds(1)).count()) return;
  if (!printed.compare_exchange_strong(last, now, std::memory_order_relaxed)) return;
  if (isatty(STDERR_FILENO)) std::fputs("\r\x1b[K", stderr);  // the progress line
  print_warning(absl::StrFormat("%s: %s; attempt %d of %d follows in %.1f s", next.file,
                                std::string(next.why.message()), next.attempt, next.attempts_max,
                                std::chrono::duration<double>(next.wait).count()));
}

http_options options_of_requests() {
  http_options options;
  const char* allowed = std::getenv("SLUICE_PRIVATE_REDIRECTS");
  options.allow_private_redirects = allowed && std::string_view(allowed) == "1";
  if (attempts_max != 0) options.attempts_max = attempts_max;
  options.on_retry = print_retry;
  return options;
}
#endif

}  // namespace

void set_attempts(std::uint32_t attempts) { attempts_max = attempts; }

void add_remote_files([[maybe_unused]] runtime& rt) {
#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
  add_http(rt, make_asio_network, options_of_requests());
#if SLUICE_HAVE_STORES
  s3_options s3;
  s3.http = options_of_requests();
  add_s3(rt, make_asio_network, std::move(s3));
  gcs_options gcs;
  gcs.http = options_of_requests();
  add_gcs(rt, make_asio_network, std::move(gcs));
  hdfs_options hdfs;
  hdfs.http = options_of_requests();
  add_hdfs(rt, make_asio_network, std::move(hdfs));
#endif
#endif
}

namespace {

task<bool> look_at(runtime& rt, std::string path) {
  auto looking = files_of(rt).stat(std::move(path), io_deadline(rt));
  auto found = co_await looking.as_result();
  co_return found.ok();
}

}  // namespace

bool is_folder(const std::string& path) {
  if (detail::is_remote(path)) return path.ends_with("/");
  std::error_code unknown;
  return std::filesystem::is_directory(detail::without_file_scheme(path), unknown);
}

std::string folder_text(std::string path) {
  if (!path.ends_with("/")) path += '/';
  return path;
}

bool exists(const std::string& path, const reading_arguments& reading) {
  runtime rt(runtime_of(reading));
  add_remote_files(rt);
  return sync_wait(rt, look_at(rt, path));
}

}  // namespace sluice::lib::cli
