// SPDX-License-Identifier: Apache-2.0
// The properties in core-site.xml and hdfs-site.xml, with ${…} in their values replaced.
//
//   auto conf = read_hadoop_conf(around);
//   conf->text("fs.defaultFS");            // "hdfs://warehouse"
//
// Thread: any; immutable after reading.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/stores/surroundings.hpp"

namespace sluice::lib::detail {

class hadoop_conf {
 public:
  /// Adds the properties of a file, which replace earlier ones that are not final. Errors: invalid_argument: the XML
  /// has another form.
  status add(std::string_view xml);
  /// Returns the value of a property, or "" if it is not set.
  std::string text(const std::string& name) const;
  /// Returns the parts of a value between commas.
  std::vector<std::string> list(const std::string& name) const;
  bool empty() const { return values_.empty(); }

 private:
  struct value {
    std::string text;
    bool is_final = false;
  };
  std::map<std::string, value, std::less<>> values_;
};

/// Reads HADOOP_CONF_DIR, else HADOOP_HOME/etc/hadoop, else /etc/hadoop/conf; missing files are ignored. Errors:
/// invalid_argument, permission_denied, naming the file.
result<hadoop_conf> read_hadoop_conf(const surroundings& around);

/// Splits a text at its commas and removes the blanks around each part.
std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace sluice::lib::detail
