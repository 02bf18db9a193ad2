// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/parquet_stage.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ahead/ready_signal.hpp"
#include "op/parquet/group_reader.hpp"
#include "plan/node_history.hpp"
#include "runtime/run_task.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

/// The place in the file at which the next row begins. Rows of a group that were skipped count.
struct group_place {
  std::uint64_t group = 0;
  std::uint64_t row = 0;
};

/// Rows that are built at a time as elements: they are first appended to columns.
constexpr std::uint64_t kBuiltRowsMax = 1024, kBuiltBytes = std::uint64_t{256} << 10;

/// A call of the reader, for a thread that may take its time.
struct begin_call {
  group_reader* reader;
  std::size_t group;
  std::vector<file_part>* parts;
  status operator()() const { return reader->begin(group, std::move(*parts)); }
};
struct decode_call {
  group_reader* reader;
  status operator()() const { return reader->decode(); }
};

struct ahead_call {
  open_group* group;
  void operator()() const noexcept { group->decode_ahead(); }
};

struct first_call {
  group_reader* reader;
  open_group* group;
  std::vector<file_part>* parts;
  void operator()() const noexcept { reader->decode_first(*group, std::move(*parts)); }
};

struct part_call {
  open_group* group;
  std::size_t part, parts;
  void operator()() const noexcept { group->decode_part(part, parts); }
};

task<void> decode_part(open_group* group, blocking_service* threads, std::size_t part, std::size_t parts) {
  blocking<part_call> decoding(*threads, part_call{group, part, parts});
  co_await decoding;
}

/// Decodes the parts of the columns at the same time. decode() or decode_ahead() is fast afterwards.
task<void> decode_parts(open_group* group, blocking_service* threads, std::size_t parts) {
  std::vector<task<void>> all;
  for (std::size_t part = 0; part != parts; ++part) all.push_back(decode_part(group, threads, part, parts));
  auto decoding = when_all(std::move(all));
  co_await decoding;
}

/// Decodes rows ahead of the consumer.
task<void> decode_rows_ahead(open_group* group, blocking_service* threads, std::size_t parts) {
  if (parts > 1) {
    auto decoding = decode_parts(group, threads, parts);
    co_await decoding;
    group->decode_ahead();
  } else {
    blocking<ahead_call> decoding(*threads, ahead_call{group});
    co_await decoding;
  }
}

/// The objects that the stage shares with the tasks that read and decode ahead.
struct reading_ahead {
  std::shared_ptr<run_context> run;
  std::shared_ptr<group_reader> reader;
  std::shared_ptr<group_input> input;  ///< owns the charge of the chunks
  std::shared_ptr<ready_signal> done;
  std::shared_ptr<const node_history> history;  ///< of the stage
};

/// Decodes the next rows of the open group while the consumer uses those before them.
run_task decode_ahead(std::shared_ptr<run_context>& run, const reading_ahead& shared) {
  const reading_ahead mine = shared;
  open_group& group = mine.reader->current();
  const std::size_t parts = mine.reader->parts(run->rt->workers());
  auto decoding = decode_rows_ahead(&group, &run->rt->blocking_calls(), parts);
  status why = co_await decoding.as_result();
  if (!why.ok()) group.fail_ahead(std::move(why));
  mine.done->notify(ready_signal::kNobody);
}

task<void> decode_first_rows(group_reader* reader, open_group* group, std::vector<file_part>* parts,
                             blocking_service* threads) {
  blocking<first_call> decoding(*threads, first_call{reader, group, parts});
  co_await decoding;
}

/// Decodes the first rows of a group that was read ahead.
run_task decode_group_ahead(std::shared_ptr<run_context>& run, const reading_ahead& shared, open_group* group,
                            std::vector<file_part>& chunks) {
  const reading_ahead mine = shared;
  std::vector<file_part> parts = std::move(chunks);
  auto decoding = decode_first_rows(mine.reader.get(), group, &parts, &run->rt->blocking_calls());
  status why = co_await decoding.as_result();
  if (!why.ok()) group->fail_ahead(std::move(why));
  mine.done->notify(ready_signal::kNobody);
}

/// Reads the chunks of later groups, one after the other, while the consumer uses the rows of the open group.
run_task read_groups_ahead(std::shared_ptr<run_context>& run, const reading_ahead& shared) {
  const reading_ahead mine = shared;
  std::shared_ptr<run_context> ours = run;  // `run` is the caller's: gone after the first suspension
  // The consumer continues on this thread. With one worker nothing else would begin the reads.
  if (ours->rt->workers() > 1) co_await yield_now();
  while (open_group* next = mine.reader->next_to_read()) {
    auto reading = mine.input->read(next->size().buffers, next->size().group, mine.reader->columns());
    auto parts = co_await reading.as_result();
    if (parts.ok()) {
      decode_group_ahead(ours, mine, next, *parts);
      continue;
    }
    next->fail_ahead(parts.why());
    mine.done->notify(ready_signal::kNobody);
  }
}

/// The rows of the stage: decoded by the reader, and built as elements or in the columns of the consumer.
class built_rows {
 public:
  built_rows(const element_type& row, group_reader& reader, std::shared_ptr<row_landing> landing)
      : row_(row), reader_(reader), landing_(std::move(landing)) {}

  /// Rows that are built, and not delivered yet.
  std::uint64_t ready() const { return static_cast<std::uint64_t>(built_.rows()); }
  void drop(std::uint64_t n) { built_.drop_front(static_cast<std::size_t>(n)); }
  void clear() { built_ = {}; }
  /// Delivers up to n rows in the outlet's room. Returns how many; fewer before a row that does not fit, whose error is
  /// then in `why`. REQUIRES: rows are ready or decoded.
  std::uint32_t deliver(outlet& out, std::uint64_t n, status& why) {
    if (landing_) return land(out, n, why);
    if (ready() == 0) build(why);
    const auto given = static_cast<std::uint32_t>(std::min(n, ready()));
    if (given != 0) built_.take_front(row_, out.room(given), given);
    return given;
  }

 private:
  void build(status& why) {
    const std::uint64_t most =
        std::clamp<std::uint64_t>(kBuiltBytes / reader_.current().size().row_bytes, 1, kBuiltRowsMax);
    const std::uint64_t n = std::min(most, reader_.current().decoded());
    built_ = {};
    if (reader_.append(built_, n).ok()) return;
    // One of them does not fit. Those before it are delivered first.
    for (std::uint64_t i = 0; i != n && why.ok(); ++i) why = reader_.append(built_, 1);
    if (ready() != 0) why = {};
  }
  std::uint32_t land(outlet& out, std::uint64_t n, status& why) {
    column& rows = *landing_->rows;
    const std::uint64_t to_pass = out.to_pass();
    n = std::min({n, reader_.current().decoded(), std::max<std::uint64_t>(landing_->at_once, 1)});
    if (to_pass) n = std::min(n, to_pass);
    const std::size_t before = rows.rows();
    if (!reader_.append(rows, n).ok()) {
      for (std::uint64_t i = 0; i != n && why.ok(); ++i) why = reader_.append(rows, 1);
      n = rows.rows() - before;
      if (n != 0) why = {};
    }
    if (to_pass) rows.truncate(before);
    make_landed(reader_.current().size().row_bytes, n, out.room(n));
    return static_cast<std::uint32_t>(n);
  }

  const element_type& row_;
  group_reader& reader_;
  const std::shared_ptr<row_landing> landing_;
  batch_storage built_;
};

status no_row_there(const group_place& at, const group_reader& reader) {
  const bool exists =
      at.group < reader.groups() ? at.row <= reader.rows(at.group) : at.group == reader.groups() && at.row == 0;
  if (exists) return {};
  return data_loss_error(
      absl::StrCat("no row ", at.row, " of row group ", at.group,
                   " exists: the checkpoint does not fit this file, or is damaged; start without it, "
                   "or from an older one"));
}

/// Opens the file, and finds its columns.
task<void> open_input(group_input& input, group_reader& reader, group_place at) {
  auto opening = input.open();
  co_await opening;
  status fits = reader.fit(input.footer());
  if (fits.ok()) fits = no_row_there(at, reader);
  if (!fits.ok()) co_await fail(std::move(fits));
}

/// Waits until no rows are decoded ahead: of the open group, or of any.
task<void> end_ahead(const reading_ahead& a, bool of_all) {
  for (;;) {
    const std::uint64_t seen = a.done->count();
    if (!(of_all ? a.reader->is_decoding_ahead() : a.reader->current().is_decoding_ahead())) break;
    co_await a.done->changed_since(seen, wait_reason::calls);
  }
}

/// Reads the column chunks of a group, and begins to decode it. Drops what was read ahead.
task<void> begin_group(const reading_ahead& a, std::size_t group) {
  group_reader& reader = *a.reader;
  auto ending = end_ahead(a, true);
  co_await ending;
  reader.close();
  a.input->release_chunks_except(0);
  auto reading = a.input->read(0, group, reader.columns());
  std::vector<file_part> parts = co_await reading;
  blocking<begin_call> beginning(a.run->rt->blocking_calls(), begin_call{&reader, group, &parts});
  status why = co_await beginning;
  if (!why.ok()) co_await fail(std::move(why));
}

/// Returns true if the consumer skips all rows of the group. `unread`: the runs of rows that it skips.
bool is_unread(const group_reader& reader, std::size_t group, const std::vector<element_run>& unread) {
  if (unread.empty()) return false;
  const std::uint64_t first = reader.rows_before(group), end = first + reader.rows(group);
  auto after = std::ranges::upper_bound(unread, first, {}, &element_run::first);
  return after != unread.begin() && std::prev(after)->first + std::prev(after)->count >= end;
}

/// Begins to decode rows ahead, or to read groups after the open one.
void begin_ahead(reading_ahead& a) {
  // With one worker another thread would only take the time and the cache of the consumer's core.
  const std::size_t workers = a.run->rt->workers();
  if (workers == 1 && !a.input->is_remote()) return;
  group_reader& reader = *a.reader;
  if (reader.begin_ahead()) return decode_ahead(a.run, a), void();
  // A limit downstream may end the run: no more than one group is then requested from a server in vain.
  const std::size_t groups_ahead = a.input->is_remote() ? 1 : workers;
  while (const open_group* last = reader.last_before_next(groups_ahead)) {
    std::size_t group = last->size().group + 1;
    while (group != reader.groups() &&
           (reader.rows(group) == 0 || (a.history && is_unread(reader, group, a.history->unread))))
      ++group;
    if (group == reader.groups()) break;
    if (!reader.add_ahead(group, a.input->chunk_bytes(group, reader.columns()))) break;
  }
  if (reader.begin_reading()) read_groups_ahead(a.run, a);
}

/// Decodes until the row of `at` is decoded, and skips those before it. Rows, or groups, may then be read ahead.
task<void> decode_to(reading_ahead& a, group_place at) {
  group_reader& reader = *a.reader;
  if (!reader.has_open()) {
    auto beginning = begin_group(a, at.group);
    co_await beginning;
  }
  open_group& open = reader.current();
  while (!reader.has_row(at.row)) {
    open.pass(std::min(open.decoded(), at.row - std::min(at.row, open.next_row())));
    if (open.decoded() != 0) break;
    status why;
    if (open.has_ahead()) {
      auto ending = end_ahead(a, false);
      co_await ending;
      why = reader.decode();
    } else if (const std::size_t parts = reader.parts(a.run->rt->workers()); parts > 1) {
      auto decoding = decode_parts(&open, &a.run->rt->blocking_calls(), parts);
      co_await decoding;
      why = reader.decode();
    } else {
      blocking<decode_call> decoding(a.run->rt->blocking_calls(), decode_call{&reader});
      why = co_await decoding;
    }
    if (!why.ok()) co_await fail(std::move(why));
    begin_ahead(a);
  }
}

/// The same. Memory that is missing besides what is decoded ahead may suffice without it.
task<void> decode_with_room(reading_ahead& a, group_place at) {
  auto decoding = decode_to(a, at);
  status why = co_await decoding.as_result();
  if (why.code() == status_code::resource_exhausted && a.reader->works_ahead()) {
    auto ending = end_ahead(a, true);
    co_await ending;
    a.reader->close();
    auto again = decode_to(a, at);
    why = co_await again.as_result();
  }
  if (!why.ok()) co_await fail(std::move(why));
}

erased_stream parquet_loop(outlet out, saved<group_place> at, std::shared_ptr<run_context> run,
                           std::shared_ptr<group_input> input, std::shared_ptr<group_reader> reader, error_gate gate,
                           std::shared_ptr<row_landing> landing, const element_type* row_type,
                           std::shared_ptr<const node_history> history) {
  auto opening = open_input(*input, *reader, *at);
  status opened = co_await opening.as_result();
  if (!opened.ok()) {
    opened = opened.in_file(input->path());
    // A file that differs from the checkpoint's or the plan's is no bad element: dropping it would hide the change.
    if (opened.code() == status_code::failed_precondition) co_await fail(gate.located(opened));
    auto settled = gate.settle(out, opened);
    co_await settled;
    co_return;  // a file that cannot be opened is dropped as a whole
  }
  built_rows built(*row_type, *reader, std::move(landing));
  reading_ahead ahead{run, reader, input, std::make_shared<ready_signal>(run), std::move(history)};
  while (at->group != reader->groups()) {
    const std::uint64_t rows = reader->rows(at->group);
    // With error_policy::skip bad rows do not count, so rows are built even if they are skipped.
    if (out.to_pass() != 0 && !gate.skips()) {
      const std::uint64_t passed = out.pass(rows - at->row);
      at->row += passed;
      built.drop(std::min(passed, built.ready()));
      co_await out.breath();
    }
    if (at->row == rows) {
      built.clear();
      auto ending = end_ahead(ahead, false);
      co_await ending;
      ++at->group;
      at->row = 0;
      reader->end_group(at->group);
      if (at->group == reader->groups()) input->release_chunks();
      continue;
    }
    status why;
    if (built.ready() == 0 && !reader->has_row(at->row)) {
      auto decoding = decode_with_room(ahead, *at);
      why = co_await decoding.as_result();
    }
    const bool is_damaged = !why.ok();  // the rest of the group cannot be read
    std::uint32_t made = 0;
    if (!is_damaged) made = built.deliver(out, out.ask(), why);
    if (made != 0) {
      at->row += made;
      co_yield out.made(made);
      continue;
    }
    const std::uint64_t number = reader->rows_before(at->group) + at->row;
    auto settled = gate.settle(out, why.in_file(input->path(), provenance::kUnknown, number), number);
    co_await settled;
    if (is_damaged) at->row = rows;
    else {
      reader->pass(1);
      ++at->row;
    }
  }
}

}  // namespace

erased_stream open_parquet_stage(const node& n, open_context& context, group_input_options o,
                                 std::shared_ptr<row_landing> landing) {
  o.epoch = context.passes;
  error_gate gate = context.gate(n);
  auto memory =
      std::make_unique<held_memory>(context.run, gate.line(purpose::open_file), gate.label(), "decoding a row group",
                                    "read fewer columns (columns=[…]), or open fewer files at once");
  auto input = std::make_shared<group_input>(context.run, gate.site(), gate.label(), std::move(o));
  auto reader = std::make_shared<group_reader>(*n.type, std::move(memory));
  outlet out(landing ? landed_row_type() : *n.type);
  saved<group_place> at;
  return parquet_loop(out, std::move(at), context.run, std::move(input), std::move(reader), gate, std::move(landing),
                      n.type, n.history);
}

}  // namespace sluice::lib
