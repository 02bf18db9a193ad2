// SPDX-License-Identifier: Apache-2.0
#include "format/riegeli/array_record_footer.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "format/example/wire.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint64_t kPostscriptMagic = 0x71930e704fdae05e;
/// A footer of more bytes means that the file is damaged.
constexpr std::uint64_t kArrayFooterMax = std::uint64_t{1} << 32;
/// The first message of a footer, with the options of the writer, has at most this size.
constexpr std::uint64_t kFooterHeadMax = std::uint64_t{1} << 20;

/// The most bytes of a footer at this offset. The entry of a chunk is smaller than the header of the chunk itself.
std::uint64_t footer_bytes_max(std::uint64_t footer) { return std::min(footer + kFooterHeadMax, kArrayFooterMax); }

/// The fields 1 to 4 of a message of protocol buffers: numbers, and for field 1 or 4 possibly bytes.
struct message_fields {
  std::array<std::uint64_t, 5> numbers{};
  std::array<std::string_view, 5> bytes{};

  bool read(std::string_view from) {
    for (detail::wire_reader in(from); !in.done();) {
      std::uint32_t tag = 0;
      if (!in.tag(tag)) return false;
      std::uint64_t n = 0;
      std::string_view text;
      const std::uint32_t number = tag >> 3, kind = tag & 7;
      if (kind == detail::kVarint ? !in.varint(n) : kind != detail::kBytes || !in.bytes(text)) return false;
      if (number >= numbers.size()) continue;
      if (kind == detail::kVarint) numbers[number] = n;
      else bytes[number] = text;
    }
    return true;
  }
};

void append_field(unsigned number, std::uint64_t n, std::string& to) {
  to += static_cast<char>(number << 3);
  for (; n >= 128; n >>= 7) to += static_cast<char>(n | 128);
  to += static_cast<char>(n);
}
void append_bytes_field(unsigned number, std::string_view bytes, std::string& to) {
  to += static_cast<char>(number << 3 | 2);
  std::uint64_t n = bytes.size();
  for (; n >= 128; n >>= 7) to += static_cast<char>(n | 128);
  to += static_cast<char>(n);
  to += bytes;
}

/// The largest numbers that a chunk may state. A damaged chunk with larger ones is refused before memory is taken.
struct chunk_limits {
  std::uint64_t records, decoded_bytes;
};

/// The records of a chunk that is small enough to be decoded into a string.
status records_of(const file_bytes& from, std::uint64_t at, chunk_limits most, std::string& room,
                  std::vector<std::string_view>& to) {
  riegeli_chunk chunk;
  if (status why = read_riegeli_chunk(from, at, chunk); !why.ok()) return why;
  if (chunk.records > most.records || chunk.decoded_bytes > most.decoded_bytes)
    return data_loss_error(absl::StrCat("it states ", chunk.records, " records of ", chunk.decoded_bytes,
                                        " bytes, more than the file can have"));
  room.resize(static_cast<std::size_t>(chunk.decoded_bytes));
  std::vector<std::size_t> sizes;
  zstd_frames frames;
  if (status why = simple_records(chunk, frames, room.data(), sizes); !why.ok()) return why;
  std::string_view rest = room;
  for (const std::size_t n : sizes) {
    to.push_back(rest.substr(0, n));
    rest.remove_prefix(n);
  }
  return {};
}

status no_array_record(std::string_view what) {
  return data_loss_error(absl::StrCat("no ArrayRecord file, or it was cut short: ", std::string(what)));
}

}  // namespace

result<std::uint64_t> find_array_record_footer(std::string_view tail, std::uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes % kRiegeliBlockBytes != 0 || tail.size() < kArrayRecordTailBytes)
    return no_array_record(absl::StrCat("it has ", size_bytes, " bytes, no multiple of 64 KiB"));
  const std::uint64_t at = size_bytes - kArrayRecordTailBytes;
  std::string room;
  std::vector<std::string_view> records;
  const file_bytes from{tail.substr(tail.size() - kArrayRecordTailBytes), at};
  const chunk_limits most{kRiegeliBlockBytes, kRiegeliBlockBytes};
  if (status why = records_of(from, at, most, room, records); !why.ok())
    return no_array_record(absl::StrCat("its last block: ", std::string(why.message())));
  message_fields fields;
  if (records.empty() || !fields.read(records[0]) || fields.numbers[2] != kPostscriptMagic)
    return no_array_record("its last block does not refer to a footer");
  const std::uint64_t footer = fields.numbers[1];
  // Packed bytes are at most some more than the footer has unpacked; headers and padding of blocks come to them.
  if (footer >= at || at - footer > footer_bytes_max(footer) + kFooterHeadMax)
    return no_array_record(absl::StrCat("its footer would be at byte ", footer, ", of ", size_bytes));
  return footer;
}

result<array_record_chunks> parse_array_record_footer(const file_bytes& from, std::uint64_t footer) {
  auto damaged = [](std::string_view what) {
    return data_loss_error(absl::StrCat("the footer is damaged: ", std::string(what)));
  };
  std::string room;
  std::vector<std::string_view> records;
  const chunk_limits most{footer / kRiegeliChunkHeaderBytes + 1, footer_bytes_max(footer)};
  if (status why = records_of(from, footer, most, room, records); !why.ok())
    return why.with_message(absl::StrCat("the footer: ", std::string(why.message())));
  message_fields first, about;
  if (records.empty() || !first.read(records[0]) || !about.read(first.bytes[1])) return damaged("its first record");
  if (about.numbers[2] != records.size() - 1)
    return damaged(absl::StrCat("it states ", about.numbers[2], " chunks, and lists ", records.size() - 1));
  array_record_chunks made;
  made.end = footer;
  made.offsets.reserve(records.size() - 1);
  made.ends.reserve(records.size() - 1);
  constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 56;
  for (std::size_t i = 1; i != records.size(); ++i) {
    message_fields chunk;
    if (!chunk.read(records[i])) return damaged(absl::StrCat("its entry of chunk ", i - 1));
    const std::uint64_t offset = chunk.numbers[1];
    const bool is_after = made.offsets.empty() || offset > made.offsets.back();
    if (!is_after || offset >= footer || chunk.numbers[3] > kRecordsMax - made.records())
      return damaged(
          absl::StrCat("chunk ", i - 1, " would be at byte ", offset, " with ", chunk.numbers[3], " records"));
    made.ends.push_back(made.records() + chunk.numbers[3]);
    made.offsets.push_back(offset);
  }
  if (about.numbers[3] != made.records())
    return damaged(absl::StrCat("it states ", about.numbers[3], " records, and its chunks have ", made.records()));
  return made;
}

void append_array_record_end(riegeli_writer& writer, const array_record_chunks& chunks,
                             const std::vector<std::uint64_t>& decoded_bytes, std::string_view options, int level,
                             std::string& to) {
  std::string about;
  append_field(1, 1, about);
  append_field(2, chunks.offsets.size(), about);
  append_field(3, chunks.records(), about);
  append_bytes_field(4, options, about);
  std::vector<std::string> messages(1);
  append_bytes_field(1, about, messages[0]);
  for (std::size_t i = 0; i != chunks.offsets.size(); ++i) {
    std::string& m = messages.emplace_back();
    append_field(1, chunks.offsets[i], m);
    append_field(2, decoded_bytes[i], m);
    append_field(3, chunks.ends[i] - (i == 0 ? 0 : chunks.ends[i - 1]), m);
  }
  const std::uint64_t footer =
      writer.append(std::vector<std::string_view>(messages.begin(), messages.end()), level, to);
  writer.pad(to);
  std::string postscript;
  append_field(1, footer, postscript);
  append_field(2, kPostscriptMagic, postscript);
  writer.append({postscript, postscript, postscript}, 0, to);
  writer.pad(to);
}

}  // namespace sluice::lib
