// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_tape.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice::lib {
namespace {

struct csv_signs {
  char delimiter, quote;
};

/// Appends the places of signs in [from, to); returns the end.
std::uint32_t* index_plain(const char* base, std::uint32_t from, std::uint32_t to, csv_signs s, std::uint32_t* out) {
  for (; from != to; ++from) {
    const char c = base[from];
    *out = from;
    out += c == s.delimiter || c == '\n' || c == '\r' || c == s.quote;
  }
  return out;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) inline std::uint32_t signs_in(const char* at, __m256i delimiter, __m256i quote) {
  const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i ends =
      _mm256_or_si256(_mm256_cmpeq_epi8(word, _mm256_set1_epi8('\n')), _mm256_cmpeq_epi8(word, _mm256_set1_epi8('\r')));
  const __m256i signs = _mm256_or_si256(_mm256_cmpeq_epi8(word, delimiter), _mm256_cmpeq_epi8(word, quote));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(ends, signs)));
}

/// Entries are written eight at a time, even if fewer exist: a loop that ends at the last one mispredicts.
__attribute__((target("avx2,bmi"))) std::uint32_t* index_wide(const char* base, std::uint32_t from, std::uint32_t to,
                                                              csv_signs s, std::uint32_t* out) {
  const __m256i delimiter = _mm256_set1_epi8(s.delimiter), quote = _mm256_set1_epi8(s.quote);
  for (; from + 64 <= to; from += 64) {
    std::uint64_t signs = signs_in(base + from, delimiter, quote) |
                          static_cast<std::uint64_t>(signs_in(base + from + 32, delimiter, quote)) << 32;
    const int count = __builtin_popcountll(signs);
    for (int done = 0; done < count; done += 8) {
      for (int k = 0; k != 8; ++k) {
        out[done + k] = from + static_cast<std::uint32_t>(__builtin_ctzll(signs | std::uint64_t{1} << 63));
        signs &= signs - 1;
      }
    }
    out += count;
  }
  return index_plain(base, from, to, s, out);
}
bool can_index_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"); }

#else

std::uint32_t* index_wide(const char* base, std::uint32_t from, std::uint32_t to, csv_signs s, std::uint32_t* out) {
  return index_plain(base, from, to, s, out);
}
bool can_index_wide() { return false; }

#endif

}  // namespace

void csv_tape::restart(std::uint64_t offset) {
  head_ = count_ = 0;
  base_ = end_ = offset;
  from_ = 0;
}

void csv_tape::go_to(std::uint64_t offset) {
  if (offset < base_ || offset > end_) restart(offset);
  if (offset < base_ + from_) head_ = 0;
  from_ = static_cast<std::uint32_t>(offset - base_);
  while (head_ != count_ && entries_[head_] < from_) ++head_;
}

void csv_tape::make_room(std::size_t n) {
  if (from_ != 0) {  // else the present row is longer than the indexed bytes
    for (std::size_t i = head_; i != count_; ++i) entries_[i - head_] = entries_[i] - from_;
    count_ -= head_;
    head_ = 0;
    base_ += from_;
    from_ = 0;
  }
  // allocated for a longer row before
  const bool is_large = capacity_ > kEntriesUsual && count_ + n <= kEntriesUsual / 4;
  if (count_ + n <= capacity_ && !is_large) return;
  capacity_ = is_large ? kEntriesUsual / 4 : std::max(count_ + n, 2 * capacity_);
  if (capacity_ > kEntriesUsual) capacity_ = std::max(capacity_, kRowEntriesMax + kPieceBytesMax + 8);
  auto larger = std::make_unique_for_overwrite<std::uint32_t[]>(capacity_);
  std::copy_n(entries_.get(), count_, larger.get());
  entries_ = std::move(larger);
}

bool csv_tape::extend(std::string_view window) {
  if (indexed_bytes() >= window.size()) return false;
  const std::size_t bytes = std::min(window.size() - indexed_bytes(),
                                     std::clamp(count_ != head_ ? indexed_bytes() : 0, kPieceBytes, kPieceBytesMax));
  make_room(bytes + 8);
  static const bool kWide = can_index_wide();
  const csv_signs signs{delimiter_, quotes_ ? '"' : delimiter_};
  const auto from = static_cast<std::uint32_t>(end_ - base_), to = from + static_cast<std::uint32_t>(bytes);
  std::uint32_t* out = entries_.get() + count_;
  out = kWide ? index_wide(window.data(), from, to, signs, out) : index_plain(window.data(), from, to, signs, out);
  count_ = static_cast<std::size_t>(out - entries_.get());
  end_ += bytes;
  return true;
}

}  // namespace sluice::lib
