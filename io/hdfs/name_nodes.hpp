// SPDX-License-Identifier: Apache-2.0
// The name nodes of one HDFS: which of them is asked, and how.
//
//   auto answer = co_await ask_name_node(servers, nodes, {"GET", "/data/a", "GETFILESTATUS"}, how);
//
// One that is in standby, or does not answer, has the next asked; who has answered is asked first from then on.
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
  /// REQUIRES: there is one at least, and all of them have TLS or none.
  name_nodes(std::vector<http_url> nodes, hdfs_asker who) : nodes_(std::move(nodes)), who_(std::move(who)) {
    SLUICE_REQUIRES(!nodes_.empty(), "there is no name node");
    SLUICE_REQUIRES(std::all_of(nodes_.begin(), nodes_.end(), [this](auto& n) { return n.tls == nodes_[0].tls; }),
                    "some name nodes have TLS and others have none");
  }

  const std::vector<http_url>& all() const noexcept { return nodes_; }
  const hdfs_asker& who() const noexcept { return who_; }
  std::size_t active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// Another one is asked from now on, unless somebody has said so already.
  void leave(std::size_t node) noexcept {
    active_.compare_exchange_strong(node, (node + 1) % nodes_.size(), std::memory_order_relaxed);
  }
  /// Returns a server's text without the token: the server may repeat what it was sent.
  std::string without_secrets(std::string text) const;

  /// Does LISTSTATUS_BATCH work here? Until it has not.
  std::atomic<bool> lists_in_pages{true};  // relaxed: a hint

 private:
  const std::vector<http_url> nodes_;
  const hdfs_asker who_;
  std::atomic<std::size_t> active_{0};  // relaxed: a hint
};

struct hdfs_question {
  std::string method;
  std::string path;  ///< of the file, as it is
  std::string op;
  std::vector<std::pair<std::string, std::string>> more = {};
};

/// "/webhdfs/v1/a%20b?op=OPEN".
std::string webhdfs_target(const hdfs_question& q);

/// It has a permit of the name node's while it is asked, and waits for none of a data node's then: who has one of these
/// may ask.
task<http_answer> ask_name_node(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes,
                                hdfs_question q, call_options how);
/// The same for a request with its target.
task<http_answer> ask_name_node(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes,
                                http_request r, call_options how);

}  // namespace sluice::lib::detail
