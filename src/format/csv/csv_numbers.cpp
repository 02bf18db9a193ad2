// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_numbers.hpp"

#include <absl/strings/numbers.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/text/ascii.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice::lib::detail {
namespace {

constexpr double kTenTo[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                             1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
constexpr std::uint64_t kExactMost = std::uint64_t{1} << 53;

/// Stores digits / 10^fraction as a T. Returns false if that takes more than one division.
template <class T> inline bool set_decimal(std::uint64_t digits, unsigned fraction, bool negative, T& to) {
  if constexpr (std::is_integral_v<T>) {
    const auto v = static_cast<std::int64_t>(digits);  // at most 16 digits
    to = static_cast<T>(negative ? -v : v);
    return fraction == 0 && (std::is_same_v<T, std::int64_t> || to == (negative ? -v : v));
  } else {
    // Both operands are exact, so their quotient is the double nearest to the number.
    double d = static_cast<double>(digits) / kTenTo[fraction];
    d = negative ? -d : d;
    to = static_cast<T>(d);
    if constexpr (std::is_same_v<T, double>) return digits <= kExactMost;
    // Rounding twice equals rounding once, unless the double is next to the middle of two floats.
    constexpr std::uint32_t kMiddle = 1U << 28, kBelow = (1U << 29) - 1;
    const auto below = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(d)) & kBelow;
    return digits <= kExactMost && below - (kMiddle - 1) > 2;
  }
}

template <class T> inline bool read_plain(const csv_span& s, T& to) {
  const char* p = s.begin;
  const bool negative = p != s.end && *p == '-';
  p += negative;
  const std::ptrdiff_t length = s.end - p;
  if (length <= 0 || length > 16) return false;
  std::uint64_t digits = 0;
  const char* point = nullptr;
  for (; p != s.end; ++p) {
    if (is_digit(*p)) digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
    else if (*p == '.' && !point) point = p;
    else return false;
  }
  if (point && length == 1) return false;
  return set_decimal(digits, point ? static_cast<unsigned>(s.end - point - 1) : 0, negative, to);
}

/// Returns true if the field is up to 16 characters: digits with a point among them, and a sign before. Without `has_point`
/// no digit follows the point.
bool is_plain_number(const csv_span& s, bool has_point) {
  const char* p = s.begin;
  p += p != s.end && *p == '-';
  const std::ptrdiff_t length = s.end - p;
  if (length <= 0 || length > 16) return false;
  std::ptrdiff_t digits = 0, points = 0;
  for (; p != s.end; ++p) {
    digits += is_digit(*p);
    points += *p == '.';
  }
  return digits + points == length && digits != 0 && points <= 1 && (has_point || points == 0 || s.end[-1] == '.');
}

std::size_t check_all_plain(const csv_usual_row& row, const csv_number_check* checks, std::size_t n) {
  std::size_t i = 0;
  while (i != n && is_plain_number(row.field(checks[i].field), checks[i].has_point)) ++i;
  return i;
}

template <class T> std::size_t read_all_plain(const csv_span* spans, std::size_t n, T* to) {
  std::size_t i = 0;
  while (i != n && read_plain(spans[i], to[i])) ++i;
  return i;
}

#if defined(__x86_64__)

struct lane_tables {
  alignas(16) std::uint8_t keep[32] = {};          ///< 16 bytes from `length` on: 0xFF for the last `length` lanes
  alignas(16) std::uint8_t close_up[17][16] = {};  ///< moves out lane k; [16]: none
  constexpr lane_tables() {
    for (int i = 16; i != 32; ++i) keep[i] = 0xFF;
    for (int k = 0; k != 17; ++k)
      for (int lane = 0; lane != 16; ++lane) {
        const int from = k == 16 || lane > k ? lane : lane - 1;
        close_up[k][lane] = from < 0 ? 0x80 : static_cast<std::uint8_t>(from);
      }
  }
};
constexpr lane_tables kLanes;

/// Reads up to 16 digits with a point among them, in the lanes that end with the field.
template <class T> __attribute__((target("avx2,bmi"))) inline bool read_wide(const csv_span& s, T& to) {
  const bool negative = *s.begin == '-';
  const std::ptrdiff_t length = s.end - s.begin - negative;
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.end - 16));
  if (length <= 0 || length > 16) return false;
  const __m128i keep = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kLanes.keep + length));
  const __m128i points = _mm_and_si128(keep, _mm_cmpeq_epi8(text, _mm_set1_epi8('.')));
  const auto point_mask = static_cast<std::uint32_t>(_mm_movemask_epi8(points));
  const unsigned point = static_cast<unsigned>(__builtin_ctz(point_mask | 1U << 16));
  __m128i digits = _mm_and_si128(_mm_sub_epi8(text, _mm_set1_epi8('0')), _mm_andnot_si128(points, keep));
  const bool are_digits =
      _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(digits, _mm_set1_epi8(9)), _mm_set1_epi8(9))) == 0xFFFF;
  const bool has_digits = length != 1 || point_mask == 0;
  if (!are_digits || !has_digits || (point_mask & (point_mask - 1)) != 0) return false;
  digits = _mm_shuffle_epi8(digits, _mm_load_si128(reinterpret_cast<const __m128i*>(kLanes.close_up[point])));
  const __m128i tens = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010A));
  const __m128i hundreds = _mm_madd_epi16(tens, _mm_set1_epi32(0x00010064));
  const __m128i packed = _mm_packus_epi32(hundreds, hundreds);
  const __m128i halves = _mm_madd_epi16(packed, _mm_set1_epi32(0x00012710));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(halves));
  const std::uint64_t number = (both & 0xFFFFFFFFU) * 100'000'000 + (both >> 32);
  return set_decimal(number, point == 16 ? 0 : 15 - point, negative, to);
}

template <class T>
__attribute__((target("avx2,bmi"))) std::size_t read_all_wide(const csv_span* spans, std::size_t n,
                                                              const char* readable, T* to) {
  std::size_t i = 0;
  for (; i != n && spans[i].end - readable < 16; ++i)
    if (!read_plain(spans[i], to[i])) return i;
  for (; i != n; ++i)
    if (!read_wide(spans[i], to[i])) return i;
  return i;
}

/// The same as is_plain_number(). Its branches are right for nearly all fields; without them it takes a quarter more time.
__attribute__((target("avx2,bmi"))) inline bool is_wide_plain(const csv_span& s, bool has_point) {
  const std::ptrdiff_t length = s.end - s.begin - (*s.begin == '-');
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.end - 16));
  if (length <= 0 || length > 16) return false;
  const std::uint32_t field = 0xFFFFU << (16 - length) & 0xFFFFU;
  const auto points = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')))) & field;
  const __m128i values = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  const auto digits =
      static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values))) &
      field;
  // The place of the only point that a whole number may have.
  const std::uint32_t wrong = has_point ? points & (points - 1) : points & 0x7FFFU;
  return (digits | points) == field && digits != 0 && wrong == 0;
}

__attribute__((target("avx2,bmi"))) std::size_t check_all_wide(const csv_usual_row& row, const csv_number_check* checks,
                                                               std::size_t n, const char* readable) {
  if (row.begin - readable < 16) return check_all_plain(row, checks, n);
  std::size_t i = 0;
  while (i != n && is_wide_plain(row.field(checks[i].field), checks[i].has_point)) ++i;
  return i;
}
bool can_read_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"); }

#else

template <class T> std::size_t read_all_wide(const csv_span* spans, std::size_t n, const char*, T* to) {
  return read_all_plain(spans, n, to);
}
std::size_t check_all_wide(const csv_usual_row& row, const csv_number_check* checks, std::size_t n, const char*) {
  return check_all_plain(row, checks, n);
}
bool can_read_wide() { return false; }

#endif

}  // namespace

template <class T> std::size_t read_csv_numbers(const csv_span* spans, std::size_t n, const char* readable, T* to) {
  static const bool kWide = can_read_wide();
  return kWide ? read_all_wide(spans, n, readable, to) : read_all_plain(spans, n, to);
}

std::size_t check_csv_numbers(const csv_usual_row& row, const csv_number_check* checks, std::size_t n,
                              const char* readable) {
  static const bool kWide = can_read_wide();
  return kWide ? check_all_wide(row, checks, n, readable) : check_all_plain(row, checks, n);
}

template std::size_t read_csv_numbers(const csv_span*, std::size_t, const char*, float*);
template std::size_t read_csv_numbers(const csv_span*, std::size_t, const char*, double*);
template std::size_t read_csv_numbers(const csv_span*, std::size_t, const char*, std::int64_t*);
template std::size_t read_csv_numbers(const csv_span*, std::size_t, const char*, std::int32_t*);

std::string_view csv_number_rule(std::string_view type, std::string_view field) {
  const bool is_whole = type.starts_with("int") || type.starts_with("uint");
  double value = 0;
  if (field.find_first_not_of("0123456789+-.eE") != field.npos || (!is_whole && type != "float")) return {};
  if (!absl::SimpleAtod(absl::string_view(field.data(), field.size()), &value)) return {};
  if (!is_whole) return ": it does not fit; double has a larger range";
  if (field.find_first_of(".eE") == field.npos) return ": it does not fit";
  return ": a whole number is written without a point and an exponent; double reads this one";
}

}  // namespace sluice::lib::detail
