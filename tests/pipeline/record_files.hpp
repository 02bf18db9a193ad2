// SPDX-License-Identifier: Apache-2.0
// Records, files of them, and damage in one place.
#pragma once

#include <string>
#include <vector>

#include "sluice/element/slice.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::testing {

using texts = std::vector<std::string>;

/// "r0", "r1" … of `each` bytes at least.
inline texts some_records(std::size_t n, std::size_t each = 0) {
  texts all;
  for (std::size_t i = 0; i != n; ++i) {
    all.push_back("r" + std::to_string(i));
    if (all.back().size() < each) all.back().resize(each, '.');
  }
  return all;
}
inline std::string framed(const texts& records) {
  std::string bytes;
  for (const std::string& r : records) append_tfrecord(bytes, r);
  return bytes;
}
/// Where record i's frame begins.
inline std::size_t frame_of(const texts& records, std::size_t i) {
  return framed(texts(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(i))).size();
}

inline texts without(texts all, std::vector<std::size_t> dropped) {
  for (auto i = dropped.rbegin(); i != dropped.rend(); ++i) all.erase(all.begin() + static_cast<std::ptrdiff_t>(*i));
  return all;
}
inline texts first_of(texts all, std::size_t n) {
  all.resize(n);
  return all;
}
inline texts numbers(std::int64_t from, std::int64_t to) {
  texts all;
  for (std::int64_t i = from; i != to; ++i) all.push_back(std::to_string(i));
  return all;
}
inline std::string flipped(std::string bytes, std::size_t at, int bit = 0) {
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
  return bytes;
}

/// A file of numbered records, each followed by `each` dots; names of such files.
inline std::string file_of(std::size_t records, std::size_t each) {
  std::string bytes;
  for (std::size_t i = 0; i != records; ++i) append_tfrecord(bytes, std::to_string(i) + std::string(each, '.'));
  return bytes;
}
inline std::vector<std::string> names(int n, const std::string& prefix = "part-") {
  std::vector<std::string> all;
  for (int i = 0; i != n; ++i) all.push_back(prefix + std::to_string(i));
  return all;
}
inline std::string text_of(const record& r) { return std::string(r.view()); }

}  // namespace sluice::lib::testing
