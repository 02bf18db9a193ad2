// SPDX-License-Identifier: Apache-2.0
#include "op/unique/trace_runs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sluice::lib {
namespace {

constexpr std::size_t kInBlock = 256;
constexpr std::size_t kBlockBytes = kInBlock * sizeof(element_trace);
constexpr std::size_t kJoined = 4;  // the number of runs of one size that are joined
constexpr std::size_t kReadAtOnce = 4 * kInBlock;
constexpr std::size_t kPartBytes = 96 << 10;  // the least number of bytes sorted at once
constexpr std::size_t kParts = 16;            // this also limits how often the set is searched

bool stands_before(const element_trace& a, const element_trace& b) {
  const std::uint64_t x = a.order(), y = b.order();
  return x != y ? x < y : std::tie(a.low, a.high) < std::tie(b.low, b.high);
}

/// A Bloom filter with a few bits of one cache line for each trace.
class trace_filter {
 public:
  trace_filter(std::uint64_t traces, bool exists) : lines_(exists ? lines_of(traces) : 0) {}

  static std::size_t bytes_of(std::uint64_t traces) { return lines_of(traces) * sizeof(line); }
  std::size_t bytes() const { return lines_.size() * sizeof(line); }
  void add(std::uint64_t order) {
    if (lines_.empty()) return;
    line& to = lines_[line_of(order)];
    for_each_bit(order, [&](std::size_t word, std::uint64_t bit) { to[word] |= bit; });
  }
  bool may_have(std::uint64_t order) const {
    if (lines_.empty()) return true;
    const line& in = lines_[line_of(order)];
    bool has_all = true;
    for_each_bit(order, [&](std::size_t word, std::uint64_t bit) { has_all &= (in[word] & bit) != 0; });
    return has_all;
  }

 private:
  static constexpr std::size_t kWords = 8, kBitsPerTrace = 10, kBitsSet = 7;
  using line = std::array<std::uint64_t, kWords>;

  static std::size_t lines_of(std::uint64_t traces) { return traces * kBitsPerTrace / (8 * sizeof(line)) + 1; }
  /// Ascends with the order, so that writing a run goes through its filter from front to end.
  std::size_t line_of(std::uint64_t order) const {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<wide>(order) * lines_.size() >> 64);
  }
  template <class F> static void for_each_bit(std::uint64_t order, F f) {
    std::uint64_t bits = mix(order);
    for (std::size_t k = 0; k != kBitsSet; ++k, bits >>= 9) f(bits & 7, std::uint64_t{1} << (bits >> 3 & 63));
  }

  std::vector<line> lines_;
};

status disk_error(const std::string& folder, std::string_view what) {
  const int number = errno;
  return resource_exhausted_error(absl::StrCat(
      "the hashes of the elements do not fit into memory, and the temporary file in ", folder, " cannot be ",
      std::string(what), ": ", std::strerror(number), "; unique(spill=\"FOLDER\") names another folder"));
}

/// A file without a name.
class nameless_file {
 public:
  nameless_file() = default;
  nameless_file(nameless_file&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  ~nameless_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  status open(const std::string& folder) {
    fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ >= 0) return {};
    // Some file systems do not support such files.
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return disk_error(folder, "made");
    std::string path = folder + "/sluice-unique-XXXXXX";
    fd_ = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd_ < 0) return disk_error(folder, "made");
    ::unlink(path.c_str());
    return {};
  }
  status write(const void* from, std::size_t bytes, const std::string& folder) {
    for (auto* p = static_cast<const char*>(from); bytes;) {
      ssize_t n = ::write(fd_, p, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return disk_error(folder, "written");
      p += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return {};
  }
  status read(void* to, std::size_t bytes, std::uint64_t at, const std::string& folder) const {
    for (auto* p = static_cast<char*>(to); bytes;) {
      ssize_t n = ::pread(fd_, p, bytes, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n == 0) errno = EIO;  // no other process has the file
      if (n <= 0) return disk_error(folder, "read");
      p += n;
      bytes -= static_cast<std::size_t>(n);
      at += static_cast<std::uint64_t>(n);
    }
    return {};
  }

 private:
  int fd_ = -1;
};

}  // namespace

struct trace_runs::run {
  nameless_file file;
  std::uint64_t traces = 0;
  trace_filter filter;
  std::vector<std::uint64_t> firsts;  ///< the order of the first trace of each block

  run(std::uint64_t n, bool with_filter) : filter(n, with_filter) { firsts.reserve(n / kInBlock + 1); }
  std::size_t memory_bytes() const { return filter.bytes() + firsts.capacity() * sizeof(std::uint64_t); }
};

/// Writes traces to a file in their order.
class trace_runs::run_writer {
 public:
  run_writer(run& to, const std::string& folder) : to_(to), folder_(folder) { buffer_.reserve(kReadAtOnce); }
  status add(const element_trace& t) {
    const std::uint64_t order = t.order();
    if (to_.traces++ % kInBlock == 0) to_.firsts.push_back(order);
    to_.filter.add(order);
    buffer_.push_back(t);
    return buffer_.size() < kReadAtOnce ? status() : flush();
  }
  status flush() {
    status why = to_.file.write(buffer_.data(), buffer_.size() * sizeof(element_trace), folder_);
    buffer_.clear();
    return why;
  }

 private:
  run& to_;
  const std::string& folder_;
  std::vector<element_trace> buffer_;
};

/// Reads the traces of a run, one after another.
class trace_runs::run_reader {
 public:
  run_reader(const run& from, const std::string& folder) : from_(from), folder_(folder) {}
  /// Returns the next trace; null at the end, and after an error in `why`.
  const element_trace* peek(status& why) {
    if (at_ == buffer_.size()) {
      read_ += buffer_.size();
      buffer_.resize(std::min<std::uint64_t>(kReadAtOnce, from_.traces - read_));
      at_ = 0;
      if (buffer_.empty()) return nullptr;
      why = from_.file.read(buffer_.data(), buffer_.size() * sizeof(element_trace), read_ * sizeof(element_trace),
                            folder_);
      if (!why.ok()) return nullptr;
    }
    return &buffer_[at_];
  }
  void next() { ++at_; }

 private:
  const run& from_;
  const std::string& folder_;
  std::vector<element_trace> buffer_;
  std::size_t at_ = 0;
  std::uint64_t read_ = 0;
};

trace_runs::trace_runs(std::string folder) : folder_(std::move(folder)) {}
trace_runs::~trace_runs() = default;

std::size_t trace_runs::memory_bytes() const {
  std::size_t all = 0;
  for (auto& r : runs_) all += r->memory_bytes();
  return all;
}

std::size_t trace_runs::memory_bytes_of(std::uint64_t n, bool with_filter) {
  return (with_filter ? trace_filter::bytes_of(n) : 0) + (n / kInBlock + 1) * sizeof(std::uint64_t);
}

std::size_t trace_runs::work_bytes_of(std::uint64_t n) {
  // The parts have about the same size, and their vector grows by doubling.
  const std::size_t part = std::max<std::size_t>(kPartBytes, n * sizeof(element_trace) / kParts);
  return 2 * part + (kJoined + 1) * kReadAtOnce * sizeof(element_trace);
}

bool trace_runs::may_have(const element_trace& t) const {
  const std::uint64_t order = t.order();
  return std::any_of(runs_.begin(), runs_.end(), [&](auto& r) { return r->filter.may_have(order); });
}

// The set's traces are sorted in parts, by their highest bits, so that little memory is needed beside the set.
status trace_runs::add(const trace_table& seen, bool with_filter) {
  auto made = std::make_unique<run>(seen.size(), with_filter);
  status why = made->file.open(folder_);
  if (!why.ok()) return why;
  run_writer writer(*made, folder_);
  const auto parts = std::min<std::uint64_t>(
      kParts, std::bit_ceil(std::max<std::uint64_t>(2, seen.size() * sizeof(element_trace) / kPartBytes + 1)));
  const int shift = 64 - std::countr_zero(parts);
  std::vector<element_trace> part;
  for (std::uint64_t p = 0; p != parts; ++p) {
    part.clear();
    seen.for_each([&](const element_trace& t) {
      if (t.order() >> shift == p) part.push_back(t);
    });
    std::sort(part.begin(), part.end(), stands_before);
    for (const element_trace& t : part) {
      why = writer.add(t);
      if (!why.ok()) return why;
    }
  }
  why = writer.flush();
  if (why.ok()) runs_.push_back(std::move(made));
  return why;
}

/// Returns the start of the last runs, if enough of them have about one size: each has less than kJoined times the
/// traces of the last.
std::size_t trace_runs::first_to_join() const {
  if (runs_.size() < kJoined) return runs_.size();
  const std::size_t first = runs_.size() - kJoined;
  return runs_[first]->traces < kJoined * runs_.back()->traces ? first : runs_.size();
}

std::uint64_t trace_runs::to_join() const {
  std::uint64_t traces = 0;
  for (std::size_t i = first_to_join(); i < runs_.size(); ++i) traces += runs_[i]->traces;
  return traces;
}

status trace_runs::join(bool with_filter) {
  const std::size_t first = first_to_join();
  auto made = std::make_unique<run>(to_join(), with_filter);
  status why = made->file.open(folder_);
  if (!why.ok()) return why;
  run_writer writer(*made, folder_);
  std::vector<run_reader> readers;
  for (std::size_t i = first; i != runs_.size(); ++i) readers.emplace_back(*runs_[i], folder_);
  while (why.ok()) {
    run_reader* least = nullptr;
    const element_trace* trace = nullptr;
    for (run_reader& r : readers) {
      const element_trace* t = r.peek(why);
      if (!why.ok()) return why;
      if (t && (!trace || stands_before(*t, *trace))) least = &r, trace = t;
    }
    if (!least) break;
    why = writer.add(*trace);
    least->next();
  }
  if (why.ok()) why = writer.flush();
  if (!why.ok()) return why;
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(first), runs_.end());
  runs_.push_back(std::move(made));
  return {};
}

status trace_runs::look_up(std::span<asked_trace> asked) const {
  struct place {
    std::uint64_t block;
    asked_trace* question;
  };
  std::vector<place> places;
  std::vector<element_trace> block(kInBlock);
  for (auto& r : runs_) {
    places.clear();
    for (asked_trace& a : asked) {
      const std::uint64_t order = a.trace.order();
      if (a.exists || !r->filter.may_have(order)) continue;
      // The blocks from the one before the first that begins with this order, which may end with it, to the last that
      // begins with it.
      auto from = std::lower_bound(r->firsts.begin(), r->firsts.end(), order);
      const auto end = std::upper_bound(from, r->firsts.end(), order);
      if (from != r->firsts.begin()) --from;
      for (; from != end; ++from) places.push_back({static_cast<std::uint64_t>(from - r->firsts.begin()), &a});
    }
    std::sort(places.begin(), places.end(), [](auto& a, auto& b) { return a.block < b.block; });
    std::uint64_t in_memory = ~std::uint64_t{0};
    for (const place& p : places) {
      const std::uint64_t first = p.block * kInBlock;
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kInBlock, r->traces - first));
      if (p.block != in_memory) {
        status why = r->file.read(block.data(), n * sizeof(element_trace), p.block * kBlockBytes, folder_);
        if (!why.ok()) return why;
        in_memory = p.block;
      }
      const auto end = block.begin() + static_cast<std::ptrdiff_t>(n);
      if (std::find(block.begin(), end, p.question->trace) != end) p.question->exists = true;
    }
  }
  return {};
}

}  // namespace sluice::lib
