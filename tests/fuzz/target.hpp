// SPDX-License-Identifier: Apache-2.0
// Fuzz targets: functions that take any bytes and throw where the code under test answers wrongly.
//
//   ./dev fuzz lines 600                       // libFuzzer, with ASan and UBSan, for ten minutes
//   ./dev test fuzz                            // every input of tests/fuzz/corpus/ once, in the usual builds
//
// An input is a short program: the first bytes choose sizes and modes, the rest is data. So that a mutated input still
// gets past checksums, some modes compute them.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::lib::fuzz {

/// The code under test did something that it must not do.
struct broken : std::logic_error {
  using logic_error::logic_error;
};
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw broken(what);
}

/// The bytes of an input, taken from the front. What is asked for beyond the end is zero, or empty.
class input {
 public:
  explicit input(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    auto b = static_cast<std::uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return b;
  }
  bool chance() { return byte() % 2 == 1; }
  /// Little-endian.
  std::uint64_t number(int size_bytes) {
    std::uint64_t n = 0;
    for (int i = 0; i != size_bytes; ++i) n |= std::uint64_t{byte()} << (8 * i);
    return n;
  }
  /// Up to `size_bytes` of them.
  std::string_view take(std::size_t size_bytes) {
    auto taken = bytes_.substr(0, size_bytes);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return take(bytes_.size()); }

 private:
  std::string_view bytes_;
};

struct target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
/// All of them, by name.
std::span<const target> targets();
const target* find_target(std::string_view name);

}  // namespace sluice::lib::fuzz
