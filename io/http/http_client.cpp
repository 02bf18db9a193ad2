// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_client.hpp"

#include <algorithm>

#include "io/http/connections/tls_layer.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// Returns false for a field with a line break, which would add another field or another request.
bool is_field(const std::string& name, const std::string& value) {
  auto is_text = [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'); };
  auto is_name = [](char c) { return c > ' ' && c < '\x7f' && c != ':'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_name) &&
         std::all_of(value.begin(), value.end(), is_text);
}

}  // namespace

std::shared_ptr<secure_layer> http_client::secure_for(const http_url& url) {
  if (!url.tls) return {};
  if (!secure_) secure_ = make_tls_layer(context_.options.ca_file);
  return secure_;
}

http_origin& http_client::at(const http_url& url) {
  mutex_lock lock(mutex_);
  auto& origin = origins_[url.origin()];
  if (!origin) origin = std::make_unique<http_origin>(context_, url, secure_for(url));
  return *origin;
}

std::string http_client::description() const {
  std::uint64_t connects = 0;
  mutex_lock lock(mutex_);
  for (const auto& [name, origin] : origins_) connects += origin->pool.connects();
  if (connects == 0) return {};
  return joined("HTTP/1.1, ", context_.counts.requests.load(std::memory_order_relaxed), " requests over ", connects,
                " connections");
}

void http_client::close() {
  mutex_lock lock(mutex_);
  for (const auto& [name, origin] : origins_) origin->pool.close();
}

std::size_t http_client::idle_connections() const {
  std::size_t idle = 0;
  mutex_lock lock(mutex_);
  for (const auto& [name, origin] : origins_) idle += origin->pool.idle();
  return idle;
}

status check_headers(const http_options& options) {
  for (const auto& [name, value] : options.headers)
    if (!is_field(name, value))  // the value may be a secret
      return invalid_argument_error(
          joined("http_options::headers: \"", name, "\" is no name of a field, or its value has control characters"));
  return {};
}

}  // namespace sluice::lib::detail
