// SPDX-License-Identifier: Apache-2.0
#include "io/s3/s3_tags.hpp"

#include <algorithm>

#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kMd5Digits = 32;

std::string_view without_quotes(std::string_view tag) {
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  return tag;
}

int value_of(char c) {
  const char l = lower(c);
  if (l >= '0' && l <= '9') return l - '0';
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

/// Returns true for the digits of an MD5, followed by "-3" for an object in parts.
bool has_form(std::string_view tag) {
  if (tag.size() < kMd5Digits) return false;
  const std::string_view digits = tag.substr(0, kMd5Digits), count = tag.substr(kMd5Digits);
  std::uint64_t ignored = 0;
  return std::all_of(digits.begin(), digits.end(), [](char c) { return value_of(c) >= 0; }) &&
         (count.empty() || (count.front() == '-' && parse_digits(count.substr(1), ignored)));
}

/// Returns true if the tag depends on an encryption key.
bool is_encrypted(const response_head& head) {
  const std::string_view by = head.field("x-amz-server-side-encryption");
  return !(by.empty() || by == "AES256") || !head.field("x-amz-server-side-encryption-customer-algorithm").empty() ||
         !head.field("x-goog-encryption-algorithm").empty() || !head.field("x-goog-encryption-kms-key-name").empty();
}

}  // namespace

std::string part_tag(std::string_view md5) {
  return md5.empty() ? std::string() : joined("\"", hexadecimal(md5), "\"");
}

std::string whole_tag(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) {
    const std::string_view digits = without_quotes(part);
    if (digits.size() != kMd5Digits || !has_form(digits)) return {};
    for (std::size_t i = 0; i != kMd5Digits; i += 2)
      all += static_cast<char>(value_of(digits[i]) * 16 + value_of(digits[i + 1]));
  }
  const std::string of_all = md5(all);
  return of_all.empty() ? of_all : joined("\"", hexadecimal(of_all), "-", parts.size(), "\"");
}

status check_tag(const response_head& head, std::string_view tag, std::string_view expected) {
  const std::string_view theirs = without_quotes(tag), ours = without_quotes(expected);
  const bool can_be_compared = has_form(theirs) && theirs.size() == ours.size() && !is_encrypted(head);
  if (!can_be_compared || same_name(theirs, ours)) return {};
  return data_loss_error(joined("the server has stored other bytes than were sent: its ETag is ", theirs,
                                ", the MD5 of what was sent ", ours,
                                "; write it again (s3_options::tags_are_md5 is for servers whose tags are no MD5)"));
}

}  // namespace sluice::lib::detail
