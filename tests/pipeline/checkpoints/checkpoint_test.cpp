// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be a checkpoint: damaged, forged, of another plan, of other files, of another policy.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/forged_checkpoint.hpp"
#include "pipeline/input_files.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::checkpoint_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;

constexpr std::size_t kMiB = 1 << 20;

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

TEST_CASE("a forged offset inside a footer is an error, whether elements are skipped or read") {
  const fixed_length_options layout{.record_bytes = 4, .header_bytes = 0, .footer_bytes = 8};
  for (compression c : kCompressions) {
    file_world w;
    std::string plain = "aaaabbbbccccfootfoot";
    w.files->put("a", c == compression::none ? plain : c == compression::gzip ? gzipped(plain) : zlibbed(plain));
    auto ds = fixed_length("a", layout);
    REQUIRE(run(w.rt, ds).elements == texts{"aaaa", "bbbb", "cccc"});
    for (std::uint64_t passed : {0, 2, 1'000'000}) {
      position_writer forged;
      put(forged, *ds.plan(), 4, {16, 4});
      iterate_options o;
      o.from = with_position(w.rt, ds, forged);
      outcome got;
      auto s = ds.iterate(w.rt, o);
      test::tree_of(s).pass_over(passed);
      sync_wait(w.rt, drain_into(s, got));
      CAPTURE(to_string(c), passed, got.message());
      CHECK(got.elements.empty());
      CHECK(got.why.code() == status_code::data_loss);
    }
  }
}

TEST_CASE("a place under skip is refused by a run that stops at bad elements; the reverse is allowed") {
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

}  // namespace sluice::lib::checkpoint_test
