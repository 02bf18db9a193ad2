// SPDX-License-Identifier: Apache-2.0
#include "output/output_place.hpp"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sluice/base/crc32c.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kReadPieceBytes = std::size_t{1} << 18;

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, 1, ',');
  return digits;
}

/// Computes the CRC of the bytes from `from` to `to`.
status read_crc(int fd, std::uint64_t from, std::uint64_t to, std::uint32_t& crc) {
  std::string piece(static_cast<std::size_t>(std::min<std::uint64_t>(kReadPieceBytes, to - from)), '\0');
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
  w.text(p.compression);
  w.text(p.path);
  for (std::uint64_t n : {p.shards, p.shard_bytes, p.elements, p.first_shard, std::uint64_t{p.files.size()}})
    w.number(n);
  for (const shard_place& f : p.files) {
    for (std::uint64_t n : {f.device, f.inode, f.length_bytes, f.head_bytes, std::uint64_t{f.has_whole_crc},
                            std::uint64_t{f.whole_crc}, std::uint64_t{f.tail_crc}, f.plain_bytes})
      w.number(n);
    w.text(f.encoder);
  }
  return w.bytes();
}

status read_place(std::string_view bytes, output_place& p) {
  p = {};
  if (bytes.empty()) return {};
  position_reader r(bytes);
  if (r.number() != kVersion)
    return failed_precondition_error("its description of the output was written by another version of sluice");
  p.format = r.text();
  p.compression = r.text();
  p.path = r.text();
  for (std::uint64_t* n : {&p.shards, &p.shard_bytes, &p.elements, &p.first_shard}) *n = r.number();
  for (std::uint64_t left = r.number(); r.ok() && left != 0; --left) {
    shard_place& f = p.files.emplace_back();
    for (std::uint64_t* n : {&f.device, &f.inode, &f.length_bytes, &f.head_bytes}) *n = r.number();
    f.has_whole_crc = r.number() != 0;
    f.whole_crc = static_cast<std::uint32_t>(r.number());
    f.tail_crc = static_cast<std::uint32_t>(r.number());
    f.plain_bytes = r.number();
    f.encoder = r.text();
    if (f.head_bytes > f.length_bytes) return data_loss_error("its description of the output is damaged");
  }
  return r.ok() && r.done() && !p.empty() ? status() : data_loss_error("its description of the output is damaged");
}

status read_tail_crc(int fd, std::uint64_t head_bytes, std::uint64_t length_bytes, std::uint32_t& crc) {
  return read_crc(fd, std::max(head_bytes, length_bytes - std::min(length_bytes, kTailBytes)), length_bytes, crc);
}

status check_place(int fd, const std::string& path, const std::string& was_named, const shard_place& p,
                   bool is_partial) {
  struct stat is{};
  if (::fstat(fd, &is) != 0) return errno_error(errno, "cannot look at what was written before").in_file(path);
  auto size = static_cast<std::uint64_t>(is.st_size);
  bool is_same = is.st_ino == p.inode && is.st_dev == p.device;
  auto refused = [&](const std::string& words) {
    std::string was = was_named.empty() || was_named == path ? "" : absl::StrCat(" (then named ", was_named, ")");
    return failed_precondition_error(absl::StrCat("the checkpoint was taken when this output", was, " had ",
                                                  grouped(p.length_bytes), " bytes: ", words))
        .in_file(path);
  };
  if (size < p.length_bytes) return refused(absl::StrCat("it has ", grouped(size), " now"));
  bool may_be_copy = p.has_whole_crc && (is_partial || size == p.length_bytes);
  if (!is_same && !may_be_copy) return refused("this is another file");
  bool all = p.has_whole_crc && (!is_same || p.length_bytes <= kCheckedWhole);
  std::uint32_t crc = 0;
  status why =
      all ? read_crc(fd, p.head_bytes, p.length_bytes, crc) : read_tail_crc(fd, p.head_bytes, p.length_bytes, crc);
  if (!why.ok()) return why.in_file(path);
  if (crc == (all ? p.whole_crc : p.tail_crc)) return {};
  return refused(is_same ? "some of these were altered since" : "this is another file");
}

}  // namespace sluice::lib
