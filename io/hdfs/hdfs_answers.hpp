// SPDX-License-Identifier: Apache-2.0
// Parses the answers of name nodes and data nodes: JSON of WebHDFS, and its exceptions.
//
// Errors: data_loss, describing the fault: invalid JSON, missing or invalid members, invalid names of files.
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
  std::string name;  ///< within its folder; empty: the requested path itself
  type what = type::file;
  file_info info = {};
};

struct hdfs_page {
  std::vector<hdfs_entry> entries;
  std::uint64_t remaining = 0;  ///< the number of entries after this page
};

/// Parses the answer to GETFILESTATUS.
result<hdfs_entry> parse_hdfs_status(std::string_view body);
/// Parses the answer to LISTSTATUS and LISTSTATUS_BATCH.
result<hdfs_page> parse_hdfs_listing(std::string_view body);

/// Returns the data node that the answer to `asked` names in Location or in JSON. Errors: failed_precondition: the
/// address leaves TLS, or its scheme is neither http nor https. The text after the host may be a secret, so no message
/// contains it.
result<http_url> parse_hdfs_place(const http_url& asked, const response_head& head, std::string_view body);

/// A data node that has a block, with its names on the name node.
struct hdfs_location {
  std::vector<std::string> of_http;  ///< "host:port"
  std::string of_blocks;             ///< "address:port", as excludedatanodes expects it
  bool has(std::string_view address) const {
    return std::find(of_http.begin(), of_http.end(), address) != of_http.end();
  }
};
/// Parses the answer to GET_BLOCK_LOCATIONS. Returns nothing for any other answer.
std::vector<hdfs_location> parse_hdfs_locations(std::string_view body);

/// A RemoteException. All members are empty if the body contains none.
struct hdfs_exception {
  std::string name, message;
};
hdfs_exception parse_hdfs_exception(std::string_view body);

/// The context of an answer that is not a success. `node`: "name node" or "data node". `asked_as`: the user who sent
/// the request, for the advice.
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
