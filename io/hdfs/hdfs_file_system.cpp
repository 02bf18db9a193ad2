// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hdfs_file_system.hpp"

#include "io/hdfs/hdfs_listing.hpp"
#include "io/hdfs/hdfs_upload.hpp"
#include "io/http/http_file.hpp"
#include "io/stores/store_writer.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::detail {
namespace {

/// Looks up a file. Errors: invalid_argument: a folder.
task<file_info> look_up_file(hdfs_place of, time_point deadline) {
  const std::string text = of.text;
  auto looking = look_up_hdfs(std::move(of), deadline);
  const hdfs_entry entry = co_await looking;
  if (entry.what == hdfs_entry::type::folder)
    co_await fail(invalid_argument_error("is a folder, and no file").in_file(text));
  co_return entry.info;
}

}  // namespace

hdfs_file_system::hdfs_file_system(runtime& rt, std::shared_ptr<hdfs_world> world, bool is_described)
    : world_(std::move(world)),
      is_described_(is_described),
      ledger_(rt.shared_ledger()),
      cleaning_(std::make_shared<run_context>(rt, run_options())) {}

result<hdfs_place> hdfs_file_system::place_of(const result<hdfs_path>& path) {
  if (!path.ok()) return path.why();
  auto nodes = world_->settings.nodes_of(*path);
  if (!nodes.ok()) return nodes.why();
  std::shared_ptr<http_servers> servers(world_, &world_->client);
  return hdfs_place{std::move(servers), *std::move(nodes), path->text, path->path};
}

task<std::unique_ptr<file>> hdfs_file_system::open(std::string path, open_options o) {
  auto place = place_of(parse_hdfs_path(path));
  if (!place.ok()) co_await fail(place.why());
  file_info info;
  if (o.known && o.known->has_size() && !o.known->version.empty()) {
    info = *std::move(o.known);
  } else {
    auto looking = look_up_file(*place, o.deadline);
    info = co_await looking;
  }
  http_url url = place->nodes->all().front();
  url.target = webhdfs_target({"GET", place->path, "OPEN"});
  auto service = std::make_shared<hdfs_reading>(*place);
  auto object = std::make_shared<http_object>(place->servers, path, std::move(url), std::move(service));
  object->believe({info.size_bytes, info.version});
  co_return std::make_unique<http_file>(std::move(path), std::move(info), std::move(object), nullptr, o.reading);
}

task<file_info> hdfs_file_system::stat(std::string path, time_point deadline) {
  auto place = place_of(parse_hdfs_path(std::move(path)));
  if (!place.ok()) co_await fail(place.why());
  auto looking = look_up_file(*std::move(place), deadline);
  co_return co_await looking;
}

std::unique_ptr<listing> hdfs_file_system::list(std::string pattern, list_options) {
  auto path = parse_hdfs_path(std::move(pattern));
  auto place = place_of(path);
  return std::make_unique<hdfs_listing>(std::move(place), std::move(path), cleaning_);
}

task<std::unique_ptr<file_writer>> hdfs_file_system::create(std::string text, time_point) {
  auto path = parse_hdfs_path(std::move(text));
  auto place = place_of(path);
  if (!place.ok()) co_await fail(place.why());
  if (path->path.ends_with('/'))
    co_await fail(
        invalid_argument_error("ends with a /, like a folder: a file cannot be written there").in_file(path->text));
  store_path to{path->text, path->authority, path->path};
  auto upload = std::make_shared<hdfs_upload>(*std::move(place));
  co_return std::make_unique<store_writer>(std::move(upload), std::move(to), ledger_, cleaning_);
}

}  // namespace sluice::lib::detail

namespace sluice::lib {

void add_hdfs(runtime& rt, network_maker connect, hdfs_options options) {
  status why = detail::check_hdfs_options(options);
  if (why.ok()) why = detail::check_headers(options.http);
  if (!why.ok()) throw_status(why);
  auto world = std::make_shared<detail::hdfs_world>(rt.time(), std::move(connect), std::move(options),
                                                    rt.options().seed, detail::surroundings::of_process());
  for (const char* scheme : {"hdfs", "webhdfs", "swebhdfs"})
    add_files(rt, scheme, std::make_unique<detail::hdfs_file_system>(rt, world, std::string_view(scheme) == "hdfs"));
}

}  // namespace sluice::lib
