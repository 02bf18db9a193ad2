// SPDX-License-Identifier: Apache-2.0
// Positions with the right seal that no run has written: a run from them ends, in an error or with elements, and takes time
// and memory in proportion to their bytes. (Single bytes of every verb's positions: op/every_verb_test.cpp.)
#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/forged_checkpoint.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/process_memory.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::forged_positions_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;

constexpr std::size_t kMiB = 1 << 20;

dataset<int64> some_of(int64 x) { return range(x * 10 + 4, {.start = x * 10}); }
int64 same(int64 x) { return x; }

/// A checkpoint of `ds` whose position is `forged`.
std::string sealed(const dataset<int64>& ds, const position_writer& forged) {
  test::consumption first;
  first.ask_max = 1;
  first.save = true;
  first.elements_max = 0;
  std::string bytes = test::consume(ds, first).places.at(0).bytes;
  bytes.resize(position_begin(bytes));
  return sealed_again(bytes + forged.bytes() + "****");
}
test::consumed from_forged(const dataset<int64>& ds, const position_writer& forged) {
  test::consumption how;
  how.ask_max = 1;
  how.marks_every = 1;
  how.save = true;
  how.elements_max = 50;
  how.from.bytes = sealed(ds, forged);
  return test::consume(ds, how);
}
}  // namespace

TEST_CASE("a shuffle's position whose input is after the held elements is refused") {
  auto ds = range(24) | shuffle(5, {.seed = 3});
  for (std::uint64_t draws : {1, 3, 9}) {
    for (std::uint64_t at : {2, 5, 7, 11, 20}) {
      position_writer w;
      put(w, *ds.plan(), draws, {draws, 0});
      put(w, *ds.plan()->inputs[0], at, {at});
      test::consumed got = from_forged(ds, w);
      CAPTURE(draws, at, got.mistake, got.why.to_string());
      CHECK((got.why.code() == status_code::data_loss || got.why.ok()));
      CHECK(got.mistake == "");
      if (at > draws + 5) CHECK(got.why.code() == status_code::data_loss);
    }
  }
}

TEST_CASE("a shuffle's position that claims to hold more than the budget is refused before any allocation") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = kMiB});
  auto ds = range(int64{1} << 50) | shuffle(int64{1} << 33, {.seed = 3});
  position_writer w;
  put(w, *ds.plan(), 7, {7, 0});
  put(w, *ds.plan()->inputs[0], 0, {0});
  test::consumption how;
  how.ask_max = 1;
  how.from.bytes = sealed(ds, w);
  test::consumed got = test::consume_on(rt, ds, how);
  CAPTURE(got.mistake, got.why.to_string());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::resource_exhausted);
}

TEST_CASE("a sloppy map's replayed choice that is far away is refused in bounded memory") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = 16 * kMiB});
  auto ds = range(int64{1} << 50) | map([](int64 x) { return x; }, {.parallelism = 4, .order = order::sloppy});
  position_writer w;
  put(w, *ds.plan(), 0, {/*done*/ 0, /*replay*/ 1, std::uint64_t{1} << 40, 1, /*log*/ 0});
  put(w, *ds.plan()->inputs[0], 0, {0});
  test::consumption how;
  how.ask_max = 1;
  how.elements_max = 50;
  how.from.bytes = sealed(ds, w);
  test::consumed got = test::consume_on(rt, ds, how);
  CAPTURE(got.mistake, got.why.to_string());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::data_loss);
  CHECK(rt.ledger().report().peak_bytes < 64 * kMiB);
}

namespace {

double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// What came of a resume from forged bytes, and what it cost.
struct forged_resume {
  std::size_t peak_bytes = 0;  ///< beyond what the bytes themselves took; 0 where a sanitizer is in the way
  double seconds = 0;
  std::size_t elements = 0;
  int64 least[4] = {};
  bool refused = false;   ///< as damaged
  bool mistaken = false;  ///< ended in another way than with elements or by refusing
};
forged_resume resume_forged(const dataset<int64>& ds, const std::string& bytes) {
  auto resume = [&] {
    forged_resume r;
    test::consumption how;
    how.ask_max = 1;
    how.elements_max = 50;
    how.marks_every = 10;
    how.from.bytes = bytes;
    double began = cpu_seconds();
    test::consumed got = test::consume(ds, how);
    r.seconds = cpu_seconds() - began;
    r.elements = got.elements.size();
    std::sort(got.elements.begin(), got.elements.end());
    std::copy_n(got.elements.begin(), std::min<std::size_t>(4, got.elements.size()), r.least);
    r.refused = got.complaint().find("damaged") != std::string::npos;
    r.mistaken = !r.refused && !got.complaint().empty();
    return r;
  };
  if (kSanitized) return resume();
  return in_own_process<forged_resume>(resume);
}
/// Some passes over the bytes, and some times their size.
void check_cheap(const forged_resume& r) {
  CAPTURE(r.peak_bytes, r.seconds, r.elements, r.refused);
  CHECK_FALSE(r.mistaken);
  CHECK(r.seconds < (kSanitized ? 60 : 5));
  CHECK(r.peak_bytes < 64 * kMiB);
}

dataset<int64> sloppily_mapped() {
  return range(int64{1} << 50) | map(same, {.parallelism = 4, .order = order::sloppy});
}
/// A position of sloppily_mapped() with these ranges of inputs as delivered, or as choices to be made again.
position_writer with_ranges(const dataset<int64>& ds, const std::vector<std::uint64_t>& starts, bool as_choices) {
  position_writer body;
  body.number(0);  // ordinal
  body.number(0);
  if (as_choices) body.number(0);
  body.number(starts.size());
  for (std::uint64_t first : starts) {
    body.number(first);
    body.number(1);
  }
  if (!as_choices) body.number(0);
  body.number(0);  // log
  position_writer w;
  w.raw(&ds.plan()->site, sizeof ds.plan()->site);
  w.text(body.bytes());
  put(w, *ds.plan()->inputs[0], 0, {0});
  return w;
}

}  // namespace

TEST_CASE("a forged sloppy map with a long list of delivered elements costs time in proportion to the list") {
  auto ds = sloppily_mapped();
  for (bool as_choices : {false, true})
    for (bool descending : {false, true})
      for (std::uint64_t step : {1, 2}) {  // neighbours, and with gaps between them
        std::vector<std::uint64_t> starts;
        for (std::uint64_t i = 0; i != 300'000; ++i) starts.push_back(step * i + 2);
        if (descending) std::reverse(starts.begin(), starts.end());
        forged_resume got = resume_forged(ds, sealed(ds, with_ranges(ds, starts, as_choices)));
        CAPTURE(as_choices, descending, step);
        check_cheap(got);
        if (as_choices) continue;  // where the first choice is far away, it is refused
        CHECK(got.elements == 50);
        std::vector<int64> least = {0, 1, 3, 5};
        if (step == 1) least = {0, 1, 300'002, 300'003};
        CHECK(std::vector<int64>(got.least, got.least + 4) == least);
      }
}

TEST_CASE("the list of delivered elements of a forged sloppy map may overlap, and each comes once") {
  auto ds = range(30) | map(same, {.parallelism = 4, .order = order::sloppy});
  position_writer body;
  for (std::uint64_t n : {0, 0, /*done*/ 4, 9, 3, 5, 6, 5, 2, 20, 1, /*replay*/ 1, 13, 2, /*log*/ 0}) body.number(n);
  position_writer w;
  w.raw(&ds.plan()->site, sizeof ds.plan()->site);
  w.text(body.bytes());
  put(w, *ds.plan()->inputs[0], 0, {0});
  test::consumption how;
  how.from.bytes = sealed(ds, w);
  test::consumed got = test::consume(ds, how);
  CHECK(got.complaint() == "");
  std::sort(got.elements.begin(), got.elements.end());
  CHECK(got.elements ==
        test::int64s{0, 1, 2, 3, 4, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29});
}

TEST_CASE("a forged interleave of more slots than a plan may have is refused before they are made") {
  auto ds = range(6) | interleave(some_of, {.cycle_length = 3, .block_length = 2});
  auto sloppy = range(6) | interleave(some_of, {.cycle_length = 3, .order = order::sloppy});
  for (const auto& plan : {ds, sloppy}) {
    for (std::uint64_t slots : {std::uint64_t{65'537}, std::uint64_t{2'000'000}}) {
      position_writer body;
      for (std::uint64_t n : {0, 0, /*at*/ 0, /*left*/ 1, /*taken*/ 0, /*ended*/ 0}) body.number(n);
      body.number(slots);
      for (std::uint64_t i = 0; i != slots; ++i) body.number(0);
      body.number(0);
      body.number(0);
      position_writer w;
      w.raw(&plan.plan()->site, sizeof plan.plan()->site);
      w.text(body.bytes());
      put(w, *plan.plan()->inputs[0], 0, {0});
      forged_resume got = resume_forged(plan, sealed(plan, w));
      CAPTURE(slots);
      check_cheap(got);
      CHECK(got.refused);
      CHECK(got.elements == 0);
    }
  }
}

TEST_CASE("a forged position of more records than a chain has stages is refused in time and memory of its own size") {
  auto ds = range(30) | map(same) | filter([](int64) { return true; }) | take(20);
  position_writer w;
  for (int i = 0; i != 1'000'000; ++i) put(w, *ds.plan(), 0, {});
  forged_resume got = resume_forged(ds, sealed(ds, w));
  check_cheap(got);
  CHECK(got.refused);
}

namespace {

struct large_value {
  std::string a, b, c, d, e, f, g, h;
};
stream<int64> remembering(saved<std::vector<large_value>> seen, stream<int64> in) {
  while (auto x = co_await in.next()) {
    if (seen->empty()) seen->emplace_back();
    co_yield *x;
  }
}

}  // namespace

TEST_CASE("a forged count of a user's saved values buys no more memory than there are values") {
  auto ds = range(30) |
            transform([](stream<int64> in) { return remembering(saved<std::vector<large_value>>(), std::move(in)); });
  position_writer body;
  body.number(0);
  body.number(0);
  body.number(1'000'000);  // values of 256 bytes, and one byte for each
  body.raw(std::string(1'000'000, 'x').data(), 1'000'000);
  position_writer w;
  w.raw(&ds.plan()->site, sizeof ds.plan()->site);
  w.text(body.bytes());
  put(w, *ds.plan()->inputs[0], 0, {0});
  forged_resume got = resume_forged(ds, sealed(ds, w));
  check_cheap(got);
  CHECK(got.refused);
}

TEST_CASE("a forged list of functions buys no more memory than the plan's own") {
  auto ds = range(30) | map(same);
  test::consumption first;
  first.ask_max = 1;
  first.save = true;
  std::string good = test::consume(ds, first).places.at(5).bytes;
  position_reader header(std::string_view(good).substr(kEnvelopeBytes - 1));
  position_writer forged_header, functions;
  forged_header.number(header.number());
  forged_header.text(header.text());
  functions.number(1'000'000);
  for (int i = 0; i != 3'000'000; ++i) functions.number(0);
  forged_header.text(functions.bytes());
  std::string bytes = good.substr(0, kEnvelopeBytes - 1) + forged_header.bytes() + good.substr(position_begin(good));
  check_cheap(resume_forged(ds, sealed_again(std::move(bytes))));
}

}  // namespace sluice::lib::forged_positions_test
