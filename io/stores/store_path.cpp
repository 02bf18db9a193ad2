// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/http_text.hpp"
#include "io/stores/object_store.hpp"

namespace sluice::lib::detail {

result<store_path> parse_store_path(std::string text) {
  constexpr std::string_view kAuthority = "://";
  store_path path;
  const std::size_t begin = text.find(kAuthority) + kAuthority.size();
  const std::size_t slash = text.find('/', begin);
  path.bucket = text.substr(begin, slash == std::string::npos ? slash : slash - begin);
  if (slash != std::string::npos) path.key = text.substr(slash + 1);
  path.text = std::move(text);
  if (path.bucket.empty())
    return invalid_argument_error("names no bucket: such a path is scheme://bucket/key").in_file(path.text);
  if (path.bucket.find('@') != std::string::npos)  // not quoted: the text before the @ is a secret
    return invalid_argument_error(
               "has a user or a password before its bucket: give keys in the environment or in a file of credentials")
        .in_file(path.text);
  for (char c : path.bucket) {
    const char l = lower(c);
    const bool known = (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || c == '-' || c == '.' || c == '_';
    if (!known)
      return invalid_argument_error(
                 joined("\"", path.bucket,
                        "\" is no bucket: patterns are for keys, and names of buckets have letters, ",
                        "digits, - . and _ only"))
          .in_file(path.text);
  }
  return path;
}

}  // namespace sluice::lib::detail
