// SPDX-License-Identifier: Apache-2.0
// Reads the messages of tf.Example from the wire format, with a sink for the values.
//
//   Example { Features features = 1; }   Features { map<string, Feature> feature = 1; }
//   Feature { oneof { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
//   …List { repeated … value = 1; }
//
// Repeated occurrences of a message are merged as in protobuf: the last entry of a map's key counts, the last kind of a
// oneof counts, and lists of one kind are joined.
#pragma once

#include <bit>
#include <utility>

#include "format/example/wire.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib::detail {

/// The end of a message about values of another kind: "the type string reads them".
inline std::string_view type_that_reads(feature_kind kind) {
  if (kind == feature_kind::bytes) return "the type string reads them";
  return kind == feature_kind::floats ? "the type float reads them" : "the type int64 reads them";
}

inline status not_an_example() { return data_loss_error("the bytes are no tf.Example: its wire format is damaged"); }

/// Calls on_bytes(its bytes) → bool for each field `number` of a message, and skips other fields. Returns false if the
/// message is damaged, or if on_bytes does.
template <class OnBytes> bool read_each(std::string_view message, std::uint32_t number, OnBytes on_bytes) {
  wire_reader in(message);
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view bytes;
    if (!in.tag(tag)) return false;
    if (tag != tag_of(number, kBytes)) {
      if (!in.skip(tag)) return false;
    } else if (!in.bytes(bytes) || !on_bytes(bytes)) {
      return false;
    }
  }
  return true;
}

/// A sink has: void begin(feature_kind), which also drops a list of another kind; void bytes(std::string_view); void
/// floats(const char* raw, std::size_t count); void int64(std::int64_t).
template <class Sink> bool read_bytes_list(std::string_view list, Sink& sink) {
  return read_each(list, 1, [&](std::string_view value) { return sink.bytes(value), true; });
}

template <class Sink> bool read_float_list(std::string_view list, Sink& sink) {
  wire_reader in(list);
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view packed;
    const char* raw;
    if (!in.tag(tag)) return false;
    if (tag == tag_of(1, kBytes)) {
      if (!in.bytes(packed) || packed.size() % 4 != 0) return false;
      sink.floats(packed.data(), packed.size() / 4);
    } else if (tag == tag_of(1, kFixed32)) {
      if (!in.fixed(4, raw)) return false;
      sink.floats(raw, 1);
    } else if (!in.skip(tag)) {
      return false;
    }
  }
  return true;
}

template <class Sink> bool read_int64_list(std::string_view list, Sink& sink) {
  wire_reader in(list);
  while (!in.done()) {
    std::uint32_t tag;
    std::uint64_t value;
    std::string_view packed;
    if (!in.tag(tag)) return false;
    if (tag == tag_of(1, kBytes)) {
      if (!in.bytes(packed)) return false;
      wire_reader values(packed);
      while (!values.done()) {
        if (!values.varint(value)) return false;
        sink.int64(static_cast<std::int64_t>(value));
      }
    } else if (tag == tag_of(1, kVarint)) {
      if (!in.varint(value)) return false;
      sink.int64(static_cast<std::int64_t>(value));
    } else if (!in.skip(tag)) {
      return false;
    }
  }
  return true;
}

template <class Sink> bool read_feature(std::string_view feature, Sink& sink) {
  wire_reader in(feature);
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view list;
    if (!in.tag(tag)) return false;
    if (tag != tag_of(1, kBytes) && tag != tag_of(2, kBytes) && tag != tag_of(3, kBytes)) {
      if (!in.skip(tag)) return false;
      continue;
    }
    if (!in.bytes(list)) return false;
    const auto kind = static_cast<feature_kind>(tag >> 3);
    sink.begin(kind);
    const bool sound = kind == feature_kind::bytes    ? read_bytes_list(list, sink)
                       : kind == feature_kind::floats ? read_float_list(list, sink)
                                                      : read_int64_list(list, sink);
    if (!sound) return false;
  }
  return true;
}

/// Reads the key of a map entry. Returns false if the entry is damaged.
inline bool read_key(std::string_view entry, std::string_view& key) {
  wire_reader in(entry);
  key = {};
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view text;
    if (!in.tag(tag)) return false;
    if (tag == tag_of(1, kBytes) || tag == tag_of(2, kBytes)) {
      if (!in.bytes(text)) return false;
      if (tag == tag_of(1, kBytes)) key = text;
    } else if (!in.skip(tag)) {
      return false;
    }
  }
  return true;
}

/// Reads all values of a map entry, merged.
template <class Sink> bool read_entry_values(std::string_view entry, Sink& sink) {
  return read_each(entry, 2, [&](std::string_view feature) { return read_feature(feature, sink); });
}

/// Forwards the values of the last of `lists` lists of a Feature: a list of another kind replaces those before it.
template <class Sink> class last_list {
 public:
  last_list(Sink& to, std::size_t lists) : to_(to), lists_(lists) {}
  void begin(feature_kind kind) {
    if (kind_ == kind) return;
    kind_ = kind;
    --lists_;
  }
  void bytes(std::string_view value) {
    if (lists_ == 0) to_.bytes(i_++, value);
  }
  void floats(const char* raw, std::size_t count) {
    if (lists_ == 0) to_.floats(std::exchange(i_, i_ + count), raw, count);
  }
  void int64(std::int64_t value) {
    if (lists_ == 0) to_.int64(i_++, value);
  }

 private:
  Sink& to_;
  std::size_t lists_;
  std::size_t i_ = 0;
  feature_kind kind_ = feature_kind::none;
};

/// Calls on_entry(bytes of one map entry) → bool for each feature.
template <class OnEntry> bool read_example(std::string_view example, OnEntry on_entry) {
  return read_each(example, 1, [&](std::string_view features) { return read_each(features, 1, on_entry); });
}

// --- The usual form of a record: each message occurs once and fills its parent, no length takes more than two bytes,
// numbers are packed. The following functions return false, or null, for all other records, which may be damaged. ---

/// Skips the tag and the length of a field at p. Returns the end of its bytes.
[[gnu::always_inline]] inline const char* enter(const char*& p, const char* end, char tag) noexcept {
  const auto rest = end - p;
  if (rest < 2 || p[0] != tag) return nullptr;
  auto size = static_cast<unsigned char>(p[1]);
  if (size < 0x80) {
    p += 2;
    return size <= rest - 2 ? p + size : nullptr;
  }
  if (rest < 3 || static_cast<unsigned char>(p[2]) >= 0x80) return nullptr;
  const auto wide = (size & 0x7f) | static_cast<unsigned char>(p[2]) << 7;
  p += 3;
  return wide <= rest - 3 ? p + wide : nullptr;
}
/// Skips them if the field fills its parent; else returns false.
[[gnu::always_inline]] inline bool enter_all(const char*& p, const char* end, char tag) noexcept {
  const char* inner_end = enter(p, end, tag);
  return inner_end && inner_end == end;
}

/// A map entry: its key, and the bytes of its value, [value, end).
struct usual_entry {
  std::string_view key{};
  const char* value = nullptr;
  const char* end = nullptr;
  /// [value, end) are the values of a list of the wanted kind, one text or one run of numbers, and the key is not set.
  bool is_single = false;
};
[[gnu::always_inline]] inline bool read_usual_entry(const char*& p, const char* end, usual_entry& entry) noexcept {
  // Most entries take less than 128 bytes: two tags and two lengths are one word then.
  if (std::uint32_t word; end - p >= 4) {
    std::memcpy(&word, p, 4);
    const std::uint32_t size = word >> 8 & 0x7f, key = word >> 24;
    if ((word & 0x80ff80ff) == 0x000a000a && size + 2 <= end - p && key + 4 <= size) {
      const char* value = p + 4 + key;
      if (value[0] == tag_of(2, kBytes) && static_cast<unsigned char>(value[1]) == size - key - 4) {
        entry = {{p + 4, key}, value + 2, p + 2 + size};
        p = entry.end;
        return true;
      }
    }
  }
  const char* entry_end = enter(p, end, tag_of(1, kBytes));
  if (!entry_end) return false;
  const char* key_end = enter(p, entry_end, tag_of(1, kBytes));
  if (!key_end) return false;
  entry.key = {p, static_cast<std::size_t>(key_end - p)};
  p = key_end;
  if (!enter_all(p, entry_end, tag_of(2, kBytes))) return false;
  entry.value = p;
  entry.end = p = entry_end;
  return true;
}

/// Counts the numbers in packed varints.
inline std::size_t count_varints(const char* p, const char* end) noexcept {
  std::size_t n = 0;
  for (; p != end; ++p) n += static_cast<unsigned char>(*p) < 0x80;
  return n;
}

/// Counts the numbers in 1 to 8 bytes of packed varints. At least 8 bytes precede p.
inline std::size_t count_few_varints(const char* p, std::size_t size) noexcept {
  std::uint64_t last;  // the byte at p + size - 1 is the highest one
  std::memcpy(&last, p + size - sizeof last, sizeof last);
  return static_cast<std::size_t>(std::popcount(~last >> (64 - 8 * size) & 0x8080808080808080));
}

/// Returns true if these bytes are one varint of at most 8 bytes. At least 8 bytes precede p.
[[gnu::always_inline]] inline bool is_one_short_varint(const char* p, std::size_t size) noexcept {
  if (size - 1 >= 8) return false;
  std::uint64_t last;
  std::memcpy(&last, p + size - sizeof last, sizeof last);
  const std::uint64_t ends = ~last >> (64 - 8 * size) & 0x8080808080808080;
  return ends == std::uint64_t{0x80} << (8 * size - 8);
}

/// Limits for the number of values of a feature.
struct value_limits {
  std::size_t most;
  std::size_t each = 1;  ///< the number is a multiple of it, because memory is allocated and filled by whole rows

  bool take(std::size_t count) const { return count <= most && (each == 1 || count % each == 0); }
};

/// A sink of read_usual_values for values that are only checked and counted.
struct usual_values_counted {
  static constexpr bool only_counts = true;
  void bytes(std::size_t, std::string_view) {}
  void room(std::size_t) {}
  void floats(std::size_t, const char*, std::size_t) {}
  void int64(std::size_t, std::int64_t) {}
};

/// Reads the values [p, p + size) of a list of this kind: one text, or one run of packed numbers. At least 8 bytes precede
/// p. Otherwise as read_usual_values().
template <class Sink>
[[gnu::always_inline]] inline bool read_single_values(const char* p, std::size_t size, feature_kind kind,
                                                      value_limits limits, Sink& sink, std::size_t& count) {
  if (kind == feature_kind::bytes) {
    if (limits.most == 0) return false;
    sink.bytes(0, {p, size});
    count = 1;
    return true;
  }
  if (kind == feature_kind::floats) {
    count = size / 4;
    if (size % 4 != 0 || !limits.take(count)) return false;
    sink.room(count);
    sink.floats(0, p, count);
    return true;
  }
  const std::size_t n = size - 1 < 8 ? count_few_varints(p, size) : count_varints(p, p + size);
  if (!limits.take(n)) return false;
  sink.room(n);
  if constexpr (requires { Sink::only_counts; }) {
    // Each takes one byte; or none is too long, and the last one ends here.
    const bool are_sound = n == size || (size <= 8 && static_cast<unsigned char>(p[size - 1]) < 0x80);
    if (are_sound) return count = n, true;
  }
  count = 0;
  for (wire_reader in({p, size}); !in.done();) {
    std::uint64_t value;
    if (!in.varint(value)) return false;
    sink.int64(count++, static_cast<std::int64_t>(value));
  }
  return true;
}

/// Reads the values of a feature of this kind. Returns false, possibly after some values, if the form is unusual or
/// `limits` exclude the number. The sink has bytes(i, string_view), and room(count) before floats(i, raw, count), or
/// before int64(i, value) for each.
template <class Sink>
[[gnu::always_inline]] inline bool read_usual_values(const usual_entry& entry, feature_kind kind, value_limits limits,
                                                     Sink& sink, std::size_t& count) {
  const char *p = entry.value, *const end = entry.end;
  if (entry.is_single) return read_single_values(p, static_cast<std::size_t>(end - p), kind, limits, sink, count);
  const std::uint32_t list_tag = tag_of(static_cast<std::uint32_t>(kind), kBytes);
  count = 0;
  // The list has one string, or one run of numbers, and takes less than 128 bytes.
  const auto size = static_cast<std::size_t>(end - p);
  std::uint32_t word = 0;
  if (size >= 4) std::memcpy(&word, p, 4);
  const bool single =
      size >= 4 && size < 0x80 && word == (list_tag | (size - 2) << 8 | tag_of(1, kBytes) << 16 | (size - 4) << 24);
  if (single) return read_single_values(p + 4, size - 4, kind, limits, sink, count);
  if (!enter_all(p, end, static_cast<char>(list_tag))) return false;
  if (kind == feature_kind::bytes) {
    for (const char* value_end; p != end; p = value_end) {
      value_end = enter(p, end, tag_of(1, kBytes));
      if (!value_end || count == limits.most) return false;
      sink.bytes(count++, {p, static_cast<std::size_t>(value_end - p)});
    }
    return true;
  }
  if (p != end && !enter_all(p, end, tag_of(1, kBytes))) return false;
  return read_single_values(p, static_cast<std::size_t>(end - p), kind, limits, sink, count);
}

}  // namespace sluice::lib::detail
