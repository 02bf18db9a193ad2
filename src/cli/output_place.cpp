// SPDX-License-Identifier: Apache-2.0
#include "cli/output_place.hpp"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/figures.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/format/crc32c.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
constexpr const char* kWayOut = "; --new-output writes the rest into a new file";

/// CRC of the bytes from `from` to `to`.
status read_crc(int fd, std::uint64_t from, std::uint64_t to, std::uint32_t& crc) {
  std::string piece(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, to - from)), '\0');
  crc = 0;
  while (from < to) {
    auto n = ::pread(fd, piece.data(), std::min<std::uint64_t>(piece.size(), to - from), static_cast<off_t>(from));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(errno, "cannot read what was written before");
    if (n == 0) return failed_precondition_error("became shorter while it was read");
    crc = crc32c({piece.data(), static_cast<std::size_t>(n)}, crc);
    from += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace

std::string to_bytes(const output_place& p) {
  if (p.empty()) return {};
  position_writer w;
  w.number(kVersion);
  w.text(p.format);
  w.text(p.path);
  for (std::uint64_t n : {p.device, p.inode, p.length_bytes, std::uint64_t{p.has_whole_crc}, std::uint64_t{p.whole_crc},
                          std::uint64_t{p.tail_crc}})
    w.number(n);
  return w.bytes();
}

status read_place(std::string_view bytes, output_place& p) {
  p = {};
  if (bytes.empty()) return {};
  position_reader r(bytes);
  if (r.number() != kVersion)
    return failed_precondition_error("what it says of its output was written by another version of sluice");
  p.format = r.text();
  p.path = r.text();
  p.device = r.number();
  p.inode = r.number();
  p.length_bytes = r.number();
  p.has_whole_crc = r.number() != 0;
  p.whole_crc = static_cast<std::uint32_t>(r.number());
  p.tail_crc = static_cast<std::uint32_t>(r.number());
  return r.ok() && r.done() && !p.empty() ? status() : data_loss_error("what it says of its output is damaged");
}

status read_tail_crc(int fd, std::uint64_t length_bytes, std::uint32_t& crc) {
  return read_crc(fd, length_bytes - std::min(length_bytes, kTailBytes), length_bytes, crc);
}

status check_place(int fd, const std::string& path, const output_place& p, bool is_partial) {
  struct stat is{};
  if (::fstat(fd, &is) != 0) return errno_error(errno, "cannot look at what was written before").in_file(path);
  auto size = static_cast<std::uint64_t>(is.st_size);
  bool is_same = is.st_ino == p.inode && is.st_dev == p.device;
  auto refused = [&](const std::string& words) {
    std::string was = p.path.empty() || p.path == path ? "" : absl::StrCat(" (then named ", p.path, ")");
    return failed_precondition_error(absl::StrCat("the checkpoint was taken when this output", was, " had ",
                                                  grouped(p.length_bytes), " bytes: ", words, kWayOut))
        .in_file(path);
  };
  if (size < p.length_bytes) return refused(absl::StrCat("it has ", grouped(size), " now"));
  bool may_be_copy = p.has_whole_crc && (is_partial || size == p.length_bytes);
  if (!is_same && !may_be_copy) return refused("this is another file");
  bool all = p.has_whole_crc && (!is_same || p.length_bytes <= kCheckedWhole);
  std::uint32_t crc = 0;
  status why = all ? read_crc(fd, 0, p.length_bytes, crc) : read_tail_crc(fd, p.length_bytes, crc);
  if (!why.ok()) return why.in_file(path);
  if (crc == (all ? p.whole_crc : p.tail_crc)) return {};
  return refused(is_same ? "some of these were altered since" : "this is another file");
}

}  // namespace sluice::lib::cli
