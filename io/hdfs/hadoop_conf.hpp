// SPDX-License-Identifier: Apache-2.0
// What core-site.xml and hdfs-site.xml say, as far as it is asked for: properties, with ${…} in their values replaced.
//
//   auto conf = read_hadoop_conf(around);
//   conf->text("fs.defaultFS");            // "hdfs://warehouse"
//
// Thread: any; nothing changes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/stores/surroundings.hpp"

namespace sluice::lib::detail {

class hadoop_conf {
 public:
  /// A file's; those that were added before give way, unless they are final. Errors: invalid_argument: no such XML.
  status add(std::string_view xml);
  /// "" where nothing is said.
  std::string text(const std::string& name) const;
  /// What stands between commas.
  std::vector<std::string> list(const std::string& name) const;
  bool empty() const { return values_.empty(); }

 private:
  struct value {
    std::string text;
    bool is_final = false;
  };
  std::map<std::string, value, std::less<>> values_;
};

/// Of HADOOP_CONF_DIR, else HADOOP_HOME/etc/hadoop, else /etc/hadoop/conf; files that are not there say nothing.
/// Errors: invalid_argument, permission_denied, naming the file.
result<hadoop_conf> read_hadoop_conf(const surroundings& around);

/// Texts between commas, without blanks around them.
std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace sluice::lib::detail
