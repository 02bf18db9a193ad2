// SPDX-License-Identifier: Apache-2.0
// Writes tf.SequenceExamples: steps are Features.
//
//   sequence_bytes w;
//   w.context.int64("id", 7);
//   std::string bytes = w.list("tokens", {int64_step({1, 2}), int64_step({})}).finish();
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/format/example.hpp"

namespace sluice::lib::test {

inline void append_varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}
/// A field of length-delimited bytes.
inline std::string wire_field(int number, std::string_view bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  append_varint(out, bytes.size());
  return out.append(bytes);
}

inline std::string int64_step(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (std::int64_t v : values) append_varint(packed, static_cast<std::uint64_t>(v));
  return wire_field(3, values.empty() ? "" : wire_field(1, packed));
}
inline std::string float_step(const std::vector<float>& values) {
  std::string packed(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(packed.data(), values.data(), packed.size());
  return wire_field(2, values.empty() ? "" : wire_field(1, packed));
}
inline std::string bytes_step(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& v : values) list += wire_field(1, v);
  return wire_field(1, list);
}

class sequence_bytes {
 public:
  example_writer context;  ///< its features

  sequence_bytes& list(std::string_view name, const std::vector<std::string>& steps) {
    std::string features;
    for (const std::string& step : steps) features += wire_field(1, step);
    return entry(wire_field(1, name) + wire_field(2, features));
  }
  /// A map entry as it is given.
  sequence_bytes& entry(std::string_view bytes) {
    lists_ += wire_field(1, bytes);
    return *this;
  }
  /// The writer begins anew.
  std::string finish() {
    std::string out(context.finish());
    out += wire_field(2, lists_);
    lists_.clear();
    return out;
  }

 private:
  std::string lists_;
};

}  // namespace sluice::lib::test
