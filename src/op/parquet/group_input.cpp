// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/group_input.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "input/content_digest.hpp"
#include "input/range_reader.hpp"
#include "io/paths/file_router.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/coro/this_stage.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

/// Chunks of a local file with at most this distance are read together: the copy costs less than a call of the kernel.
constexpr std::uint64_t kGapBytesMax = std::uint64_t{16} << 10;
/// The same for a file on a server, if a group needs more requests than are in flight at once. These bytes arrive in less
/// time than another round trip takes; without another round trip nothing is saved.
constexpr std::uint64_t kRemoteGapBytesMax = std::uint64_t{64} << 10;
/// The number of concurrent reads where neither the plan nor the file system sets it.
constexpr std::uint32_t kReadsAtOnce = 4;

/// A piece of a range, which is one read.
struct chunk_piece {
  std::uint64_t offset;
  buffer_ref to;
  std::size_t at, bytes;
};
/// The pieces that several tasks read. Each takes the next one.
struct chunk_pieces {
  std::shared_ptr<file> from;
  std::vector<chunk_piece> all{};
  std::atomic<std::size_t> next{0};  // relaxed: the pieces do not change while they are read
};

/// Reads until no piece is left.
task<void> read_pieces(std::shared_ptr<chunk_pieces> pieces, std::shared_ptr<run_context> run) {
  for (;;) {
    const std::size_t i = pieces->next.fetch_add(1, std::memory_order_relaxed);
    if (i >= pieces->all.size()) break;
    const chunk_piece& p = pieces->all[i];
    for (std::size_t got = 0; got != p.bytes;) {
      buffer_ref to = p.to;
      auto reading = pieces->from->read_at(p.offset + got, std::move(to), p.at + got, p.bytes - got, io_deadline(*run));
      const std::size_t n = co_await reading;
      if (n == 0) {
        status why = data_loss_error("the file has become shorter while it is read");
        co_await fail(why.in_file(pieces->from->path(), p.offset + got));
      }
      got += n;
    }
  }
}

/// Joins ranges whose distance is at most this number of bytes.
std::vector<file_range> joined_ranges(const std::vector<file_range>& ranges, std::uint64_t gap_bytes_max) {
  std::vector<file_range> joined;
  for (const file_range& r : ranges) {
    if (!joined.empty()) {
      file_range& last = joined.back();
      const std::uint64_t end = last.offset + last.bytes;
      if (r.offset <= end || r.offset - end <= gap_bytes_max) {
        last.bytes = std::max(end, r.offset + r.bytes) - last.offset;
        continue;
      }
    }
    joined.push_back(r);
  }
  return joined;
}

/// Joins the nearest ranges until their number is that of the requests in flight, or the others are far apart.
std::vector<file_range> joined_remote_ranges(const std::vector<file_range>& ranges, std::size_t at_once) {
  std::vector<file_range> joined = joined_ranges(ranges, 0);
  if (joined.size() <= at_once) return joined;
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i != joined.size(); ++i)
    gaps.push_back(joined[i].offset - joined[i - 1].offset - joined[i - 1].bytes);
  const auto last = gaps.begin() + static_cast<std::ptrdiff_t>(joined.size() - at_once - 1);
  std::ranges::nth_element(gaps, last);
  return joined_ranges(joined, std::min(*last, kRemoteGapBytesMax));
}

/// Parses a footer, on a thread that may take its time.
struct footer_call {
  std::string_view bytes;
  std::uint64_t size;
  std::shared_ptr<const parquet_file>* to;
  status operator()() const {
    try {
      *to = open_parquet(bytes, size);
      return rows_of(**to).why();
    } catch (...) { return current_exception_status(); }
  }
};

}  // namespace

group_input::group_input(std::shared_ptr<run_context> run, site_record& site, const std::string& stage,
                         group_input_options o)
    : run_(std::move(run)),
      site_(site),
      o_(std::move(o)),
      memory_(run_, site.line(purpose::open_file), stage, "the column chunks of a row group",
              "read fewer columns (columns=[…]), open fewer files at once, or write smaller row groups") {}

group_input::~group_input() {
  if (is_noted_) run_->inputs->file_closed(o_.path);
}

task<buffer_ref> group_input::read_range(std::uint64_t offset, std::size_t bytes) {
  auto pieces = std::make_shared<chunk_pieces>();
  pieces->from = file_;
  buffer_ref to(buffer::make(std::max<std::size_t>(bytes, 1)));
  pieces->all.push_back({offset, to, 0, bytes});
  auto reading = read_pieces(pieces, run_);
  co_await reading;
  stage_counts::add(site_.counts().rare().read_bytes, bytes);
  co_return std::move(to);
}

task<std::string> group_input::read_footer() {
  const std::uint64_t size = file_->size_bytes();
  std::string tail;
  for (std::uint64_t wanted = std::min(size, kFooterGuessBytes);;) {
    const auto missing = static_cast<std::size_t>(wanted - tail.size());
    auto reading = read_range(size - wanted, missing);
    buffer_ref bytes = co_await reading;
    tail.insert(0, bytes->data(), missing);
    result<std::uint64_t> at = find_parquet_footer(tail, size);
    if (!at.ok()) co_await fail(at.why());
    const std::uint64_t needed = size - *at;
    if (needed <= wanted) {
      tail.erase(0, static_cast<std::size_t>(wanted - needed));
      co_return std::move(tail);
    }
    if (needed > kFooterBytesMax)
      co_await fail(data_loss_error(absl::StrCat("damaged: its footer would have ", needed, " bytes")));
    status fits = memory_.resize(static_cast<std::size_t>(needed));
    if (!fits.ok()) co_await fail(std::move(fits));
    wanted = needed;
  }
}

task<void> group_input::open() {
  open_options how;
  how.deadline = io_deadline(*run_);
  how.cache = o_.cache;
  how.reading = open_options::exact;
  auto opening = files_of(*run_).open(o_.path, std::move(how));
  std::unique_ptr<file> opened = co_await opening;
  file_ = std::move(opened);
  if (file_->info().is_stream || !file_->info().has_size())
    co_await fail(
        invalid_argument_error("its size is unknown, and a Parquet file is read from its end: copy it to a file"));
  auto identifying = identify_file(run_, file_);
  const input_identity now = co_await identifying;
  status changed = run_->inputs->file_opened(o_.path, o_.epoch, now);
  is_noted_ = true;
  changed = run_->settle_changed_input(changed.in_file(o_.path));
  if (!changed.ok()) co_await fail(std::move(changed));
  const planned_footer* planned = o_.planned.get();
  if (planned && !planned->version.empty() && planned->version == file_->info().version &&
      planned->size_bytes == file_->size_bytes()) {
    footer_bytes_ = static_cast<std::size_t>(planned->footer_bytes);
    status fits = memory_.resize(footer_bytes_);
    if (!fits.ok()) co_await fail(std::move(fits));
    footer_ = planned->file;
    co_return;
  }
  auto reading = read_footer();
  const std::string bytes = co_await reading;
  if (o_.planned && o_.planned->digest != digest_of_footer(bytes))
    co_await fail(
        failed_precondition_error("the file has changed since the plan was built, when its columns and its number of "
                                  "rows were read: build the plan again"));
  footer_bytes_ = bytes.size();
  status fits = memory_.resize(footer_bytes_);
  if (!fits.ok()) co_await fail(std::move(fits));
  if (o_.planned && o_.planned->size_bytes == file_->size_bytes()) {
    footer_ = o_.planned->file;
    co_return;
  }
  footer_call parses{bytes, file_->size_bytes(), &footer_};
  blocking<footer_call> parsing(run_->rt->blocking_calls(), parses);
  status why = co_await parsing;
  if (!why.ok()) co_await fail(std::move(why));
}

std::uint32_t group_input::reads_at_once(const read_advice& advice) const {
  std::uint32_t at_once = kReadsAtOnce;
  if (o_.reads_in_flight) {
    const std::int64_t said = o_.reads_in_flight->get();
    at_once = std::max(static_cast<std::uint32_t>(said), said == o_.reads_untouched ? advice.reads_at_once : 0u);
  }
  return advice.in_order ? 1 : std::max(at_once, 1u);
}

void group_input::free_set(chunk_set& set) {
  set.buffers.clear();
  memory_.shrink_by(std::exchange(set.charged, 0));
}

void group_input::release_chunks_except(std::size_t set) {
  for (std::size_t i = 0; i != sets_.size(); ++i)
    if (i != set) free_set(sets_[i]);
}

/// Charges the ranges, and frees the buffers of the set that do not fit them.
status group_input::charge_ranges(chunk_set& set, const std::vector<file_range>& ranges) {
  set.buffers.resize(ranges.size());
  std::size_t bytes = 0, charged = 0;
  for (std::size_t i = 0; i != ranges.size(); ++i) {
    buffer_ref& to = set.buffers[i];
    const auto wanted = static_cast<std::size_t>(ranges[i].bytes);
    if (to && (!to->unshared() || to->capacity() < wanted || to->capacity() / 2 > wanted)) to = {};
    bytes += wanted;
    charged += to ? to->capacity() : wanted;
  }
  const std::size_t others = memory_.bytes() - set.charged;
  set.charged = charged;
  if (status fits = memory_.resize(others + charged); fits.ok()) return fits;
  for (buffer_ref& to : set.buffers) to = {};
  memory_.shrink_by(memory_.bytes() - others);
  set.charged = bytes;
  return memory_.resize(others + bytes);
}

std::uint64_t group_input::chunk_bytes(std::size_t group, const parquet_columns& columns) const {
  try {
    std::uint64_t bytes = 0;
    for (const file_range& r : footer_->ranges(group, columns)) bytes += r.bytes;
    return bytes;
  } catch (...) { return ~std::uint64_t{0}; }  // reading the group fails with the same error, in its place
}

task<std::vector<file_part>> group_input::read(std::size_t set_number, std::size_t group,
                                               const parquet_columns& columns) {
  chunk_set& set = sets_[set_number];
  const read_advice advice = file_->advice();
  const std::uint32_t at_once = reads_at_once(advice);
  const std::vector<file_range> wanted = footer_->ranges(group, columns);
  const std::vector<file_range> ranges =
      advice.first_bytes != 0 ? joined_remote_ranges(wanted, at_once) : joined_ranges(wanted, kGapBytesMax);
  std::uint64_t bytes = 0;
  for (const file_range& r : ranges) bytes += r.bytes;
  status fits = charge_ranges(set, ranges);
  if (!fits.ok()) {
    free_set(set);
    co_await fail(fits.with_message(absl::StrCat("row group ", group, ": ", std::string(fits.message()))));
  }
  const std::size_t piece_bytes = std::max(o_.read_bytes, advice.first_bytes);
  auto pieces = std::make_shared<chunk_pieces>();
  pieces->from = file_;
  std::vector<file_part> parts;
  for (const file_range& r : ranges) {
    buffer_ref& to = set.buffers[parts.size()];
    if (!to) to = buffer_ref(buffer::make(std::max<std::size_t>(static_cast<std::size_t>(r.bytes), 1)));
    parts.push_back({r, to});
    for (std::uint64_t at = 0; at != r.bytes;) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, r.bytes - at));
      pieces->all.push_back({r.offset + at, parts.back().data, static_cast<std::size_t>(at), n});
      at += n;
    }
  }
  std::vector<task<void>> readers;
  for (std::size_t i = 0; i < std::min<std::size_t>(at_once, pieces->all.size()); ++i)
    readers.push_back(read_pieces(pieces, run_));
  stage_base* reader = co_await this_stage();
  const time_point began = run_->time->now();
  auto all = when_all(std::move(readers));
  co_await all;
  const duration took = run_->time->now() - began;
  if (reader && took > duration(0))
    reader->waited(took, detail::is_remote(o_.path) ? wait_reason::network : wait_reason::disk);
  add_requests(site_.counts(), *file_);
  stage_counts::add(site_.counts().rare().read_bytes, bytes);
  co_return std::move(parts);
}

}  // namespace sluice::lib
