// SPDX-License-Identifier: Apache-2.0
// What name nodes and data nodes of HDFS say by WebHDFS, as far as tests want it: one tree of folders, two name nodes, two data
// nodes.
//
//   simulated_hdfs hdfs;
//   hdfs.put("/data/a", "bytes");
//   nn1.answers([&](const asked_for& a) { return hdfs.name_node(0, a); });
//   dn1.answers([&](const asked_for& a) { return hdfs.data_node(a); });
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "http/scripted_server.hpp"
#include "http/stores/simulated_s3.hpp"

namespace sluice::lib::testing {

struct simulated_hdfs {
  struct file {
    std::string bytes;
    std::uint64_t id = 0, changed_ms = 0;
  };

  /// With the folders that it is in.
  void put(const std::string& path, std::string bytes);
  std::optional<reply> name_node(std::size_t index, const asked_for& request);
  std::optional<reply> data_node(const asked_for& request);

  /// What a name node calls it.
  std::string address_of(const std::string& data_node) const;
  static reply failed(int code, const std::string& exception, const std::string& message);

  std::set<std::size_t> in_standby;                                       ///< name nodes
  std::vector<std::string> data_nodes{"dn1.test:9864", "dn2.test:9864"};  ///< by turns
  std::string place;            ///< is named instead of a data node; "none": nothing is
  bool answers_in_json = true;  ///< where noredirect asks for it: servers before 2.8 do not
  bool lists_in_pages = true;   ///< LISTSTATUS_BATCH; servers before 3.0 and some gateways do not
  bool tells_locations = true;  ///< of blocks, and excludes by their addresses; gateways exclude hosts, if anything
  std::size_t page_entries = 1000;
  bool signed_order = true;                       ///< as name nodes have it: bytes above 127 come first
  std::set<std::string> known_tokens;             ///< empty: anybody's name is believed
  bool replaces = true;                           ///< RENAME with OVERWRITE
  std::size_t takes_of_append = ~std::size_t{0};  ///< the rest of a piece is lost, and so is the answer
  std::map<std::string, file> files;
  std::set<std::string> folders{"/"};
  std::uint64_t numbers = 16386;

 private:
  reply list(const std::string& path, std::map<std::string, std::string> query) const;
  reply rename(const std::string& path, std::map<std::string, std::string> query);
  std::string about(const std::string& path, const std::string& name) const;
  std::size_t turns_ = 0;
};

}  // namespace sluice::lib::testing
