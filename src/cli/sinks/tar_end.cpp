// SPDX-License-Identifier: Apache-2.0
#include "cli/sinks/tar_end.hpp"

#include <algorithm>

#include "format/archive/tar_archive.hpp"

namespace sluice::lib::cli {
namespace {

/// Only the archive's headers are checked here. The reader of the data reports truncated data.
constexpr std::uint64_t kAnySize = std::uint64_t{1} << 62;

}  // namespace

status tar_end_sink::take(const block& bytes) {
  for (std::uint32_t i = 0; i != bytes.size() && !has_ended_; ++i) {
    std::string_view next = bytes.type().text(bytes.at(i));
    seen_bytes_ += next.size();
    const auto data = static_cast<std::size_t>(std::min<std::uint64_t>(data_left_, next.size()));
    data_left_ -= data;
    next.remove_prefix(data);
    if (next.empty()) continue;
    bytes_.append(next);
    if (bytes_.size() % kTarBlockBytes == 0) look();
  }
  return {};
}

void tar_end_sink::look() {
  while (!bytes_.empty()) {
    const tar_step step = read_tar_entry({.bytes = bytes_, .end = kAnySize}, 0, false);
    if (step.is == tar_step::kind::incomplete) return;
    has_ended_ = step.is != tar_step::kind::entry;
    if (has_ended_) return;
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(step.size_bytes, bytes_.size()));
    data_left_ = step.size_bytes - here;
    bytes_.erase(0, here);
  }
}

status tar_end_sink::end_of(const std::string& file) const {
  if (has_ended_) return {};
  return data_loss_error(
             "the archive is incomplete: the two blocks of zeros after the last member are missing, and members may be "
             "missing, too; it was truncated, or is still being written")
      .in_file(file, seen_bytes_);
}

}  // namespace sluice::lib::cli
