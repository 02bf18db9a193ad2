// SPDX-License-Identifier: Apache-2.0
#include "format/archive/zip_archive.hpp"

#include <absl/strings/str_cat.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace sluice::lib {
namespace {

constexpr std::string_view kEnd("PK\x05\x06", 4), kEnd64("PK\x06\x06", 4), kLocator64("PK\x06\x07", 4);
constexpr std::string_view kEntry("PK\x01\x02", 4), kHeader("PK\x03\x04", 4);
constexpr std::size_t kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20, kEntryBytes = 46;
constexpr std::uint16_t kEncrypted = 1, kStronglyEncrypted = 1 << 6, kMasked = 1 << 13;
constexpr std::uint16_t kStored = 0, kDeflated = 8, kAes = 99;
constexpr std::uint16_t kSizes64 = 1;  // the id of zip64's extra field
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr std::uint16_t kIn64Short = 0xffff;
// One byte of deflate expands to at most 1032 bytes.
constexpr std::uint64_t kDeflateRatioMax = 1032;

template <class T> T number(std::string_view bytes, std::size_t at) {
  T n = 0;
  for (std::size_t i = 0; i != sizeof(T); ++i)
    n = static_cast<T>(n | static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i)));
  return n;
}

status no_archive(const char* why) { return data_loss_error(absl::StrCat("is no zip archive, or is damaged: ", why)); }

/// Returns the place of zip64's end record, to which the locator at `locator` points; npos: it is not in the tail.
std::size_t find_end64(std::string_view tail, std::uint64_t at, std::size_t locator) {
  const auto stated = number<std::uint64_t>(tail, locator + 8);
  if (stated >= at && stated - at <= locator &&
      tail.substr(static_cast<std::size_t>(stated - at)).starts_with(kEnd64) &&
      locator - static_cast<std::size_t>(stated - at) >= kEnd64Bytes)
    return static_cast<std::size_t>(stated - at);
  if (locator < kEnd64Bytes || !tail.substr(locator - kEnd64Bytes).starts_with(kEnd64)) return tail.npos;
  return locator - kEnd64Bytes;
}

/// Reads the sizes and the offset that do not fit into the entry's own fields.
status read_sizes64(std::string_view extra, bool plain, bool packed, bool header, zip_entry& to) {
  while (extra.size() >= 4) {
    const auto id = number<std::uint16_t>(extra, 0);
    const std::size_t size = number<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) break;
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != kSizes64) continue;
    if (field.size() < 8u * (plain + packed + header)) break;
    std::size_t at = 0;
    auto next = [&] { return number<std::uint64_t>(field, (at += 8) - 8); };
    if (plain) to.plain_bytes = next();
    if (packed) to.packed_bytes = next();
    if (header) to.header_at = next();
    return {};
  }
  return no_archive("a member's sizes are missing");
}

bool is_link(std::uint16_t made_by, std::uint32_t attributes) {
  constexpr std::uint32_t kUnix = 3, kTypes = 0170000, kLink = 0120000;
  return made_by >> 8 == kUnix && (attributes >> 16 & kTypes) == kLink;
}

status refusal_of(const zip_entry& e, std::uint16_t flags, std::uint16_t method) {
  if ((flags & (kEncrypted | kStronglyEncrypted | kMasked)) != 0 || method == kAes)
    return unimplemented_error("is encrypted");
  if (method != kStored && method != kDeflated)
    return unimplemented_error(
        absl::StrCat("is packed by method ", method, ", and only stored and deflated members are read"));
  if (e.plain_bytes > kZipMemberBytesMax)
    return element_limit_error(
        absl::StrCat("has ", e.plain_bytes, " bytes, and a member may have ", kZipMemberBytesMax));
  if (method == kStored && e.packed_bytes != e.plain_bytes) return data_loss_error("is stored, and has two sizes");
  // Checked before memory is allocated for the member.
  if (method == kDeflated && e.plain_bytes / kDeflateRatioMax > e.packed_bytes)
    return data_loss_error(
        absl::StrCat("cannot have ", e.plain_bytes, " bytes: it has ", e.packed_bytes, " in the archive"));
  return {};
}

}  // namespace

namespace {

/// Returns the offset of the last end record whose comment ends the file, otherwise of the last one whose comment ends
/// before that; npos if there is none.
std::size_t find_end_record(std::string_view tail) {
  std::size_t before = tail.npos;
  for (std::size_t from = tail.size() < kEndBytes ? tail.npos : tail.size() - kEndBytes; from != tail.npos;) {
    const std::size_t end = tail.rfind(kEnd, from);
    if (end == tail.npos) break;
    const std::size_t behind = end + kEndBytes + number<std::uint16_t>(tail, end + 20);
    if (behind == tail.size()) return end;
    if (behind < tail.size() && before == tail.npos) before = end;
    from = end == 0 ? tail.npos : end - 1;
  }
  return before;
}

}  // namespace

status find_zip_directory(std::string_view tail, std::uint64_t at, zip_directory& to) {
  to = {};
  const std::size_t end = find_end_record(tail);
  if (end == tail.npos) return no_archive("it does not end with a directory");
  to.following_bytes = tail.size() - (end + kEndBytes + number<std::uint16_t>(tail, end + 20));
  const auto disk = number<std::uint16_t>(tail, end + 4), first_disk = number<std::uint16_t>(tail, end + 6);
  to.entries = number<std::uint16_t>(tail, end + 10);
  to.size_bytes = number<std::uint32_t>(tail, end + 12);
  std::uint64_t stated = number<std::uint32_t>(tail, end + 16);
  std::size_t begin = end;  // the start of the bytes after the directory
  // If all numbers fit into the end record, bytes that look like a locator belong to something else.
  const bool wants64 = to.entries == kIn64Short || to.size_bytes == kIn64 || stated == kIn64;
  const bool has_locator =
      wants64 && end >= kLocator64Bytes && tail.substr(end - kLocator64Bytes).starts_with(kLocator64);
  if (has_locator) {
    begin = find_end64(tail, at, end - kLocator64Bytes);
    if (begin == tail.npos) return no_archive("the end of its directory is at a wrong place");
    to.entries = number<std::uint64_t>(tail, begin + 32);
    to.size_bytes = number<std::uint64_t>(tail, begin + 40);
    stated = number<std::uint64_t>(tail, begin + 48);
  }
  if ((disk != 0 && disk != kIn64Short) || (first_disk != 0 && first_disk != kIn64Short))
    return unimplemented_error("is a part of an archive in several files");
  const std::uint64_t here = at + begin;
  if (to.size_bytes > here || stated > here - to.size_bytes)
    return no_archive("its directory would begin after its end");
  if (to.size_bytes > kZipDirectoryBytesMax)
    return element_limit_error(absl::StrCat("its directory has ", to.size_bytes, " bytes"));
  if (to.entries > to.size_bytes / kEntryBytes) return no_archive("its directory is too short for what it has");
  to.offset = here - to.size_bytes;
  to.shift = to.offset - stated;
  return {};
}

status read_zip_entry(std::string_view rest, const zip_directory& d, zip_entry& to) {
  to = {};
  if (rest.size() < kEntryBytes || !rest.starts_with(kEntry))
    return no_archive("its directory has entries that are no members");
  const std::size_t name = number<std::uint16_t>(rest, 28), extra = number<std::uint16_t>(rest, 30);
  to.size_bytes = kEntryBytes + name + extra + number<std::uint16_t>(rest, 32);
  if (to.size_bytes > rest.size()) return no_archive("its directory is truncated");
  to.name = rest.substr(kEntryBytes, name);
  to.crc = number<std::uint32_t>(rest, 16);
  to.packed_bytes = number<std::uint32_t>(rest, 20);
  to.plain_bytes = number<std::uint32_t>(rest, 24);
  to.header_at = number<std::uint32_t>(rest, 42);
  const bool plain = to.plain_bytes == kIn64, packed = to.packed_bytes == kIn64, header = to.header_at == kIn64;
  if (plain || packed || header) {
    status why = read_sizes64(rest.substr(kEntryBytes + name, extra), plain, packed, header, to);
    if (!why.ok()) return why;
  }
  const std::uint64_t room = d.offset - d.shift;  // the space for headers and members
  if (to.header_at > room || to.packed_bytes > room - to.header_at)
    return no_archive("a member would lie after the directory");
  to.header_at += d.shift;
  const auto method = number<std::uint16_t>(rest, 10);
  to.is_deflated = method == kDeflated;
  to.is_file = !to.name.ends_with('/') && !is_link(number<std::uint16_t>(rest, 4), number<std::uint32_t>(rest, 38));
  to.refused = refusal_of(to, number<std::uint16_t>(rest, 8), method);
  return {};
}

status read_zip_header(std::string_view header, const zip_entry& e, std::size_t& needed) {
  needed = kZipHeaderBytes;
  if (header.size() < kZipHeaderBytes) return {};
  if (!header.starts_with(kHeader)) return data_loss_error("no member begins at the directory's offset");
  const std::size_t name = number<std::uint16_t>(header, 26);
  needed += name + number<std::uint16_t>(header, 28);
  if (header.size() < needed) return {};
  if (header.substr(kZipHeaderBytes, name) != e.name)
    return data_loss_error(absl::StrCat("another member, \"", std::string(header.substr(kZipHeaderBytes, name)),
                                        "\", is at the directory's offset"));
  return {};
}

bool begins_zip_member(std::string_view bytes) { return bytes.starts_with(kHeader); }

struct zip_inflater::state {
  inflate_state stream;
};

zip_inflater::zip_inflater() : state_(std::make_unique<state>()) {
  ::isal_inflate_init(&state_->stream);
  state_->stream.crc_flag = ISAL_DEFLATE;
}
zip_inflater::~zip_inflater() = default;

zip_inflater::step zip_inflater::inflate(std::string_view in, char* to, std::size_t room) {
  step s;
  inflate_state& stream = state_->stream;
  constexpr std::size_t kPieceMax = std::numeric_limits<std::int32_t>::max();
  const auto in_piece = static_cast<std::uint32_t>(std::min(in.size(), kPieceMax));
  const auto out_piece = static_cast<std::uint32_t>(std::min(room, kPieceMax));
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));  // the bytes are only read
  stream.avail_in = in_piece;
  stream.next_out = reinterpret_cast<std::uint8_t*>(to);
  stream.avail_out = out_piece;
  const int code = ::isal_inflate(&stream);
  // At an error in a damaged stream ISA-L may consume one byte more than its input, and avail_in wraps around.
  s.consumed = stream.avail_in > in_piece ? in_piece : in_piece - stream.avail_in;
  s.produced = out_piece - stream.avail_out;
  s.ended = stream.block_state == ISAL_BLOCK_FINISH;
  if (code < 0 || code == ISAL_NEED_DICT) s.why = data_loss_error("its deflated bytes are damaged");
  return s;
}

std::uint32_t zip_crc(std::string_view bytes, std::uint32_t before) {
  return ::crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace sluice::lib
