// SPDX-License-Identifier: Apache-2.0
// Records that are zstd frames of their own: bagz.
//
//   zstd_frames frames;
//   std::uint64_t n = *frames.content_bytes(record);           // from its header; kUnknown: the header does not state it
//   status why = frames.inflate(record, room, n);
//
// Errors: data_loss: a frame is damaged, or has another length. unimplemented: this build lacks the library.
// Thread: one caller at a time; an object reuses its state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"

namespace sluice::lib {

class zstd_frames {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  zstd_frames();
  zstd_frames(const zstd_frames&) = delete;
  ~zstd_frames();

  result<std::uint64_t> content_bytes(std::string_view frame) const;
  /// Decompresses one frame or several to exactly `bytes` bytes.
  status inflate(std::string_view frames, char* out, std::size_t bytes);
  /// Returns the length of a frame whose header does not state it, and which this decompresses for it. `room`: receives
  /// the bytes if they are fewer than its size. Errors: also resource_exhausted: more than bytes_max.
  result<std::uint64_t> measure(std::string_view frame, std::uint64_t bytes_max, std::span<char> room) const;
  /// Appends a frame of `in`, whose header has its length, to `out`.
  status deflate(std::string_view in, int level, std::string& out);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sluice::lib
