// SPDX-License-Identifier: Apache-2.0
// The main job and its two dearest parts beside what a good engineer writes by hand for this one job: 16 files by turns,
// both CRCs checked, a shuffle of raw records in an arena, the wire format parsed straight into columns, one thread.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/crc32c_inline.hpp"
#include "bench/harness.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/format/example_parser.hpp"
#include "sluice/format/sample_records.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/sluice.hpp"
#ifdef SLUICE_HAVE_PROTOBUF
#include "example.pb.h"
#endif

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kBuffer = 10'000, kRows = 1024;
constexpr sample_options kSample = {.records = 400'000, .shards = 16};

/// The shards, in a folder of their own.
class sample_files {
 public:
  sample_files() : folder_(std::filesystem::temp_directory_path() / ("sluice_bench_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
    for (std::uint32_t i = 0; i != kSample.shards; ++i) {
      paths_.push_back((folder_ / sample_shard_name(kSample, i)).string());
      status why = write_sample_shard(paths_.back(), kSample, i);
      if (!why.ok()) throw std::runtime_error(why.to_string());
    }
  }
  ~sample_files() {
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }
  sample_files(const sample_files&) = delete;
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> paths_;
};

// --- By hand ---

std::uint64_t digest_of_row(std::string_view text, std::int64_t label, const float* values) {
  std::uint64_t bits = 0;
  for (int i = 0; i != 16; ++i) bits += std::bit_cast<std::uint32_t>(values[i]);
  return text.size() + static_cast<unsigned char>(text.back()) + static_cast<std::uint64_t>(label) * 31 + bits;
}

/// A batch in the making; its memory is used again for the next.
struct columns {
  std::vector<std::int32_t> offsets = {0};
  std::string bytes;
  std::vector<std::int64_t> labels;
  std::vector<float> values;

  std::uint64_t digest() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != labels.size(); ++i) {
      auto at = static_cast<std::size_t>(offsets[i]);
      sum += digest_of_row(std::string_view(bytes).substr(at, static_cast<std::size_t>(offsets[i + 1]) - at), labels[i],
                           &values[i * 16]);
    }
    return sum;
  }
  void clear() {
    offsets.resize(1);
    bytes.clear();
    labels.clear();
    values.clear();
  }
};

[[noreturn]] void damaged() { throw std::runtime_error("no tf.Example of the sample"); }

/// A field with a length: its bytes, and p behind it.
std::string_view sized(const char*& p, const char* end, char tag) {
  if (p == end || *p++ != tag) damaged();
  std::size_t size = 0;
  for (int shift = 0;; shift += 7) {
    if (p == end || shift > 28) damaged();
    auto byte = static_cast<unsigned char>(*p++);
    size |= std::size_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  if (size > static_cast<std::size_t>(end - p)) damaged();
  std::string_view bytes(p, size);
  p += size;
  return bytes;
}

void parse_by_hand(std::string_view example, columns& to) {
  const char *p = example.data(), *end = p + example.size();
  std::string_view features = sized(p, end, 10);
  int found = 0;
  for (const char *f = features.data(), *f_end = f + features.size(); f != f_end;) {
    std::string_view entry = sized(f, f_end, 10);
    const char *e = entry.data(), *e_end = e + entry.size();
    std::string_view key = sized(e, e_end, 10);
    std::string_view feature = sized(e, e_end, 18);
    const char *v = feature.data(), *v_end = v + feature.size();
    if (key == "text") {
      std::string_view list = sized(v, v_end, 10);
      const char* l = list.data();
      to.bytes += sized(l, l + list.size(), 10);
      to.offsets.push_back(static_cast<std::int32_t>(to.bytes.size()));
      found |= 1;
    } else if (key == "label") {
      std::string_view list = sized(v, v_end, 26);
      const char* l = list.data();
      std::int64_t x = 0;
      int shift = 0;
      for (char c : sized(l, l + list.size(), 10)) {
        x |= std::int64_t{c & 0x7f} << shift;
        shift += 7;
      }
      to.labels.push_back(x);
      found |= 2;
    } else if (key == "values") {
      std::string_view list = sized(v, v_end, 18);
      const char* l = list.data();
      std::string_view packed = sized(l, l + list.size(), 10);
      if (packed.size() != 64) damaged();
      std::size_t at = to.values.size();
      to.values.resize(at + 16);
      std::memcpy(&to.values[at], packed.data(), 64);
      found |= 4;
    }
  }
  if (found != 7) damaged();
}

/// A file that is read in windows of 256 KiB.
class windowed_file {
 public:
  explicit windowed_file(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), room_(256 << 10) {
    if (fd_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~windowed_file() { close(fd_); }
  windowed_file(const windowed_file&) = delete;

  /// The next record, both CRCs checked; no bytes at the end.
  SLUICE_TARGET_CRC std::string_view next() {
    for (;;) {
      const char* p = room_.data() + at_;
      if (have_ - at_ >= kTfrecordFramingBytes) {
        std::uint64_t size;
        std::uint32_t size_crc, data_crc;
        std::memcpy(&size, p, 8);
        std::memcpy(&size_crc, p + 8, 4);
        if (mask_crc(~detail::inverted_crc(p, 8, ~0u)) != size_crc) throw std::runtime_error("a wrong crc");
        if (size <= have_ - at_ - kTfrecordFramingBytes) {
          const char* data = p + kTfrecordHeaderBytes;
          std::memcpy(&data_crc, data + size, 4);
          if (mask_crc(~detail::inverted_crc(data, size, ~0u)) != data_crc) throw std::runtime_error("a wrong crc");
          at_ += size + kTfrecordFramingBytes;
          return {data, size};
        }
      }
      std::memmove(room_.data(), p, have_ - at_);
      have_ -= std::exchange(at_, 0);
      ssize_t n = read(fd_, room_.data() + have_, room_.size() - have_);
      if (n < 0) throw std::runtime_error("cannot read");
      if (n == 0) return {};
      have_ += static_cast<std::size_t>(n);
    }
  }

 private:
  const int fd_;
  std::vector<char> room_;
  std::size_t at_ = 0, have_ = 0;
};

/// A shuffle's buffer of raw records, each in a slot of an arena.
class arena_shuffle {
 public:
  static constexpr std::size_t kSlotBytes = 256;

  /// Calls to(record) with the record that leaves, if the buffer is full.
  template <class To> void push(std::string_view record, To to) {
    if (record.size() > kSlotBytes) throw std::runtime_error("a record that is too long for its slot");
    std::size_t slot = used_ < kBuffer ? used_++ : draw(kBuffer);
    if (sizes_[slot]) to(at(slot));
    std::memcpy(arena_.data() + slot * kSlotBytes, record.data(), record.size());
    sizes_[slot] = static_cast<std::uint32_t>(record.size());
  }
  template <class To> void drain(To to) {
    for (; used_; --used_) {
      std::size_t slot = draw(used_), last = used_ - 1;
      to(at(slot));
      std::memcpy(arena_.data() + slot * kSlotBytes, arena_.data() + last * kSlotBytes, kSlotBytes);
      sizes_[slot] = sizes_[last];
    }
  }

 private:
  std::string_view at(std::size_t slot) const { return {arena_.data() + slot * kSlotBytes, sizes_[slot]}; }
  std::size_t draw(std::size_t n) { return static_cast<std::size_t>((random_() >> 32) * n >> 32); }

  std::vector<char> arena_ = std::vector<char>(kBuffer * kSlotBytes);
  std::vector<std::uint32_t> sizes_ = std::vector<std::uint32_t>(kBuffer);
  std::size_t used_ = 0;
  std::mt19937_64 random_{7};
};

/// Calls to(record) for the records of all files by turns.
template <class To> void by_turns(const std::vector<std::string>& paths, To to) {
  std::vector<std::unique_ptr<windowed_file>> files;
  for (const std::string& path : paths) files.push_back(std::make_unique<windowed_file>(path));
  for (std::size_t left = files.size(), i = 0; left; i = i + 1 < left ? i + 1 : 0) {
    std::string_view record = files[i]->next();
    if (!record.empty()) {
      to(record);
    } else {
      files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
      --left;
      i = i ? i - 1 : left ? left - 1 : 0;
    }
  }
}

std::uint64_t main_job_by_hand(const std::vector<std::string>& paths) {
  columns batch;
  std::uint64_t answer = 0;
  auto finish = [&] {
    answer += batch.digest();
    batch.clear();
  };
  auto parsed = [&](std::string_view record) {
    parse_by_hand(record, batch);
    if (batch.labels.size() == kRows) finish();
  };
  arena_shuffle buffer;
  by_turns(paths, [&](std::string_view record) { buffer.push(record, parsed); });
  buffer.drain(parsed);
  finish();
  return answer;
}

// --- Ours ---

using sample = sample_example;

std::uint64_t digest_of_batch(const batched<sample>& b) {
  auto texts = b[&sample::text];
  auto labels = b[&sample::label];
  auto values = b[&sample::values];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i != labels.size(); ++i) sum += digest_of_row(texts[i], labels[i], values[i].data());
  return sum;
}

task<std::uint64_t> digest_of_batches(stream<batched<sample>> s) {
  std::uint64_t sum = 0;
  while (auto b = co_await s.next()) sum += digest_of_batch(*b);
  co_return sum;
}

dataset<record> shuffled(const std::vector<std::string>& paths) {
  return from_elements(paths) | interleave(tfrecord, {.cycle_length = 16}) | shuffle(kBuffer, {.seed = 7});
}

double process_cpu_ns() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto ns = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3; };
  return ns(u.ru_utime) + ns(u.ru_stime);
}

enum class clocked : std::uint8_t { cpu, wall };

/// A pass of f, timed by the wall or by the CPU time of all threads.
workload timed_pass(clocked by, std::function<std::uint64_t()> f) {
  return [by, f = std::move(f)] {
    pass p{.elements = static_cast<double>(kSample.records)};
    double cpu = process_cpu_ns();
    stopwatch wall(timed::wall);
    p.answer = f();
    p.ns = by == clocked::wall ? wall.ns() : process_cpu_ns() - cpu;
    return p;
  };
}

void main_job_and_hand(report& r) {
  sample_files files;
  auto sequential = shuffled(files.paths()) | batch(kRows) | parse_example<sample>();
  auto parallel = from_elements(files.paths()) | interleave(tfrecord, {.cycle_length = 16, .parallelism = autotune}) |
                  shuffle(kBuffer, {.seed = 7}) | batch(kRows) | parse_example<sample>({.parallelism = autotune}) |
                  prefetch(autotune);
  auto ours = [](auto& plan, runtime& rt) {
    return [&plan, &rt] { return sync_wait(rt, digest_of_batches(plan.iterate(rt))); };
  };
  auto by_hand = [&] { return main_job_by_hand(files.paths()); };
  r.at_most(
      "main job, CPU time, sequential plan", "hand-written loop",
      compare(timed_pass(clocked::cpu, ours(sequential, one_worker())), timed_pass(clocked::cpu, by_hand)).ratio(), 1.5,
      "times its time");
  r.at_most("main job, CPU time, parallel plan", "hand-written loop",
            compare(timed_pass(clocked::cpu, ours(parallel, all_workers())), timed_pass(clocked::cpu, by_hand)).ratio(),
            1.5, "times its time");
  r.at_most(
      "main job, wall time, all cores", "hand-written loop, one thread",
      compare(timed_pass(clocked::wall, ours(parallel, all_workers())), timed_pass(clocked::wall, by_hand)).ratio(),
      1.0, "times its time");
  r.at_most("main job, wall time, all cores", "its sequential plan, one worker",
            compare(timed_pass(clocked::wall, ours(parallel, all_workers())),
                    timed_pass(clocked::wall, ours(sequential, one_worker())))
                .ratio(),
            0.85, "times its time");
}
SLUICE_BENCH(main_job_and_hand);

/// The job as a user writes it, parsing first, which the planner rewrites.
void main_job_as_written(report& r) {
  sample_files files;
  auto records = from_elements(files.paths()) | interleave(tfrecord, {.cycle_length = 16});
  auto written = records | parse_example<sample>() | shuffle(kBuffer, {.seed = 7}) | batch(kRows);
  auto ordered = shuffled(files.paths()) | batch(kRows) | parse_example<sample>();
  const rule_choice ahead = rule_choice().with("parallelize").with("inject_prefetch");
  auto ours = [](auto& plan, runtime& rt, const rule_choice& rules = {}) {
    return [&plan, &rt, rules] { return sync_wait(rt, digest_of_batches(plan.iterate(rt, {.rules = rules}))); };
  };
  auto by_hand = [&] { return main_job_by_hand(files.paths()); };
  auto cpu = [](auto f) { return timed_pass(clocked::cpu, f); };
  auto wall = [](auto f) { return timed_pass(clocked::wall, f); };
  auto row = [&r](const char* name, const char* reference, const workload& a, const workload& b, double goal) {
    r.at_most(name, reference, compare(a, b).ratio(), goal, "times its time");
  };
  row("main job as written, CPU time", "the hand-ordered plan", cpu(ours(written, one_worker())),
      cpu(ours(ordered, one_worker())), 1.05);
  row("main job as written, CPU time", "hand-written loop", cpu(ours(written, one_worker())), cpu(by_hand), 1.5);
  row("main job as written, without rules, CPU time", "hand-written loop",
      cpu(ours(written, one_worker(), rule_choice::none())), cpu(by_hand), 3.0);
  row("main job as written, all rules, CPU time", "hand-written loop", cpu(ours(written, all_workers(), ahead)),
      cpu(by_hand), 1.5);
  row("main job as written, all rules, wall time", "hand-written loop, one thread",
      wall(ours(written, all_workers(), ahead)), wall(by_hand), 1.0);
}
SLUICE_BENCH(main_job_as_written);

/// The digests of the first batch and of all behind it.
struct first_and_rest {
  std::uint64_t first = 0, rest = 0;
};
task<first_and_rest> digests_from(stream<batched<sample>> s, int pass_over, bool all, checkpoint* here) {
  first_and_rest sums;
  for (int i = 0; i != pass_over; ++i) (void)co_await s.next();
  if (here) *here = s.position();
  if (auto b = co_await s.next()) sums.first = digest_of_batch(*b);
  if (all)
    while (auto b = co_await s.next()) sums.rest += digest_of_batch(*b);
  auto done = cleanup(std::move(s));
  co_await done;
  co_return sums;
}

/// From a position in the middle, and from the start: until the first batch is there, in milliseconds.
void resume_of_main_job(report& r) {
  sample_files files;
  constexpr int kPassed = 200;
  runtime& rt = all_workers();
  auto plan = from_elements(files.paths()) | interleave(tfrecord, {.cycle_length = 16, .parallelism = autotune}) |
              shuffle(kBuffer, {.seed = 7}) | batch(kRows) | parse_example<sample>({.parallelism = autotune}) |
              prefetch(autotune);
  checkpoint here;
  const first_and_rest unbroken = sync_wait(rt, digests_from(plan.iterate(rt), kPassed, true, &here));
  const first_and_rest resumed = sync_wait(rt, digests_from(plan.iterate(rt, {.from = here}), 0, true, nullptr));
  if (unbroken.first != resumed.first || unbroken.rest != resumed.rest)
    return r.failed("main job, a resume's first batch", "a resumed run has other batches");
  auto until_first = [&](bool from_start) {
    return measure([&, from_start] {
      constexpr double kNsPerMs = 1e6;
      stopwatch watch(timed::wall);
      auto s = from_start ? plan.iterate(rt) : plan.iterate(rt, {.from = here});
      std::uint64_t answer = sync_wait(rt, digests_from(std::move(s), 0, false, nullptr)).first;
      return pass{.answer = answer, .elements = kNsPerMs, .ns = watch.ns()};
    });
  };
  r.at_most("main job, a resume's first batch", "", until_first(false), 300, "ms");
  r.at_most("main job, its first batch from the start", "", until_first(true), 300, "ms");
}
SLUICE_BENCH(resume_of_main_job);

task<std::uint64_t> bytes_of_records(any_stream s) {
  std::uint64_t sum = 0;
  while (auto b = co_await s.next_block({.elements = 256})) {
    const auto* x = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) sum += x[i].size() + static_cast<unsigned char>(x[i].view().back());
  }
  auto done = cleanup(std::move(s));
  co_await done;
  co_return sum;
}

/// The shuffle alone is what the plan with it takes longer than the plan without it.
void shuffle_of_records(report& r) {
  sample_files files;
  auto plan = shuffled(files.paths());
  workload ours = timed_pass(
      clocked::cpu, [&] { return sync_wait(one_worker(), bytes_of_records(open_run(one_worker(), plan.plan(), {}))); });
  workload by_hand = timed_pass(clocked::cpu, [&] {
    std::uint64_t sum = 0;
    auto add = [&](std::string_view record) { sum += record.size() + static_cast<unsigned char>(record.back()); };
    arena_shuffle buffer;
    by_turns(files.paths(), [&](std::string_view record) { buffer.push(record, add); });
    buffer.drain(add);
    return sum;
  });
  r.at_most("files by turns, shuffle(10,000) of 165-byte records", "hand-written loop, an arena",
            compare(ours, by_hand).ratio(), 1.3, "times its time");
}
SLUICE_BENCH(shuffle_of_records);

void parse_into_columns(report& r) {
  std::vector<std::string> records;
  example_writer w;
  for (std::uint64_t i = 0; i != 100 * kRows; ++i) {
    sample s = make_sample_example(7, i);
    records.emplace_back(
        w.bytes("text", s.text).int64("label", s.label).floats("values", s.values.data(), 16).finish());
  }
  workload ours = [&] {
    pass p{.elements = static_cast<double>(records.size())};
    stopwatch watch(timed::cpu);
    example_parser parser(example_schema_of<sample>());
    for (std::size_t first = 0; first != records.size(); first += kRows) {
      batched<sample> b;
      column& rows = b.storage().make_rows(type_of<sample>());
      rows.reserve(kRows);
      for (std::size_t i = first; i != first + kRows; ++i)
        if (status why = parser.append_to(rows, records[i]); !why.ok()) throw std::runtime_error(why.to_string());
      p.answer += digest_of_batch(b);
    }
    p.ns = watch.ns();
    return p;
  };
  workload by_hand = [&] {
    pass p{.elements = static_cast<double>(records.size())};
    stopwatch watch(timed::cpu);
    columns batch;
    for (std::size_t first = 0; first != records.size(); first += kRows) {
      batch.clear();
      for (std::size_t i = first; i != first + kRows; ++i) parse_by_hand(records[i], batch);
      p.answer += batch.digest();
    }
    p.ns = watch.ns();
    return p;
  };
  r.at_most("parse three features into columns", "hand-written wire parse, same columns",
            compare(ours, by_hand).ratio(), 1.3, "times its time");
#ifdef SLUICE_HAVE_PROTOBUF
  workload by_protobuf = [&] {
    pass p{.elements = static_cast<double>(records.size())};
    stopwatch watch(timed::cpu);
    sluice_test::Example example;  // its memory is used again
    for (const std::string& bytes : records) {
      if (!example.ParseFromString(bytes)) throw std::runtime_error("protobuf refused a record");
      const auto& features = example.features().feature();
      p.answer += digest_of_row(features.at("text").bytes_list().value(0), features.at("label").int64_list().value(0),
                                features.at("values").float_list().value().data());
    }
    p.ns = watch.ns();
    return p;
  };
  r.at_least("parse three features into columns", "protobuf's parse", compare(by_protobuf, ours).ratio(), 6,
             "times as fast");
#else
  r.skipped("parse three features beside protobuf", "no libprotobuf when this was built");
#endif
}
SLUICE_BENCH(parse_into_columns);

}  // namespace
}  // namespace sluice::lib::bench
