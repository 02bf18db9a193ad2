// SPDX-License-Identifier: Apache-2.0
#include "cli/pull.hpp"

#include <algorithm>

#include "sluice/element/batch.hpp"

namespace sluice::cli {
namespace {

std::uint64_t records_of(const block& b) {
  if (b.type().kind != kind::batch) return b.size();
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i != b.size(); ++i)
    rows += static_cast<std::uint64_t>(reinterpret_cast<const batch_storage*>(b.at(i))->rows);
  return rows;
}

std::uint64_t bytes_of(const block& b) {
  auto& t = b.type();
  // A text's own bytes; of anything else what it takes in memory.
  std::uint64_t own = t.text || t.kind == kind::batch ? 0 : std::uint64_t{b.size()} * t.size;
  return own + (t.footprint ? t.footprint(t, b.data(), b.size()) : 0);
}

void count(pull_counts& counts, const block& b) {
  counts.elements.fetch_add(b.size(), std::memory_order_relaxed);
  counts.records.fetch_add(records_of(b), std::memory_order_relaxed);
  counts.bytes.fetch_add(bytes_of(b), std::memory_order_relaxed);
}

std::string sealed_position(erased_stream& s) {
  position_writer w;
  s.position(w);
  return s.run()->seal(w.bytes());
}

}  // namespace

task<pull_outcome> pull(pull_request* request) {
  pull_outcome out;
  erased_stream& s = request->stream;
  std::uint64_t left = request->limit;
  bool is_taken = true;  // has the sink all that was pulled?
  while (left != 0 && !request->counts->stop.load(std::memory_order_relaxed)) {
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, request->sink->wanted(s.type())));
    auto got = co_await s.try_next_block(d);
    out.why = got.why;
    if (!got.view) break;
    left -= got.view.size();
    count(*request->counts, got.view);
    out.why = request->sink->take(got.view);
    is_taken = out.why.ok();
    if (!is_taken) break;
  }
  if (request->counts->stop && out.why.code() == status_code::cancelled) out.why = status();
  if (request->wants_position) out.position = sealed_position(s);
  out.report = report_of(s);
  auto ending = cleanup(std::move(s));
  co_await ending;
  if (request->sink->closed()) out.why = status();
  // An error of the run leaves the elements before it, and a position from which to try again: together they are of use.
  if (out.why.ok() || (request->wants_position && is_taken)) {
    status finished = request->sink->finish();
    is_taken = is_taken && finished.ok();
    if (out.why.ok()) out.why = finished;
  }
  if (!is_taken && !request->sink->closed()) out.position.clear();
  co_return out;
}

}  // namespace sluice::cli
