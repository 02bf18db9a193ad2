// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/zip_members.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "coro/long_work.hpp"
#include "engine/files/file_stage.hpp"
#include "format/archive/zip_archive.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/matching_files.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

namespace {

constexpr std::size_t kWorkBytes = std::size_t{1} << 20;      // inflated or summed up in a millisecond or two
constexpr std::uint64_t kRatioFrom = std::uint64_t{1} << 20;  // smaller files may have any ratio

/// An open archive: its directory, and the reader of its members' bytes.
class zip_reader {
 public:
  zip_reader(std::shared_ptr<run_context> run, byte_source_options o, const error_gate& gate)
      : run_(std::move(run)),
        options_(std::move(o)),
        gate_(gate),
        directory_memory_(run_, gate.line(purpose::listing), gate.label(), "the directory of the archive",
                          "read fewer archives at once"),
        plain_memory_(run_, gate.site(), gate.label()) {
    options_.compression = compression::none;  // of the archive itself
  }

  const std::string& path() const { return options_.path; }
  /// Reads the directory.
  task<void> open();
  bool is_at_end() const { return next_at_ == directory_.size(); }
  /// Errors: data_loss: bytes follow the archive, or another archive precedes it.
  status check_end() const;
  /// The next entry of the directory.
  status next(zip_entry& to);
  /// Reads a file's bytes.
  task<record> read(const zip_entry* e);
  std::uint64_t take_read_bytes() { return source_ ? source_->take_read_bytes() : 0; }

 private:
  task<void> open_at(std::uint64_t offset);
  task<void> take_part(std::uint64_t from, std::size_t size, std::string* to);
  task<void> go_to_member(const zip_entry* e);
  task<void> read_window(std::size_t needed);
  task<record> read_stored(const zip_entry* e);
  task<record> read_deflated(const zip_entry* e);
  status check_overlaps() const;
  status check_limits(const zip_entry& e) const;
  status cut_short() const { return data_loss_error("the file ends inside of it"); }

  std::shared_ptr<run_context> run_;
  byte_source_options options_;
  const error_gate gate_;
  held_memory directory_memory_;
  input_memory plain_memory_;
  zip_directory where_;
  std::uint64_t file_bytes_ = 0;
  bool follows_archive_ = false;  ///< the bytes before this archive begin as another one
  std::string directory_;
  std::size_t next_at_ = 0;
  std::optional<byte_source> source_;
};

/// Opens the file again, with the window at `offset`.
task<void> zip_reader::open_at(std::uint64_t offset) {
  source_.emplace(run_, gate_.site(), gate_.label(), options_);
  auto opening = source_->open(offset);
  co_await opening;
  auto going = source_->go_to(offset);
  co_await going;
}

/// Reads the bytes from `from` on. Errors: data_loss: fewer bytes exist.
task<void> zip_reader::take_part(std::uint64_t from, std::size_t size, std::string* to) {
  auto opening = open_at(from);
  co_await opening;
  auto reading = source_->more(size);
  co_await reading;
  status why = source_->window().bytes.size() < size ? data_loss_error("became shorter while it was read") : status();
  if (!why.ok()) co_await fail(std::move(why));
  *to = source_->window().view().substr(0, size);
}

task<void> zip_reader::open() {
  auto opening = open_at(0);
  co_await opening;
  const std::uint64_t end = source_->window().end;
  status why = end == provenance::kUnknown
                   ? invalid_argument_error("a zip archive's directory is at its end: it cannot be read from a stream")
                   : status();
  if (!why.ok()) co_await fail(std::move(why));
  file_bytes_ = end;
  const auto tail_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(end, kZipTailBytes));
  std::string tail;
  auto looking = take_part(end - tail_bytes, tail_bytes, &tail);
  co_await looking;
  why = find_zip_directory(tail, end - tail_bytes, where_);
  if (why.ok()) why = directory_memory_.resize(static_cast<std::size_t>(where_.size_bytes));
  if (!why.ok()) co_await fail(std::move(why));
  if (where_.offset >= end - tail_bytes) {
    directory_ = tail.substr(static_cast<std::size_t>(where_.offset - (end - tail_bytes)),
                             static_cast<std::size_t>(where_.size_bytes));
  } else {
    auto taking = take_part(where_.offset, static_cast<std::size_t>(where_.size_bytes), &directory_);
    co_await taking;
  }
  why = check_overlaps();
  if (!why.ok()) co_await fail(std::move(why));
  if (where_.shift >= kZipHeaderBytes) {
    std::string first;
    auto beginning = take_part(0, kZipHeaderBytes, &first);
    co_await beginning;
    follows_archive_ = begins_zip_member(first);
  }
}

/// Rejects an archive whose members share bytes, which could expand to any size: all members together must not be
/// larger than it.
status zip_reader::check_overlaps() const {
  std::uint64_t left = where_.offset;
  zip_entry e;
  for (std::size_t at = 0; at != directory_.size(); at += e.size_bytes) {
    status why = read_zip_entry(std::string_view(directory_).substr(at), where_, e);
    if (!why.ok()) return why;
    if (e.packed_bytes > left) return data_loss_error("is no zip archive, or is damaged: its members overlap");
    left -= e.packed_bytes;
  }
  return {};
}

status zip_reader::next(zip_entry& to) {
  status why = read_zip_entry(std::string_view(directory_).substr(next_at_), where_, to);
  if (why.ok()) next_at_ += to.size_bytes;
  return why;
}

status zip_reader::check_end() const {
  if (follows_archive_)
    return data_loss_error(absl::StrCat(where_.shift,
                                        " bytes precede the archive, which begin another one, and are not ",
                                        "read; `head -c ", where_.shift, " FILE` is what precedes it"));
  if (where_.following_bytes == 0) return {};
  const std::uint64_t end = file_bytes_ - where_.following_bytes;
  return data_loss_error(absl::StrCat(where_.following_bytes,
                                      where_.following_bytes == 1 ? " byte follows" : " bytes follow",
                                      " the end of the archive, and ", where_.following_bytes == 1 ? "is" : "are",
                                      " not read; `head -c ", end, " FILE` is the archive without them"));
}

status zip_reader::check_limits(const zip_entry& e) const {
  const inflate_limits& limits = options_.inflated;
  if (!e.is_deflated) return {};
  if (e.plain_bytes > limits.bytes_max)
    return element_limit_error(
        absl::StrCat("has ", e.plain_bytes, " bytes, and inflated_bytes_max is ", limits.bytes_max));
  if (e.plain_bytes > kRatioFrom && e.plain_bytes / limits.ratio_max > e.packed_bytes)
    return element_limit_error(absl::StrCat("has ", e.plain_bytes, " bytes, more than ", limits.ratio_max,
                                            " times those in the archive (inflate_ratio_max)"));
  return {};
}

task<record> zip_reader::read(const zip_entry* e) {
  status why = e->refused.ok() ? check_limits(*e) : e->refused;
  if (!why.ok()) co_await fail(std::move(why));
  auto going = go_to_member(e);
  co_await going;
  auto reading = e->is_deflated ? read_deflated(e) : read_stored(e);
  record bytes = co_await reading;
  co_return std::move(bytes);
}

/// Reads until the window has this length, or ends with the file.
task<void> zip_reader::read_window(std::size_t needed) {
  status why;
  if (!source_->try_more(needed, why) && why.ok()) {
    auto reading = source_->more(needed);
    co_await reading;
  }
  if (!why.ok()) co_await fail(std::move(why));
}

/// Moves the window to the beginning of the member's bytes.
task<void> zip_reader::go_to_member(const zip_entry* e) {
  if (source_ && source_->window().offset <= e->header_at) {
    auto going = source_->go_to(e->header_at);
    co_await going;
  } else {
    auto opening = open_at(e->header_at);
    co_await opening;
  }
  std::size_t needed = kZipHeaderBytes;
  status why;
  for (std::size_t have = 0; why.ok() && have != needed;) {
    have = needed;
    auto reading = read_window(needed);
    co_await reading;
    if (source_->window().bytes.size() < have) why = cut_short();
    else why = read_zip_header(source_->window().view().substr(0, have), *e, needed);
  }
  if (why.ok() && e->packed_bytes > where_.offset - std::min(where_.offset, e->header_at + needed))
    why = data_loss_error("would end after the beginning of the directory");
  if (!why.ok()) co_await fail(std::move(why));
  source_->consume(needed);
}

task<record> zip_reader::read_stored(const zip_entry* e) {
  const auto size = static_cast<std::size_t>(e->plain_bytes);
  auto reading = read_window(size);
  co_await reading;
  const std::string_view bytes = source_->window().view().substr(0, size);
  status why = bytes.size() < size ? cut_short() : status();
  std::uint32_t crc = 0;
  long_work work;
  for (std::size_t at = 0; at < bytes.size(); at += kWorkBytes) {
    crc = zip_crc(bytes.substr(at, kWorkBytes), crc);
    co_await work.breath();
  }
  if (why.ok() && crc != e->crc) why = data_loss_error("its checksum is wrong");
  if (!why.ok()) co_await fail(std::move(why));
  if (size == 0) co_return record();
  buffer& owner = source_->owner();
  owner.add_references(1);
  record made(&owner, bytes.data(), size);
  source_->consume(size);
  co_return std::move(made);
}

task<record> zip_reader::read_deflated(const zip_entry* e) {
  const auto size = static_cast<std::size_t>(e->plain_bytes);
  buffer_ref plain;
  status why = plain_memory_.make_buffer(size + 1, plain);  // one byte more detects an excess
  std::uint64_t packed_left = e->packed_bytes;
  std::size_t have = 0;
  std::uint32_t crc = 0;
  bool ended = false;
  zip_inflater undo;
  long_work work;
  while (why.ok() && !ended) {
    if (packed_left != 0 && !source_->has_bytes()) {
      auto reading = read_window(1);
      co_await reading;
    }
    const std::string_view in =
        source_->window().view().substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(packed_left, kWorkBytes)));
    const std::size_t room = std::min(kWorkBytes, size + 1 - have);
    zip_inflater::step s = undo.inflate(in, plain->data() + have, room);
    crc = zip_crc({plain->data() + have, s.produced}, crc);
    have += s.produced;
    packed_left -= s.consumed;
    source_->consume(s.consumed);
    ended = s.ended;
    why = std::move(s.why);
    if (why.ok() && have > size) why = data_loss_error(absl::StrCat("has more than its ", size, " bytes"));
    if (why.ok() && !ended && s.consumed == 0 && s.produced == 0)
      why = packed_left == 0 ? data_loss_error("its deflated bytes end too early") : cut_short();
    co_await work.breath();
  }
  if (why.ok() && (have != size || crc != e->crc))
    why = data_loss_error(have != size ? absl::StrCat("has ", have, " bytes instead of ", size)
                                       : "its checksum is wrong");
  if (!why.ok()) co_await fail(std::move(why));
  if (size == 0) co_return record();
  plain->add_references(1);
  record made(plain.get(), plain->data(), size);
  co_return std::move(made);
}

/// Returns true for an error of one member, after which others can be read.
bool is_of_member(const status& why) {
  return why.code() == status_code::data_loss || why.code() == status_code::unimplemented || why.is_element_limit();
}

erased_stream zip_members_loop(outlet out, saved<std::uint64_t> next, std::shared_ptr<run_context> run,
                               byte_source_options o, error_gate gate) {
  zip_reader archive(run, std::move(o), gate);
  auto opening = archive.open();
  status opened = co_await opening.as_result();
  zip_entry e;
  for (std::uint64_t i = 0; opened.ok() && i != *next; ++i) {
    opened = archive.is_at_end() ? data_loss_error(
                                       "the archive has fewer members than the checkpoint says: it does not fit this "
                                       "file; start without it, or from an older one")
                                 : archive.next(e);
    co_await out.breath();
  }
  if (!opened.ok()) {
    opened = opened.in_file(archive.path());
    // A file that differs from the checkpoint's is no bad element: dropping it would hide the change that the check
    // detects.
    const bool is_final = opened.code() == status_code::failed_precondition;
    if (is_final) co_await fail(gate.located(opened));
    auto settled = gate.settle(out, opened);
    co_await settled;
    co_return;  // a file that cannot be opened is dropped as a whole
  }
  // With error_policy::skip damaged members do not count, so members are read even if they are skipped.
  while (!archive.is_at_end()) {
    status why = archive.next(e);
    // the archive was valid when it was opened
    if (!why.ok()) co_await fail(gate.located(why.in_file(archive.path())));
    const std::uint64_t index = (*next)++;
    const bool is_passed = e.is_file && !gate.skips() && out.pass(1) == 1;
    if (!e.is_file || is_passed) {
      co_await out.breath();
      continue;
    }
    char* to = out.room(1);  // destroys the elements delivered before more is read
    auto reading = archive.read(&e);
    auto bytes = co_await reading.as_result();
    if (stage_counts* counts = out.counts()) stage_counts::add(counts->rare().read_bytes, archive.take_read_bytes());
    if (!bytes.ok()) {
      why = bytes.why().with_message(absl::StrCat("member \"", e.name, "\": ", std::string(bytes.why().message())));
      auto settled = gate.settle(out, why.in_file(archive.path(), e.header_at, index));
      co_await settled;
      if (is_of_member(why)) continue;
      co_return;  // the file cannot be read any further
    }
    ::new (static_cast<void*>(to))
        zip_member{std::move(e.name), *std::move(bytes), static_cast<std::int64_t>(e.header_at)};
    co_yield out.made(1);
  }
  status after = archive.check_end();
  if (after.ok()) co_return;
  auto settled = gate.settle(out, after.in_file(archive.path()));
  co_await settled;
}

erased_stream open_zip_members(const node& n, open_context& context) {
  auto& a = n.as<zip_members_arguments>();
  byte_source_options reading;
  reading.path = a.path.value;
  reading.read_bytes = static_cast<std::size_t>(a.options.read_bytes.value);
  reading.cache = a.options.cache;
  reading.inflated = limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max);
  reading.reads_in_flight = &context.live(n, a.options.reads_in_flight, kReadsInFlight);
  reading.epoch = context.passes;
  outlet out(*n.type);
  saved<std::uint64_t> next;
  return zip_members_loop(out, std::move(next), context.run, std::move(reading), context.gate(n));
}

}  // namespace

const op_info zip_members_op{
    .name = "zip_members",
    .doc = "the files in a zip archive",
    .shape = op_info::source,
    .arguments = arguments_of<zip_members_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node&, std::string&) { return &type_of<zip_member>(); },
    .splits = {.rule = split_rule::one_file},
    .lowering = {.open = open_zip_members},
};

}  // namespace sluice::lib
