// SPDX-License-Identifier: Apache-2.0
// Parses the answers of name nodes and data nodes: JSON of WebHDFS, and its exceptions.
//
// Errors: data_loss, saying what is wrong: no JSON, members that are missing or are none, names that no folder has.
// Thread: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/messages/http_url.hpp"
#include "io/http/messages/response_head.hpp"
#include "io/http/retry_policy.hpp"
#include "io/stores/answer_tree.hpp"
#include "sluice/base/file_info.hpp"

namespace sluice::lib::detail {

struct hdfs_entry {
  enum class type : std::uint8_t { file, folder, link };
  std::string name;  ///< within its folder; empty: it is what was asked for
  type what = type::file;
  file_info info = {};
};

struct hdfs_page {
  std::vector<hdfs_entry> entries;
  std::uint64_t remaining = 0;  ///< the number of entries after the last of them
};

/// Parses the answer to GETFILESTATUS.
result<hdfs_entry> parse_hdfs_status(std::string_view body);
/// Parses the answer to LISTSTATUS and LISTSTATUS_BATCH.
result<hdfs_page> parse_hdfs_listing(std::string_view body);

/// Which data node the answer to `asked` names, in its Location or in JSON. Errors: failed_precondition, too: out of
/// TLS, or to something else than http and https. What stands behind the host may be a secret, and is in no message.
result<http_url> parse_hdfs_place(const http_url& asked, const response_head& head, std::string_view body);

/// A data node that has a block, as a name node knows it.
struct hdfs_location {
  std::vector<std::string> of_http;  ///< "host:port"
  std::string of_blocks;             ///< "address:port": what excludedatanodes understands
  bool has(std::string_view address) const {
    return std::find(of_http.begin(), of_http.end(), address) != of_http.end();
  }
};
/// Parses the answer to GET_BLOCK_LOCATIONS. Empty: it is not such an answer.
std::vector<hdfs_location> parse_hdfs_locations(std::string_view body);

/// A RemoteException. Its members are empty if the body contains no exception.
struct hdfs_exception {
  std::string name, message;
};
hdfs_exception parse_hdfs_exception(std::string_view body);

/// The context of an answer that is not a success. `node`: "name node" or "data node". `asked_as`: the user who asked,
/// for the advice.
struct hdfs_asked {
  std::string_view node;
  std::string address;
  std::string asked_as;
  bool has_token = false;
};
http_failure hdfs_failure(const response_head& head, std::string_view body, const hdfs_asked& asked);
/// Returns true if the exception means that the other name node must be asked.
bool is_standby(const hdfs_exception& e);

}  // namespace sluice::lib::detail
