// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_file_system.hpp"

#include <utility>

#include "io/http/http_file.hpp"
#include "io/http/messages/http_text.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::detail {
namespace {

bool is_pattern(const std::string& url) {
  return url.find('*') != std::string::npos;  // `?` begins the query of a URL, and [ ] enclose addresses
}

/// Lists a plain URL if the object exists.
class one_url final : public listing {
 public:
  one_url(http_file_system& files, std::string url) : files_(files), url_(std::move(url)) {}
  task<std::vector<listed_file>> next(time_point deadline) override {
    std::vector<listed_file> page;
    if (std::exchange(done_, true)) co_return page;
    if (is_pattern(url_))
      co_await fail(
          unimplemented_error("HTTP has no listings: name the URLs one by one, or read their names from a file")
              .in_file(url_));
    bool does_ranges = false;
    auto looking = files_.look_up(url_, deadline, does_ranges);
    file_info info = co_await looking;
    // A reader must not assume that the server answers ranges of it.
    if (!does_ranges) info.version.clear();
    page.push_back({url_, std::move(info)});
    co_return page;
  }

 private:
  http_file_system& files_;
  std::string url_;
  bool done_ = false;
};

}  // namespace

task<std::unique_ptr<file>> http_file_system::open(std::string path, open_options o) {
  auto url = parse_http_url(path);
  if (!url.ok()) co_await fail(url.why().in_file(path));
  auto object = std::make_shared<http_object>(client_, path, *std::move(url));
  std::unique_ptr<http_exchange> body;
  const bool believed = o.known && o.known->has_size() && !o.known->version.empty();
  file_info info;
  if (believed) {
    info = *std::move(o.known);
    object->believe({info.size_bytes, info.version});
  } else {
    auto opening = object->open(http_file::bytes_to_open(o), o.deadline);
    body = co_await opening;
    info = object->info();
  }
  co_return std::make_unique<http_file>(std::move(path), std::move(info), std::move(object), std::move(body),
                                        o.reading);
}

task<file_info> http_file_system::stat(std::string path, time_point deadline) {
  bool ignored = false;
  auto looking = look_up(std::move(path), deadline, ignored);
  co_return co_await looking;
}

task<file_info> http_file_system::look_up(std::string path, time_point deadline, bool& does_ranges) {
  auto url = parse_http_url(path);
  if (!url.ok()) co_await fail(url.why().in_file(path));
  http_object object(client_, path, *std::move(url));
  auto opening = object.open(1, deadline);
  auto body = co_await opening;
  does_ranges = body && body->head().code == 206;
  if (does_ranges) {  // the connection can then serve the next request
    char byte = 0;
    auto reading = body->read_body(std::span<char>(&byte, 1), deadline);
    (void)co_await reading.as_result();
  }
  co_return object.info();
}

std::unique_ptr<listing> http_file_system::list(std::string pattern, list_options) {
  return std::make_unique<one_url>(*this, std::move(pattern));
}

task<std::unique_ptr<file_writer>> http_file_system::create(std::string path, time_point) {
  co_await fail(unimplemented_error("nothing can be written over HTTP").in_file(path));
  co_return {};
}

}  // namespace sluice::lib::detail

namespace sluice::lib {
namespace {

/// Gives one file system a second scheme.
class shared_files final : public file_system {
 public:
  shared_files(std::shared_ptr<detail::http_file_system> files, bool is_described)
      : files_(std::move(files)), is_described_(is_described) {}
  ~shared_files() override { files_->close(); }
  task<std::unique_ptr<file>> open(std::string path, open_options o) override {
    return files_->open(std::move(path), std::move(o));
  }
  task<file_info> stat(std::string path, time_point deadline) override {
    return files_->stat(std::move(path), deadline);
  }
  std::unique_ptr<listing> list(std::string pattern, list_options o) override {
    return files_->list(std::move(pattern), o);
  }
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override {
    return files_->create(std::move(path), deadline);
  }
  std::size_t first_read_bytes(const std::string& path) const override { return files_->first_read_bytes(path); }
  std::string description() const override { return is_described_ ? files_->description() : std::string(); }

 private:
  std::shared_ptr<detail::http_file_system> files_;
  const bool is_described_;
};

}  // namespace

void add_http(runtime& rt, network_maker connect, http_options options) {
  status headers = detail::check_headers(options);
  if (!headers.ok()) throw_status(headers);
  auto files =
      std::make_shared<detail::http_file_system>(rt.time(), std::move(connect), std::move(options), rt.options().seed);
  add_files(rt, "http", std::make_unique<shared_files>(files, true));
  add_files(rt, "https", std::make_unique<shared_files>(files, false));
}

}  // namespace sluice::lib
