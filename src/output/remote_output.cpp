// SPDX-License-Identifier: Apache-2.0
#include "output/remote_output.hpp"

#include <algorithm>
#include <utility>

#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kSentBytes = std::size_t{1} << 20;       // sending waits until this many bytes exist
constexpr std::size_t kSentPieceBytes = std::size_t{4} << 20;  // in one buffer: the largest size that is recycled

}  // namespace

bool remote_file::has_much() const { return !is_done_ && (!writer_ || is_ended_ || unsent_.size() >= kSentBytes); }

task<> remote_file::send(runtime& rt) {
  if (!writer_) {
    auto creating = files_of(rt).create(path_, io_deadline(rt));
    writer_ = co_await creating;
  }
  for (std::size_t at = 0; at != unsent_.size();) {
    const std::size_t n = std::min(kSentPieceBytes, unsent_.size() - at);
    buffer_ref piece(buffer::make(n));
    std::copy_n(unsent_.data() + at, n, piece->data());
    auto writing = writer_->write(std::move(piece), 0, n, io_deadline(rt));
    co_await writing;
    at += n;
  }
  unsent_.clear();
  if (!is_ended_) co_return;
  auto ending = writer_->commit(io_deadline(rt));
  co_await ending;
  writer_.reset();
  is_done_ = true;
}

status remote_output::write(std::string_view bytes, const std::vector<std::size_t>&, std::size_t& accepted) {
  to_->append(bytes);
  accepted = bytes.size();
  return {};
}

status remote_output::reserve_head(std::size_t) {
  return unimplemented_error("this format's first bytes are written last, and a remote object is written once");
}
status remote_output::write_head(std::string_view) { return reserve_head(0); }

status remote_output::finish() {
  to_->end();
  return {};
}

}  // namespace sluice::lib
