// SPDX-License-Identifier: Apache-2.0
// Parses the file HADOOP_TOKEN_FILE_LOCATION, in which YARN passes delegation tokens to its containers.
//
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

struct hadoop_token {
  std::string kind;     ///< "HDFS_DELEGATION_TOKEN"
  std::string service;  ///< "10.0.0.1:8020", "ha-hdfs:warehouse"
  std::string text;     ///< in the form used in URLs
};

/// Returns the tokens of the kinds that name nodes accept. Errors: data_loss: the file has another form; the message
/// omits its contents.
result<std::vector<hadoop_token>> parse_hadoop_tokens(std::string_view bytes);

}  // namespace sluice::lib::detail
