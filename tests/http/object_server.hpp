// SPDX-License-Identifier: Apache-2.0
// The smallest server of objects that knows ranges and versions, over real sockets: for machines without nginx.
#pragma once

#include <map>
#include <optional>

#include "http/loopback_server.hpp"

namespace sluice::lib::testing {

/// A head of HTTP, with the empty line that ends it. `rest`: what has come, and is read first; afterwards what came behind the
/// head. Nothing: the other side has ended.
std::optional<std::string> read_head(wire& from, std::string& rest);

class object_server final : public loopback_server {
 public:
  /// By target: "/raw/a".
  explicit object_server(std::map<std::string, std::string> objects) : objects_(std::move(objects)) { start(); }
  ~object_server() override { stop(); }

 private:
  void converse(wire& with) override;

  const std::map<std::string, std::string> objects_;
};

}  // namespace sluice::lib::testing
