// SPDX-License-Identifier: Apache-2.0
// The bytes of a map entry of a tf.Example before its values, as the previous record had them. One comparison of words
// recognizes them, instead of reading two tags, the key, and then three more tags and lengths.
//
//   0a SS  0a KS key…  12 VS  LL LS  0a PS  values…       LL: the tag of the list, by the kind of the values
//
// Each length is that of the values plus a constant, as long as all of them take one byte: a value that is longer or shorter
// than before has the same prefix. Unread entries, whose list may have any form, end their prefix with VS.
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "format/example/wire.hpp"
#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

class entry_prefix {
 public:
  /// Values of this number of bytes have no such prefix.
  static constexpr std::size_t kValuesMax = 0x80;

  /// Describes entries with this key and one list of this kind, which has one text or one run of numbers. `none`: any
  /// value. Longer keys than fit are never recognized.
  void learn(std::string_view key, feature_kind kind) noexcept {
    *this = {};
    is_learned_ = true;
    const bool has_list = kind != feature_kind::none;
    const std::size_t size = key.size() + (has_list ? 10 : 6);
    if (size > kBytesMax) return;
    unsigned char bytes[kBytesMax] = {}, grows[kBytesMax] = {}, counts[kBytesMax] = {};
    std::memset(counts, 0xff, size);
    std::size_t at = 0;
    auto put = [&](std::uint32_t byte) { bytes[at++] = static_cast<unsigned char>(byte); };
    auto put_length = [&](std::size_t constant) {
      grows[at] = 1;
      put(static_cast<std::uint32_t>(constant));
    };
    put(detail::tag_of(1, detail::kBytes));
    put_length(size - 2);
    put(detail::tag_of(1, detail::kBytes));
    put(static_cast<std::uint32_t>(key.size()));
    std::memcpy(bytes + at, key.data(), key.size());
    at += key.size();
    put(detail::tag_of(2, detail::kBytes));
    put_length(has_list ? 4 : 0);
    if (has_list) {
      put(detail::tag_of(static_cast<std::uint32_t>(kind), detail::kBytes));
      put_length(2);
      put(detail::tag_of(1, detail::kBytes));
      put_length(0);
    }
    std::memcpy(bytes_, bytes, sizeof bytes_);
    std::memcpy(grows_, grows, sizeof grows_);
    std::memcpy(counts_, counts, sizeof counts_);
    size_ = static_cast<std::uint32_t>(size);
  }
  bool is_learned() const noexcept { return is_learned_; }

  /// If the entry at p has this prefix, moves p to its values, and returns true. `size`: receives the number of their
  /// bytes, all of which precede `end`.
  [[gnu::always_inline]] bool pass(const char*& p, const char* end, std::size_t& size) const noexcept {
    const auto rest = static_cast<std::size_t>(end - p);
    if (size_ == 0 || rest < (size_ > kWord * 2 ? kBytesMax : kWord * 2)) return false;
    const std::size_t entry = static_cast<unsigned char>(p[1]), values = entry + 2 - size_;
    // A shorter entry has no values, and this difference is large then.
    if (entry >= 0x80 || values >= kValuesMax || entry + 2 > rest) return false;
    std::uint64_t differs = differs_at(p, 0, values) | differs_at(p, 1, values);
    if (size_ > kWord * 2) differs |= differs_at(p, 2, values) | differs_at(p, 3, values);
    if (differs != 0) return false;
    p += size_;
    size = values;
    return true;
  }

 private:
  static constexpr std::size_t kBytesMax = 32, kWord = sizeof(std::uint64_t);

  /// Returns the bits of word k that are not the expected ones.
  [[gnu::always_inline]] std::uint64_t differs_at(const char* p, std::size_t k, std::uint64_t values) const noexcept {
    std::uint64_t word;
    std::memcpy(&word, p + k * kWord, kWord);
    return (word ^ (bytes_[k] + values * grows_[k])) & counts_[k];  // no length reaches 128, so none runs over
  }

  std::uint64_t bytes_[kBytesMax / kWord] = {};   ///< the prefix of an entry without values
  std::uint64_t grows_[kBytesMax / kWord] = {};   ///< 1 at each length that the values add to
  std::uint64_t counts_[kBytesMax / kWord] = {};  ///< the bits of the prefix
  std::uint32_t size_ = 0;                        ///< 0: recognizes nothing
  bool is_learned_ = false;
};

}  // namespace sluice::lib
