// SPDX-License-Identifier: Apache-2.0
// Reading TFRecords, both CRCs checked, from the page cache on one thread, beside a tuned loop over pread.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "base/crc32c_inline.hpp"
#include "bench/harness.hpp"
#include "bench/io_references.hpp"
#include "bench/record_file.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kFileBytes = std::size_t{48} << 20;
constexpr std::size_t kWindowBytes = std::size_t{256} << 10;
constexpr std::uint32_t kViews = 256;

/// Writes bytes that differ from record to record.
void write_pattern(std::string& data, std::uint64_t number) {
  for (std::size_t i = 0; i < data.size(); i += 61) data[i] = static_cast<char>(number * 31 + i);
}

std::uint64_t digest(std::string_view record) { return record.size() + static_cast<unsigned char>(record.front()); }

/// The reference: one buffer that is read into again and again, views by 256, nothing else.
SLUICE_TARGET_CRC std::uint64_t scan_by_hand(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> room(kWindowBytes);
  std::string_view views[kViews];
  std::uint64_t answer = 0;
  std::size_t have = 0, found = 0;
  for (;;) {
    if (room.size() < have + kWindowBytes / 2) room.resize(room.size() * 2);
    ssize_t n = read(fd, room.data() + have, room.size() - have);
    if (n < 0) throw std::runtime_error("cannot read " + path);
    have += static_cast<std::size_t>(n);
    const char* p = room.data();
    const char* const end = p + have;
    while (static_cast<std::size_t>(end - p) >= kTfrecordFramingBytes) {
      std::uint64_t size;
      std::uint32_t size_crc, data_crc;
      std::memcpy(&size, p, 8);
      std::memcpy(&size_crc, p + 8, 4);
      if (mask_crc(~detail::inverted_crc(p, 8, ~0u)) != size_crc) throw std::runtime_error("a wrong crc");
      if (size > static_cast<std::size_t>(end - p) - kTfrecordFramingBytes) break;
      const char* data = p + kTfrecordHeaderBytes;
      std::memcpy(&data_crc, data + size, 4);
      if (mask_crc(~detail::inverted_crc(data, size, ~0u)) != data_crc) throw std::runtime_error("a wrong crc");
      views[found++] = {data, size};
      p = data + size + kTfrecordFooterBytes;
      if (found == kViews) {
        for (std::size_t i = 0; i != found; ++i) answer += digest(views[i]);
        found = 0;
      }
    }
    for (std::size_t i = 0; i != found; ++i) answer += digest(views[i]);  // before the bytes move
    found = 0;
    have = static_cast<std::size_t>(end - p);
    std::memmove(room.data(), p, have);
    if (n == 0) break;
  }
  close(fd);
  return answer;
}

task<pass> by_blocks(any_stream s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = kViews})) {
    const record* r = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += digest(r[i].view());
  }
  p.ns = watch.ns();
  co_return p;
}

task<pass> by_batches(stream<batched<record>> s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next()) {
    for (std::string_view r : b->values()) p.answer += digest(r);
  }
  p.ns = watch.ns();
  co_return p;
}

/// The bytes of the file, as they come from its records.
task<pass> counting_bytes(any_stream s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = kViews})) {
    const record* r = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += r[i].size() + kTfrecordFramingBytes;
  }
  p.ns = watch.ns();
  co_return p;
}

void scan(report& r, std::string_view size_name, std::size_t record_bytes, double goal) {
  const std::size_t framed_bytes = record_bytes + kTfrecordFramingBytes;
  record_file file((kFileBytes + framed_bytes - 1) / framed_bytes, record_bytes, write_pattern);
  runtime& rt = one_worker();
  auto plan = tfrecord(file.path());
  auto batches = plan | batch(record_bytes < 4096 ? 256 : 16);
  workload by_hand = [&] { return on_worker([&] { return scan_by_hand(file.path()); }, file.records()); };
  workload ours = [&] {
    pass p = sync_wait(rt, by_blocks(open_run(rt, plan.plan(), {})));
    p.elements = file.records();
    return p;
  };
  workload batched_ours = [&] {
    pass p = sync_wait(rt, by_batches(batches.iterate(rt)));
    p.elements = file.records();
    return p;
  };
  workload counted = [&] {
    pass p = sync_wait(rt, counting_bytes(open_run(rt, plan.plan(), {})));
    p.elements = file.records();
    return p;
  };
  workload unchecked = [&] {
    return on_worker([&] { return read_by_pread(file.path(), std::size_t{1} << 20); }, file.records());
  };
  std::string name = "tfrecord, both CRCs, " + std::string(size_name);
  r.at_least(name, "tuned loop over read()", compare(ours, by_hand).speedup(), goal, "of its speed");
  if (record_bytes >= 1000)
    r.at_least(name, "pread of 1 MiB, nothing checked", compare(counted, unchecked).speedup(),
               record_bytes >= 10'000 ? 0.45 : 0.33, "of its speed");
  r.at_least(name + ", public stream, batched", "the same without batches", compare(batched_ours, ours).speedup(), 0.8,
             "of its speed");
}

void tfrecord_scan(report& r) {
  scan(r, "100 B", 100, 0.75);
  scan(r, "1 KB", 1000, 0.85);
  scan(r, "10 KB", 10'000, 0.90);
  scan(r, "150 KB", 150'000, 0.90);
}
SLUICE_BENCH(tfrecord_scan);

}  // namespace
}  // namespace sluice::lib::bench
