// SPDX-License-Identifier: Apache-2.0
#include "format/codec/compression_suffix.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <string>

#include "base/text/utf8_beginning.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

std::string_view compression_suffix(std::string_view path) {
  if (path.starts_with("http://") || path.starts_with("https://")) path = path.substr(0, path.find_first_of("?#"));
  constexpr std::string_view kTar = ".tgz";
  const std::string lower = absl::AsciiStrToLower(std::string(path));
  if (lower.ends_with(kTar)) return path.substr(path.size() - kTar.size());
  return path.substr(without_compression_suffix(lower).size());
}

status check_compression_suffix(std::string_view first, std::string_view path) {
  const std::string suffix(compression_suffix(path));
  if (suffix.empty()) return {};
  std::string why = absl::StrCat("is named ", suffix, ", and ");
  if (first.empty()) {
    why += "is empty: it was cut short";
  } else if (first.find('\0') == first.npos && detail::is_utf8_beginning(first)) {
    why += "is not compressed: rename it, or read it with compression=none";
  } else {
    why +=
        "its first bytes are not those of such a file: it is damaged, or not compressed (compression=none), or of "
        "TensorFlow's blocks of snappy, which have to be named (compression=snappy_blocks)";
  }
  return data_loss_error(why).in_file(std::string(path), 0);
}

}  // namespace sluice::lib
