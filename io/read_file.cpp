// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/read_file.hpp"

#include <algorithm>

#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

}  // namespace

task<std::string> read_file(runtime& rt, std::string path, std::size_t bytes_max) {
  open_options how;
  how.deadline = io_deadline(rt);
  auto opening = files_of(rt).open(path, std::move(how));
  std::unique_ptr<file> f = co_await opening;
  // One byte more than the file's size, so that a file that has grown is detected.
  std::size_t piece = f->info().has_size()
                          ? static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, f->size_bytes() + 1))
                          : kPieceBytes;
  std::string bytes;
  buffer_ref to(buffer::make(piece));
  for (;;) {
    buffer_ref share = to;
    auto reading = f->read_at(bytes.size(), std::move(share), 0, piece, f->info().is_stream ? kNever : io_deadline(rt));
    std::size_t n = co_await reading;
    bytes.append(to->data(), n);
    if (bytes.size() > bytes_max) {
      status why = out_of_range_error("is longer than " + std::to_string(bytes_max) + " bytes").in_file(path);
      co_await fail(std::move(why));
    }
    if (n == 0 || (n < piece && f->info().has_size())) break;
  }
  co_return std::move(bytes);
}

}  // namespace sluice::lib
