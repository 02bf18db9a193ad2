// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_stage.hpp"

#include <absl/strings/str_cat.h>

#include "coro/long_work.hpp"
#include "engine/by_number/built_index.hpp"
#include "engine/by_number/used_index.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The number of offsets that are searched in one step for the element after a damaged one: a quarter of a millisecond
/// of work.
constexpr std::size_t kPlacesAtOnce = std::size_t{64} << 10;

/// The place in the file at which the next element begins.
struct file_place {
  std::uint64_t offset = 0;
  std::uint64_t index = 0;
  const byte_source* source = nullptr;  // once open

  void save(position_writer& w) {
    w.number(offset);
    w.number(index);
  }
  void load(position_reader& r) {
    offset = r.number();
    index = r.number();
  }
  bool may_wait() const { return !source || !source->has_bytes(); }
  void advance(const found& f) {
    offset += f.used_bytes;
    index += f.elements;
  }
};

const char* const kNoElementThere =
    "no element begins where the checkpoint says: it does not fit this file, or is damaged; start without it, or from "
    "an "
    "older one";

/// Reads what elements from `offset` on depend on. REQUIRES: the window is behind the head.
task<void> read_before(byte_source& source, const element_format& format, std::uint64_t offset) {
  long_work work;
  for (;;) {
    byte_window w = source.window();
    if (w.offset == offset) co_return;
    found f;
    if (w.offset < offset) f = format.read_before(w, offset);
    if (!f.why.ok() || f.used_bytes > offset - w.offset || w.offset > offset)
      co_await fail(data_loss_error(kNoElementThere).in_file(source.path(), offset));
    co_await work.breath();
    if (f.used_bytes > w.bytes.size()) {
      auto going = source.go_to(w.offset + f.used_bytes);
      co_await going;
      continue;
    }
    if (f.used_bytes) {
      source.consume(f.used_bytes);
      continue;
    }
    if (w.last) co_await fail(data_loss_error("the file has become shorter than the checkpoint records"));
    auto reading = source.more(std::max(f.needed_bytes, w.bytes.size() + 1));
    co_await reading;
  }
}

/// Reads the head of a file whose elements from `offset` on are wanted, and seeks to `look` bytes before that offset.
task<void> pass_head(byte_source& source, const element_format& format, std::uint64_t offset, std::size_t look) {
  for (;;) {
    byte_window w = source.window();
    found f = format.read_head(w);
    if (!f.why.ok()) co_await fail(f.why.in_file(source.path(), 0));
    if (f.used_bytes > offset) co_await fail(data_loss_error(kNoElementThere).in_file(source.path(), offset));
    if (f.used_bytes) {
      // The bytes before the first element are those of the head.
      source.consume(std::min<std::uint64_t>(f.used_bytes, offset - look));
      break;
    }
    if (w.last) co_await fail(data_loss_error("the file has become shorter than the checkpoint records"));
    auto reading = source.more(std::max(f.needed_bytes, w.bytes.size() + 1));
    co_await reading;
  }
  auto depending = read_before(source, format, offset - look);
  co_await depending;
}

/// The index of the file, made when it is first needed, since a plan may have thousands of readers that need none.
class lazy_index {
 public:
  lazy_index(std::shared_ptr<run_context> run, byte_source& source, const element_format& format, file_index use,
             const error_gate& gate)
      : run_(std::move(run)), source_(source), format_(format), use_(use), gate_(gate) {}

  /// Returns true if the reader may use an index.
  bool is_allowed() const { return !run_->places && use_ != file_index::none && !format_.index_kind().empty(); }
  /// Returns true if a long skip gains by the index.
  bool is_useful() const { return is_allowed() && (source_.compressed() || !format_.skips_without_index()); }
  file_index use() const { return use_; }
  bool is_required() const { return is_allowed() && use_ == file_index::required; }
  /// REQUIRES: is_allowed(), and the file is open.
  used_index& get() {
    if (!index_) index_ = std::make_unique<used_index>(run_, source_, format_, use_, gate_);
    return *index_;
  }
  /// Null before get().
  const used_index* made() const { return index_.get(); }

 private:
  std::shared_ptr<run_context> run_;
  byte_source& source_;
  const element_format& format_;
  file_index use_;
  const error_gate& gate_;
  std::unique_ptr<used_index> index_;
};

/// Seeks in the open file to the next element and checks that one can begin there.
task<void> go_to_element(byte_source& source, const element_format& format, std::uint64_t offset) {
  const auto look = static_cast<std::size_t>(std::min<std::uint64_t>(offset, format.bytes_before()));
  if (format.has_head() && offset != 0) {
    auto passing = pass_head(source, format, offset, look);
    co_await passing;
  } else {
    auto going = source.go_to(offset - look);
    co_await going;
  }
  status why = format.check(source.window().end);
  if (!why.ok()) co_await fail(std::move(why));
  if (offset == 0) co_return;
  auto reading = source.more(look);
  co_await reading;
  std::string before(source.window().view().substr(0, look));
  if (before.size() < look) co_await fail(data_loss_error("the file has become shorter than the checkpoint records"));
  source.consume(look);
  if (format.may_begin(source.window(), before)) co_return;
  auto following = source.more(1);
  co_await following;
  if (source.has_bytes()) co_await fail(data_loss_error(kNoElementThere).in_file(source.path(), offset));
}

/// Opens the file at the element at `offset`. `built`: receives the places of elements.
task<void> open_at(byte_source& source, const element_format& format, std::uint64_t offset, built_index& built,
                   lazy_index& index) {
  const bool begins_at_head = format.has_head() && offset != 0;
  auto opening = source.open(begins_at_head ? 0 : offset - std::min<std::uint64_t>(offset, format.bytes_before()));
  co_await opening;
  if (index.is_required()) {
    auto reading = index.get().open_required();
    co_await reading;
  } else if (index.is_allowed() && source.compressed() && offset >= used_index::kInflatedMin) {
    auto reading = index.get().read_once();
    co_await reading;
  }
  bool builds = offset == 0 && index.is_allowed() && index.use() == file_index::build;
  if (builds) {
    auto looking = index.get().find();
    const bool exists = co_await looking;
    builds = !exists;
  }
  status begun = built.begin(builds);
  if (!begun.ok()) co_await fail(std::move(begun));
  auto going = go_to_element(source, format, offset);
  co_await going;
}

/// Skips a damaged element of unknown length, to the next one that is found or to the file's end. `bytes`: receives the
/// first of the skipped bytes, as many as are stored for an element; null: they are not stored.
task<void> search_behind_damage(byte_source& source, const element_format& format, std::string* bytes) {
  long_work work;
  std::size_t from = 1;
  auto keep = [bytes](const byte_window& w, std::size_t n) {
    if (bytes) bytes->append(w.view().substr(0, std::min(n, error_gate::kKeptBytesMax - bytes->size())));
  };
  const bool searches = format.searches_behind_damage();
  for (;;) {
    byte_window w = source.window();
    std::size_t to = std::min(from + kPlacesAtOnce, w.bytes.size());
    std::size_t at = searches ? format.find_next(w, from, to) : std::string_view::npos;
    if (at != std::string_view::npos) {
      keep(w, at);
      source.consume(at);
      co_return;
    }
    co_await work.breath();
    if (to < w.bytes.size()) {
      from = to;
      continue;
    }
    if (w.last) {
      keep(w, w.bytes.size());
      source.consume(w.bytes.size());
      co_return;
    }
    std::size_t overlap = std::min(format.overlap_bytes(), w.bytes.size());
    keep(w, w.bytes.size() - overlap);
    source.consume(w.bytes.size() - overlap);
    from = 0;
    auto reading = source.more(overlap + 1);
    co_await reading;
  }
}

/// The facts about damage that was skipped.
struct passed_damage {
  status why;
  kept_bytes bytes;
};

/// Skips a damaged element, by the length in its framing or to the next element that is found; its error then contains
/// the number of lost bytes. Errors: the file cannot be read any further.
task<passed_damage> pass_damage(byte_source& source, const element_format& format, found f, const error_gate& gate) {
  passed_damage passed;
  passed.why = std::move(f.why);
  if (f.damaged_bytes) {
    if (gate.keeps()) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(f.damaged_bytes, error_gate::kKeptBytesMax));
      auto reading = source.more(wanted);
      co_await reading;
      passed.bytes = gate.kept(source.window().view().substr(0, wanted));
    }
    source.consume(f.damaged_bytes);
    co_return std::move(passed);
  }
  std::string bytes;
  const std::uint64_t from = source.window().offset;
  auto searching = search_behind_damage(source, format, gate.keeps() ? &bytes : nullptr);
  co_await searching;
  const std::uint64_t lost = source.window().offset - from;
  const bool is_all = source.window().last && !source.has_bytes();
  passed.why = passed.why.with_message(
      absl::StrCat(std::string(passed.why.message()), "; with it ", lost, " bytes are lost, up to ",
                   is_all ? "the end of the file" : "the next element that was found"));
  passed.bytes = gate.kept(bytes);
  co_return std::move(passed);
}

/// An open file, and the elements that its format finds in the window.
class file_reading {
 public:
  /// `built`: receives the places of elements.
  file_reading(byte_source& source, const element_format& format, file_place& at, row_landing* landing, bool skips,
               built_index& built)
      : source_(source),
        format_(format),
        at_(at),
        landing_(landing),
        built_(built),
        checks_all_(skips && format.skips_unchecked()) {
    at.source = &source;
  }

  /// Returns true if the next elements are skipped without being built. Under error_policy::skip damaged elements do
  /// not count, so a format that does not check skipped elements builds all of them.
  bool passes(const outlet& out) const { return out.to_pass() != 0 && !checks_all_; }
  /// Skips elements, or builds them in the outlet's memory, as far as the window reaches.
  found find(outlet& out, bool passing) {
    last_ = source_.window();
    last_.searched = std::exchange(searched_, 0);
    const byte_window& w = last_;
    if (passing) {
      found f = format_.pass_over(w, up_to_place(out.to_pass()));
      out.pass(f.elements);
      return f;
    }
    if (!source_.has_bytes()) {
      out.room(0);  // destroys the elements delivered before more is read: their buffer may then be used again
      return format_.pass_over(w, 0);
    }
    if (landing_) return land_rows(out, w);
    const auto n = static_cast<std::uint32_t>(up_to_place(out.ask()));
    return format_.scan(w, source_.owner(), out.room(n), n);
  }
  void take(const found& f) {
    source_.consume(f.used_bytes);
    at_.advance(f);
    if (element_places* p = built_.places()) p->places().add(at_.index, at_.offset);
  }
  /// Continues after a damaged element. The number of elements lost with it is unknown; it counts as one.
  void take_damaged() {
    built_.abandon();
    at_.offset = source_.window().offset;
    ++at_.index;
  }
  /// Returns true if the window has more bytes in which no element has been searched for.
  bool may_search_on(const found& f) {
    searched_ = f.searched_bytes;
    return searched_ > last_.searched && searched_ < last_.bytes.size();
  }
  std::size_t bytes_to_have(const found& f) const { return std::max(f.needed_bytes, last_.bytes.size() + 1); }
  /// Returns true if bytes were added to the window that was searched last.
  bool has_more() const { return source_.window().bytes.size() > last_.bytes.size(); }
  /// Returns true if the window that was searched last ends with the file.
  bool was_last() const { return last_.last; }
  status error_here(const status& why) const { return why.in_file(source_.path(), at_.offset, at_.index); }
  status end_within_element() const { return error_here(data_loss_error("the file ends inside of an element")); }

 private:
  /// Returns how many of the next n elements may be found before a place must be recorded.
  std::uint64_t up_to_place(std::uint64_t n) const {
    element_places* p = built_.places();
    return p ? std::min(n, p->places().until_next(at_.index)) : n;
  }
  /// Builds rows. Skipped rows are built, too, to find damaged ones, and then removed. No later row is built together
  /// with them.
  found land_rows(outlet& out, const byte_window& w) {
    column& rows = *landing_->rows;
    const std::uint64_t to_pass = out.to_pass();
    const auto n = static_cast<std::uint32_t>(
        up_to_place(to_pass ? std::min<std::uint64_t>(to_pass, out.ask()) : std::uint64_t{out.ask()}));
    const std::size_t before = rows.rows();
    found f = format_.scan_rows(w, rows, reinterpret_cast<landed_row*>(out.room(n)), n);
    if (to_pass) rows.truncate(before);
    return f;
  }

  byte_source& source_;
  const element_format& format_;
  file_place& at_;
  row_landing* landing_;  ///< receives the rows; null: elements are built
  built_index& built_;
  bool checks_all_;
  std::size_t searched_ = 0;  ///< bytes of the window in which no element ends
  byte_window last_;          ///< the window of the last find(); its bytes may be freed, only their number is used
};

/// Checks the end of a file after its last element. An archive, for example, may end before the file that it is packed in.
task<status> check_file_end(byte_source& source) {
  status why = source.check_end();
  if (!why.ok()) co_return std::move(why);
  auto finishing = source.finish();
  why = co_await finishing.as_result();
  co_return std::move(why);
}

/// Moves to the last place of the index within the elements that are skipped, if there is one.
task<void> pass_by_index(used_index& index, byte_source& source, const element_format& format, file_place& at,
                         outlet& out) {
  auto finding = index.place_before(at.index, out.to_pass());
  const index_place place = co_await finding;
  if (place.offset <= at.offset) co_return;
  const std::size_t look = format.bytes_before();
  auto going = source.go_to(place.offset - look);
  co_await going;
  auto reading = source.more(look + format.place_bytes());
  co_await reading;
  std::string before(source.window().view().substr(0, look));
  source.consume(before.size());
  if (!source.has_bytes() || !format.is_place(source.window(), before)) co_await fail(index.wrong_place(place));
  out.pass(place.element - at.index);
  at.offset = place.offset;
  at.index = place.element;
}

/// `landing`: receives the rows; null: elements are built.
erased_stream file_loop(outlet out, saved<file_place> at, std::shared_ptr<run_context> run, byte_source_options o,
                        std::shared_ptr<const element_format> format, error_gate gate,
                        std::shared_ptr<row_landing> landing) {
  const file_index index_use = o.index;
  byte_source source(run, gate.site(), gate.label(), std::move(o));
  built_index built(run, source, *format, gate);
  lazy_index index(run, source, *format, index_use, gate);
  auto opening = open_at(source, *format, at->offset, built, index);
  status opened = co_await opening.as_result();
  if (!opened.ok()) {
    opened = opened.in_file(source.path());
    // A file that differs from the checkpoint's is no bad element: dropping it would hide the change that the check
    // detects.
    const bool is_final = opened.code() == status_code::failed_precondition;
    if (is_final) co_await fail(gate.located(opened));
    auto settled = gate.settle(out, opened);
    co_await settled;
    co_return;  // a file that cannot be opened is dropped as a whole
  }
  file_reading reading(source, *format, *at, landing.get(), gate.skips(), built);
  status broken;  // why the file cannot be read beyond the window
  for (;;) {
    bool passing = reading.passes(out);
    const bool skips_many = passing && out.to_pass() >= used_index::kSkipMin && index.is_useful();
    if (skips_many && index.get().is_wanted() && (at->offset != 0 || !format->has_head())) {
      auto moving = pass_by_index(index.get(), source, *format, *at, out);
      broken = co_await moving.as_result();
      if (!broken.ok()) co_await fail(gate.located(broken));
      passing = reading.passes(out);
    }
    found f = reading.find(out, passing);
    if (passing) co_await out.breath();
    if (f.elements) {
      reading.take(f);
      status fits = built.charge();
      if (!fits.ok()) co_await fail(std::move(fits));
      if (passing) continue;
      source.rest();
      co_yield out.made(f.elements);
      continue;
    }
    if (f.ended && broken.ok()) {
      auto checking = check_file_end(source);
      broken = co_await checking;
      if (broken.ok() && index.made() && !gate.skips()) broken = index.made()->check_end(at->index);
      if (broken.ok() && built.places()) {
        auto ending = built.end(at->index);
        co_await ending;
      }
      if (broken.ok()) break;
    }
    if (!f.why.ok()) {
      if (!gate.may_drop(f.why)) {
        auto ending = gate.settle(out, reading.error_here(f.why));
        co_await ending;
      }
      auto passing_damage = pass_damage(source, *format, std::move(f), gate);
      passed_damage passed = co_await passing_damage;
      auto settled = gate.settle(out, reading.error_here(passed.why), provenance::kUnknown, std::move(passed.bytes));
      co_await settled;
      reading.take_damaged();
      co_await out.breath();  // the file may contain nothing else
      continue;
    }
    if (f.used_bytes) {  // for example a header: no element, and it need not be read again
      reading.take(f);
      continue;
    }
    if (reading.may_search_on(f)) {
      co_await out.breath();
      continue;
    }
    if (broken.ok()) {
      // An error may store the bytes of the element.
      if (!passing && !gate.keeps()) source.leave_out(format->unread(source.window()));
      if (!source.try_more(reading.bytes_to_have(f), broken)) {
        auto more = source.more(reading.bytes_to_have(f));
        broken = co_await more.as_result();
      }
      if (run->has_statistics) stage_counts::add(gate.site().counts().rare().read_bytes, source.take_read_bytes());
      if (reading.has_more()) continue;  // elements before the damage are delivered first
      // A format that finds nothing in the file's last window would search forever.
      if (reading.was_last() && broken.ok()) broken = reading.end_within_element();
    }
    if (!broken.ok()) {
      auto settled = gate.settle(out, broken);
      co_await settled;
      break;  // the file cannot be read any further
    }
  }
}

}  // namespace

std::size_t element_format::find_next(const byte_window&, std::size_t, std::size_t) const {
  return std::string_view::npos;
}
found element_format::scan_rows(const byte_window&, column&, landed_row*, std::size_t) const {
  found f;
  f.why = internal_error("this format makes elements, and no rows");
  return f;
}

size_estimate& sizes_of_files(const node& n, const open_context& context) { return context.site(n).file_sizes(); }

erased_stream open_file_stage(const node& n, open_context& context, byte_source_options o,
                              std::shared_ptr<const element_format> format) {
  return open_file_elements(n, context, std::move(o), std::move(format), *n.type);
}

erased_stream open_file_elements(const node& n, open_context& context, byte_source_options o,
                                 std::shared_ptr<const element_format> format, const element_type& type) {
  o.epoch = context.passes;
  outlet out(type);
  saved<file_place> at;
  return file_loop(out, std::move(at), context.run, std::move(o), std::move(format), context.gate(n), nullptr);
}

erased_stream open_file_rows(const node& n, open_context& context, byte_source_options o,
                             std::shared_ptr<const element_format> format, std::shared_ptr<row_landing> landing) {
  o.epoch = context.passes;
  outlet out(landed_row_type());
  saved<file_place> at;
  return file_loop(out, std::move(at), context.run, std::move(o), std::move(format), context.gate(n),
                   std::move(landing));
}

}  // namespace sluice::lib
