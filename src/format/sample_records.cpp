// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/sample_records.hpp"

#include <absl/strings/str_format.h>

#include <filesystem>
#include <fstream>

#include "base/files/whole_file.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
// The number of draws reserved for each record: its text uses 4, its label 1, its values 8.
constexpr std::uint64_t kDrawsPerRecord = 16;

void append_text(std::string& text, std::uint64_t seed, std::uint64_t first_draw, std::size_t digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (i % 16 == 0) word = draw(seed, first_draw + i / 16);
    text += kDigits[word & 15];
    word >>= 4;
  }
}

/// A float below 1 keeps 24 bits only.
float unit_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

void fill(sample_example& e, std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t base = index * kDrawsPerRecord;
  const std::uint64_t sizes = draw(seed, base);
  e.label = static_cast<std::int64_t>(sizes % 1000);
  e.text.clear();
  append_text(e.text, seed, base + 1, 40 + 2 * ((sizes >> 32) % 11));
  for (std::size_t i = 0; i < e.values.size(); i += 2) {
    const std::uint64_t word = draw(seed, base + 5 + i / 2);
    e.values[i] = unit_float(static_cast<std::uint32_t>(word));
    e.values[i + 1] = unit_float(static_cast<std::uint32_t>(word >> 32));
  }
}

struct shard_range {
  std::uint64_t first, end;
};
shard_range records_of(const sample_options& o, std::uint32_t shard) {
  return {o.records * shard / o.shards, o.records * (shard + 1) / o.shards};
}

class record_writer {
 public:
  explicit record_writer(std::uint64_t seed) : seed_(seed) {}
  void append(std::string& bytes, std::uint64_t index) {
    fill(example_, seed_, index);
    auto& e = example_;
    writer_.bytes("text", e.text).int64("label", e.label).floats("values", e.values.data(), e.values.size());
    append_tfrecord(bytes, writer_.finish());
  }

 private:
  std::uint64_t seed_;
  sample_example example_;
  example_writer writer_;
};

/// Returns true if the file, of `size` bytes, has these bytes at `at`.
bool holds(std::ifstream& in, std::uint64_t size, std::uint64_t at, const std::string& bytes) {
  if (at > size || size - at < bytes.size()) return false;
  std::string found(bytes.size(), '\0');
  in.seekg(static_cast<std::streamoff>(at)).read(found.data(), static_cast<std::streamsize>(found.size()));
  return in.good() && found == bytes;
}

}  // namespace

sample_example make_sample_example(std::uint64_t seed, std::uint64_t index) {
  sample_example e;
  fill(e, seed, index);
  return e;
}

std::string sample_shard_name(const sample_options& options, std::uint32_t shard) {
  return absl::StrFormat("sample-%05d-of-%05d.tfrecord", shard, options.shards);
}

status write_sample_shard(const std::string& path, const sample_options& options, std::uint32_t shard) {
  whole_file file;
  status why = file.begin(path);
  record_writer records(options.seed);
  std::string bytes;
  bytes.reserve(kWriteBytes + 4096);
  auto [first, end] = records_of(options, shard);
  for (std::uint64_t i = first; i < end && why.ok(); ++i) {
    records.append(bytes, i);
    if (bytes.size() < kWriteBytes) continue;
    why = file.write(bytes);
    bytes.clear();
  }
  if (why.ok()) why = file.write(bytes);
  return why.ok() ? file.finish() : why;
}

bool is_sample_shard(const std::string& path, const sample_options& options, std::uint32_t shard) {
  std::error_code unknown;
  std::uint64_t size = std::filesystem::file_size(path, unknown);
  if (unknown) return false;
  auto [first, end] = records_of(options, shard);
  if (first == end) return size == 0;
  record_writer records(options.seed);
  std::string head, tail;
  records.append(head, first);
  records.append(tail, end - 1);
  std::ifstream in(path, std::ios::binary);
  return holds(in, size, 0, head) && size >= tail.size() && holds(in, size, size - tail.size(), tail);
}

}  // namespace sluice::lib
