// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/remote_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

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

void add_remote_files([[maybe_unused]] runtime& rt) {
#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
  http_options options;
  const char* allowed = std::getenv("SLUICE_PRIVATE_REDIRECTS");
  options.allow_private_redirects = allowed && std::string_view(allowed) == "1";
  add_http(rt, make_asio_network, std::move(options));
#if SLUICE_HAVE_STORES
  add_s3(rt, make_asio_network);
  add_gcs(rt, make_asio_network);
  add_hdfs(rt, make_asio_network);
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
