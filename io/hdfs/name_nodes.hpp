// SPDX-License-Identifier: Apache-2.0
// The name nodes of one HDFS. Chooses the one that a request is sent to.
//
//   auto answer = co_await ask_name_node(servers, nodes, {"GET", "/data/a", "GETFILESTATUS"}, how);
//
// If a node is in standby or does not answer, the next one is asked. The last node that has answered is asked first.
// Errors: those of http.hpp, naming the node.
// Thread: any.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/http/http_call.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::detail {

/// The identity of the caller: a user name that the server trusts, or a token that proves it.
struct hdfs_asker {
  std::string user, token;
  /// "the user trainer", "the owner of the delegation token".
  std::string words() const {
    return token.empty() ? "the user " + user : std::string("the owner of the delegation token");
  }
};

class name_nodes {
 public:
  /// REQUIRES: there is at least one node, and either all or none of them use TLS.
  name_nodes(std::vector<http_url> nodes, hdfs_asker who) : nodes_(std::move(nodes)), who_(std::move(who)) {
    SLUICE_REQUIRES(!nodes_.empty(), "there is no name node");
    SLUICE_REQUIRES(std::all_of(nodes_.begin(), nodes_.end(), [this](auto& n) { return n.tls == nodes_[0].tls; }),
                    "some name nodes have TLS and others have none");
  }

  const std::vector<http_url>& all() const noexcept { return nodes_; }
  const hdfs_asker& who() const noexcept { return who_; }
  std::size_t active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// Chooses the next node for later requests, unless another caller has already done so.
  void leave(std::size_t node) noexcept {
    active_.compare_exchange_strong(node, (node + 1) % nodes_.size(), std::memory_order_relaxed);
  }
  /// Returns a server's text without the token, because servers may repeat it.
  std::string without_secrets(std::string text) const;

  /// True until LISTSTATUS_BATCH has failed here.
  std::atomic<bool> lists_in_pages{true};  // relaxed: a hint

 private:
  const std::vector<http_url> nodes_;
  const hdfs_asker who_;
  std::atomic<std::size_t> active_{0};  // relaxed: a hint
};

struct hdfs_question {
  std::string method;
  std::string path;  ///< the file's path, not escaped
  std::string op;
  std::vector<std::pair<std::string, std::string>> more = {};
};

/// Returns "/webhdfs/v1/a%20b?op=OPEN".
std::string webhdfs_target(const hdfs_question& q);

/// Sends a question to a name node. The request holds a permit of the name node only, so a caller that holds a permit
/// of a data node may call it.
task<http_answer> ask_name_node(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes,
                                hdfs_question q, call_options how);
/// Sends a request that has its target already.
task<http_answer> ask_name_node(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes,
                                http_request r, call_options how);

}  // namespace sluice::lib::detail
