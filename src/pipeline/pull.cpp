// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pull.hpp"

#include <algorithm>
#include <new>

#include "sluice/element/batched.hpp"

namespace sluice::lib {
namespace {

std::uint64_t records_of(const block& b) {
  if (b.type().kind != kind::batch) return b.size();
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i != b.size(); ++i)
    rows += static_cast<std::uint64_t>(reinterpret_cast<const batch_storage*>(b.at(i))->rows());
  return rows;
}

std::uint64_t bytes_of(const block& b) {
  auto& t = b.type();
  // Texts, tensors and batches count with their own bytes; other elements count with their size in memory.
  std::uint64_t own = t.text || t.kind == kind::batch || t.kind == kind::tensor ? 0 : std::uint64_t{b.size()} * t.size;
  return own + (t.footprint ? t.footprint(t, b.data(), b.size()) : 0);
}

void add_to(pull_counts& counts, const block& b) {
  counts.elements.fetch_add(b.size(), std::memory_order_relaxed);
  counts.records.fetch_add(records_of(b), std::memory_order_relaxed);
  counts.bytes.fetch_add(bytes_of(b), std::memory_order_relaxed);
}

std::string sealed_position_of(erased_stream& s, std::uint64_t ordinal) {
  position_writer w;
  s.position_at(ordinal, w);
  return s.run()->seal(w.bytes());
}

/// Computes when the next checkpoint is due.
class checkpoint_clock {
 public:
  explicit checkpoint_clock(const checkpoint_times& times) : times_(times) { begin_again(); }
  bool is_due() const {
    if (left_ == 0) return true;
    return times_.every.count() && std::chrono::steady_clock::now() - last_ >= times_.every;
  }
  /// Returns the number of elements until a checkpoint is due by their number.
  std::uint64_t elements_left() const { return left_; }
  void took(std::uint64_t elements) { left_ -= elements; }
  void begin_again() {
    left_ = times_.every_elements ? times_.every_elements : ~std::uint64_t{0};
    if (times_.every.count()) last_ = std::chrono::steady_clock::now();
  }

 private:
  const checkpoint_times times_;
  std::uint64_t left_ = 0;
  std::chrono::steady_clock::time_point last_;
};

// A call for threads on which calls may block. It is not a lambda, because a coroutine's frame contains it
// (docs/internals/hazards.md).
struct take_call {
  element_sink* sink;
  const block* elements;
  status operator()() const { return sink->take(*elements); }
};
struct save_call {
  pull_request* request;
  const std::string* position;
  status operator()() const { return request->save(*position); }
};

}  // namespace

task<pull_outcome> pull(pull_request* request) {
  pull_outcome out;
  erased_stream& s = detail::engine_access::of(request->stream);
  element_sink& sink = *request->sink;
  const bool wants_position = static_cast<bool>(request->save);
  checkpoint_clock due(request->times);
  std::uint64_t left = request->limit;
  std::uint64_t written = s.consumed();  // the sink has all elements before this ordinal
  bool is_known = true;                  // false: `written` may be wrong
  while (left != 0 && !request->counts->stop.load(std::memory_order_relaxed)) {
    if (wants_position) s.hold_from(written);  // the sink may take a part of the next block
    demand d;
    d.elements = static_cast<std::uint32_t>(
        std::min<std::uint64_t>({left, due.elements_left(), std::uint64_t{sink.wanted(s.type())}}));
    auto got = co_await s.try_next_block(d);
    out.why = got.why;
    out.ended = got.why.ok() && !got.view;
    if (!got.view) break;
    const std::uint32_t size = got.view.size();
    left -= size;
    add_to(*request->counts, got.view);
    take_call take{&sink, &got.view};
    if (request->blocking_calls) {
      blocking<take_call> taking(*request->blocking_calls, take);
      out.why = co_await taking;
    } else {
      out.why = take();
    }
    if (out.why.ok() && sink.has_unsent()) {
      auto sending = sink.send();
      out.why = co_await sending.as_result();
    }
    if (!out.why.ok()) {
      is_known = sink.taken() != element_sink::kUnknown;
      if (is_known) written += sink.taken();
      break;
    }
    written += size;
    due.took(size);
    if (!wants_position || !due.is_due()) continue;
    std::string position = sealed_position_of(s, written);
    auto completing = complete_shard(sink);
    out.why = co_await completing.as_result();
    is_known = out.why.ok();
    if (!is_known) break;
    save_call save{request, &position};
    if (request->blocking_calls) {
      blocking<save_call> saving(*request->blocking_calls, save);
      out.why = co_await saving;
    } else {
      out.why = save();
    }
    is_known = out.why.ok();
    if (!is_known) break;
    due.begin_again();
  }
  if (request->counts->stop && out.why.code() == status_code::cancelled) out.why = status();
  if (wants_position && is_known) out.position = sealed_position_of(s, written);
  try {
    out.report = report_of(s);
  } catch (const std::bad_alloc&) {
    if (out.why.ok())
      throw;  // otherwise the stages have all available memory, and the error names the one that wanted more
  }
  auto ending = cleanup(std::move(s));
  co_await ending;
  if (sink.closed()) out.why = status();
  co_return out;
}

}  // namespace sluice::lib
