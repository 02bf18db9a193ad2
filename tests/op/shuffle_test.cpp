// SPDX-License-Identifier: Apache-2.0
// sluice/op/shuffle.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/sequential.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/resumed_everywhere.hpp"
#include "verbs/shuffle_model.hpp"

namespace sluice::lib::shuffle_test {
namespace {

using namespace test;
using namespace shuffle_case;
using int64 = std::int64_t;

/// Neither copied nor moved by its bytes, and counted.
struct counted_number {
  static constexpr std::string_view sluice_name = "counted_number";
  static inline int live = 0;
  explicit counted_number(int64 x) : value(std::make_unique<int64>(x)) { ++live; }
  counted_number(counted_number&& o) noexcept : value(std::move(o.value)) { ++live; }
  counted_number& operator=(counted_number&&) = default;
  ~counted_number() { --live; }
  std::unique_ptr<int64> value;
};
int g_calls_left = 0;
counted_number made(int64 x) {
  if (--g_calls_left == 0) throw std::runtime_error("this element cannot be made");
  return counted_number(x);
}

struct life {
  int64s got;
  std::vector<checkpoint> places;
  status why;
};
task<void> live(stream<counted_number> s, life& l) {
  for (;;) {
    l.places.push_back(s.position());
    auto x = co_await s.try_next();
    l.why = x.why;
    if (!x) break;
    l.got.push_back(*x->value);
  }
}

}  // namespace

TEST_CASE("an error while a resumed shuffle fetches destroys the fetched elements only") {
  for (int64 buffer_size : {7, 20, 100}) {  // the last holds all: it only empties
    testing::file_world w;
    auto ds = range(60) | map(made) | shuffle(buffer_size, {.seed = 3});
    life whole;
    g_calls_left = -1;
    sync_wait(w.rt, live(ds.iterate(w.rt), whole));
    REQUIRE(whole.got.size() == 60);
    REQUIRE(counted_number::live == 0);
    int failed = 0;
    for (std::size_t place = 1; place != 60; ++place)
      for (int call = 1; call <= 31; call += 3) {
        life again;
        g_calls_left = call;
        sync_wait(w.rt, live(ds.iterate(w.rt, {.from = whole.places[place]}), again));
        CAPTURE(buffer_size, place, call, again.why.to_string());
        failed += !again.why.ok();
        CHECK(counted_number::live == 0);
        CHECK(std::equal(again.got.begin(), again.got.end(), whole.got.begin() + static_cast<std::ptrdiff_t>(place)));
        CHECK((again.why.ok() == (g_calls_left > 0)));
        CHECK(w.rt.ledger().report().used_bytes == 0);
      }
    CHECK(failed > 200);
  }
}

TEST_CASE("a shuffle of shuffles conforms") {
  conforms({.stage = [](const auto& in) { return in | shuffle(5, {.seed = 7}) | shuffle(3, {.seed = 7}) | repeat(2); },
            .expected =
                [](const int64s& in) {
                  auto given = std::make_shared<plan_description>();
                  given->given = in;
                  plan_ptr p = above(case_named("shuffle"), {.a = 5, .b = 7}, {given});
                  p = above(case_named("shuffle"), {.a = 3, .b = 7}, {p});
                  p = above(case_named("repeat"), {.a = 2}, {p});
                  return evaluate(*p, 1'000'000).value();
                }});
}

TEST_CASE("a shuffle gives every element once, and an element never more than its buffer early") {
  int64s got = consume(range(1000) | shuffle(64, {.seed = 3}), {}).elements;
  REQUIRE(got.size() == 1000);
  for (std::size_t place = 0; place != got.size(); ++place) CHECK(got[place] < static_cast<int64>(place) + 64);
  CHECK(!std::is_sorted(got.begin(), got.end()));
  std::sort(got.begin(), got.end());
  for (std::size_t i = 0; i != got.size(); ++i) REQUIRE(got[i] == static_cast<int64>(i));
}

TEST_CASE("a shuffle without a seed draws one for the run, which a resume keeps") {
  const auto ds = range(100) | shuffle(50);
  CHECK(consume(ds, {}).elements.size() == 100);
  resumes_everywhere(ds);
}

TEST_CASE("a shuffle reads no further than its buffer for its first element") {
  auto calls = std::make_shared<int>();
  auto counting = [calls](int64 x) {
    ++*calls;
    return x;
  };
  consumption how;
  how.elements_max = 1;
  CHECK(consume(range(1000) | map(counting) | shuffle(10, {.seed = 1}), how).elements.size() == 1);
  CHECK(*calls == 11);  // ten held, and the one that took the first one's place
}

TEST_CASE("a resumed shuffle is charged for the bits by which it finds and builds the held elements") {
  constexpr std::size_t kPlaces = 80'000;
  auto ds = range(10 * kPlaces) | shuffle(kPlaces, {.seed = 7});
  checkpoint from;
  for (bool resumed : {false, true}) {
    simulation world(1);
    runtime rt(world, {.workers = 1});
    auto some = [](stream<int64> s, checkpoint& place) -> task<void> {
      for (int i = 0; i != 1000; ++i) co_await s.next();
      place = s.position();
    };
    sync_wait(rt, some(ds.iterate(rt, {.from = from}), from));
    for (auto& line : rt.ledger().report().lines) {
      if (!resumed || line.held_for != purpose::shuffle) continue;
      CHECK(line.peak_bytes >= kPlaces * 16 + kPlaces / 8 + kPlaces / 4);
      CHECK(line.peak_bytes < kPlaces * 17);
    }
    CHECK(rt.ledger().report().used_bytes == 0);
  }
}

TEST_CASE("a resumed shuffle keeps the fetched elements while its input skips long records") {
  testing::texts records;
  for (std::size_t i = 0; i != 60; ++i)
    records.push_back(std::to_string(i) + std::string(i % 3 == 0 ? 2400 : 5000, static_cast<char>('a' + i % 26)));
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    testing::file_world w(seed);
    w.files->put("records", testing::framed(records));
    // Windows of a few records: what is passed over reaches beyond the window that holds what was fetched.
    auto ds = tfrecord("records", {.read_bytes = 4096}) | shuffle(20, {.seed = 3}) | map(testing::text_of);
    std::vector<std::string> all;
    std::vector<checkpoint> places;
    auto whole = [](stream<std::string> s, std::vector<std::string>& to, std::vector<checkpoint>* at) -> task<void> {
      for (;;) {
        if (at) at->push_back(s.position());
        auto x = co_await s.next();
        if (!x) break;
        to.push_back(*x);
      }
    };
    sync_wait(w.rt, whole(ds.iterate(w.rt), all, &places));
    REQUIRE(all.size() == records.size());
    for (std::size_t i = 0; i != places.size(); ++i) {
      std::vector<std::string> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i));
      sync_wait(w.rt, whole(ds.iterate(w.rt, {.from = places[i]}), rest, nullptr));
      CHECK((rest == all));
    }
  }
}

}  // namespace sluice::lib::shuffle_test
