// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_stage.hpp"

#include <absl/strings/str_cat.h>

#include "coro/long_work.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The number of offsets at which the element after a damaged one is searched in one step: a quarter of a millisecond
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

/// Reads the head of a file whose elements from `offset` on are wanted, and goes there, but for `look` bytes.
task<void> pass_head(byte_source& source, const element_format& format, std::uint64_t offset, std::size_t look) {
  for (;;) {
    byte_window w = source.window();
    found f = format.read_head(w);
    if (!f.why.ok()) co_await fail(f.why.in_file(source.path(), 0));
    if (f.used_bytes > offset) co_await fail(data_loss_error(kNoElementThere).in_file(source.path(), offset));
    if (f.used_bytes) break;
    if (w.last) co_await fail(data_loss_error("the file has become shorter than the checkpoint remembers"));
    auto reading = source.more(std::max(f.needed_bytes, w.bytes.size() + 1));
    co_await reading;
  }
  auto going = source.go_to(offset - look);
  co_await going;
}

/// Opens the file, goes to where the next element begins and checks that one can begin there.
task<void> open_at(byte_source& source, const element_format& format, std::uint64_t offset) {
  const auto look = static_cast<std::size_t>(std::min<std::uint64_t>(offset, format.bytes_before()));
  const bool begins_at_head = format.has_head() && offset != 0;
  auto opening = source.open(begins_at_head ? 0 : offset - look);
  co_await opening;
  if (begins_at_head) {
    auto passing = pass_head(source, format, offset, look);
    co_await passing;
  }
  status why = format.check(source.window().end);
  if (!why.ok()) co_await fail(std::move(why));
  if (offset == 0) co_return;
  auto reading = source.more(look);
  co_await reading;
  std::string before(source.window().view().substr(0, look));
  if (before.size() < look) co_await fail(data_loss_error("the file has become shorter than the checkpoint remembers"));
  source.consume(look);
  if (format.may_begin(source.window(), before)) co_return;
  auto following = source.more(1);
  co_await following;
  if (source.has_bytes()) co_await fail(data_loss_error(kNoElementThere).in_file(source.path(), offset));
}

/// Goes past a damaged element that does not say how long it is: to the next one that can be found, or to the file's end. `bytes`:
/// gets the first of those passed, as many as are kept of an element; null: nothing is kept.
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

/// What is known of damage when it has been passed.
struct passed_damage {
  status why;
  kept_bytes bytes;
};

/// Goes past a damaged element: as far as its framing says, or to the next one that can be found; its error then says how much
/// was lost. Errors: of the file, which cannot be read any further.
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
  file_reading(byte_source& source, const element_format& format, file_place& at, row_landing* landing, bool skips)
      : source_(source),
        format_(format),
        at_(at),
        landing_(landing),
        checks_all_(skips && format.passes_over_unseen()) {
    at.source = &source;
  }

  /// Returns true if the next elements are skipped without being made. Under error_policy::skip damaged elements do not
  /// count. A format that does not check the elements that it skips therefore makes all of them.
  bool passes(const outlet& out) const { return out.to_pass() != 0 && !checks_all_; }
  /// Skips elements, or makes them in the room of the outlet, as far as the window goes.
  found find(outlet& out, bool passing) {
    last_ = source_.window();
    last_.searched = std::exchange(searched_, 0);
    const byte_window& w = last_;
    if (passing) {
      found f = format_.pass_over(w, out.to_pass());
      out.pass(f.elements);
      return f;
    }
    if (!source_.has_bytes()) {
      out.room(0);  // what was given is dropped before more is read: its buffer may then be used again
      return format_.pass_over(w, 0);
    }
    if (landing_) return land_rows(out, w);
    const std::uint32_t n = out.ask();
    return format_.scan(w, source_.owner(), out.room(n), n);
  }
  void take(const found& f) {
    source_.consume(f.used_bytes);
    at_.advance(f);
  }
  /// Continues after a damaged element. The number of elements that are lost with it is unknown: it counts as one.
  void take_damaged() {
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
  /// Makes rows. Rows that are skipped are made, too, to find the damaged ones, and then removed. No row after them is made
  /// together with them.
  found land_rows(outlet& out, const byte_window& w) {
    column& rows = *landing_->rows;
    const std::uint64_t to_pass = out.to_pass();
    const auto n = to_pass ? static_cast<std::uint32_t>(std::min<std::uint64_t>(to_pass, out.ask())) : out.ask();
    const std::size_t before = rows.rows();
    found f = format_.scan_rows(w, rows, reinterpret_cast<landed_row*>(out.room(n)), n);
    if (to_pass) rows.truncate(before);
    return f;
  }

  byte_source& source_;
  const element_format& format_;
  file_place& at_;
  row_landing* landing_;  ///< where rows go; null: elements are made
  bool checks_all_;
  std::size_t searched_ = 0;  ///< bytes of the window in which no element ends
  byte_window last_;          ///< the window of the last find(); its bytes may be gone, their number is used
};

/// Checks the end of a file after its last element. An archive, for example, may end before the file that it is packed in.
task<status> check_file_end(byte_source& source) {
  status why = source.check_end();
  if (!why.ok()) co_return std::move(why);
  auto finishing = source.finish();
  why = co_await finishing.as_result();
  co_return std::move(why);
}

/// `landing`: where rows go; null: elements are made.
erased_stream file_loop(outlet out, saved<file_place> at, std::shared_ptr<run_context> run, byte_source_options o,
                        std::shared_ptr<const element_format> format, error_gate gate,
                        std::shared_ptr<row_landing> landing) {
  byte_source source(run, gate.label(), std::move(o));
  auto opening = open_at(source, *format, at->offset);
  status opened = co_await opening.as_result();
  if (!opened.ok()) {
    opened = opened.in_file(source.path());
    // Another file than the checkpoint's is no bad element: skipping it would hide what the policy is to refuse.
    const bool is_final = opened.code() == status_code::failed_precondition;
    if (is_final) co_await fail(gate.located(opened));
    auto settled = gate.settle(out, opened);
    co_await settled;
    co_return;  // a file that cannot be opened is dropped as a whole
  }
  file_reading reading(source, *format, *at, landing.get(), gate.skips());
  status broken;  // the file cannot be read beyond what the window has
  for (;;) {
    const bool passing = reading.passes(out);
    found f = reading.find(out, passing);
    if (passing) co_await out.breath();
    if (f.elements) {
      reading.take(f);
      if (passing) continue;
      source.rest();
      co_yield out.made(f.elements);
      continue;
    }
    if (f.ended && broken.ok()) {
      auto checking = check_file_end(source);
      broken = co_await checking;
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
      co_await out.breath();  // a file may have nothing else
      continue;
    }
    if (f.used_bytes) {  // a header, for example: no element, and not to be read again
      reading.take(f);
      continue;
    }
    if (reading.may_search_on(f)) {
      co_await out.breath();
      continue;
    }
    if (broken.ok()) {
      if (!source.try_more(reading.bytes_to_have(f), broken)) {
        auto more = source.more(reading.bytes_to_have(f));
        broken = co_await more.as_result();
      }
      if (stage_counts* counts = out.counts()) stage_counts::add(counts->read_bytes, source.take_read_bytes());
      if (reading.has_more()) continue;  // whole elements before the damage come first
      // A format that finds nothing where nothing more will come would search without end.
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

size_estimate& sizes_of_files(const node& n, const open_context& context) { return context.site(n).sizes("files"); }

erased_stream open_file_stage(const node& n, open_context& context, byte_source_options o,
                              std::shared_ptr<const element_format> format) {
  o.epoch = context.passes;
  outlet out(*n.type);
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
