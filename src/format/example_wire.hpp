// SPDX-License-Identifier: Apache-2.0
// The messages of tf.Example on the wire, walked with a sink for the values.
//
//   Example { Features features = 1; }   Features { map<string, Feature> feature = 1; }
//   Feature { oneof { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
//   …List { repeated … value = 1; }
//
// Repeated occurrences of a message merge, as protobuf merges them: of a map's key the last entry counts, of a oneof
// the last kind, and lists of one kind append.
#pragma once

#include "format/wire.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib::detail {

/// A sink has: void begin(feature_kind), which also ends a list of another kind; void bytes(std::string_view);
/// void floats(const char* raw, std::size_t count); void int64(std::int64_t).
template <class Sink> bool read_bytes_list(std::string_view list, Sink& sink) {
  wire_reader in(list);
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view value;
    if (!in.tag(tag)) return false;
    if (tag != tag_of(1, kBytes)) {
      if (!in.skip(tag)) return false;
    } else if (in.bytes(value)) {
      sink.bytes(value);
    } else {
      return false;
    }
  }
  return true;
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

/// A length of one or two bytes that is all there is to `end`: of the outer messages of nearly every entry.
inline bool passes_length_to(const char*& p, const char* end) noexcept {
  const auto rest = end - p;
  if (rest < 2) return false;
  const auto low = static_cast<unsigned char>(p[0]), high = static_cast<unsigned char>(p[1]);
  if (low < 0x80) return low == rest - 1 ? (++p, true) : false;
  if (high >= 0x80 || ((high << 7) | (low & 0x7f)) != rest - 2) return false;
  p += 2;
  return true;
}

/// read_feature for the usual case: one list of one kind; one string, one packed run of floats, one number. A third of
/// the time of the general walk. False, and the sink untouched: not the usual case, perhaps damaged.
template <class Sink> bool read_usual_feature(std::string_view feature, Sink& sink) {
  const char *p = feature.data(), *end = p + feature.size();
  if (feature.size() < 4) return false;
  const char tag = *p++;
  if (!passes_length_to(p, end) || p == end || *p++ != tag_of(1, kBytes) || !passes_length_to(p, end) || p == end)
    return false;
  const auto rest = static_cast<std::size_t>(end - p);
  if (tag == tag_of(1, kBytes)) {
    sink.begin(feature_kind::bytes);
    sink.bytes({p, rest});
    return true;
  }
  if (tag == tag_of(2, kBytes)) {
    if (rest % 4 != 0) return false;
    sink.begin(feature_kind::floats);
    sink.floats(p, rest / 4);
    return true;
  }
  if (tag != tag_of(3, kBytes) || rest > 9) return false;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i != rest; ++i) {
    const auto byte = static_cast<unsigned char>(p[i]);
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if ((byte < 0x80) != (i + 1 == rest)) return false;  // several numbers, or one cut short
  }
  sink.begin(feature_kind::int64s);
  sink.int64(static_cast<std::int64_t>(value));
  return true;
}

/// The key of a map entry, and its value in the usual case of one: key, then value, and no more.
struct map_entry {
  std::string_view key;
  std::string_view value;
  bool usual = false;
};

inline bool read_entry(std::string_view bytes, map_entry& entry) {
  const char *p = bytes.data(), *end = p + bytes.size();
  if (bytes.size() > 2 && p[0] == tag_of(1, kBytes)) {
    const auto key_size = static_cast<unsigned char>(p[1]);
    if (key_size < 0x80 && end - p > 3 + key_size && p[2 + key_size] == tag_of(2, kBytes)) {
      const char* value = p + 3 + key_size;
      if (passes_length_to(value, end)) {
        entry = {{p + 2, key_size}, {value, static_cast<std::size_t>(end - value)}, true};
        return true;
      }
    }
  }
  wire_reader in(bytes);
  entry = {};
  std::uint32_t tag;
  if (in.tag(tag) && tag == tag_of(1, kBytes) && in.bytes(entry.key) && !in.done() && in.tag(tag) &&
      tag == tag_of(2, kBytes) && in.bytes(entry.value) && in.done()) {
    entry.usual = true;
    return true;
  }
  entry = {};
  wire_reader again(bytes);
  while (!again.done()) {
    std::string_view text;
    if (!again.tag(tag)) return false;
    if (tag == tag_of(1, kBytes) || tag == tag_of(2, kBytes)) {
      if (!again.bytes(text)) return false;
      if (tag == tag_of(1, kBytes)) entry.key = text;
    } else if (!again.skip(tag)) {
      return false;
    }
  }
  return true;
}

/// All values of an entry, merged.
template <class Sink> bool read_entry_values(std::string_view bytes, const map_entry& entry, Sink& sink) {
  if (entry.usual) return read_usual_feature(entry.value, sink) || read_feature(entry.value, sink);
  wire_reader in(bytes);
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view text;
    if (!in.tag(tag)) return false;
    if (tag != tag_of(2, kBytes)) {
      if (!in.skip(tag)) return false;
    } else if (!in.bytes(text) || !read_feature(text, sink)) {
      return false;
    }
  }
  return true;
}

/// Calls on_entry(bytes of one map entry) → bool for each feature.
template <class OnEntry> bool read_example(std::string_view example, OnEntry on_entry) {
  wire_reader in(example);
  while (!in.done()) {
    std::uint32_t tag;
    std::string_view features;
    if (!in.tag(tag)) return false;
    if (tag != tag_of(1, kBytes)) {
      if (!in.skip(tag)) return false;
      continue;
    }
    if (!in.bytes(features)) return false;
    wire_reader inside(features);
    while (!inside.done()) {
      std::string_view entry;
      if (!inside.tag(tag)) return false;
      if (tag != tag_of(1, kBytes)) {
        if (!inside.skip(tag)) return false;
      } else if (!inside.bytes(entry) || !on_entry(entry)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace sluice::lib::detail
