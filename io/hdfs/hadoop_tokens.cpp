// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hadoop_tokens.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kMagic = "HDTS";

/// Reads Hadoop's numbers of variable length. A first byte from -112 to 127 is the number; any other byte is the number
/// of bytes that follow, the highest first.
class writable_reader {
 public:
  explicit writable_reader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint64_t> number() {
    if (rest_.empty()) return {};
    const auto first = static_cast<signed char>(take(1)->front());
    if (first >= 0) return static_cast<std::uint64_t>(first);
    if (first >= -112 || first < -120) return {};  // a length or count is not negative
    const auto bytes = take(static_cast<std::size_t>(-(first + 112)));
    if (!bytes) return {};
    std::uint64_t n = 0;
    for (char c : *bytes) n = n << 8 | static_cast<unsigned char>(c);
    return n;
  }
  /// Reads a length, and that number of bytes.
  std::optional<std::string_view> text() {
    const auto n = number();
    return n && *n <= rest_.size() ? take(static_cast<std::size_t>(*n)) : std::nullopt;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::optional<std::string_view> take(std::size_t n) {
    if (n > rest_.size()) return {};
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::string_view rest_;
};

bool is_for_name_nodes(std::string_view kind) {
  return kind == "HDFS_DELEGATION_TOKEN" || kind == "WEBHDFS delegation" || kind == "SWEBHDFS delegation";
}

}  // namespace

result<std::vector<hadoop_token>> parse_hadoop_tokens(std::string_view bytes) {
  const status broken = data_loss_error("is no file of Hadoop tokens, or is cut off");
  if (bytes.size() < kMagic.size() + 1 || !bytes.starts_with(kMagic)) return broken;
  if (bytes[kMagic.size()] != 0)
    return unimplemented_error(
        "is a file of Hadoop tokens in another format than that of Writables (`hdfs fetchdt --format java`)");
  writable_reader in(bytes.substr(kMagic.size() + 1));
  const auto count = in.number();
  if (!count) return broken;
  std::vector<hadoop_token> tokens;
  for (std::uint64_t i = 0; i != *count; ++i) {
    const auto alias = in.text();
    const std::string_view begin = in.rest();
    const auto identifier = in.text(), password = in.text(), kind = in.text(), service = in.text();
    if (!alias || !identifier || !password || !kind || !service) return broken;
    const std::string_view all = begin.substr(0, begin.size() - in.rest().size());
    if (is_for_name_nodes(*kind)) tokens.push_back({std::string(*kind), std::string(*service), base64_url(all)});
  }
  return tokens;
}

}  // namespace sluice::lib::detail
