// SPDX-License-Identifier: Apache-2.0
// Takes the bytes of one HTTP/1.1 response apart: its head, and a body that comes in chunks. Other bodies are their bytes, which go
// to where they belong without passing here.
//
//   response_parser response;
//   auto used = response.take_head(bytes);            // until head_done(); what follows it is the body's
//   auto step = response.take_chunks(bytes, room);    // until step.ended
//
// By llhttp, in its strict mode: a head that two readers could understand in two ways is refused.
// Errors: data_loss, naming what is wrong; a head of more than 64 KiB, interim ones (1xx) included; extensions and trailers of chunks
//         of more than 64 KiB and 32 bytes for each byte of the body.
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

  /// How many of the bytes were the head's: all, unless it is done.
  result<std::size_t> take_head(std::string_view bytes);
  bool head_done() const;
  /// Once it is done; before, and where it is none, what has been read of it.
  const response_head& head() const;

  struct chunk_step {
    std::size_t used = 0;   ///< of the bytes
    std::size_t given = 0;  ///< into the room
    bool ended = false;     ///< the last chunk and what follows it are taken
    status why;
  };
  /// REQUIRES: head().chunked.
  chunk_step take_chunks(std::string_view bytes, std::span<char> room);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sluice::lib::detail
