// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hdfs_path.hpp"

#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {

result<hdfs_path> parse_hdfs_path(std::string text) {
  constexpr std::string_view kAuthority = "://";
  hdfs_path p;
  const std::size_t end = text.find(kAuthority);
  if (end == std::string::npos) return invalid_argument_error("has no scheme://").in_file(text);
  for (char c : text.substr(0, end)) p.scheme += lower(c);
  const std::size_t begin = end + kAuthority.size();
  const std::size_t slash = text.find('/', begin);
  p.has_path = slash != std::string::npos;
  p.authority = text.substr(begin, p.has_path ? slash - begin : slash);
  p.path = p.has_path ? text.substr(slash) : std::string("/");
  p.text = std::move(text);
  if (p.authority.find('@') != std::string::npos)
    return invalid_argument_error("has a user or a password; give the user as HADOOP_USER_NAME").in_file(p.text);
  for (char c : p.authority) {
    const char l = lower(c);
    const bool known = (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') ||
                       std::string_view("-._:[]").find(c) != std::string_view::npos;
    if (!known)
      return invalid_argument_error(
                 joined("\"", p.authority, "\" is no host and no name of name nodes: patterns are for what follows it"))
          .in_file(p.text);
  }
  if (p.path.find('\0') != std::string::npos) return invalid_argument_error("has a zero byte").in_file(p.text);
  return p;
}

}  // namespace sluice::lib::detail
