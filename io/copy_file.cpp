// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/copy_file.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sluice/base/content_hash.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kCopyPieceBytes = std::size_t{4} << 20;  // the largest buffer that is recycled

struct piece {
  buffer_ref bytes;
  std::size_t size = 0;
};
using pieces = std::vector<piece>;

task<piece> read_piece(runtime& rt, file* from, std::uint64_t offset, std::size_t size) {
  piece p{buffer_ref(buffer::make(size))};
  while (p.size != size) {
    buffer_ref share = p.bytes;
    const time_point deadline = from->info().is_stream ? kNever : io_deadline(rt);
    auto reading = from->read_at(offset + p.size, std::move(share), p.size, size - p.size, deadline);
    const std::size_t got = co_await reading;
    if (got == 0) break;
    p.size += got;
  }
  co_return std::move(p);
}

/// The reader of the source, which reads several pieces at once in order.
struct piece_reader {
  std::unique_ptr<file> from;
  std::size_t at_once = 1;
  std::uint64_t offset = 0;
  bool ended = false;

  bool has_size() const { return from->info().has_size() && !from->info().is_stream; }
};

/// Reads the next pieces. Returns none at the end.
task<pieces> read_pieces(runtime& rt, piece_reader* r) {
  std::vector<task<piece>> reads;
  const std::uint64_t end = r->has_size() ? r->from->size_bytes() : file_info::kUnknownSize;
  std::uint64_t offset = r->offset;
  for (std::size_t i = 0; i != r->at_once && !r->ended && offset < end; ++i) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kCopyPieceBytes, end - offset));
    reads.push_back(read_piece(rt, r->from.get(), offset, size));
    offset += size;
  }
  pieces got = co_await when_all(std::move(reads));
  for (const piece& p : got) r->offset += p.size;
  status why;
  if (r->has_size() && r->offset != offset)
    why = data_loss_error("became shorter while it was copied").in_file(r->from->path(), r->offset);
  if (!why.ok()) co_await fail(std::move(why));
  r->ended = r->offset != offset || offset == end;
  std::erase_if(got, [](const piece& p) { return p.size == 0; });
  co_return std::move(got);
}

struct piece_writer {
  std::unique_ptr<file_writer> to;
  const copy_options* options = nullptr;
  std::vector<std::uint64_t> hashes;  ///< hashes of the pieces, if the copy is compared
  std::uint64_t bytes = 0;
};

std::uint64_t hash_of(const piece& p) {
  detail::content_hasher h;
  h.bytes(p.bytes->data(), p.size);
  return h.value();
}

task<> write_pieces(runtime& rt, piece_writer* w, pieces all) {
  for (piece& p : all) {
    if (w->options->verifies) w->hashes.push_back(hash_of(p));
    auto writing = w->to->write(std::move(p.bytes), 0, p.size, io_deadline(rt));
    co_await writing;
    w->bytes += p.size;
    status why = w->options->on_bytes && !w->options->on_bytes(p.size) ? cancelled_error() : status();
    if (!why.ok()) co_await fail(std::move(why));
  }
}

task<> compare(runtime& rt, std::string path, const piece_writer* w, std::size_t at_once) {
  auto opening = files_of(rt).open(path, {.deadline = io_deadline(rt)});
  piece_reader again;
  again.from = co_await opening;
  again.at_once = at_once;
  std::size_t compared = 0;
  bool is_same = again.from->size_bytes() == w->bytes;
  while (is_same && !again.ended) {
    auto reading = read_pieces(rt, &again);
    pieces got = co_await reading;
    for (const piece& p : got) is_same = is_same && compared < w->hashes.size() && hash_of(p) == w->hashes[compared++];
  }
  status why = is_same && compared == w->hashes.size()
                   ? status()
                   : data_loss_error("the bytes read back differ from those written").in_file(path);
  if (!why.ok()) co_await fail(std::move(why));
}

task<> refuse_to_replace(runtime& rt, std::string path) {
  auto looking = files_of(rt).stat(path, io_deadline(rt));
  auto found = co_await looking.as_result();
  status why = found.why();
  if (found.ok()) why = failed_precondition_error("exists already").in_file(path);
  else if (why.code() == status_code::not_found) co_return;
  co_await fail(std::move(why));
}

}  // namespace

task<copied_file> copy_file(runtime& rt, std::string from, std::string to, copy_options o) {
  if (!o.overwrites) {
    auto refusing = refuse_to_replace(rt, to);
    co_await refusing;
  }
  piece_reader reader;
  auto opening = files_of(rt).open(std::move(from), {.deadline = io_deadline(rt)});
  reader.from = co_await opening;
  const std::size_t at_once = std::max(1u, o.ranges);
  if (reader.has_size() && !reader.from->advice().in_order) reader.at_once = at_once;
  piece_writer writer;
  writer.options = &o;
  auto creating = files_of(rt).create(to, io_deadline(rt));
  writer.to = co_await creating;
  auto reading = read_pieces(rt, &reader);
  pieces now = co_await reading;
  while (!now.empty()) {
    auto writing_now = write_pieces(rt, &writer, std::move(now));
    auto reading_next = read_pieces(rt, &reader);
    auto both = co_await when_all(std::move(writing_now), std::move(reading_next));
    now = std::move(std::get<1>(both));
  }
  status why;
  if (reader.has_size() && reader.from->size_now() != reader.from->size_bytes())
    why = failed_precondition_error("changed while it was copied").in_file(reader.from->path());
  if (!why.ok()) co_await fail(std::move(why));
  auto ending = writer.to->commit(io_deadline(rt));
  copied_file done;
  done.info = co_await ending;
  done.bytes = writer.bytes;
  if (o.verifies) {
    auto comparing = compare(rt, std::move(to), &writer, at_once);
    co_await comparing;
  }
  co_return std::move(done);
}

}  // namespace sluice::lib
