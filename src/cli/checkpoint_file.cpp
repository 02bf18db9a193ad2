// SPDX-License-Identifier: Apache-2.0
#include "cli/checkpoint_file.hpp"

#include <absl/cleanup/cleanup.h>

#include <cerrno>
#include <cstdio>

namespace sluice::cli {
namespace {

/// Positions are kilobytes: what is longer is another file, or has no end (a device).
constexpr std::size_t kCheckpointBytesMax = std::size_t{1} << 28;

}  // namespace

std::string read_checkpoint(const std::string& path) {
  auto failed = [&] { return errno_error(errno, "cannot read the checkpoint").in_file(path); };
  std::FILE* in = std::fopen(path.c_str(), "rb");
  if (!in) throw_status(failed());
  absl::Cleanup closed = [in] { std::fclose(in); };
  std::string bytes;
  char piece[4096];
  while (std::size_t n = std::fread(piece, 1, sizeof piece, in)) {
    bytes.append(piece, n);
    if (bytes.size() > kCheckpointBytesMax) throw_status(data_loss_error("is too long for a checkpoint").in_file(path));
  }
  if (std::ferror(in)) throw_status(failed());
  if (bytes.empty()) throw_status(data_loss_error("the checkpoint is empty").in_file(path));
  return bytes;
}

}  // namespace sluice::cli
