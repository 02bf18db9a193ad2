// SPDX-License-Identifier: Apache-2.0
#include "store/cache_object.hpp"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <system_error>

#include "sluice/base/buffer.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/io/conditional_files.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

/// A header with the position of most inputs.
constexpr std::size_t kHeaderFetchBytes = std::size_t{8} << 10;
constexpr std::string_view kLeaseHeld = "sluice lease: held by ", kLeaseFree = "sluice lease: free since ";

/// A number of this process, which no other one has.
std::uint64_t number_of_process() {
  static const std::uint64_t number = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const auto here = reinterpret_cast<std::uintptr_t>(&kHeaderFetchBytes);
    return derive(derive(static_cast<std::uint64_t>(now), here), static_cast<std::uint64_t>(::getpid()));
  }();
  return number;
}

std::string lease_holder() { return absl::StrCat(absl::Hex(number_of_process(), absl::kZeroPad16)); }

}  // namespace

task<fetched_object> fetch_object(runtime& rt, std::string path, std::uint64_t bytes_max) {
  open_options how;
  how.deadline = io_deadline(rt);
  how.reading = open_options::exact;
  how.begin_bytes = bytes_max;
  auto opening = files_of(rt).open(std::move(path), std::move(how));
  std::unique_ptr<file> from = co_await opening;
  fetched_object got;
  got.version = from->info().version;
  got.size_bytes = from->size_bytes();
  const auto n = static_cast<std::size_t>(std::min(bytes_max, got.size_bytes));
  buffer_ref to(buffer::make(n + 1));
  while (got.bytes.size() != n) {
    const std::size_t at = got.bytes.size();
    buffer_ref share = to;
    auto reading = from->read_at(at, std::move(share), at, n - at, io_deadline(rt));
    const std::size_t one = co_await reading;
    if (one == 0) break;
    got.bytes.append(to->data() + at, one);
  }
  co_return std::move(got);
}

task<std::vector<std::string>> list_objects(runtime& rt, std::string pattern) {
  auto pages = files_of(rt).list(std::move(pattern));
  std::vector<std::string> paths;
  for (;;) {
    auto paging = pages->next(io_deadline(rt));
    auto page = co_await paging.as_result();
    if (!page.ok() && page.why().code() == status_code::not_found) break;
    if (!page.ok()) co_await fail(page.why());
    if (page->empty()) break;
    for (listed_file& f : *page) paths.push_back(std::move(f.path));
  }
  co_return std::move(paths);
}

task<std::string> put_object(runtime& rt, std::string path, std::string bytes, std::string version) {
  auto putting = conditional_files_of(rt).put_if(path, bytes, std::move(version), io_deadline(rt));
  auto put = co_await putting.as_result();
  if (put.ok()) co_return std::move(put->version);
  if (put.why().code() != status_code::already_exists) co_await fail(put.why());
  auto reading = fetch_object(rt, std::move(path), bytes.size() + 1);
  auto there = co_await reading.as_result();
  if (!there.ok() && there.why().code() != status_code::not_found) co_await fail(there.why());
  std::string known;
  if (there.ok() && there->bytes == bytes) known = std::move(there->version);
  co_return std::move(known);
}

task<stored_block> fetch_header(runtime& rt, std::string path, std::uint64_t ordinal) {
  stored_block b;
  auto reading = fetch_object(rt, path, kHeaderFetchBytes);
  auto got = co_await reading.as_result();
  if (!got.ok() && got.why().code() == status_code::not_found) co_return std::move(b);
  if (!got.ok()) co_await fail(got.why());
  frame_header h;
  const bool is_block = parse_frame_header(got->bytes, h) && h.kind == frame_kind::block && h.ordinal == ordinal &&
                        got->size_bytes == kFrameHeaderBytes + h.body_bytes();
  if (!is_block)
    co_await fail(data_loss_error("the cache is damaged: the checksum of a block's header is wrong; drop the cache, or "
                                  "write on_mismatch=rebuild, to make the elements again")
                      .in_file(path));
  if (kFrameHeaderBytes + h.position_bytes > got->bytes.size()) {
    auto again = fetch_object(rt, path, kFrameHeaderBytes + h.position_bytes);
    *got = co_await again;
  }
  b.ordinal = h.ordinal;
  b.count = h.count;
  b.position = got->bytes.substr(kFrameHeaderBytes, h.position_bytes);
  b.bytes = h.element_bytes;
  b.crc = h.crc;
  co_return std::move(b);
}

bool parse_object(std::string_view bytes, frame_kind kind, object_frame& f) {
  if (!parse_frame_header(bytes, f.header) || f.header.kind != kind) return false;
  bytes.remove_prefix(kFrameHeaderBytes);
  if (bytes.size() != f.header.body_bytes() || crc32c(bytes) != f.header.crc) return false;
  f.position = bytes.substr(0, f.header.position_bytes);
  f.elements = bytes.substr(f.header.position_bytes);
  return true;
}

bool parse_ordinal(std::string_view name, std::uint64_t& ordinal) {
  const auto [end, why] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
  return name.size() == kOrdinalDigits && why == std::errc() && end == name.data() + name.size();
}

std::string index_of(const std::map<std::uint64_t, stored_block>& blocks) {
  position_writer w;
  w.number(blocks.size());
  for (const auto& [ordinal, b] : blocks) {
    w.number(ordinal);
    w.number(b.count);
    w.number(b.bytes);
    w.number(b.crc);
    w.text(b.position);
  }
  return w.bytes();
}

bool parse_index(std::string_view bytes, std::vector<stored_block>& blocks) {
  position_reader r(bytes);
  for (std::size_t n = r.count(); n != 0 && r.ok(); --n) {
    stored_block b;
    b.ordinal = r.number();
    b.count = static_cast<std::uint32_t>(r.number());
    b.bytes = static_cast<std::uint32_t>(r.number());
    b.crc = static_cast<std::uint32_t>(r.number());
    b.position = r.text();
    blocks.push_back(std::move(b));
  }
  return r.ok() && r.done();
}

std::string lease_now(bool is_held) {
  return absl::StrCat(std::string(is_held ? kLeaseHeld : kLeaseFree), lease_holder(), " ", unique_name(), "\n");
}

lease_text parse_lease(std::string_view bytes) {
  lease_text lease;
  lease.is_held = !bytes.starts_with(kLeaseFree);
  lease.is_of_this_process = bytes.starts_with(std::string(kLeaseHeld) + lease_holder());
  return lease;
}

std::string unique_name() {
  static std::atomic<std::uint64_t> names{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::uint64_t number = names.fetch_add(1, std::memory_order_relaxed);  // relaxed: only the numbers differ
  const std::uint64_t mixed = derive(derive(number_of_process(), static_cast<std::uint64_t>(now)), number);
  return absl::StrCat(absl::Hex(mixed, absl::kZeroPad16));
}

}  // namespace sluice::lib
