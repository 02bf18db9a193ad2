// SPDX-License-Identifier: Apache-2.0
// Requests that a data node answers. For each attempt the name node chooses the data node, and the request is sent
// there with only the data that the name node's answer contains.
//
// If a data node does not answer, the next request to the name node excludes it, and the name node chooses another one.
// Name nodes identify data nodes by the addresses for blocks, and list these addresses with the places of a block. A
// host alone does not identify a data node: it may be a name, or run several data nodes.
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/hdfs/name_nodes.hpp"
#include "io/http/object_service.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {

/// Names an HDFS and a file in it.
struct hdfs_place {
  std::shared_ptr<http_servers> servers;
  std::shared_ptr<name_nodes> nodes;
  std::string text;  ///< the whole path, for messages
  std::string path;
};

class data_node_service : public object_service {
 public:
  explicit data_node_service(hdfs_place place) : place_(std::move(place)) {}

  /// Sends the question to the name node: the request's method, and its target.
  task<> sign(http_request& request, time_point deadline) override;
  std::optional<http_failure> explain(const http_request& sent, const response_head& head,
                                      std::string_view body) override;
  void unanswered(const http_request& sent) override;

 protected:
  /// Addresses the request to a data node. The nodes to choose from have byte `byte` of the file.
  task<> send_to_node(http_request& request, std::uint64_t byte, time_point deadline);

  const hdfs_place place_;

 private:
  task<http_url> find_node(std::string method, std::string target, time_point deadline);
  /// Asks for the name node's names of the data nodes that have not answered, unless they are known.
  task<> name_lost(std::uint64_t byte, time_point deadline);

  std::string excluded();

  std::atomic<std::size_t> asked_{0};  ///< the name node that named the last data node; relaxed: a hint
  mutex mutex_;
  std::map<std::string, std::string> lost_
      ABSL_GUARDED_BY(mutex_);  ///< "host:port" of HTTP -> how a name node calls it
};

/// Ranges of one version of a file.
class hdfs_reading final : public data_node_service {
 public:
  using data_node_service::data_node_service;
  void ask_for_range(byte_range range, http_request& request) const override;
  std::optional<response_head> as_range(const response_head& head, byte_range range,
                                        const object_pin& pin) const override;
  bool answers_need_confirming() const override { return true; }
  task<> confirm(object_pin pin, time_point deadline) override;
};

/// A piece of a file that nobody else writes. A repeated request continues at the present end of the file.
class hdfs_appending final : public data_node_service {
 public:
  /// The piece begins at byte `at` of the file.
  hdfs_appending(hdfs_place place, std::uint64_t at) : data_node_service(std::move(place)), at_(at) {}
  task<> sign(http_request& request, time_point deadline) override;

 private:
  const std::uint64_t at_;
  bool was_sent_ = false;
};

}  // namespace sluice::lib::detail
