// SPDX-License-Identifier: Apache-2.0
// byte_parts: consecutive bytes, of which the long parts stay where they are. A system call that gathers writes them
// without a copy.
//
//   byte_parts bytes;
//   bytes.own() += '\1';                    // copied
//   bytes.append(pixels);                   // a view from kViewBytesMin on
//   for (std::string_view part : bytes.parts()) crc = crc32c(part, crc);
//
// Owns:   its short parts. The caller ensures that the memory of long parts stays unchanged as long as they are used.
// Thread: not safe for concurrent changes; any number of readers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

class byte_parts {
 public:
  /// Shorter bytes are copied: a part of its own costs more than their copy.
  static constexpr std::size_t kViewBytesMin = 4096;

  /// Bytes that are appended to this string follow all earlier ones. Its existing bytes must not change.
  std::string& own() noexcept { return own_; }
  void append(std::string_view bytes) {
    if (bytes.size() < kViewBytesMin) {
      own_ += bytes;
      return;
    }
    views_.push_back({own_.size(), bytes});
    viewed_ += bytes.size();
  }
  /// Appends copies of the other's own bytes, and its views.
  void append(const byte_parts& other) {
    for (const view& v : other.views_) views_.push_back({own_.size() + v.at, v.bytes});
    own_ += other.own_;
    viewed_ += other.viewed_;
  }
  void clear() noexcept {
    own_.clear();
    views_.clear();
    viewed_ = 0;
  }

  std::size_t size() const noexcept { return own_.size() + viewed_; }
  /// Returns the parts in their order; none is empty. They are valid until the next change.
  std::vector<std::string_view> parts() const {
    const std::string_view own = own_;
    std::vector<std::string_view> all;
    all.reserve(2 * views_.size() + 1);
    std::size_t done = 0;
    for (const view& v : views_) {
      if (v.at != done) all.push_back(own.substr(done, v.at - done));
      all.push_back(v.bytes);
      done = v.at;
    }
    if (done != own.size()) all.push_back(own.substr(done));
    return all;
  }
  /// Returns a copy of all bytes.
  std::string joined() const {
    std::string all;
    all.reserve(size());
    for (std::string_view part : parts()) all += part;
    return all;
  }

 private:
  struct view {
    std::size_t at;  ///< the number of own bytes before it
    std::string_view bytes;
  };
  std::string own_;
  std::vector<view> views_;
  std::size_t viewed_ = 0;  ///< bytes
};

}  // namespace sluice::lib
