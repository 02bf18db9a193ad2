// SPDX-License-Identifier: Apache-2.0
#include "io/stores/store_file_system.hpp"

#include "io/http/http_file.hpp"
#include "io/stores/store_listing.hpp"
#include "io/stores/store_writer.hpp"

namespace sluice::lib::detail {
namespace {

/// Errors: invalid_argument: the path names a bucket and no object.
result<store_path> parse_object_path(std::string text) {
  auto path = parse_store_path(std::move(text));
  if (path.ok() && path->key.empty())
    return invalid_argument_error("names a bucket, and no object in it: such a path is scheme://bucket/key")
        .in_file(path->text);
  return path;
}

}  // namespace

store_file_system::store_file_system(runtime& rt, std::shared_ptr<object_store> store)
    : store_(std::move(store)),
      ledger_(rt.shared_ledger()),
      cleaning_(std::make_shared<run_context>(rt, run_options())) {}

task<std::unique_ptr<file>> store_file_system::open(std::string text, open_options o) {
  auto path = parse_object_path(text);
  if (!path.ok()) co_await fail(path.why());
  auto placing = store_->place_of(*path, o.deadline);
  store_place place = co_await placing;
  std::shared_ptr<http_servers> servers(store_, &store_->client());
  auto object = std::make_shared<http_object>(servers, text, std::move(place.url), std::move(place.service));
  std::unique_ptr<http_exchange> body;
  file_info info;
  if (o.known && o.known->has_size() && !o.known->version.empty()) {
    info = *std::move(o.known);
    object->believe({info.size_bytes, info.version});
    co_return std::make_unique<http_file>(std::move(text), std::move(info), std::move(object), nullptr, o.reading);
  }
  auto opening = object->open(http_file::bytes_to_open(o), o.deadline);
  auto opened = co_await opening.as_result();
  if (opened.ok()) {
    body = *std::move(opened);
    info = object->info();
  } else {
    // Some stores answer a range request for an empty object only with the error that the range does not exist.
    if (opened.why().code() != status_code::out_of_range) co_await fail(opened.why());
    auto looking = store_->look_up(*path, o.deadline);
    info = co_await looking;
    if (info.size_bytes != 0) co_await fail(opened.why());
  }
  co_return std::make_unique<http_file>(std::move(text), std::move(info), std::move(object), std::move(body),
                                        o.reading);
}

task<file_info> store_file_system::stat(std::string text, time_point deadline) {
  auto path = parse_object_path(std::move(text));
  if (!path.ok()) co_await fail(path.why());
  auto looking = store_->look_up(*std::move(path), deadline);
  co_return co_await looking;
}

std::unique_ptr<listing> store_file_system::list(std::string pattern, list_options o) {
  return std::make_unique<store_listing>(store_, parse_store_path(std::move(pattern)), o);
}

task<std::unique_ptr<file_writer>> store_file_system::create(std::string text, time_point) {
  auto path = parse_object_path(std::move(text));
  if (!path.ok()) co_await fail(path.why());
  if (path->key.ends_with('/'))
    co_await fail(
        invalid_argument_error("ends with a /, like a folder: an object cannot be written there").in_file(path->text));
  co_return std::make_unique<store_writer>(store_, *std::move(path), ledger_, cleaning_);
}

task<file_info> store_file_system::put_if(std::string text, std::string bytes, std::string version,
                                          time_point deadline) {
  auto path = parse_object_path(std::move(text));
  if (!path.ok()) co_await fail(path.why());
  auto putting = store_->put_if(*std::move(path), std::span<const char>(bytes), std::move(version), deadline);
  co_return co_await putting;
}

task<> store_file_system::remove(std::string text, time_point deadline) {
  auto path = parse_object_path(std::move(text));
  if (!path.ok()) co_await fail(path.why());
  auto removing = store_->remove(*std::move(path), deadline);
  co_await removing;
}

}  // namespace sluice::lib::detail
