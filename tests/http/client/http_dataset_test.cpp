// SPDX-License-Identifier: Apache-2.0
// Pipelines over objects, in virtual time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "format/compressed.hpp"
#include "http/http_world.hpp"
#include "http/text_objects.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::http_dataset_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

std::string url_of(int i) { return "http://objects/part-" + std::to_string(i) + ".txt"; }

template <class T> outcome run_over(http_world& w, const dataset<T>& ds, iterate_options options = {}) {
  outcome o;
  status served = w.run(run_into(w.rt, ds, options, o));
  INFO(served.to_string());
  CHECK(served.ok());
  return o;
}

/// Thirty objects of 100 KB, and all their lines, file by file.
texts put_parts(http_world& w, int files) {
  texts all;
  for (int f = 0; f != files; ++f) {
    texts lines = lines_of(f, 1000, 100, 1);
    w.server.put("/part-" + std::to_string(f) + ".txt", joined_lines(lines), "\"v\"");
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

dataset<std::string> part_names(int files) {
  texts names;
  for (int f = 0; f != files; ++f) names.push_back(url_of(f));
  return from_elements(names);
}

}  // namespace

TEST_CASE("a large object is read by ranges that grow from one MiB to eight, several at a time") {
  http_world w;
  texts all = lines_of(0, 60'000, 1000, 1);
  w.server.put("/part-0.txt", joined_lines(all), "\"v\"");
  outcome o = run_over(w, lines(url_of(0)));
  CHECK(o.why.ok());
  CHECK((o.elements == all));
  std::set<std::string> ranges;
  for (auto& r : w.server.log()) ranges.insert(r.range);
  CHECK(ranges.size() == w.server.log().size());  // nothing is asked for twice
  CHECK(ranges.contains("bytes=0-1048575"));
  CHECK(ranges.contains("bytes=1048576-2097151"));
  CHECK(ranges.contains("bytes=2097152-4194303"));
  CHECK(ranges.contains("bytes=4194304-8388607"));
  CHECK(ranges.contains("bytes=8388608-16777215"));
  CHECK(ranges.contains("bytes=16777216-25165823"));
  CHECK(w.server.connections() > 1);
}

TEST_CASE("the later first bytes arrive, the more ranges are in flight, unless the plan sets the number") {
  auto connections = [](duration before, std::int64_t reads) {
    http_options options;
    options.hedge = false;
    http_world w(20261124, options);
    w.server.put("/part-0.txt", std::string(std::size_t{160} << 20, 'x'), "\"v\"");
    deed late;
    late.before = before;
    w.server.always(late);
    fixed_length_options whole{.record_bytes = std::size_t{1} << 20};
    if (reads) whole.reads_in_flight = reads;
    runtime large(w.world, {.workers = 1, .memory_budget_bytes = std::size_t{1} << 30});
    add_files(large, "http", std::make_unique<lent_files>(*w.files));
    outcome o;
    auto first = [](const record& r) { return static_cast<std::int64_t>(r.view().front()); };
    CHECK(w.run(run_into(large, fixed_length(url_of(0), whole) | map(first), {}, o)).ok());
    CHECK(o.elements == texts(160, std::to_string('x')));
    return w.server.connections();
  };
  const std::size_t late = connections(60ms, 0);
  CHECK(late > 8);
  CHECK(late <= 16);
  CHECK(connections(0ms, 0) <= 5);
  CHECK(connections(60ms, 3) <= 4);
}

TEST_CASE("the report has the time to the first byte of each request, without that of the bytes") {
  http_options options;
  options.hedge = false;
  http_world w(20261130, options);
  w.server.put("/part-0.txt", std::string(std::size_t{40} << 20, 'x'), "\"v\"");
  deed late;
  late.before = 60ms;
  w.server.always(late);
  fixed_length_options whole{.record_bytes = std::size_t{1} << 20};
  auto s = fixed_length(url_of(0), whole).iterate(w.rt);
  auto reading = [](auto& from, int& n) -> task<void> {
    for (;;) {
      const auto next = co_await from.next();
      if (!next) break;
      ++n;
    }
  };
  int records = 0;
  CHECK(w.run(reading(s, records)).ok());
  CHECK(records == 40);
  const run_report r = s.report();
  const site_report& reader = r.sites.front();
  CHECK(reader.name == "fixed_length");
  CHECK(reader.requests == w.server.log().size());
  CHECK(reader.requests > 3);
  CHECK(reader.answered_after / static_cast<std::int64_t>(reader.requests) >= 60ms);
  CHECK(reader.answered_after / static_cast<std::int64_t>(reader.requests) < 70ms);
  CHECK(w.run(cleanup(std::move(s))).ok());
}

TEST_CASE("read-ahead stays within the budget") {
  http_world w;
  runtime small(w.world, {.workers = 1, .memory_budget_bytes = 8 << 20});
  add_files(small, "http", std::make_unique<lent_files>(*w.files));
  texts all = lines_of(0, 30'000, 1000, 1);
  w.server.put("/part-0.txt", joined_lines(all), "\"v\"");
  outcome o;
  CHECK(w.run(run_into(small, lines(url_of(0)), {}, o)).ok());
  CHECK(o.why.ok());
  CHECK((o.elements == all));
  CHECK(small.ledger().report().peak_bytes <= (8u << 20));
  CHECK(small.ledger().used_bytes() == 0);
}

TEST_CASE("interleave over many objects opens them at once, and has every line") {
  http_world w;
  texts all = put_parts(w, 30);
  auto ds = part_names(30) | interleave(lines, {.cycle_length = 30, .parallelism = 30});
  outcome o = run_over(w, ds);
  CHECK(o.why.ok());
  std::sort(all.begin(), all.end());
  std::sort(o.elements.begin(), o.elements.end());
  CHECK((o.elements == all));
  CHECK(w.server.log().size() == 30);
}

TEST_CASE("records of small objects do not keep the memory that was made ready before their sizes were known") {
  constexpr int kFiles = 30, kRecord = 1000;
  http_world w;
  for (int f = 0; f != kFiles; ++f)
    w.server.put("/part-" + std::to_string(f) + ".txt", std::string(100 * kRecord, 'x'), "\"v\"");
  std::vector<record> held;
  auto hold = [&held](const record& r) {
    held.push_back(r);
    return static_cast<std::int64_t>(r.size());
  };
  auto read = fixed_length({.record_bytes = kRecord});
  outcome o =
      run_over(w, part_names(kFiles) | interleave(read, {.cycle_length = kFiles, .parallelism = kFiles}) | map(hold));
  CHECK(o.why.ok());
  const std::size_t bytes = held.size() * kRecord;
  CHECK(bytes == kFiles * std::size_t{100} * kRecord);
  CHECK(w.rt.ledger().used_bytes() <= 2 * bytes);
  held.clear();
  CHECK(w.rt.ledger().used_bytes() == 0);
}

TEST_CASE("a run is resumed in the middle of objects") {
  http_world w;
  texts all = put_parts(w, 3);
  auto ds = part_names(3) | interleave(lines, {.cycle_length = 2});
  outcome whole = run_over(w, ds);
  REQUIRE(whole.elements.size() == all.size());
  for (std::size_t at : {std::size_t{1}, std::size_t{777}, std::size_t{1999}, all.size() - 1, all.size()}) {
    iterate_options from;
    from.from = whole.places[at];
    outcome rest = run_over(w, ds, from);
    CHECK(rest.why.ok());
    CHECK((rest.elements == texts(whole.elements.begin() + static_cast<std::ptrdiff_t>(at), whole.elements.end())));
  }
}

TEST_CASE("a run that continues with another version of an object reports it") {
  http_world w;
  put_parts(w, 1);
  outcome whole = run_over(w, lines(url_of(0)));
  w.server.put("/part-0.txt", joined_lines(lines_of(0, 1000, 100, 1)), "\"w\"");
  iterate_options from;
  from.from = whole.places[500];
  outcome rest;
  (void)w.run(run_into(w.rt, lines(url_of(0)), from, rest));
  CHECK(rest.why.code() == status_code::failed_precondition);
  CHECK_THAT(rest.why.to_string(), Catch::Contains(url_of(0)));
}

TEST_CASE("a run continues with an object whose weak ETag has become a strong one") {
  http_world w;
  const texts all = put_parts(w, 1);
  w.server.put("/part-0.txt", joined_lines(all), "W/\"v\"");
  outcome whole = run_over(w, lines(url_of(0)));
  w.server.put("/part-0.txt", joined_lines(all), "\"v\"");
  iterate_options from;
  from.from = whole.places[500];
  outcome rest = run_over(w, lines(url_of(0)), from);
  CHECK(rest.why.ok());
  CHECK((rest.elements == texts(all.begin() + 500, all.end())));
}

TEST_CASE("compressed objects are read once") {
  http_world w;
  texts all = lines_of(0, 30'000, 100, 1);
  const std::string packed = compressed(joined_lines(all), 31, 1);
  w.server.put("/part-0.txt", packed, "\"v\"");
  outcome o = run_over(w, lines(url_of(0)));
  CHECK(o.why.ok());
  CHECK((o.elements == all));
  std::size_t firsts = 0;
  for (auto& r : w.server.log()) firsts += r.range.starts_with("bytes=0-");
  CHECK(firsts == 1);
  CHECK((run_over(w, lines(url_of(0), {.compression = compression::gzip})).elements == all));
}

TEST_CASE("a server without ranges is read through a listing as well") {
  http_world w;
  texts all = lines_of(0, 30'000, 100, 1);
  w.server.put("/part-0.txt", joined_lines(all), "\"v\"");
  w.server.always({.whole = true});
  auto of_listing = list_files(url_of(0)) | flat_map([](const std::string& path) { return lines(path); });
  outcome o = run_over(w, of_listing);
  CHECK(o.why.ok());
  CHECK((o.elements == all));
}

TEST_CASE("listed objects are opened as they were listed, and again where they have changed since") {
  http_world w;
  texts all = put_parts(w, 1);
  auto ds = list_files(url_of(0)) | interleave(lines, {.cycle_length = 1});
  CHECK((run_over(w, ds).elements == all));
  CHECK(w.server.log().size() == 2);
  bool replaced = false;
  const texts other = lines_of(5, 900, 100, 1);
  w.server.on_request([&](const asked_for& r) {
    if (r.if_match.empty() || std::exchange(replaced, true)) return;
    w.server.put("/part-0.txt", joined_lines(other), "\"w\"");
  });
  CHECK((run_over(w, ds).elements == other));
}

TEST_CASE("in a bad network a run has the same elements, or ends with an error that names object, range and attempt") {
  std::size_t whole = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    http_options options;
    options.stall_timeout = 3s;
    http_world w(seed, options, {.refuse_chance = 0.05, .break_chance = 0.001});
    texts all = put_parts(w, 12);
    // One answer in six is a bad one.
    std::size_t asked = 0;
    w.server.on_request([&](const asked_for&) {
      deed next;
      const std::uint64_t drawn = w.world.random(36);
      const std::size_t at = w.world.random(100'000);
      if (drawn == 0) next.code = 503;
      if (drawn == 1) next.reset_at = at;
      if (drawn == 2) next.end_at = at;
      if (drawn == 3) next.stall_at = at;
      if (drawn == 4) next.reset_before_head = true;
      if (drawn == 5) next.before = 2s;
      w.server.always(next);
      ++asked;
    });
    auto ds = part_names(12) | interleave(lines, {.cycle_length = 4, .parallelism = 4});
    outcome o;
    (void)w.run(run_into(w.rt, ds, {}, o));
    INFO(o.why.to_string());
    if (o.why.ok()) {
      ++whole;
      std::sort(all.begin(), all.end());
      std::sort(o.elements.begin(), o.elements.end());
      CHECK((o.elements == all));
    } else {
      CHECK(o.why.code() == status_code::unavailable);
      CHECK_THAT(o.why.to_string(), Catch::Contains("http://objects/part-") && Catch::Contains(", attempt "));
    }
    CHECK(asked <= 12 * 8 * 2);
    CHECK(w.server.connections_open() == 0);
  }
  CHECK(whole >= 18);
}

namespace {

template <class T> task<> pull_one(stream<T>& s, status& why) {
  auto first = co_await s.try_next();
  why = first.why;
}
template <class T> task<> stop_later(stream<T>& s) {
  co_await sleep_for(1s);
  s.request_stop();
}
template <class T> task<> pull_and_stop(stream<T>& s) {
  environment* env = co_await this_environment();
  status why;
  scope both(*env);
  both.spawn(pull_one(s, why));
  both.spawn(stop_later(s));
  co_await both.join();
  CHECK(why.code() == status_code::cancelled);
}

}  // namespace

TEST_CASE("a stop ends a run at once, during any wait of its requests") {
  for (deed d : {deed{.before = 3600s}, deed{.stall_at = 1000}, deed{.code = 503, .fields = "Retry-After: 50\r\n"}}) {
    http_world w;
    put_parts(w, 4);
    w.server.always(d);
    auto ds = part_names(4) | interleave(lines, {.cycle_length = 4, .parallelism = 4});
    auto s = ds.iterate(w.rt);
    CHECK(w.run(pull_and_stop(s)).ok());
    sync_wait(w.rt, cleanup(std::move(s)));
    CHECK(w.world.elapsed() < 10s);
    CHECK(w.server.connections_open() == 0);
  }
}

}  // namespace sluice::lib::http_dataset_test
