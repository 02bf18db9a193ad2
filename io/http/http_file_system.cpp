// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_file_system.hpp"

#include <algorithm>
#include <utility>

#include "io/http/http_file.hpp"
#include "io/http/text.hpp"
#include "io/http/tls_layer.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::detail {
namespace {

file_info info_of(const http_object& object) {
  file_info info;
  info.size_bytes = object.pin().size_bytes;
  info.version = object.pin().version;
  info.modified_ns = object.modified_ns();
  return info;
}

bool is_pattern(const std::string& url) {
  return url.find('*') != std::string::npos;  // `?` begins the query of a URL, and [ ] stand around addresses
}

/// A plain URL, if there is such an object.
class one_url final : public listing {
 public:
  one_url(file_system& files, std::string url) : files_(files), url_(std::move(url)) {}
  task<std::vector<listed_file>> next(time_point deadline) override {
    std::vector<listed_file> page;
    if (std::exchange(done_, true)) co_return page;
    if (is_pattern(url_))
      co_await fail(
          unimplemented_error("HTTP has no listings: name the URLs one by one, or read their names from a file")
              .in_file(url_));
    auto looking = files_.stat(url_, deadline);
    file_info info = co_await looking;
    page.push_back({url_, std::move(info)});
    co_return page;
  }

 private:
  file_system& files_;
  std::string url_;
  bool done_ = false;
};

}  // namespace

http_file_system::http_file_system(clock& time, network_maker make_network, http_options options, std::uint64_t seed)
    : context_(time, std::move(make_network), std::move(options), seed) {}

http_file_system::~http_file_system() = default;

std::shared_ptr<secure_layer> http_file_system::secure_for(const http_url& url) {
  if (!url.tls) return {};
  if (!secure_) secure_ = make_tls_layer(context_.options.ca_file);
  return secure_;
}

http_origin& http_file_system::at(const http_url& url) {
  std::lock_guard lock(mutex_);
  auto& origin = origins_[url.origin()];
  if (!origin) origin = std::make_unique<http_origin>(context_, url, secure_for(url));
  return *origin;
}

task<std::unique_ptr<file>> http_file_system::open(std::string path, open_options o) {
  auto url = parse_http_url(path);
  if (!url.ok()) co_await fail(url.why().in_file(path));
  auto object = std::make_shared<http_object>(shared_from_this(), path, *std::move(url));
  std::unique_ptr<http_exchange> body;
  const bool believed = o.known && o.known->has_size() && !o.known->version.empty();
  file_info info;
  if (believed) {
    info = *std::move(o.known);
    object->believe({info.size_bytes, info.version});
  } else {
    auto opening = object->open(http_file::kFirstBytes, o.deadline);
    body = co_await opening;
    info = info_of(*object);
  }
  co_return std::make_unique<http_file>(std::move(path), std::move(info), std::move(object), std::move(body));
}

task<file_info> http_file_system::stat(std::string path, time_point deadline) {
  auto url = parse_http_url(path);
  if (!url.ok()) co_await fail(url.why().in_file(path));
  http_object object(shared_from_this(), path, *std::move(url));
  auto opening = object.open(1, deadline);
  auto body = co_await opening;
  if (body && body->head().code == 206) {  // so that its connection serves the next request
    char byte = 0;
    auto reading = body->read_body(std::span<char>(&byte, 1), deadline);
    (void)co_await reading.as_result();
  }
  co_return info_of(object);
}

std::unique_ptr<listing> http_file_system::list(std::string pattern, list_options) {
  return std::make_unique<one_url>(*this, std::move(pattern));
}

task<std::unique_ptr<file_writer>> http_file_system::create(std::string path, time_point) {
  co_await fail(unimplemented_error("nothing can be written over HTTP").in_file(path));
  co_return {};
}

std::string http_file_system::description() const {
  std::uint64_t connects = 0;
  std::lock_guard lock(mutex_);
  for (const auto& [name, origin] : origins_) connects += origin->pool.connects();
  if (connects == 0) return {};
  return joined("HTTP/1.1, ", context_.counts.requests.load(std::memory_order_relaxed), " requests over ", connects,
                " connections");
}

void http_file_system::close() {
  std::lock_guard lock(mutex_);
  for (const auto& [name, origin] : origins_) origin->pool.close();
}

std::size_t http_file_system::idle_connections() const {
  std::size_t idle = 0;
  std::lock_guard lock(mutex_);
  for (const auto& [name, origin] : origins_) idle += origin->pool.idle();
  return idle;
}

}  // namespace sluice::lib::detail

namespace sluice::lib {
namespace {

/// One file system under two schemes.
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
  std::string description() const override { return is_described_ ? files_->description() : std::string(); }

 private:
  std::shared_ptr<detail::http_file_system> files_;
  const bool is_described_;
};

}  // namespace

namespace {

/// A line break in a field would be another field, or another request.
bool is_field(const std::string& name, const std::string& value) {
  auto is_text = [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'); };
  auto is_name = [](char c) { return c > ' ' && c < '\x7f' && c != ':'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_name) &&
         std::all_of(value.begin(), value.end(), is_text);
}

}  // namespace

void add_http(runtime& rt, network_maker connect, http_options options) {
  for (const auto& [name, value] : options.headers)
    if (!is_field(name, value))  // the value may be a secret
      throw_status(invalid_argument_error(detail::joined(
          "http_options::headers: \"", name, "\" is no name of a field, or its value has control characters")));
  auto files =
      std::make_shared<detail::http_file_system>(rt.time(), std::move(connect), std::move(options), rt.options().seed);
  add_files(rt, "http", std::make_unique<shared_files>(files, true));
  add_files(rt, "https", std::make_unique<shared_files>(files, false));
}

}  // namespace sluice::lib
