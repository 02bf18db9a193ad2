// SPDX-License-Identifier: Apache-2.0
#include "support/trials/resume_cost.hpp"

#include <atomic>
#include <chrono>
#include <utility>

#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::test {
namespace {

std::atomic<std::uint64_t> g_made{0};

bool keep_and_count(std::int64_t) {
  g_made.fetch_add(1, std::memory_order_relaxed);
  return true;
}

double ms_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

task<void> take_by_next(stream<std::int64_t>& s, std::uint64_t elements, life_cost& c) {
  auto began = std::chrono::steady_clock::now();
  while (c.taken < elements) {
    auto x = co_await s.next();
    if (!x) break;
    if (c.taken++ == 0) c.first_ms = ms_since(began);
  }
  c.at_end = s.position();
}

task<void> take_by_block(erased_stream& s, std::uint64_t elements, std::uint32_t ask, life_cost& c) {
  auto began = std::chrono::steady_clock::now();
  while (c.taken < elements) {
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::uint64_t>(ask, elements - c.taken));
    auto b = co_await s.next_block(d);
    if (!b) break;
    if (c.taken == 0) c.first_ms = ms_since(began);
    c.taken += b.size();
  }
  c.at_end = s.sealed_position();
}

task<void> take(runtime& rt, const dataset<std::int64_t>& ds, std::uint64_t elements, const life& how, life_cost& c) {
  iterate_options o;
  o.from = how.from;
  o.seed = 1;
  erased_stream s = test::tree_of(open_run(rt, ds.plan(), o));
  if (how.ask) {
    auto taking = take_by_block(s, elements, how.ask, c);
    co_await taking;
  } else {
    stream<std::int64_t> typed(std::move(s));
    auto taking = take_by_next(typed, elements, c);
    co_await taking;
    s = erased_stream(std::move(typed));
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

}  // namespace

dataset<std::int64_t> counted(const dataset<std::int64_t>& in) { return in | filter(keep_and_count); }
std::uint64_t made_since_last() { return g_made.exchange(0, std::memory_order_relaxed); }

life_cost live(runtime& rt, const dataset<std::int64_t>& ds, std::uint64_t elements, const life& how) {
  life_cost c;
  made_since_last();
  try {
    sync_wait(rt, take(rt, ds, elements, how, c));
  } catch (const error& e) { c.complaint = e.what(); }
  c.made = made_since_last();
  if (c.complaint.empty() && c.taken < elements) c.complaint = "ended after " + std::to_string(c.taken) + " elements";
  return c;
}

resume_cost resume_after(runtime& rt, const dataset<std::int64_t>& ds, std::uint64_t elements, const life& how) {
  life_cost first = live(rt, ds, elements, how);
  life again = how;
  again.from = first.at_end;
  life_cost second = live(rt, ds, 1, again);
  return {first.made, second.made, second.first_ms, first.at_end.bytes.size(),
          first.complaint.empty() ? second.complaint : first.complaint};
}

}  // namespace sluice::lib::test
