// SPDX-License-Identifier: Apache-2.0
// The records of a trace as events of Chrome's JSON format, which Perfetto reads.
#include "sluice/profile/trace.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/files/whole_file.hpp"
#include "base/text/redacted.hpp"
#include "coro/trace_log.hpp"
#include "sluice/version.hpp"

namespace sluice::lib {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(trace_group::count)> kGroups = {
    "turn", "block", "task", "put", "take", "fill", "wait", "channel", "memory"};
const char* name_of(trace_group g) { return kGroups[static_cast<std::size_t>(g)]; }

std::string quoted(const std::string& text) {
  return nlohmann::json(detail::redacted(text)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// A thread's records, without its lock.
struct track_records {
  std::uint32_t track = 0;
  std::string name;
  unsigned sort_index = 0;
  std::vector<trace_record> records;
  std::vector<trace_buffer::named> series;
  std::vector<std::string> names;  ///< of the series, quoted
};

std::vector<track_records> copy_of(const trace_contents& all) {
  std::vector<track_records> tracks;
  auto use_known_name = [&all](trace_buffer::named& s) {
    auto at = all.names.find(s.key);
    if (s.group == trace_group::block && at != all.names.end()) s.name = at->second;
  };
  for (const auto& buffer : all.buffers) {
    mutex_lock lock(buffer->mutex);
    track_records t{.track = buffer->track,
                    .name = {},
                    .sort_index = buffer->number,
                    .records = buffer->records,
                    .series = buffer->series,
                    .names = {}};
    t.name = buffer->kind ? absl::StrCat(buffer->kind, " ", buffer->number) : absl::StrCat("thread ", buffer->track);
    std::for_each(t.series.begin(), t.series.end(), use_known_name);
    if (!buffer->kind) t.sort_index += 10'000;  // below the workers
    tracks.push_back(std::move(t));
  }
  return tracks;
}

/// Gives stages and channels of one name a number each: "prefetch", "prefetch (2)".
void name_series(std::vector<track_records>& tracks) {
  std::map<std::pair<trace_group, std::string>, std::set<const void*>> keys;
  absl::flat_hash_map<const void*, std::size_t> numbers;
  // Channels first: the other groups of a channel have its key, and so its number.
  for (trace_group g : {trace_group::channel, trace_group::block, trace_group::count})
    for (track_records& t : tracks)
      for (const trace_buffer::named& s : t.series) {
        if (g != trace_group::count && s.group != g) continue;
        auto& known = keys[{s.group, s.name}];
        if (known.insert(s.key).second) numbers.try_emplace(s.key, known.size());
      }
  for (track_records& t : tracks)
    for (const trace_buffer::named& s : t.series) {
      const std::size_t number = s.key ? numbers[s.key] : 1;
      const std::string name = s.name.empty() ? "stage" : s.name;
      t.names.push_back(quoted(number > 1 ? absl::StrCat(name, " (", number, ")") : name));
    }
}

/// An event that is to be written: a record, or one of the two ends of a record.
struct trace_event {
  enum class phase : std::uint8_t { slice, begin, counter, start, finish, end };  // in this order at the same time
  std::int64_t at = 0;
  phase what = phase::slice;
  std::uint32_t track = 0;  ///< in the list of tracks
  std::size_t record = 0;
  std::uint64_t id = 0;
};

/// Slices of one track never overlap partly. If two would, because a clock went back, the inner one is cut.
void nest(std::vector<trace_record>& records) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i != records.size(); ++i)
    if (records[i].what == trace_record::kind::slice) order.push_back(i);
  // Of two with the same times, the outer one ended later, and so was recorded later.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const trace_record &x = records[a], &y = records[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end != y.end ? x.end > y.end : a > b;
  });
  std::vector<std::int64_t> open;
  for (std::size_t i : order) {
    trace_record& r = records[i];
    while (!open.empty() && open.back() <= r.begin) open.pop_back();
    if (!open.empty()) r.end = std::min(r.end, open.back());
    open.push_back(r.end);
  }
}

class trace_writer {
 public:
  trace_writer(std::vector<track_records> tracks, const trace_contents& all) : tracks_(std::move(tracks)), all_(all) {}
  std::string text();

 private:
  void list_events();
  void list_event(std::uint32_t track, std::size_t i);
  void sort_events();
  void add(const trace_event& e);
  const trace_record& record(const trace_event& e) const { return tracks_[e.track].records[e.record]; }
  std::string time(std::int64_t ns) const { return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000); }
  void line(const std::string& text) { absl::StrAppend(&text_, text_.ends_with('[') ? "\n" : ",\n", text); }

  std::vector<track_records> tracks_;
  const trace_contents& all_;
  std::int64_t start_ = 0;
  std::uint64_t ids_ = 0;
  std::vector<trace_event> events_;
  std::set<std::pair<std::uint32_t, std::int64_t>> puts_;  ///< track and begin
  std::string text_;
};

void trace_writer::list_event(std::uint32_t track, std::size_t i) {
  using phase = trace_event::phase;
  const trace_record& r = tracks_[track].records[i];
  switch (r.what) {
    case trace_record::kind::slice: events_.push_back({r.begin, phase::slice, track, i, 0}); return;
    case trace_record::kind::counter: events_.push_back({r.begin, phase::counter, track, i, 0}); return;
    case trace_record::kind::span:
      events_.push_back({r.begin, phase::begin, track, i, ++ids_});
      events_.push_back({r.end, phase::end, track, i, ids_});
      return;
    case trace_record::kind::arrow:
      // A recording that was full may lack the slice in which the arrow begins.
      if (!puts_.contains({r.from, r.begin})) return;
      events_.push_back({r.begin, phase::start, track, i, ++ids_});
      events_.push_back({r.end, phase::finish, track, i, ids_});
  }
}

void trace_writer::list_events() {
  start_ = INT64_MAX;
  for (track_records& t : tracks_) {
    nest(t.records);
    for (const trace_record& r : t.records) {
      start_ = std::min(start_, r.begin);
      if (r.what == trace_record::kind::slice && r.group == trace_group::put) puts_.insert({t.track, r.begin});
    }
  }
  for (std::uint32_t t = 0; t != tracks_.size(); ++t)
    for (std::size_t i = 0; i != tracks_[t].records.size(); ++i) list_event(t, i);
}

void trace_writer::sort_events() {
  std::sort(events_.begin(), events_.end(), [this](const trace_event& a, const trace_event& b) {
    if (a.at != b.at) return a.at < b.at;
    if (a.what != b.what) return a.what < b.what;
    if (a.track != b.track) return a.track < b.track;
    if (a.what != trace_event::phase::slice) return a.id != b.id ? a.id < b.id : a.record < b.record;
    const std::int64_t x = record(a).end, y = record(b).end;
    return x != y ? x > y : a.record > b.record;  // as in nest()
  });
}

void trace_writer::add(const trace_event& e) {
  using phase = trace_event::phase;
  const track_records& t = tracks_[e.track];
  const trace_record& r = record(e);
  const std::string& name = t.names[r.series];
  const std::string at = time(e.at - start_);
  const std::string common =
      absl::StrCat("\"name\":", name, ",\"cat\":\"", name_of(r.group), "\",\"pid\":1,\"ts\":", at);
  const std::string args = r.group == trace_group::wait || r.group == trace_group::turn
                               ? ""
                               : absl::StrCat(",\"args\":{\"elements\":", r.first, ",\"blocks\":", r.second, "}");
  switch (e.what) {
    case phase::slice:
      return line(
          absl::StrCat("{\"ph\":\"X\",\"tid\":", t.track, ",\"dur\":", time(r.end - r.begin), ",", common, args, "}"));
    case phase::begin:
      return line(absl::StrCat("{\"ph\":\"b\",\"tid\":", t.track, ",\"id\":", e.id, ",", common, args, "}"));
    case phase::end: return line(absl::StrCat("{\"ph\":\"e\",\"tid\":", t.track, ",\"id\":", e.id, ",", common, "}"));
    case phase::start: return line(absl::StrCat("{\"ph\":\"s\",\"tid\":", r.from, ",\"id\":", e.id, ",", common, "}"));
    case phase::finish:
      return line(absl::StrCat("{\"ph\":\"f\",\"bp\":\"e\",\"tid\":", t.track, ",\"id\":", e.id, ",", common, "}"));
    case phase::counter:
      if (r.group == trace_group::memory)
        return line(absl::StrCat("{\"ph\":\"C\",", common, ",\"args\":{\"bytes\":", r.first, "}}"));
      return line(
          absl::StrCat("{\"ph\":\"C\",", common, ",\"args\":{\"blocks\":", r.first, ",\"elements\":", r.second, "}}"));
  }
}

std::string trace_writer::text() {
  list_events();
  sort_events();
  text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  line(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"sluice"}})");
  for (const track_records& t : tracks_) {
    const std::string begin = absl::StrCat("{\"ph\":\"M\",\"pid\":1,\"tid\":", t.track, ",\"name\":");
    line(absl::StrCat(begin, "\"thread_name\",\"args\":{\"name\":", quoted(t.name), "}}"));
    line(absl::StrCat(begin, "\"thread_sort_index\",\"args\":{\"sort_index\":", t.sort_index, "}}"));
  }
  for (const trace_event& e : events_) add(e);
  const std::string full_at = time(std::max<std::int64_t>(0, all_.full_at - start_));
  if (all_.is_full)
    line(absl::StrCat(R"({"ph":"i","s":"g","name":"the trace is full","cat":"trace","pid":1,"tid":0,"ts":)",
                      events_.empty() ? full_at : time(std::max(events_.back().at, all_.full_at) - start_), "}"));
  absl::StrAppend(&text_, "\n],\"otherData\":{\"program\":", quoted(std::string("sluice ") + SLUICE_VERSION_STRING),
                  ",\"events_max\":", all_.records_max, ",\"full\":", all_.is_full ? "true" : "false",
                  ",\"full_at_us\":", all_.is_full ? full_at : "null", "}}\n");
  return std::move(text_);
}

}  // namespace

trace_recording::trace_recording(trace_options o) {
  if (!trace_start(o.events_max, o.gap))
    throw_status(failed_precondition_error(
        "a trace is being recorded already: a process has one trace_recording at a time; stop that one first"));
}

trace_recording::~trace_recording() { stop(); }

void trace_recording::stop() noexcept {
  if (std::exchange(is_on_, false)) trace_stop();
}

bool trace_recording::is_full() const { return trace_read().is_full; }

std::string trace_recording::json() {
  stop();
  const trace_contents all = trace_read();
  std::vector<track_records> tracks = copy_of(all);
  name_series(tracks);
  return trace_writer(std::move(tracks), all).text();
}

status trace_recording::write(const std::string& path) {
  replaced_file file;
  if (status why = file.open(path); !why.ok()) return why;
  return file.replace(json());
}

}  // namespace sluice::lib
