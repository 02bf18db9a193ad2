// SPDX-License-Identifier: Apache-2.0
#include "format/riegeli/riegeli_chunks.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/varint.hpp"
#include "format/codec/whole_codecs.hpp"
#include "format/codec/zstd_frames.hpp"
#include "format/riegeli/highway_hash.hpp"

namespace sluice::lib {
namespace {

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t n = 0;
  std::memcpy(&n, bytes.data() + at, sizeof n);
  return n;
}
void append_number(std::uint64_t n, std::string& to) { to.append(reinterpret_cast<const char*>(&n), sizeof n); }

/// Sizes of more bytes mean that the chunk is damaged: a chunk has some MiB.
constexpr std::uint64_t kRiegeliSizesMax = std::uint64_t{1} << 28;

/// The bytes of a chunk, without the block headers between them.
class chunk_bytes {
 public:
  chunk_bytes(const file_bytes& from, std::uint64_t at) : from_(from), at_(at) {}
  /// Takes n bytes. They are in the file's bytes, or in `joined` if a block header was between them.
  status take(std::uint64_t n, std::string& joined, std::string_view& to) {
    joined.clear();
    to = {};
    while (n != 0) {
      if (at_ % kRiegeliBlockBytes == 0)
        if (status why = pass_header(); !why.ok()) return why;
      const std::uint64_t here = std::min(n, kRiegeliBlockBytes - at_ % kRiegeliBlockBytes);
      std::string_view part;
      if (status why = raw(here, part); !why.ok()) return why;
      n -= here;
      if (to.empty() && n == 0) return to = part, status();
      joined += part;
      to = joined;
    }
    return {};
  }

 private:
  status raw(std::uint64_t n, std::string_view& to) {
    const std::uint64_t begin = at_ - from_.offset;
    if (at_ < from_.offset || begin > from_.bytes.size() || n > from_.bytes.size() - begin)
      return data_loss_error("a chunk goes on beyond the place where the footer lets it end: the file is damaged");
    to = from_.bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
    at_ += n;
    return {};
  }
  status pass_header() {
    std::string_view header;
    if (status why = raw(kRiegeliBlockHeaderBytes, header); !why.ok()) return why;
    if (number_at(header, 0) == highway_hash(kRiegeliKey, header.substr(8))) return {};
    return data_loss_error(
        absl::StrCat("the hash of the block header at byte ", at_ - kRiegeliBlockHeaderBytes, " is wrong"));
  }

  const file_bytes& from_;
  std::uint64_t at_;
};

status read_header(chunk_bytes& from, riegeli_chunk& to, std::uint64_t& data_bytes, std::uint64_t& data_hash) {
  std::string joined;
  std::string_view header;
  if (status why = from.take(kRiegeliChunkHeaderBytes, joined, header); !why.ok()) return why;
  if (number_at(header, 0) != highway_hash(kRiegeliKey, header.substr(8)))
    return data_loss_error("the hash of the chunk's header is wrong");
  data_bytes = number_at(header, 8);
  data_hash = number_at(header, 16);
  to.type = header[24];
  to.records = number_at(header, 24) >> 8;
  to.decoded_bytes = number_at(header, 32);
  return {};
}

status damaged_chunk(std::string_view what) {
  return data_loss_error(absl::StrCat("the chunk is damaged: ", std::string(what)));
}

/// Decompresses to exactly `bytes` bytes.
status inflate_part(zstd_frames& frames, char how, std::string_view in, char* out, std::size_t bytes) {
  if (how == 'z') return frames.inflate(in, out, bytes);
  const bool is_snappy = how == 's';
  const status why = inflate_whole(is_snappy ? whole_codec::snappy_block : whole_codec::brotli, in, out, bytes);
  if (why.code() == status_code::data_loss) return damaged_chunk(is_snappy ? "its snappy block" : "its brotli stream");
  if (why.code() != status_code::unimplemented) return why;
  return unimplemented_error(is_snappy
                                 ? "the chunk is compressed by snappy, which this build lacks: install libsnappy-dev"
                                 : "the chunk is compressed by brotli, which this build lacks: install libbrotli-dev");
}

}  // namespace

status read_riegeli_header(const file_bytes& from, std::uint64_t at, riegeli_chunk& to, std::uint64_t& data_bytes) {
  chunk_bytes bytes(from, at);
  std::uint64_t hash = 0;
  return read_header(bytes, to, data_bytes, hash);
}

status read_riegeli_chunk(const file_bytes& from, std::uint64_t at, riegeli_chunk& to) {
  chunk_bytes bytes(from, at);
  std::uint64_t n = 0, hash = 0;
  if (status why = read_header(bytes, to, n, hash); !why.ok()) return why;
  if (status why = bytes.take(n, to.joined, to.data); !why.ok()) return why;
  if (highway_hash(kRiegeliKey, to.data) != hash) return data_loss_error("the hash of the chunk's data is wrong");
  return {};
}

status simple_records(const riegeli_chunk& chunk, zstd_frames& frames, char* room, std::vector<std::size_t>& sizes) {
  sizes.clear();
  if (chunk.type == 't')
    return unimplemented_error(
        "the chunk is transposed, a form of Riegeli that is not documented: write the file without the option "
        "transpose");
  if (chunk.type != 'r') return damaged_chunk(absl::StrCat("records in a chunk of type ", int{chunk.type}));
  std::string_view rest = chunk.data;
  std::uint64_t sizes_bytes = 0;
  if (rest.empty()) return damaged_chunk("it has no data");
  const char how = rest.front();
  rest.remove_prefix(1);
  if (how != 0 && how != 'b' && how != 'z' && how != 's')
    return unimplemented_error(absl::StrCat("the chunk has the unknown compression ", int{how}));
  if (!detail::take_varint(rest, sizes_bytes) || sizes_bytes > rest.size())
    return damaged_chunk("the length of its sizes");
  std::string_view sizes_part = rest.substr(0, static_cast<std::size_t>(sizes_bytes));
  std::string_view values = rest.substr(static_cast<std::size_t>(sizes_bytes));
  std::string unpacked;
  if (how != 0) {
    std::uint64_t n = 0, values_bytes = 0;
    // A varint of 64 bits has ten bytes.
    if (!detail::take_varint(sizes_part, n) || n / 10 > chunk.records || n > kRiegeliSizesMax)
      return damaged_chunk("the length of its sizes");
    unpacked.resize(static_cast<std::size_t>(n));
    if (status why = inflate_part(frames, how, sizes_part, unpacked.data(), unpacked.size()); !why.ok()) return why;
    sizes_part = unpacked;
    if (!detail::take_varint(values, values_bytes) || values_bytes != chunk.decoded_bytes)
      return damaged_chunk("the length of its records");
  }
  if (chunk.records > sizes_part.size()) return damaged_chunk("it has fewer sizes than records");
  std::uint64_t total = 0;
  sizes.reserve(static_cast<std::size_t>(chunk.records));
  for (std::uint64_t i = 0; i != chunk.records; ++i) {
    std::uint64_t n = 0;
    if (!detail::take_varint(sizes_part, n) || n > chunk.decoded_bytes - total)
      return damaged_chunk("the sizes of its records");
    sizes.push_back(static_cast<std::size_t>(n));
    total += n;
  }
  if (total != chunk.decoded_bytes || !sizes_part.empty()) return damaged_chunk("the sizes of its records");
  if (how != 0) return inflate_part(frames, how, values, room, static_cast<std::size_t>(total));
  if (values.size() != total) return damaged_chunk("the length of its records");
  std::memcpy(room, values.data(), values.size());
  return {};
}

void riegeli_writer::begin(std::string& to) { append_chunk('s', 0, 0, {}, to); }

std::uint64_t riegeli_writer::append(const std::vector<std::string_view>& records, int level, std::string& to) {
  std::string sizes, values, data;
  for (const std::string_view r : records) {
    detail::append_varint(r.size(), sizes);
    values += r;
  }
  const std::uint64_t decoded = values.size();
  data += level == 0 ? '\0' : 'z';
  if (level != 0) {
    for (std::string* part : {&sizes, &values}) {
      std::string packed;
      detail::append_varint(part->size(), packed);
      if (status why = frames_.deflate(*part, level, packed); !why.ok()) throw_status(std::move(why));
      *part = std::move(packed);
    }
  }
  detail::append_varint(sizes.size(), data);
  data += sizes;
  data += values;
  return append_chunk('r', records.size(), decoded, data, to);
}

void riegeli_writer::pad(std::string& to) {
  if (offset_ % kRiegeliBlockBytes == 0) return;
  std::uint64_t n = kRiegeliBlockBytes - offset_ % kRiegeliBlockBytes;
  // A padding chunk that does not fit takes another block.
  if (n < kRiegeliChunkHeaderBytes) n += kRiegeliBlockBytes - kRiegeliBlockHeaderBytes;
  append_chunk('p', 0, 0, std::string(static_cast<std::size_t>(n - kRiegeliChunkHeaderBytes), '\0'), to);
}

std::uint64_t riegeli_writer::append_chunk(char type, std::uint64_t records, std::uint64_t decoded,
                                           const std::string& data, std::string& to) {
  std::string header;
  append_number(data.size(), header);
  append_number(highway_hash(kRiegeliKey, data), header);
  append_number(std::uint64_t{static_cast<unsigned char>(type)} | records << 8, header);
  append_number(decoded, header);
  std::string chunk;
  append_number(highway_hash(kRiegeliKey, header), chunk);
  chunk += header;
  chunk += data;
  const std::uint64_t begin = offset_;
  std::uint64_t end = begin;
  for (std::uint64_t left = chunk.size(); left != 0;) {
    if (end % kRiegeliBlockBytes == 0) end += kRiegeliBlockHeaderBytes;
    const std::uint64_t here = std::min(left, kRiegeliBlockBytes - end % kRiegeliBlockBytes);
    end += here;
    left -= here;
  }
  for (std::string_view rest = chunk; !rest.empty();) {
    if (offset_ % kRiegeliBlockBytes == 0) {
      std::string places, block;
      append_number(offset_ - begin, places);
      append_number(end - offset_, places);
      append_number(highway_hash(kRiegeliKey, places), block);
      to += block + places;
      offset_ += kRiegeliBlockHeaderBytes;
    }
    const auto here = static_cast<std::size_t>(
        std::min<std::uint64_t>(rest.size(), kRiegeliBlockBytes - offset_ % kRiegeliBlockBytes));
    to += rest.substr(0, here);
    offset_ += here;
    rest.remove_prefix(here);
  }
  return begin;
}

}  // namespace sluice::lib
