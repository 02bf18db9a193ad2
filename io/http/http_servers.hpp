// SPDX-License-Identifier: Apache-2.0
// Finds servers by URL.
#pragma once

#include <memory>

#include "io/http/http_context.hpp"
#include "io/http/http_origin.hpp"
#include "io/http/messages/http_url.hpp"

namespace sluice::lib::detail {

class http_servers {
 public:
  virtual http_origin& at(const http_url& url) = 0;
  virtual http_context& context() = 0;

 protected:
  ~http_servers() = default;
};

/// Returns a pointer without ownership, for members of the owner: a share would keep the owner alive forever.
inline std::shared_ptr<http_servers> unowned(http_servers& servers) { return {std::shared_ptr<void>(), &servers}; }

}  // namespace sluice::lib::detail
