// SPDX-License-Identifier: Apache-2.0
// Parses one HTTP/1.1 response: its head, and a body that arrives in chunks. Other bodies consist of plain bytes and
// bypass the parser.
//
//   auto used = response.take_head(bytes);            // until head_done(); the bytes after it belong to the body
//   auto step = response.take_chunks(bytes, room);    // until step.ended
//   auto step = response.take_chunks(bytes, room);    // until step.ended
//
// It uses llhttp in its strict mode: a head that two readers could understand in two ways is refused.
// Errors: data_loss, naming the fault; a head of more than 64 KiB, including interim ones (1xx); extensions and
//         trailers of chunks of more than 64 KiB and 32 bytes for each byte of the body.
// Units:  bytes may come in pieces of any size.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "io/http/messages/response_head.hpp"

namespace sluice::lib::detail {

class response_parser {
 public:
  static constexpr std::size_t kHeadBytesMax = 64 << 10;

  response_parser();
  response_parser(const response_parser&) = delete;
  ~response_parser();

  /// Parses bytes of the head. Returns their number: all, unless the head is complete.
  result<std::size_t> take_head(std::string_view bytes);
  bool head_done() const;
  /// Returns the head. Before it is complete, or after an error, returns the part read so far.
  const response_head& head() const;

  struct chunk_step {
    std::size_t used = 0;   ///< bytes consumed
    std::size_t given = 0;  ///< bytes stored in `room`
    bool ended = false;     ///< the last chunk and the trailers were read
    status why;
  };
  /// REQUIRES: head().chunked.
  chunk_step take_chunks(std::string_view bytes, std::span<char> room);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sluice::lib::detail
