// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be a checkpoint: damaged, forged, of another plan, of other files, of another policy.
#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/format/crc32c.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/consumption.hpp"
#include "support/process_memory.hpp"

namespace sluice::lib {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kEnvelopeBytes = 7 + 8 + 8 + 1 + 1;  // before the position (src/pipeline/seal.hpp)

/// Stages of every kind that saves something.
dataset<std::string> saving_plan() {
  return list_files("part-*") | interleave(tfrecord, {.cycle_length = 2, .parallelism = 2}) |
         map(text_of, {.parallelism = 2}) | shuffle(5, {.seed = 7}) | repeat(2) | skip(3) | take(70) | batch(2) |
         unbatch() | prefetch(3);
}
dataset<std::string> sloppy_plan() {
  return list_files("part-*") | interleave(tfrecord, {.cycle_length = 3, .parallelism = 3, .order = order::sloppy}) |
         map(text_of, {.parallelism = 3, .order = order::sloppy});
}
void put_parts(file_world& w, int n) {
  for (const std::string& name : names(n)) w.files->put(name, file_of(20, 10));
}

/// With the checksum that its bytes should have.
/// Where the position begins: after the epoch, the inputs seen and the identities of functions.
std::size_t position_begin(std::string_view bytes) {
  position_reader header(bytes.substr(kEnvelopeBytes - 1));
  header.number();
  header.text();
  header.text();
  return bytes.size() - header.remaining().size();
}
std::string sealed_again(std::string bytes) {
  std::uint32_t crc = crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  std::memcpy(bytes.data() + bytes.size() - 4, &crc, sizeof crc);
  return bytes;
}
outcome resumed(file_world& w, const dataset<std::string>& ds, std::string bytes) {
  iterate_options o;
  o.from.bytes = std::move(bytes);
  return run(w.rt, ds, o);
}

}  // namespace

TEST_CASE("a checkpoint with any bit flipped, or cut anywhere, is refused") {
  file_world w;
  put_parts(w, 4);
  outcome whole = run(w.rt, saving_plan());
  REQUIRE(whole.why.ok());
  REQUIRE(whole.elements.size() == 70);
  std::string good = whole.places[33].bytes;
  CHECK(resumed(w, saving_plan(), good).elements == texts(whole.elements.begin() + 33, whole.elements.end()));
  for (std::size_t bit = 0; bit != good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    outcome got = resumed(w, saving_plan(), bad);
    CAPTURE(bit, got.message());
    CHECK(got.elements.empty());
    CHECK((got.why.code() == status_code::data_loss || got.why.code() == status_code::failed_precondition));
  }
  for (std::size_t size = 1; size != good.size(); ++size) {
    outcome got = resumed(w, saving_plan(), good.substr(0, size));
    CAPTURE(size, got.message());
    CHECK(got.elements.empty());
    CHECK(got.why.code() == status_code::data_loss);
  }
}

TEST_CASE("a forged checkpoint does no harm: an error or some elements, in bounded memory") {
  for (bool sloppy : {false, true}) {
    auto ds = sloppy ? sloppy_plan() : saving_plan();
    file_world w(1, 64 * kMiB);
    put_parts(w, 4);
    outcome whole = run(w.rt, ds);
    REQUIRE(whole.why.ok());
    std::size_t refused = 0, tried = 0;
    for (std::size_t place : {std::size_t{0}, std::size_t{33}, whole.elements.size()}) {
      const std::string& good = whole.places[place].bytes;
      auto check = [&](std::string forged) {
        CAPTURE(sloppy, place, tried);
        outcome got = resumed(w, ds, sealed_again(std::move(forged)));
        CAPTURE(got.message());
        ++tried;
        refused += !got.why.ok();
        CHECK(got.message().find("is stuck at") == std::string::npos);
        CHECK(got.elements.size() <= 2 * whole.elements.size() + 100);
        CHECK(w.rt.ledger().used_bytes() == 0);
      };
      for (std::size_t bit = 15 * 8; bit != (good.size() - 4) * 8; ++bit) {  // the rest of the envelope is refused
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
        check(std::move(bad));
      }
      for (std::size_t size = kEnvelopeBytes + 4; size < good.size(); ++size) check(good.substr(0, size));
      for (std::size_t at = kEnvelopeBytes; at + 4 < good.size(); ++at) {  // numbers as large as they get
        std::string bad = good.substr(0, at) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + good.substr(at + 1);
        check(std::move(bad));
      }
    }
    CHECK(refused > tried / 4);
    CHECK(w.rt.ledger().report().peak_bytes < 96 * kMiB);
  }
}

TEST_CASE("a checkpoint of another plan is refused, one with other knobs is not") {
  file_world w;
  outcome whole = run(w.rt, range(20) | map([](int64 x) { return x; }) | take(15));
  iterate_options o;
  o.from = whole.places[5];
  outcome other = run(w.rt, range(21) | map([](int64 x) { return x; }) | take(15), o);
  CAPTURE(other.message());
  CHECK(other.elements.empty());
  CHECK(other.why.code() == status_code::failed_precondition);
  CHECK_THAT(other.message(), Contains("another plan"));
}

TEST_CASE("a resume over other files than before is refused, wherever it starts") {
  file_world w;
  put_parts(w, 4);
  auto ds = list_files("part-*") | interleave(tfrecord, {.cycle_length = 2, .parallelism = 2}) |
            map(text_of, {.parallelism = 2}) | shuffle(5, {.seed = 7}) | batch(2) | unbatch();
  outcome whole = run(w.rt, ds);
  REQUIRE(whole.elements.size() == 80);
  w.files->put("part-9", file_of(20, 10));
  for (std::size_t place : {1, 2, 7, 30, 79}) {  // at 0 no file is known yet
    outcome got = resumed(w, ds, whole.places[place].bytes);
    CAPTURE(place, got.message());
    CHECK(got.elements.empty());
    CHECK(got.why.code() == status_code::failed_precondition);
    CHECK(got.why.where().stage == "list_files");
    CHECK_THAT(got.message(), Contains("not those the checkpoint was made with"));
  }
}

TEST_CASE("a resume in a file that has become shorter is an error that names it, even where changes are ignored") {
  file_world w;
  w.files->put("a", file_of(1000, 2000));
  auto ds = tfrecord("a", {.read_bytes = 4096});
  outcome whole = run(w.rt, ds);
  w.files->put("a", file_of(3, 2000));
  iterate_options o;
  o.from = whole.places[900];
  o.on_changed_inputs = changed_inputs::ignore;
  outcome got = run(w.rt, ds, o);
  CAPTURE(got.message());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::data_loss);
  CHECK(got.why.where().file == "a");
}

TEST_CASE("a forged offset in a file ends in an error or at an element, in any format, plain or compressed") {
  texts elements = some_elements(50);
  for (file_format f : kFormats)
    for (compression c : kCompressions)
      with_reader(f, "a", [&](auto ds, auto) {
        file_world w;
        w.files->put("a", file_bytes(f, c, elements));
        outcome whole = run(w.rt, ds);
        REQUIRE((whole.elements == elements));
        const std::string& good = whole.places[20].bytes;  // its offset is a varint of two bytes
        std::size_t refused = 0, tried = 0;
        auto known = [&](const std::string& e) { return std::count(elements.begin(), elements.end(), e) == 1; };
        for (std::size_t at = kEnvelopeBytes; at + 5 < good.size(); ++at)
          for (int low = 3; low < 128; low += 37)
            for (int high : {0x01, 0x20, 0x4e}) {
              std::string bad = good;
              bad[at] = static_cast<char>(low | 0x80);
              bad[at + 1] = static_cast<char>(high);
              iterate_options o;
              o.from.bytes = sealed_again(std::move(bad));
              outcome got = run(w.rt, ds, o);
              CAPTURE(name_of(f), to_string(c), at, low, high, got.message());
              ++tried;
              refused += !got.why.ok();
              CHECK(std::all_of(got.elements.begin(), got.elements.end(), known));
              CHECK(got.why.code() != status_code::internal);
            }
        CHECK(refused > tried / 3);
      });
}

namespace {

dataset<int64> some_of(int64 x) { return range(x * 10 + 4, {.start = x * 10}); }
int64 same(int64 x) { return x; }

/// One plan for each operator that saves something of its own, at the root: its state is in every position.
std::vector<dataset<int64>> plans_with_state() {
  auto sloppy = order::sloppy;
  return {
      range(6) | flat_map(some_of),
      range(6) | interleave(some_of, {.cycle_length = 3, .block_length = 2}),
      range(6) | interleave(some_of, {.cycle_length = 3, .block_length = 2, .parallelism = 2}),
      range(6) | interleave(some_of, {.cycle_length = 3, .parallelism = 2, .order = sloppy}),
      range(24) | map(same, {.parallelism = 3}),
      range(24) | map(same, {.parallelism = 3, .order = sloppy}),
      range(24) | shuffle(5, {.seed = 3}),
      range(6) | repeat(4),
      range(30) | skip(3) | take(24),
      range(24) | batch(5) | unbatch(),
  };
}

}  // namespace

TEST_CASE("a forged position of any stage does no harm: it ends, in an error or with elements") {
  for (const auto& ds : plans_with_state()) {
    test::consumption by_ones;  // no leftovers: a position says where the stage itself stands
    by_ones.ask_max = 1;
    by_ones.marks_every = 1;
    by_ones.save = true;
    test::consumed whole = test::consume(ds, by_ones);
    REQUIRE(whole.complaint() == "");
    REQUIRE(whole.elements.size() == 24);
    std::size_t tried = 0, refused = 0;
    for (std::size_t place : {std::size_t{1}, std::size_t{5}, std::size_t{13}, whole.elements.size()}) {
      const std::string& good = whole.places[place].bytes;
      auto check = [&](std::string forged) {
        test::consumption how;
        how.ask_max = 1;
        how.from.bytes = sealed_again(std::move(forged));
        how.elements_max = 200;  // a forged length of the input may be long
        test::consumed got = test::consume(ds, how);
        CAPTURE(plan_text(*ds.plan()), place, tried, got.mistake, got.why.to_string());
        ++tried;
        refused += !got.complaint().empty();
        bool known = got.mistake.empty() || got.mistake.find("damaged") != std::string::npos ||
                     got.mistake.find("made by another plan: ") != std::string::npos ||  // its functions
                     got.mistake.find("state in version") != std::string::npos;
        CHECK(known);
        CHECK(got.mistake.find("still charged") == std::string::npos);
      };
      for (std::size_t at = kEnvelopeBytes; at + 4 < good.size(); ++at) {
        for (char byte : {'\0', '\x01', '\x02', '\x07', '\x7f', static_cast<char>(good[at] + 1)}) {
          std::string bad = good;
          bad[at] = byte;
          if (bad != good) check(std::move(bad));
        }
        check(good.substr(0, at) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + good.substr(at + 1));
      }
    }
    CHECK(tried > 20);
    CHECK(refused > 0);
  }
}

namespace {

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
/// The record of a stage that has nothing to pass over: see coro/position.hpp.
void put(position_writer& w, const node& stage, std::uint64_t ordinal, std::initializer_list<std::uint64_t> saved) {
  position_writer body;
  body.number(ordinal);
  body.number(0);
  for (std::uint64_t n : saved) body.number(n);
  w.raw(&stage.site, sizeof stage.site);
  w.text(body.bytes());
}

}  // namespace

TEST_CASE("a shuffle's position with an input that stands behind what is held is refused") {
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

TEST_CASE("a shuffle's position that says it held more than the budget is refused before it takes any memory") {
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

TEST_CASE("a forged sloppy map with a long list of what it delivered costs time in proportion to the list") {
  auto ds = sloppily_mapped();
  for (bool as_choices : {false, true})
    for (bool descending : {false, true}) {
      std::vector<std::uint64_t> starts;
      for (std::uint64_t i = 0; i != 300'000; ++i) starts.push_back(2 * i + 2);
      if (descending) std::reverse(starts.begin(), starts.end());
      forged_resume got = resume_forged(ds, sealed(ds, with_ranges(ds, starts, as_choices)));
      CAPTURE(as_choices, descending);
      check_cheap(got);
      if (as_choices) continue;  // the last one of 300,000 may be asked for first: refused, or made
      CHECK(got.elements == 50);
      CHECK(std::vector<int64>(got.least, got.least + 4) == std::vector<int64>{0, 1, 3, 5});
    }
}

TEST_CASE("what a forged sloppy map says it delivered may overlap, and comes once all the same") {
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

TEST_CASE("a place under skip is none for a run that stops at bad elements; the other way round it is") {
  file_world w;
  texts records = some_records(30);
  std::string bytes = framed(records);
  w.files->put("a", flipped(bytes, frame_of(records, 20) + kTfrecordHeaderBytes));
  for (auto ds : {tfrecord("a"), tfrecord("a") | prefetch(4)}) {
    iterate_options skips, stops;
    skips.on_error = error_policy::skip;
    outcome stopped = run(w.rt, ds, stops);
    CHECK(stopped.elements == first_of(records, 20));
    skips.from = stopped.places[15];
    outcome gone_on = run(w.rt, ds, skips);
    CHECK(gone_on.why.ok());
    texts rest(records.begin() + 15, records.end());
    rest.erase(rest.begin() + 5);
    CHECK(gone_on.elements == rest);
    stops.from = gone_on.places[10];
    outcome refused = run(w.rt, ds, stops);
    CHECK(refused.elements.empty());
    CHECK(refused.why.code() == status_code::failed_precondition);
    CHECK_THAT(refused.message(), Contains("error policy"));
  }
}

TEST_CASE("a seed of 0 is a seed, also in a checkpoint and on a runtime that has another") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .seed = 99});
  auto ds = range(50) | shuffle(50);
  iterate_options zero;
  zero.seed = 0;
  outcome whole = run(rt, ds, zero);
  CHECK(whole.report.seed == 0);
  zero.seed.reset();
  zero.from = whole.places[20];
  outcome rest = run(rt, ds, zero);
  CHECK(rest.elements == texts(whole.elements.begin() + 20, whole.elements.end()));
  CHECK(run(rt, ds).report.seed == 99);
}

}  // namespace sluice::lib
