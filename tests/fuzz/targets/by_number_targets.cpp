// SPDX-License-Identifier: Apache-2.0
// The formats whose records are found by number. bagz: the table of limits, and records that are zstd frames; array_record:
// chunks and footers, whose hashes are computed here; mds: indexes and samples.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/by_number/record_bounds.hpp"
#include "format/codec/zstd_frames.hpp"
#include "format/riegeli/array_record_footer.hpp"
#include "format/riegeli/highway_hash.hpp"
#include "fuzz/target.hpp"
#include "op/bagz/bagz_files.hpp"
#include "op/mds/mds_index.hpp"
#include "op/mds/mds_samples.hpp"

namespace sluice::lib::fuzz {

namespace {

constexpr std::uint64_t kRoomOfRecords = std::uint64_t{1} << 20;

/// Checks the places of all records that a table has.
void take_all(const record_table& table, std::string_view integers, std::size_t bytes_at_once) {
  record_bounds bounds;
  bounds.set(table, integers);
  for (std::uint64_t i = 0; i < table.records;) {
    expect(bounds.has(i), "a bound is not in memory");
    record_run run;
    bounds.take({.from = i, .records_max = table.records - i, .bytes = bytes_at_once}, "a", run);
    expect(run.first == i && run.places.size() + run.lost != 0, "no record, and no error of one");
    std::uint64_t end = run.places.empty() ? 0 : run.places[0].offset;
    for (const record_run::place& p : run.places) {
      expect(p.offset == end, "records do not follow one another");
      end += p.bytes;
      expect(p.offset >= table.lowest && end <= table.highest, "a record is not within the records");
    }
    i += run.places.size() + run.lost;
  }
}

void inflate_frame(std::string_view frame) {
  zstd_frames frames;
  auto n = frames.content_bytes(frame);
  if (!n.ok()) return;
  if (*n == zstd_frames::kUnknown) {
    std::vector<char> beginning(64);
    n = frames.measure(frame, kRoomOfRecords, beginning);
    if (!n.ok()) return;
  }
  if (*n > kRoomOfRecords) return;
  std::vector<char> room(static_cast<std::size_t>(*n));
  (void)frames.inflate(frame, room.data(), room.size());
}

std::string little(std::uint64_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

/// The bytes of a file that begins with a chunk of this header and data; its hashes are right unless the input damages them.
std::string chunk_of(input& in, std::uint64_t records, std::uint64_t decoded, std::string_view data) {
  const std::string rest = little(data.size() + (in.chance() ? in.byte() : 0)) +
                           little(highway_hash(kRiegeliKey, data)) +
                           little(records << 8 | (in.byte() % 8 ? 'r' : 't')) + little(decoded);
  return little(highway_hash(kRiegeliKey, rest)) + rest + std::string(data);
}

void read_chunk(input& in) {
  const std::uint64_t records = in.number(in.byte() % 8), decoded = in.number(in.byte() % 8);
  const std::string file = chunk_of(in, records, decoded, in.rest());
  // Not at the beginning of a block, which has a header.
  const file_bytes from{file, kRiegeliBlockHeaderBytes};
  riegeli_chunk chunk;
  if (!read_riegeli_chunk(from, from.offset, chunk).ok()) return;
  expect(chunk.records == (records & ~std::uint64_t{0} >> 8) && chunk.decoded_bytes == decoded, "another header");
  if (decoded > kRoomOfRecords || chunk.records > kRoomOfRecords) return;
  std::vector<char> room(static_cast<std::size_t>(std::max<std::uint64_t>(decoded, 1)));
  std::vector<std::size_t> sizes;
  zstd_frames frames;
  if (!simple_records(chunk, frames, room.data(), sizes).ok()) return;
  std::uint64_t sum = 0;
  for (const std::size_t n : sizes) sum += n;
  expect(sizes.size() == chunk.records && sum == decoded, "records have other sizes than the chunk states");
}

/// A footer of any records, whose chunk is sound.
void read_footer(input& in) {
  riegeli_writer writer;
  std::string file;
  writer.begin(file);
  const bool is_long = in.chance();
  std::vector<std::string> kept;
  while (!in.done() && kept.size() != 50) kept.emplace_back(in.take(in.byte() % 40));
  const std::uint64_t at =
      writer.append(std::vector<std::string_view>(kept.begin(), kept.end()), is_long ? 3 : 0, file);
  auto chunks = parse_array_record_footer({std::string_view(file).substr(static_cast<std::size_t>(at)), at}, at);
  if (!chunks.ok()) return;
  for (std::size_t i = 0; i != chunks->offsets.size(); ++i) {
    expect(chunks->offsets[i] < chunks->end_of(i) && chunks->end_of(i) <= at, "a chunk is not before the footer");
    expect(i == 0 || chunks->ends[i] >= chunks->ends[i - 1], "records are lost");
  }
}

/// A file of a block, whose last chunk refers to a footer.
void find_footer(input& in) {
  std::string tail(in.rest());
  tail.resize(kArrayRecordTailBytes);
  const std::uint64_t size = kArrayRecordTailBytes * 2;
  auto at = find_array_record_footer(tail, size);
  if (at.ok()) expect(*at < size, "a footer is behind the file");
}

void build_samples(const mds_index& index, std::string_view bytes) {
  mds_samples samples(index.columns, *index.row);
  buffer_ref owner(buffer::make(std::max<std::size_t>(bytes.size(), 1)));
  bytes.copy(owner->data(), bytes.size());
  const std::string_view sample(owner->data(), bytes.size());
  void* const room = ::operator new(index.row->size, std::align_val_t(index.row->align));
  if (samples.build(sample, owner.get(), static_cast<char*>(room)).ok()) {
    std::string json;
    print(*index.row, room, json);
    index.row->destroy(*index.row, room, 1);
  }
  ::operator delete(room, std::align_val_t(index.row->align));
}

/// An index of columns that the input chooses.
std::string index_of(input& in) {
  constexpr std::pair<const char*, const char*> kEncodings[] = {
      {"int", "8"},     {"str", "null"},     {"bytes", "null"},       {"uint8", "1"},
      {"float16", "2"}, {"float64", "8"},    {"ndarray", "null"},     {"ndarray:int16", "null"},
      {"json", "null"}, {"str_int", "null"}, {"ndarray:int16:2", "4"}};
  std::string names, encodings, sizes;
  for (int n = 1 + in.byte() % 5, i = 0; i != n; ++i) {
    const auto& [encoding, size] = kEncodings[in.byte() % std::size(kEncodings)];
    const std::string comma = i == 0 ? "" : ",";
    names += comma + "\"c" + std::to_string(i) + "\"";
    encodings += comma + "\"" + encoding + "\"";
    sizes += comma + size;
  }
  return R"({"version": 2, "shards": [{"version": 2, "format": "mds", "compression": null, "hashes": [], "samples": 1,
      "column_names": [)" +
         names + R"(], "column_encodings": [)" + encodings + R"(], "column_sizes": [)" + sizes +
         R"(], "raw_data": {"basename": "shard.00000.mds", "bytes": 100, "hashes": {}}, "zip_data": null}]})";
}

}  // namespace

void bagz(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const std::string_view file = in.rest();
  if (how % 4 == 3) return inflate_frame(file);
  const std::string_view tail = file.substr(file.size() - std::min<std::size_t>(file.size(), kBagzLimitBytes));
  const bool are_separate = how % 4 == 2;
  const std::uint64_t records_bytes = are_separate ? how * 16 : file.size();
  const auto limits = find_bagz_limits(tail, file.size(), are_separate, records_bytes);
  if (!limits.ok()) return;
  expect(limits->begin <= file.size() && limits->records == (file.size() - limits->begin) / kBagzLimitBytes,
         "the limits do not fit the file");
  if (limits->records == 0) return;
  const record_table table{
      .offset = limits->begin, .records = limits->records, .highest = are_separate ? records_bytes : limits->begin};
  take_all(table, file.substr(static_cast<std::size_t>(limits->begin)), 1 + how);
}

void array_record(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte() % 4;
  if (how == 0) return find_footer(in);
  if (how == 1) return read_footer(in);
  read_chunk(in);
}

void mds(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  if (how % 4 == 3) {  // a table of offsets
    const std::string_view integers = in.rest();
    if (integers.size() < 8) return;
    const record_table table{.offset = 4,
                             .width = 4,
                             .records = integers.size() / 4 - 1,
                             .has_begins = true,
                             .lowest = how,
                             .highest = std::uint64_t{how} * 64};
    return take_all(table, integers.substr(0, integers.size() / 4 * 4), 1 + how);
  }
  const std::string text = how % 4 == 0 ? std::string(in.take(2048)) : index_of(in);
  const auto index = parse_mds_index(text);
  expect(how % 4 == 0 || index.ok(), "a sound index is refused");
  if (!index.ok()) return;
  for (const mds_shard& s : index->shards) {
    expect(s.raw_bytes < std::uint64_t{1} << 32, "a shard is larger than its offsets");
    expect(s.raw_name.find("..") == s.raw_name.npos || s.raw_name.find("../") == s.raw_name.npos,
           "a name leads outside");
  }
  build_samples(*index, in.rest());
}

}  // namespace sluice::lib::fuzz
