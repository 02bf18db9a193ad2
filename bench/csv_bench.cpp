// SPDX-License-Identifier: Apache-2.0
// CSV files of numbers and of texts into batches of 1024 rows, from the page cache on one thread, beside a loop over memchr and
// from_chars. GB are 10^9 bytes of the file.
#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kCsvBytes = std::size_t{32} << 20;
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::size_t kColumns = 16;

struct float_row {
  float a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, n = 0, o = 0, p = 0;
};
struct mixed_row {
  std::int64_t id = 0;
  std::string name;
  double price = 0;
  std::string text;
};

class csv_file {
 public:
  template <class F>
  explicit csv_file(F append_row)
      : path_(
            (std::filesystem::temp_directory_path() / ("sluice_bench_" + std::to_string(getpid()) + ".csv")).string()) {
    std::string text;
    for (std::uint64_t row = 0; text.size() < kCsvBytes; ++row) append_row(text, row);
    std::ofstream out(path_, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + path_);
    bytes_ = static_cast<double>(text.size());
  }
  ~csv_file() { std::remove(path_.c_str()); }
  csv_file(const csv_file&) = delete;
  const std::string& path() const { return path_; }
  double bytes() const { return bytes_; }

 private:
  std::string path_;
  double bytes_ = 0;
};

void append_floats(std::string& to, std::uint64_t row) {
  for (std::size_t k = 0; k != kColumns; ++k) {
    char room[32];
    const float x = static_cast<float>(mix(row * kColumns + k) >> 40) / static_cast<float>(1 << 24) - 0.5F;
    to.append(room, std::to_chars(room, room + sizeof room, x).ptr);
    to += k + 1 == kColumns ? '\n' : ',';
  }
}

void append_mixed(std::string& to, std::uint64_t row) {
  const std::uint64_t x = mix(row);
  to += std::to_string(row) + ",name " + std::to_string(x % 10'000) + "," +
        std::to_string(static_cast<double>(x % 100'000) / 100);
  to += x % 4 ? ",a text of some words that is not quoted\n" : ",\"a text, quoted, with a \"\"word\"\"\"\n";
}

/// Calls row(begin, end) for each line of the file: the reference's reading.
template <class F> void for_each_row(const std::string& path, F row) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> room(kReadBytes);
  std::size_t have = 0;
  for (;;) {
    if (room.size() < have + kReadBytes / 2) room.resize(room.size() * 2);
    ssize_t n = read(fd, room.data() + have, room.size() - have);
    if (n < 0) throw std::runtime_error("cannot read " + path);
    have += static_cast<std::size_t>(n);
    const char* p = room.data();
    const char* const end = p + have;
    while (const void* line_end = std::memchr(p, '\n', static_cast<std::size_t>(end - p))) {
      row(p, static_cast<const char*>(line_end));
      p = static_cast<const char*>(line_end) + 1;
    }
    have = static_cast<std::size_t>(end - p);
    std::memmove(room.data(), p, have);
    if (n == 0) break;
  }
  close(fd);
}

std::uint64_t digest_of(const std::vector<float>* columns) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k != kColumns; ++k)
    for (float x : columns[k]) sum += std::bit_cast<std::uint32_t>(x) * (k + 1);
  return sum;
}

/// Columns of 1024 floats, filled and read.
std::uint64_t floats_by_hand(const std::string& path) {
  std::vector<float> columns[kColumns];
  for (auto& c : columns) c.reserve(1024);
  std::uint64_t answer = 0;
  for_each_row(path, [&](const char* p, const char* end) {
    for (auto& c : columns) {
      const auto* comma = static_cast<const char*>(std::memchr(p, ',', static_cast<std::size_t>(end - p)));
      float x = 0;
      std::from_chars(p, comma ? comma : end, x);
      c.push_back(x);
      p = comma ? comma + 1 : end;
    }
    if (columns[0].size() != 1024) return;
    answer += digest_of(columns);
    for (auto& c : columns) c.clear();
  });
  return answer + digest_of(columns);
}

task<pass> floats_in_batches(stream<batched<float_row>> s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next()) {
    const column& rows = b->storage().rows_column();
    for (std::size_t k = 0; k != kColumns; ++k) {
      const auto* values = reinterpret_cast<const float*>(rows.child(k).values());
      for (std::size_t i = 0; i != rows.rows(); ++i) p.answer += std::bit_cast<std::uint32_t>(values[i]) * (k + 1);
    }
  }
  p.ns = watch.ns();
  co_return p;
}

std::uint64_t mixed_digest(std::int64_t id, std::size_t name_bytes, double price, std::size_t text_bytes) {
  return static_cast<std::uint64_t>(id) + name_bytes + std::bit_cast<std::uint64_t>(price) + text_bytes;
}

/// Columns of texts, as a batch has them.
struct text_column {
  std::string bytes;
  std::vector<std::int32_t> offsets{0};
  void end() { offsets.push_back(static_cast<std::int32_t>(bytes.size())); }
  std::size_t size_of(std::size_t row) const { return static_cast<std::size_t>(offsets[row + 1] - offsets[row]); }
  void clear() {
    bytes.clear();
    offsets.resize(1);
  }
};
struct mixed_columns {
  std::vector<std::int64_t> ids;
  std::vector<double> prices;
  text_column names, texts;

  std::uint64_t take_digest() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != ids.size(); ++i)
      sum += mixed_digest(ids[i], names.size_of(i), prices[i], texts.size_of(i));
    ids.clear();
    prices.clear();
    names.clear();
    texts.clear();
    return sum;
  }
};

/// Knows that no field has a line end, and which are in quotes; checks nothing.
std::uint64_t mixed_by_hand(const std::string& path) {
  std::uint64_t answer = 0;
  mixed_columns to;
  for_each_row(path, [&](const char* p, const char* end) {
    auto field_end = [&] {
      const auto* comma = static_cast<const char*>(std::memchr(p, ',', static_cast<std::size_t>(end - p)));
      return comma ? comma : end;
    };
    const char* e = field_end();
    std::from_chars(p, e, to.ids.emplace_back());
    p = e + 1;
    e = field_end();
    to.names.bytes.append(p, e);
    to.names.end();
    p = e + 1;
    e = field_end();
    std::from_chars(p, e, to.prices.emplace_back());
    p = e + 1;
    if (*p == '"') {
      for (++p; !(p[0] == '"' && p[1] != '"'); ++p) {
        if (*p == '"') ++p;
        to.texts.bytes += *p;
      }
    } else {
      to.texts.bytes.append(p, end);
    }
    to.texts.end();
    if (to.ids.size() == 1024) answer += to.take_digest();
  });
  return answer + to.take_digest();
}

task<pass> mixed_in_batches(stream<batched<mixed_row>> s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next()) {
    const column& rows = b->storage().rows_column();
    const auto* ids = reinterpret_cast<const std::int64_t*>(rows.child(0).values());
    const auto* prices = reinterpret_cast<const double*>(rows.child(2).values());
    for (std::size_t i = 0; i != rows.rows(); ++i)
      p.answer += mixed_digest(ids[i], rows.child(1).text(i).size(), prices[i], rows.child(3).text(i).size());
  }
  p.ns = watch.ns();
  co_return p;
}

void tell(report& r, const std::string& name, const comparison& c, double goal_gb, double goal_ratio) {
  std::vector<double> speeds;
  for (double ns_per_byte : c.ours) speeds.push_back(1 / ns_per_byte);
  r.at_least(name, "GB/s a core", samples(speeds), goal_gb, "GB/s");
  r.at_most(name, "a loop over memchr and from_chars", c.ratio(), goal_ratio, "x");
}

void csv_floats(report& r) {
  csv_file file(append_floats);
  runtime& rt = one_worker();
  auto plan = csv<float_row>(file.path()) | batch(1024);
  workload by_hand = [&] { return on_worker([&] { return floats_by_hand(file.path()); }, file.bytes()); };
  workload ours = [&] {
    pass p = sync_wait(rt, floats_in_batches(plan.iterate(rt)));
    p.elements = file.bytes();
    return p;
  };
  tell(r, "csv, 16 floats a row, batch(1024)", compare(ours, by_hand), 1, 0.6);
}

void csv_mixed(report& r) {
  csv_file file(append_mixed);
  runtime& rt = one_worker();
  auto plan = csv<mixed_row>(file.path()) | batch(1024);
  workload by_hand = [&] { return on_worker([&] { return mixed_by_hand(file.path()); }, file.bytes()); };
  workload ours = [&] {
    pass p = sync_wait(rt, mixed_in_batches(plan.iterate(rt)));
    p.elements = file.bytes();
    return p;
  };
  tell(r, "csv, numbers and texts, a quarter quoted, batch(1024)", compare(ours, by_hand), 0.8, 2);
}

SLUICE_BENCH(csv_floats);
SLUICE_BENCH(csv_mixed);

}  // namespace
}  // namespace sluice::lib::bench
