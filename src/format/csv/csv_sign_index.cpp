// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_sign_index.hpp"

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice::lib {
namespace {

std::uint32_t* index_plain(const char* bytes, std::uint32_t from, std::uint32_t to, const csv_sign_index& how,
                           std::uint32_t* out) {
  const csv_signs s = how.signs;
  for (; from != to; ++from) {
    const char c = bytes[from];
    *out = from;
    out += c == s.delimiter || c == '\n' || c == '\r' || c == s.quote;
  }
  return out;
}

#if defined(__x86_64__)

/// Stores the signs by their lowest four bits. Returns false if two of them have the same ones, or one is not ASCII.
bool fill_by_low_bits(csv_sign_index& how) {
  how.by_low_bits.fill('\xFF');  // a lookup returns 0 for bytes beyond ASCII, so it never returns their own value
  how.by_low_bits[15] = '\0';
  for (const char c : {'\n', '\r', how.signs.delimiter, how.signs.quote}) {
    char& entry = how.by_low_bits[static_cast<std::size_t>(c & 15)];
    if (c <= 0 || (entry != '\xFF' && entry != '\0' && entry != c)) return false;
    entry = c;
  }
  return true;
}

/// Appends the places of the set bits. Entries are written four at a time, even if fewer exist: a loop that ends at the last
/// one mispredicts.
__attribute__((target("avx2,bmi,popcnt"))) inline std::uint32_t* append_places(std::uint64_t bits, std::uint32_t from,
                                                                               std::uint32_t* out) {
  const int count = __builtin_popcountll(bits);
  for (int done = 0; done < count; done += 4) {
    for (int k = 0; k != 4; ++k) {
      out[done + k] = from + static_cast<std::uint32_t>(_tzcnt_u64(bits));
      bits &= bits - 1;
    }
  }
  return out + count;
}

__attribute__((target("avx2"))) inline __m256i load_32(const char* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

__attribute__((target("avx2"))) inline std::uint64_t bits_of(__m256i low, __m256i high) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(high))) << 32;
}

__attribute__((target("avx2,bmi,popcnt"))) std::uint32_t* index_by_table(const char* bytes, std::uint32_t from,
                                                                         std::uint32_t to, const csv_sign_index& how,
                                                                         std::uint32_t* out) {
  const __m256i table =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(how.by_low_bits.data())));
  for (; from + 64 <= to; from += 64) {
    const __m256i low = load_32(bytes + from), high = load_32(bytes + from + 32);
    out = append_places(bits_of(_mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(table, low)),
                                _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(table, high))),
                        from, out);
  }
  return index_plain(bytes, from, to, how, out);
}

__attribute__((target("avx2"))) inline __m256i signs_in(__m256i word, __m256i delimiter, __m256i quote) {
  const __m256i ends =
      _mm256_or_si256(_mm256_cmpeq_epi8(word, _mm256_set1_epi8('\n')), _mm256_cmpeq_epi8(word, _mm256_set1_epi8('\r')));
  return _mm256_or_si256(ends, _mm256_or_si256(_mm256_cmpeq_epi8(word, delimiter), _mm256_cmpeq_epi8(word, quote)));
}

__attribute__((target("avx2,bmi,popcnt"))) std::uint32_t* index_by_comparisons(const char* bytes, std::uint32_t from,
                                                                               std::uint32_t to,
                                                                               const csv_sign_index& how,
                                                                               std::uint32_t* out) {
  const __m256i delimiter = _mm256_set1_epi8(how.signs.delimiter), quote = _mm256_set1_epi8(how.signs.quote);
  for (; from + 64 <= to; from += 64)
    out = append_places(bits_of(signs_in(load_32(bytes + from), delimiter, quote),
                                signs_in(load_32(bytes + from + 32), delimiter, quote)),
                        from, out);
  return index_plain(bytes, from, to, how, out);
}

#define SLUICE_CSV_WIDEST __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))

/// Stores 16 places, of which all, some or none are signs.
SLUICE_CSV_WIDEST inline void store_places(__m128i places, std::uint32_t from, std::uint32_t* out) {
  _mm512_storeu_si512(out, _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(from)), _mm512_cvtepu8_epi32(places)));
}

SLUICE_CSV_WIDEST std::uint32_t* index_by_compression(const char* bytes, std::uint32_t from, std::uint32_t to,
                                                      const csv_sign_index& how, std::uint32_t* out) {
  alignas(64) std::uint8_t number[64];
  for (std::uint8_t k = 0; k != 64; ++k) number[k] = k;
  const __m512i numbers = _mm512_load_si512(number);
  const __m512i table =
      _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(how.by_low_bits.data())));
  for (; from + 64 <= to; from += 64) {
    const __m512i word = _mm512_loadu_si512(bytes + from);
    const __mmask64 signs = _mm512_cmpeq_epi8_mask(word, _mm512_shuffle_epi8(table, word));
    const __m512i places = _mm512_maskz_compress_epi8(signs, numbers);
    const int count = __builtin_popcountll(signs);
    store_places(_mm512_castsi512_si128(places), from, out);
    if (count > 16) {
      store_places(_mm512_extracti32x4_epi32(places, 1), from, out + 16);
      store_places(_mm512_extracti32x4_epi32(places, 2), from, out + 32);
      store_places(_mm512_extracti32x4_epi32(places, 3), from, out + 48);
    }
    out += count;
  }
  return index_plain(bytes, from, to, how, out);
}

bool can_index_wide() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
bool can_compress_bytes() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2");
}

#undef SLUICE_CSV_WIDEST

#endif

}  // namespace

std::vector<csv_sign_index> csv_sign_indexes(csv_signs s) {
  csv_sign_index how;
  how.signs = s;
  std::vector<csv_sign_index> all;
  auto add = [&](csv_sign_index::function find) {
    how.find = find;
    all.push_back(how);
  };
  add(index_plain);
#if defined(__x86_64__)
  const bool has_table = fill_by_low_bits(how);
  if (can_index_wide()) add(index_by_comparisons);
  if (can_index_wide() && has_table) add(index_by_table);
  if (can_index_wide() && can_compress_bytes() && has_table) add(index_by_compression);
#endif
  return all;
}

csv_sign_index best_csv_sign_index(csv_signs s) { return csv_sign_indexes(s).back(); }

}  // namespace sluice::lib
