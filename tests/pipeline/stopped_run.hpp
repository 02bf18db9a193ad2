// SPDX-License-Identifier: Apache-2.0
// One run that is stopped or dropped at a random moment, in a simulation, and what it leaves behind: no task, no open
// file, no charged byte.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_plan.hpp"
#include "support/tree_of.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::stopped_run {

using namespace testing;
using int64 = std::int64_t;
using int64s = std::vector<int64>;
using test::random_numbers;

struct random_run {
  dataset<int64> ds = range(0);
  bool sloppy = false;
  std::map<std::string, std::string> files = {};  ///< that it reads: bytes by path
};

/// When and how.
struct moment {
  std::uint64_t yields = 0;  ///< of the stopper …
  duration sleeps{0};        ///< … who then sleeps so long
  bool stops = true;         ///< and then requests a stop
  std::size_t drops_after = ~std::size_t{0};
  bool cleans_up = true;  ///< else the stream is only dropped
  iterate_options options;
};

inline moment random_moment(random_numbers& r) {
  moment m;
  m.stops = r.below(3) != 0;
  m.yields = r.below(200);
  if (r.below(2)) m.sleeps = std::chrono::microseconds(r.below(20'000));
  if (!m.stops || r.below(3) == 0) m.drops_after = r.below(80);
  m.cleans_up = r.below(2) != 0;
  m.options.seed = 1;
  if (r.below(2)) m.options.on_error = error_policy::skip;
  return m;
}

struct remains {
  int64s elements;
  status why;
  std::size_t live_tasks = 0;
};

inline task<void> consume(stream<int64>& s, const moment& m, remains& got) {
  while (got.elements.size() < m.drops_after) {
    auto x = co_await s.try_next();
    got.why = x.why;
    if (!x) break;
    got.elements.push_back(*x);
  }
}

inline task<void> stop_later(std::shared_ptr<run_base> run, const moment& m) {
  for (std::uint64_t i = 0; i != m.yields; ++i) co_await yield_now();
  co_await sleep_for(m.sleeps);
  if (m.stops) run->request_stop();
}

inline task<void> run_until(runtime& rt, const dataset<int64>& ds, const moment& m, remains& got) {
  stream<int64> s = ds.iterate(rt, m.options);
  std::shared_ptr<run_context> run = test::tree_of(s).stage()->env->run->shared_from_this();
  auto consuming = consume(s, m, got);
  auto stopping = stop_later(test::tree_of(s).shared_run(), m);
  auto both = when_all(std::move(consuming), std::move(stopping));
  co_await both;
  if (m.cleans_up) {
    auto end = cleanup(std::move(s));
    co_await end;
  } else {
    test::tree_of(s).close();
    co_await sleep_for(std::chrono::hours(1));  // virtual: whatever can still run has run
  }
  got.live_tasks = run->live_tasks();
}

inline bool begins_with(const int64s& all, const int64s& front) {
  return front.size() <= all.size() && std::equal(front.begin(), front.end(), all.begin());
}

/// Ends the run at its moment in one world, and lets it go to its end in another: what was given first is the same.
/// True: it was ended before its end.
inline bool check_moment(const random_run& r, const moment& m, std::uint64_t seed) {
  auto filled = [&](file_world& w) {
    for (const auto& [path, bytes] : r.files) w.files->put(path, bytes);
  };
  remains got;
  {
    file_world w(seed);
    filled(w);
    sync_wait(w.rt, run_until(w.rt, r.ds, m, got));
    CHECK(got.live_tasks == 0);
    CHECK(w.files->files_open() == 0);
    CHECK(test::charged_to_runs(w.rt) == 0);
  }
  status_code end = got.why.code();
  bool failed = end == status_code::data_loss || end == status_code::not_found ||
                end == status_code::invalid_argument ||
                end == status_code::failed_precondition;  // as some plans are meant to
  bool expected_end = got.why.ok() || failed || (m.stops && end == status_code::cancelled);
  INFO(got.why.to_string());
  CHECK(expected_end);
  bool early = end == status_code::cancelled || got.elements.size() == m.drops_after;
  if (r.sloppy) return early;
  moment whole = m;
  whole.stops = false;
  whole.drops_after = ~std::size_t{0};
  remains all;
  file_world w(seed + 1);
  filled(w);
  sync_wait(w.rt, run_until(w.rt, r.ds, whole, all));
  CHECK(begins_with(all.elements, got.elements));
  return early;
}

}  // namespace sluice::lib::stopped_run
