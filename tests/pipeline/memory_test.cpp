// SPDX-License-Identifier: Apache-2.0
// The memory budget holds, a small one stops nobody, and bytes that claim to be a checkpoint do no harm.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/coro/sleep.hpp"
#include "sluice/format/crc32c.hpp"
#include "sluice/format/tfrecord.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;
using texts = std::vector<std::string>;

constexpr std::size_t kMiB = 1 << 20;
/// What may be taken beyond the budget so that everybody can go on (docs/decisions/0002).
constexpr std::size_t kOverdraft = 32 * kMiB;

std::string file_of(std::size_t records, std::size_t each) {
  std::string bytes;
  for (std::size_t i = 0; i != records; ++i) append_tfrecord(bytes, std::to_string(i) + std::string(each, '.'));
  return bytes;
}
std::vector<std::string> names(int n, const std::string& prefix = "part-") {
  std::vector<std::string> all;
  for (int i = 0; i != n; ++i) all.push_back(prefix + std::to_string(i));
  return all;
}
std::string text_of(const record& r) { return std::string(r.view()); }

/// A consumer so slow that everybody ahead of it works as far ahead as they may.
template <class T> task<void> count_slowly(stream<T> s, std::size_t& count, status& why) {
  for (;;) {
    auto x = co_await s.try_next();
    why = x.why;
    if (!x) break;
    if (++count % 16 == 1) co_await sleep_for(std::chrono::milliseconds(2));
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

dataset<std::string> greedy(std::vector<std::string> files, int64 parallelism) {
  return from_elements(std::move(files)) |
         interleave(tfrecord, {.cycle_length = parallelism, .parallelism = parallelism}) |
         map(text_of, {.parallelism = parallelism}) | prefetch(10'000);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

/// A line of /proc/self/status, in bytes.
std::size_t memory_line(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return std::stoul(line.substr(name.size() + 1)) * 1024;
  return 0;
}

}  // namespace

// --- The budget -----------------------------------------------------------------------------------------------------

TEST_CASE("whatever works ahead keeps to the budget and the overdraft, and everything is given back") {
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    file_world w(seed, 16 * kMiB);
    std::string bytes = file_of(60, 100'000);
    for (const std::string& n : names(12)) w.files->put(n, bytes);
    std::size_t count = 0;
    status why;
    sync_wait(w.rt, count_slowly(greedy(names(12), 12).iterate(w.rt), count, why));
    ledger_report r = w.rt.ledger().report();
    CAPTURE(seed, why.to_string(), r.to_string(), r.overdraft_peak_bytes);
    CHECK(why.ok());
    CHECK(count == 12 * 60);
    CHECK(r.peak_bytes > 12 * kMiB);  // it did work ahead
    CHECK(r.peak_bytes <= 16 * kMiB + kOverdraft);
    CHECK(r.used_bytes == 0);
    for (std::size_t bytes_left : r.by_purpose) CHECK(bytes_left == 0);
  }
}

TEST_CASE("a process stays within 64 MiB of the budget, with any parallelism") {
  temporary_folder folder;
  std::string path = folder.write("a.tfrecord", file_of(200, 150'000));
  for (int64 parallelism : {4, 32}) {
    pid_t child = ::fork();  // a process of its own: the highest mark of this one is long past
    REQUIRE(child >= 0);
    if (child == 0) {
      std::ofstream("/proc/self/clear_refs") << "5";  // the mark starts here
      std::size_t before = memory_line("VmRSS"), count = 0;
      status why;
      {
        runtime rt({.workers = 2, .memory_budget_bytes = 32 * kMiB});
        auto s = greedy(std::vector<std::string>(32, path), parallelism).iterate(rt);
        sync_wait(rt, count_slowly(std::move(s), count, why));
      }
      std::size_t over = memory_line("VmHWM") - before;
      if (over > 96 * kMiB)
        std::fprintf(stderr, "parallelism %d: %zu MiB\n", static_cast<int>(parallelism), over / kMiB);
      if (!why.ok()) std::fprintf(stderr, "%s\n", why.to_string().c_str());
      ::_exit(!why.ok() || count != 32 * 200 ? 2 : over > 96 * kMiB && !kSanitized ? 3 : 0);
    }
    int how = 0;
    REQUIRE(::waitpid(child, &how, 0) == child);
    CAPTURE(parallelism);
    CHECK(WIFEXITED(how));
    CHECK(WEXITSTATUS(how) == 0);
  }
}

TEST_CASE("a budget that is far too small stops nobody") {
  for (std::size_t budget : {std::size_t{1}, std::size_t{64} << 10, kMiB}) {
    for (std::uint64_t seed = 1; seed != 6; ++seed) {
      file_world w(seed, budget);
      std::string bytes = file_of(50, 3000);
      for (const std::string& n : names(6)) w.files->put(n, bytes);
      std::vector<dataset<std::string>> plans = {
          greedy(names(6), 4),
          from_elements(names(6)) | interleave(tfrecord, {.cycle_length = 3, .parallelism = 2}) | map(text_of) |
              prefetch(2),
          from_elements(names(6)) |
              interleave(tfrecord, {.cycle_length = 6, .parallelism = 6, .order = order::sloppy}) |
              map(text_of, {.parallelism = 4, .order = order::sloppy}) | prefetch(3) | prefetch(3),
      };
      for (const auto& ds : plans) {
        std::size_t count = 0;
        status why;
        sync_wait(w.rt, count_slowly(ds.iterate(w.rt), count, why));
        CAPTURE(seed, budget, plan_text(*ds.plan()), why.to_string());
        CHECK(why.ok());
        CHECK(count == 6 * 50);
        CHECK(w.rt.ledger().used_bytes() == 0);
      }
    }
  }
}

namespace {

std::size_t made = 0, taken = 0, most = 0;
std::string large(int64) {
  most = std::max(most, ++made - taken);
  return std::string(64 << 10, 'x');
}
task<void> take_slowly(stream<std::string> s) {
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    ++taken;
    co_await sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("what a function makes of small elements counts, not only what it was given") {
  for (auto order : {order::deterministic, order::sloppy}) {
    made = taken = most = 0;
    file_world w(1, 4 * kMiB);
    auto ds = range(3000) | map(large, {.parallelism = 8, .order = order});
    sync_wait(w.rt, take_slowly(ds.iterate(w.rt)));
    CHECK(taken == 3000);
    CHECK(most * (64 << 10) <= 4 * kMiB + kOverdraft);
    CHECK(w.rt.ledger().report().peak_bytes > 2 * kMiB);  // the ledger knew of them
    CHECK(w.rt.ledger().used_bytes() == 0);
  }
}

TEST_CASE("a shuffle larger than the budget ends with an error that says what to do") {
  file_world w(1, 2 * kMiB);
  w.files->put("a", file_of(1000, 10'000));
  outcome got = run(w.rt, tfrecord("a") | shuffle(1000, {.seed = 1}));
  CAPTURE(got.message());
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(got.why.where().stage == "shuffle");
  CHECK_THAT(got.message(), Contains("lower buffer_size"));
  CHECK_THAT(got.message(), Contains("budget of 2 MiB"));
  CHECK(w.rt.ledger().used_bytes() == 0);
}

TEST_CASE("a shuffle gives back what it held for, element by element") {
  file_world w(1, 64 * kMiB);
  w.files->put("a", file_of(500, 10'000));
  auto ds = tfrecord("a") | shuffle(400, {.seed = 1});
  std::vector<std::size_t> used;
  auto watch = [](runtime& rt, const dataset<record>& plan, std::vector<std::size_t>& all) -> task<void> {
    auto s = plan.iterate(rt);
    for (;;) {
      auto x = co_await s.next();
      if (!x) break;
      all.push_back(rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::shuffle)]);
    }
  };
  sync_wait(w.rt, watch(w.rt, ds, used));
  REQUIRE(used.size() == 500);
  CHECK(used[50] > 3'900'000);
  CHECK(used[499] < used[50] / 2);  // the buffer was emptied meanwhile
  CHECK(w.rt.ledger().used_bytes() == 0);
}

TEST_CASE("an element that outlives its run keeps its bytes charged until it goes") {
  file_world w;
  w.files->put("a", file_of(10, 100));
  auto keep_one = [](runtime& rt, const dataset<record>& ds, record& kept) -> task<void> {
    auto s = ds.iterate(rt);
    auto x = co_await s.next();
    kept = *x;
    auto end = cleanup(std::move(s));
    co_await end;
  };
  record kept;
  sync_wait(w.rt, keep_one(w.rt, tfrecord("a"), kept));
  CHECK(w.rt.ledger().used_bytes() >= kept.view().size());
  CHECK(w.rt.ledger().used_bytes() < kMiB);
  kept = record();
  CHECK(w.rt.ledger().used_bytes() == 0);
}

// --- Checkpoints ----------------------------------------------------------------------------------------------------

namespace {

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
      for (std::size_t size = 27; size < good.size(); ++size) check(good.substr(0, size));
      for (std::size_t at = 23; at + 4 < good.size(); ++at) {  // numbers as large as they get
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

TEST_CASE("a resume in a file that has become shorter is an error that names it") {
  file_world w;
  w.files->put("a", file_of(1000, 2000));
  auto ds = tfrecord("a", {.read_bytes = 4096});
  outcome whole = run(w.rt, ds);
  w.files->put("a", file_of(3, 2000));
  iterate_options o;
  o.from = whole.places[900];
  outcome got = run(w.rt, ds, o);
  CAPTURE(got.message());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::data_loss);
  CHECK(got.why.where().file == "a");
}

}  // namespace sluice
