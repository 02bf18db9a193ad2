// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/checkpoint_file.hpp"

#include <cstring>
#include <string>

#include "base/files/whole_file.hpp"
#include "pipeline/checkpoint_bytes.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/base/small_file.hpp"

namespace sluice::lib {
namespace {

/// Positions have kilobytes: a longer file is not a checkpoint, or is endless (a device).
constexpr std::size_t kCheckpointBytesMax = std::size_t{1} << 28;
constexpr std::string_view kCannotRead = "cannot read";  // how messages of read_small_file begin
constexpr std::string_view kCheckpointMagic("sluice file\x01", 12);

/// The error of a file that begins as a checkpoint and has fewer bytes than were written.
status cut_short(std::size_t bytes, std::uint64_t least) {
  return data_loss_error("the checkpoint is damaged: it was cut short, and has " + std::to_string(bytes) +
                         " bytes of at least " + std::to_string(least));
}

/// Changes an error of read_small_file into one about a checkpoint.
status about_checkpoint(const status& why) {
  if (why.code() == status_code::out_of_range) return data_loss_error("is too long for a checkpoint");
  return {why.code(), "cannot read the checkpoint" + std::string(why.message().substr(kCannotRead.size()))};
}

}  // namespace

std::string checkpoint_bytes(const checkpoint& at, std::string_view attached) {
  if (attached.empty()) return at.bytes;
  std::string out(kCheckpointMagic);
  std::uint64_t size = at.bytes.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += at.bytes;
  out += attached;
  std::uint32_t crc = crc32c(out);
  out.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  return out;
}

status damaged_checkpoint(std::size_t bytes) {
  return data_loss_error("the checkpoint is damaged or was cut short: its " + std::to_string(bytes) +
                         " bytes do not match their checksum");
}

bool begins_as_checkpoint(std::string_view bytes) {
  constexpr std::string_view kName = "sluice", kKinds[] = {"", " file", " broadcast"};
  if (!bytes.starts_with(kName)) return false;
  bytes.remove_prefix(kName.size());
  for (std::string_view kind : kKinds)
    if (bytes.size() > kind.size() && bytes.starts_with(kind) && static_cast<unsigned char>(bytes[kind.size()]) < ' ' &&
        bytes[kind.size()] != '\n' && bytes[kind.size()] != '\r' && bytes[kind.size()] != '\t')
      return true;
  return false;
}

result<checkpoint> read_checkpoint_bytes(std::string_view bytes, std::string* attached) {
  if (attached) attached->clear();
  if (bytes.empty()) return data_loss_error("the checkpoint is empty");
  if (!bytes.starts_with(kCheckpointMagic)) {
    constexpr std::size_t kNameBytes = 6;  // "sluice"
    if (bytes.size() >= kNameBytes && kCheckpointMagic.starts_with(bytes))
      return cut_short(bytes.size(), kCheckpointMagic.size() + sizeof(std::uint64_t) + sizeof(std::uint32_t));
    return checkpoint{std::string(bytes)};
  }
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  constexpr std::size_t kHead = kCheckpointMagic.size() + sizeof size;
  if (bytes.size() < kHead + sizeof crc) return cut_short(bytes.size(), kHead + sizeof crc);
  std::size_t rest = bytes.size() - kHead - sizeof crc;
  std::memcpy(&size, bytes.data() + kCheckpointMagic.size(), sizeof size);
  std::memcpy(&crc, bytes.data() + bytes.size() - sizeof crc, sizeof crc);
  if (crc != crc32c(bytes.substr(0, bytes.size() - sizeof crc)) || size > rest)
    return size > rest && size <= kCheckpointBytesMax ? cut_short(bytes.size(), kHead + size + sizeof crc)
                                                      : damaged_checkpoint(bytes.size());
  if (attached) *attached = bytes.substr(kHead + size, rest - size);
  return checkpoint{std::string(bytes.substr(kHead, size))};
}

status save_checkpoint(const std::string& path, const checkpoint& at, std::string_view attached) {
  replaced_file file;
  status why = file.open(path);
  return why.ok() ? file.replace(checkpoint_bytes(at, attached)) : why;
}

result<checkpoint> load_checkpoint(const std::string& path, std::string* attached) {
  result<std::string> bytes = read_small_file(path, kCheckpointBytesMax);
  if (!bytes.ok()) return about_checkpoint(bytes.why()).in_file(path);
  result<checkpoint> at = read_checkpoint_bytes(*bytes, attached);
  if (!at.ok()) return at.why().in_file(path);
  return at;
}

}  // namespace sluice::lib
