// SPDX-License-Identifier: Apache-2.0
#include "input/content_digest.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/files/system_calls.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/content_hash.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

struct digested_range {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

digested_range digested_head(std::uint64_t size) {
  return {0, static_cast<std::size_t>(std::min<std::uint64_t>(size, kDigestedBytes))};
}
/// The end without the bytes that belong to the beginning.
digested_range digested_tail(std::uint64_t size) {
  const std::uint64_t bytes = std::min<std::uint64_t>(size - digested_head(size).bytes, kDigestedBytes);
  return {size - bytes, static_cast<std::size_t>(bytes)};
}

}  // namespace

task<std::uint64_t> digest_content(std::shared_ptr<file> from, std::uint64_t size, time_point deadline) {
  detail::content_hasher hash;
  hash.word(size);
  const digested_range ranges[] = {digested_head(size), digested_tail(size)};
  buffer_ref room(buffer::make(std::max<std::size_t>(ranges[0].bytes, 1)));
  for (const digested_range& range : ranges) {
    if (range.bytes == 0) continue;
    buffer_ref share = room;
    auto reading = from->read_at(range.offset, std::move(share), 0, range.bytes, deadline);
    const std::size_t n = co_await reading;
    hash.bytes(room->data(), n);
  }
  co_return hash.value();
}

task<input_identity> identify_file(std::shared_ptr<run_context> run, std::shared_ptr<file> from) {
  const file_info& info = from->info();
  input_identity now;
  now.size_bytes = info.size_bytes;
  now.modified_ns = info.modified_ns;
  now.inode = info.inode;
  now.device = info.device;
  now.version = info.version;
  if (info.is_stream || !info.has_size() || from->advice().in_order) co_return std::move(now);
  for (std::uint64_t size : run->inputs->digest_sizes(from->path(), info.size_bytes)) {
    auto digesting = digest_content(from, size, io_deadline(*run));
    const std::uint64_t digest = co_await digesting;
    now.digests.emplace_back(size, digest);
  }
  co_return std::move(now);
}

std::uint64_t digest_local_content(const char* path, std::uint64_t size) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  detail::content_hasher hash;
  hash.word(size);
  std::string bytes;
  for (const digested_range& range : {digested_head(size), digested_tail(size)}) {
    if (range.bytes == 0) continue;
    bytes.resize(range.bytes);
    const std::ptrdiff_t n = read_at(fd, bytes.data(), bytes.size(), range.offset);
    hash.bytes(bytes.data(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(n, 0)));
  }
  ::close(fd);
  return hash.value();
}

}  // namespace sluice::lib
