// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/sample.hpp"

#include <absl/strings/str_format.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "sluice/base/random.hpp"
#include "sluice/format/tfrecord.hpp"

namespace sluice {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
// Draws that one record may take: its text 4, its label 1, its values 8, with room to grow.
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

/// 24 bits are all that a float below 1 keeps.
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

/// A file under a name of its own until it is complete.
class pending_file {
 public:
  explicit pending_file(const std::string& path)
      : path_(path), partial_(path + ".partial"), file_(std::fopen(partial_.c_str(), "wb")) {}
  ~pending_file() {
    if (!file_) return;
    std::fclose(file_);
    std::remove(partial_.c_str());
  }
  status write(const std::string& bytes) {
    if (!file_) return failed("cannot create");
    return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() ? status() : failed("cannot write");
  }
  status finish() {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) return failed("cannot write");
    return std::rename(partial_.c_str(), path_.c_str()) == 0 ? status() : failed("cannot rename into place");
  }

 private:
  status failed(const char* what) const { return errno_error(errno, what).in_file(path_); }
  const std::string path_, partial_;
  std::FILE* file_;
};

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
  pending_file file(path);
  sample_example e;
  example_writer writer;
  std::string bytes;
  bytes.reserve(kWriteBytes + 4096);
  const std::uint64_t first = options.records * shard / options.shards;
  const std::uint64_t end = options.records * (shard + 1) / options.shards;
  for (std::uint64_t i = first; i < end; ++i) {
    fill(e, options.seed, i);
    writer.bytes("text", e.text).int64("label", e.label).floats("values", e.values.data(), e.values.size());
    append_tfrecord(bytes, writer.finish());
    if (bytes.size() < kWriteBytes) continue;
    status why = file.write(bytes);
    if (!why.ok()) return why;
    bytes.clear();
  }
  status why = file.write(bytes);
  return why.ok() ? file.finish() : why;
}

}  // namespace sluice
