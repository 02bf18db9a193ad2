// SPDX-License-Identifier: Apache-2.0
// Pipelines over HDFS, in virtual time: read ahead by ranges, resumed in the middle, written as an output.
#include <catch2/catch.hpp>

#include <algorithm>

#if SLUICE_HAVE_STORES
#include "http/hdfs/hdfs_world.hpp"
#include "http/text_objects.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::hdfs_dataset_test {
using namespace sluice::lib::testing;

namespace {

texts put_parts(hdfs_files& w, std::size_t files, std::size_t count) {
  texts all;
  for (std::size_t f = 0; f != files; ++f) {
    const texts some = lines_of(f, count, 1000);
    w.hdfs.put("/train/day=" + std::to_string(f % 3) + "/part-" + std::to_string(100 + f), joined_lines(some));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

template <class T> outcome run_over(hdfs_files& w, const dataset<T>& ds, iterate_options how = {}) {
  outcome o;
  const status served = w.try_run(run_into(w.rt, ds, how, o));
  INFO(served.to_string());
  CHECK(served.ok());
  return o;
}

auto all_parts() {
  return list_files("hdfs://warehouse/train/**/part-*", {.shuffle = false}) |
         interleave([](std::string path) { return lines(path); }, {.cycle_length = 4, .parallelism = 2});
}

}  // namespace

TEST_CASE("a large file of HDFS is read ahead by ranges that grow, each of them confirmed once") {
  hdfs_files w;
  (void)w.fs();
  const texts all = lines_of(0, 30'000, 1000);
  w.hdfs.put("/large.txt", joined_lines(all));
  const outcome o = run_over(w, lines("hdfs://warehouse/large.txt"));
  INFO(o.why.to_string());
  CHECK(o.why.ok());
  CHECK((o.elements == all));
  const std::size_t ranges = w.dn1.log().size() + w.dn2.log().size();
  CHECK(ranges > 4);
  CHECK(ranges < 20);
  CHECK(w.asked("OPEN") == ranges);
  CHECK(w.asked("GETFILESTATUS") == ranges + 1);
}

TEST_CASE("whole runs over folders of HDFS are resumed in the middle, while name nodes change places") {
  hdfs_files w;
  (void)w.fs();
  w.hdfs.page_entries = 2;
  put_parts(w, 7, 40);
  const outcome whole = run_over(w, all_parts());
  INFO(whole.why.to_string());
  REQUIRE(whole.why.ok());
  REQUIRE(whole.elements.size() == 7 * 40);
  for (std::size_t at = 0; at <= whole.elements.size(); at += 35) {
    w.hdfs.in_standby = {at % 2};
    iterate_options from;
    from.from = whole.places[at];
    const outcome rest = run_over(w, all_parts(), from);
    INFO(at << " " << rest.why.to_string());
    CHECK(rest.why.ok());
    CHECK((rest.elements == texts(whole.elements.begin() + static_cast<std::ptrdiff_t>(at), whole.elements.end())));
  }
}

TEST_CASE("a run over HDFS that continues with a rewritten file reports it") {
  hdfs_files w;
  (void)w.fs();
  w.hdfs.put("/a", joined_lines(lines_of(0, 100, 1000)));
  const outcome whole = run_over(w, lines("hdfs://warehouse/a"));
  w.hdfs.put("/a", joined_lines(lines_of(0, 100, 1000)));  // the same bytes, and another file
  iterate_options from;
  from.from = whole.places[50];
  outcome rest;
  (void)w.try_run(run_into(w.rt, lines("hdfs://warehouse/a"), from, rest));
  CHECK(rest.why.code() == status_code::failed_precondition);
  CHECK_THAT(rest.why.to_string(), Catch::Contains("hdfs://warehouse/a"));
}

TEST_CASE("data nodes that break off, stall and refuse do not change the result of a run over HDFS") {
  hdfs_files w;
  (void)w.fs();
  const texts all = put_parts(w, 6, 2'000);
  std::size_t n = 0;
  for (scripted_server* dn : {&w.dn1, &w.dn2})
    dn->on_request([&n, dn](const asked_for&) {
      switch (++n % 4) {
        case 0: dn->script({{.reset_at = 70'000}}); break;
        case 1: dn->script({{.code = 503}}); break;
        case 2: dn->script({{.stall_at = 90'000}}); break;
        default: break;
      }
    });
  outcome o = run_over(w, all_parts());
  INFO(o.why.to_string());
  CHECK(o.why.ok());
  std::sort(o.elements.begin(), o.elements.end());
  texts sorted = all;
  std::sort(sorted.begin(), sorted.end());
  CHECK((o.elements == sorted));
}
#endif

}  // namespace sluice::lib::hdfs_dataset_test
