// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/lines_scan.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice::lib {
namespace {

/// Returns true if the text after the last `\n` is not a line, because only `\r` characters remain.
bool is_all_returns(std::string_view text) { return text.find_first_not_of('\r') == std::string_view::npos; }

/// Removes every `\r` of a line; returns its new length.
std::size_t close_up(char* begin, std::size_t size) {
  return static_cast<std::size_t>(std::remove(begin, begin + size, '\r') - begin);
}

/// Removes `\r`. Most lines have none, or one at the end, which needs no writing.
std::size_t without_returns(char* begin, std::size_t size) {
  auto* r = static_cast<char*>(std::memchr(begin, '\r', size));
  if (!r) return size;
  if (r == begin + size - 1) return size - 1;
  return close_up(begin, size);
}

#if defined(__x86_64__)

// One memchr for each of two bytes would cost two calls and start-ups per line, which is much for short lines (72 B).
// This pass finds both, 32 bytes at a time. The mask of returns since the line's start shows whether a line needs a
// second pass.
template <class Emit>
__attribute__((target("avx2,bmi"))) lines_scan scan_wide(std::span<char> window, std::size_t lines_max,
                                                         std::size_t searched, Emit emit) {
  lines_scan scan;
  char* const begin = window.data();
  const std::size_t size = window.size();
  const __m256i newline = _mm256_set1_epi8('\n'), carriage = _mm256_set1_epi8('\r');
  std::size_t start = 0;
  bool returns = searched != 0;  // earlier words may have a '\r' since `start`
  for (std::size_t at = searched & ~std::size_t{31}; at + 32 <= size; at += 32) {
    const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(begin + at));
    auto ends = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(word, newline)));
    auto returned = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(word, carriage)));
    while (ends) {
      const std::uint32_t below = ends ^ (ends - 1);  // the bits up to and including the lowest end
      const std::size_t end = at + static_cast<std::size_t>(__builtin_ctz(ends));
      std::size_t length = end - start;
      if (returns || (returned & below)) [[unlikely]]
        length = without_returns(begin + start, length);
      emit(scan.lines++, begin + start, length);
      start = end + 1;
      scan.used_bytes = start;
      if (scan.lines == lines_max) return scan;
      ends &= ends - 1;
      returned &= ~below;
      returns = false;
    }
    returns = returns || returned != 0;
  }
  return scan;
}
bool has_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"); }

#else

template <class Emit> lines_scan scan_wide(std::span<char>, std::size_t, std::size_t, Emit) { return {}; }
bool has_wide() { return false; }

#endif

template <class Emit>
void scan_rest(std::span<char> window, bool last, std::size_t lines_max, std::size_t searched, lines_scan& scan,
               Emit emit) {
  while (scan.lines < lines_max && scan.used_bytes < window.size()) {
    char* start = window.data() + scan.used_bytes;
    std::size_t rest = window.size() - scan.used_bytes;
    std::size_t from = std::max(scan.used_bytes, searched);
    auto* end = static_cast<char*>(std::memchr(window.data() + from, '\n', window.size() - from));
    if (!end && !last) return;
    std::size_t length = end ? static_cast<std::size_t>(end - start) : rest;
    scan.used_bytes += length + (end ? 1 : 0);
    if (!end && is_all_returns({start, rest})) return;
    emit(scan.lines++, start, without_returns(start, length));
  }
}

template <class Emit>
lines_scan scan_with(std::span<char> window, bool last, std::size_t lines_max, std::size_t searched, Emit emit) {
  static const bool kWide = has_wide();
  lines_scan scan;
  if (kWide && lines_max > 0) scan = scan_wide(window, lines_max, searched, emit);
  scan_rest(window, last, lines_max, searched, scan, emit);
  return scan;
}

}  // namespace

lines_scan scan_lines(std::span<char> window, bool last, std::string_view* out, std::size_t lines_max,
                      std::size_t searched) {
  return scan_with(window, last, lines_max, searched,
                   [out](std::size_t i, const char* data, std::size_t size) { out[i] = {data, size}; });
}

lines_scan scan_lines(std::span<char> window, bool last, buffer& owner, line* out, std::size_t lines_max,
                      std::size_t searched) {
  lines_scan scan =
      scan_with(window, last, lines_max, searched, [&owner, out](std::size_t i, const char* data, std::size_t size) {
        ::new (static_cast<void*>(out + i)) line(&owner, data, size);
      });
  owner.add_references(static_cast<std::uint32_t>(scan.lines));
  return scan;
}

lines_scan pass_over_lines(std::string_view window, bool last, std::size_t lines_max, std::size_t searched) {
  lines_scan scan;
  while (scan.lines < lines_max && scan.used_bytes < window.size()) {
    std::size_t end = window.find('\n', std::max(scan.used_bytes, searched));
    if (end == std::string_view::npos && !last) break;
    const bool is_line = end != std::string_view::npos || !is_all_returns(window.substr(scan.used_bytes));
    scan.used_bytes = end == std::string_view::npos ? window.size() : end + 1;
    if (is_line) ++scan.lines;
  }
  return scan;
}

}  // namespace sluice::lib
