// SPDX-License-Identifier: Apache-2.0
// An object read from its beginning to its end, as a reader does.
#pragma once

#include <algorithm>
#include <string>

#include "http/http_world.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::testing {

inline const std::string kUrl = "http://objects/a";

/// The file from its beginning to its end, `piece` bytes at once; the first MiB of it by itself.
inline task<std::string> read_all(file_system& files, std::string path, std::size_t piece,
                                  time_point deadline = kNever) {
  open_options how;
  how.deadline = deadline;
  auto opening = files.open(path, std::move(how));
  std::unique_ptr<file> f = co_await opening;
  buffer_ref room(buffer::make(piece));
  std::string all;
  for (;;) {
    buffer_ref share = room;
    const std::size_t wanted = all.size() < kMiB ? std::min(piece, kMiB - all.size()) : piece;
    auto reading = f->read_at(all.size(), std::move(share), 0, wanted, deadline);
    const std::size_t n = co_await reading;
    if (n == 0) break;
    all.append(room->data(), n);
  }
  co_return all;
}

}  // namespace sluice::lib::testing
