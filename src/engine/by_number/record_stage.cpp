// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/record_stage.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "sluice/coro/saved.hpp"
#include "sluice/element/slice.hpp"

namespace sluice::lib {
namespace {

/// The files of the stage. Without a plan it is one file, whose number of records is known once it is open.
class record_files {
 public:
  record_files(const std::string& path, std::shared_ptr<const planned_records> planned) : planned_(std::move(planned)) {
    if (!planned_) single_.path = path;
  }
  /// The number of records of all files; record_file::kUnknown before the single file is open.
  std::uint64_t total() const { return planned_ ? planned_->total() : single_.records; }
  std::size_t file_of(std::uint64_t number) const { return planned_ ? planned_->file_of(number) : 0; }
  std::uint64_t begin_of(std::size_t file) const { return planned_ ? planned_->begin_of(file) : 0; }
  const record_file& file(std::size_t i) const { return planned_ ? planned_->files[i] : single_; }
  /// Checks an open file. Errors: failed_precondition.
  status found(std::size_t i, std::uint64_t records, std::uint64_t size_bytes) {
    const record_file& f = file(i);
    if (!planned_) {
      single_.records = records;
      return {};
    }
    if (f.records == records && f.size_bytes == size_bytes) return {};
    return failed_precondition_error(absl::StrCat("the file has changed since the plan was built, when it had ",
                                                  f.records, " records in ", f.size_bytes, " bytes; now it has ",
                                                  records, " in ", size_bytes, ": build the plan again"))
        .in_file(f.path);
  }

 private:
  std::shared_ptr<const planned_records> planned_;
  record_file single_;
};

task<void> open_records(placed_input& in, record_format& format, record_files& files, std::size_t i) {
  auto opening = in.open(files.file(i).path);
  co_await opening;
  auto finding = format.open(in, files.file(i));
  co_await finding;
  status why = files.found(i, format.records(), in.size_bytes());
  if (!why.ok()) co_await fail(std::move(why));
}

status no_record_there(std::uint64_t number, std::uint64_t total) {
  return data_loss_error(absl::StrCat("no record ", number, " exists among ", total,
                                      ": the checkpoint does not fit this file, or is damaged; start without it, or "
                                      "from an older one"));
}

/// Adds the place to an error that has none.
status placed(const status& why, const std::string& path, std::uint64_t number) {
  return why.where().file.empty() ? why.in_file(path, provenance::kUnknown, number) : why;
}

erased_stream record_loop(outlet out, saved<std::uint64_t> at, std::shared_ptr<run_context> run,
                          placed_input_options reading_options, record_files files,
                          std::unique_ptr<record_format> format, error_gate gate, bool on_demand) {
  constexpr std::size_t kNone = ~std::size_t{0};
  placed_input in(run, gate.site(), gate.label(), reading_options);
  std::size_t open_file = kNone;
  record_run got;
  for (;;) {
    if (files.total() != record_file::kUnknown) {
      if (*at > files.total())
        co_await fail(gate.located(no_record_there(*at, files.total()).in_file(files.file(0).path)));
      // Under error_policy::skip bad records do not count, so records are built even if they are skipped.
      if (out.to_pass() != 0 && !gate.skips()) {
        *at += out.pass(files.total() - *at);
        co_await out.breath();
      }
      if (*at == files.total()) break;
    }
    const std::size_t file = files.file_of(*at);
    if (file != open_file) {
      got.clear();
      open_file = kNone;
      auto opening = open_records(in, *format, files, file);
      status opened = co_await opening.as_result();
      if (!opened.ok()) {
        if (opened.where().file.empty()) opened = opened.in_file(files.file(file).path);
        // A file that differs from the checkpoint's or the plan's is no bad element: dropping it would hide the change.
        if (opened.code() == status_code::failed_precondition) co_await fail(gate.located(opened));
        auto settled = gate.settle(out, opened);
        co_await settled;
        if (files.total() == record_file::kUnknown) break;
        *at = files.begin_of(file) + files.file(file).records;
        continue;
      }
      open_file = file;
      continue;  // the number of records may be known only now
    }
    const std::uint64_t number = *at - files.begin_of(file);
    const std::uint64_t passed = number >= got.first ? number - got.first : ~std::uint64_t{0};
    if (passed < got.places.size()) {
      const auto i = static_cast<std::size_t>(passed);
      const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(out.ask(), got.places.size() - i));
      status why;
      const std::uint32_t made = format->build(in, got, i, n, out.room(n), why);
      if (made != 0) {
        *at += made;
        if (in.memory().is_tight()) got.clear();  // they can be read again
        co_yield out.made(made);
        continue;
      }
      auto settled = gate.settle(out, why.in_file(in.path(), got.places[i].offset, number));
      co_await settled;
      ++*at;
      co_await out.breath();
      continue;
    }
    if (passed == got.places.size() && !got.why.ok()) {
      status why = std::move(got.why);
      const std::uint64_t lost = got.lost;
      got.clear();
      auto settled = gate.settle(out, placed(why, in.path(), number));
      co_await settled;
      *at += lost;
      co_await out.breath();
      continue;
    }
    got.clear();
    record_wish wish;
    wish.from = number;
    wish.records_max = format->records() - number;
    wish.bytes = in.memory().is_tight() ? std::min(in.memory().tight_bytes(), reading_options.read_bytes)
                                        : reading_options.read_bytes;
    if (on_demand) {
      wish.records_max = std::min<std::uint64_t>(wish.records_max, out.ask());
      wish.where = placed_input::apart;
    }
    auto reading = format->read(in, wish, got);
    status why = co_await reading.as_result();
    if (why.ok()) continue;
    got.clear();
    auto settled = gate.settle(out, placed(why, in.path(), number));
    co_await settled;
    *at = files.begin_of(file) + format->records();  // the file cannot be read any further
  }
}

}  // namespace

std::uint32_t record_format::build(placed_input&, const record_run& run, std::size_t i, std::uint32_t n, char* to,
                                   status&) {
  buffer* owner = run.bytes.get();
  owner->add_references(n);
  auto* records = reinterpret_cast<record*>(to);
  for (std::uint32_t k = 0; k != n; ++k) {
    const std::string_view bytes = run.at(i + k);
    ::new (static_cast<void*>(records + k)) record(owner, bytes.data(), bytes.size());
  }
  return n;
}

erased_stream open_record_stage(const node& n, open_context& context, const std::string& path,
                                placed_input_options reading, std::shared_ptr<const planned_records> planned,
                                std::unique_ptr<record_format> format) {
  if (context.on_demand) reading.reads_in_flight = nullptr;
  outlet out(*n.type);
  saved<std::uint64_t> at;
  record_files files(path, std::move(planned));
  return record_loop(out, std::move(at), context.run, reading, std::move(files), std::move(format), context.gate(n),
                     context.on_demand);
}

}  // namespace sluice::lib
