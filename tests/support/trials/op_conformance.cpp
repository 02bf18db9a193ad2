// SPDX-License-Identifier: Apache-2.0
#include "support/trials/op_conformance.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/counting_element.hpp"
#include "support/sanitizers.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;

constexpr const char* kFault = "the input is broken here";
constexpr std::uint64_t kFileSeed = 5;
// All of it runs in simulations.
constexpr std::uint64_t kWays = testing::kLooksForRaces ? 2 : 4;
constexpr std::size_t kResumes = testing::kLooksForRaces ? 5 : 25;
const std::vector<int64> kSizes =
    testing::kLooksForRaces ? std::vector<int64>{2, 200} : std::vector<int64>{0, 1, 2, 23, 200};

stream<int64> counted(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i;
}

task<int64> after_a_while(int64 x) {
  if (x % 3 == 1) co_await sleep_for(std::chrono::microseconds(50));
  co_return x;
}

struct input {
  const char* name;
  dataset<int64> (*make)(int64 n);
};
const input kInputs[] = {
    {"long blocks", [](int64 n) { return range(n); }},
    {"a user's coroutine", [](int64 n) { return generate([n] { return counted(n); }); }},
    {"short blocks that wait", [](int64 n) { return range(n) | map(after_a_while); }},
    {"a channel", [](int64 n) { return range(n) | prefetch(3); }},
};

int64s numbers(int64 n) {
  int64s all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int64s tail(const int64s& all, std::size_t from) {
  return int64s(all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size())), all.end());
}

class suite {
 public:
  explicit suite(const conformance& c) : c_(c) {}

  void run() {
    CAPTURE(c_.elements);
    if (c_.needs) exact_demand();
    for (const input& in : kInputs) {
      for (int64 n : kSizes) {
        CAPTURE(in.name, n);
        auto ds = c_.stage(in.make(n));
        full_and_resumed(ds, c_.expected(numbers(n)));
        if (c_.ordered) passing_between(ds, c_.expected(numbers(n)));
        if (c_.before_error) broken(in, n);
      }
      CAPTURE(in.name);
      stopped(in);
    }
    if (c_.over_records) from_files();
  }

 private:
  consumed consumed_by(const dataset<int64>& ds, consumption how) const {
    how.files = files_;
    return consume(ds, how);
  }
  /// A way of consuming for each number.
  consumption way(std::uint64_t i) const {
    consumption how;
    how.ask_max = std::array<std::uint32_t, 4>{0, 1, 3, 100}[i % 4];
    how.marks_every = i % 3;
    how.seed = i + 1;
    return how;
  }
  int64s in_order(int64s v) const {
    if (!c_.ordered) std::sort(v.begin(), v.end());
    return v;
  }
  /// `length`: of the whole stream, wherever this run began.
  void gives(const consumed& got, const int64s& expected, std::size_t length) const {
    CHECK(got.complaint() == "");
    CHECK(in_order(got.elements) == in_order(expected));
    CHECK(got.length == length);
  }

  void full_and_resumed(const dataset<int64>& ds, const int64s& expected) const {
    for (std::uint64_t i = 0; i != kWays; ++i) {
      consumption how = way(i);
      CAPTURE(how.ask_max, how.marks_every);
      how.save = true;
      consumed full = consumed_by(ds, how);
      gives(full, expected, expected.size());
      std::size_t step = 1 + full.places.size() / kResumes;
      for (std::size_t at = 0; at < full.places.size(); at += step)
        if (!full.places[at].empty()) resumed(ds, full.places[at], c_.ordered ? expected : full.elements, at);
      if (!c_.ordered) continue;
      how.save = false;
      for (std::size_t skip : {std::size_t{1}, expected.size() / 2, expected.size(), expected.size() + 3}) {
        CAPTURE(skip);
        how.skip = skip;
        gives(consumed_by(ds, how), tail(expected, skip), expected.size());
      }
    }
  }
  void resumed(const dataset<int64>& ds, const checkpoint& from, const int64s& all, std::size_t at) const {
    CAPTURE(at);
    int64s expected = tail(all, at);
    consumption how = way(at);
    how.from = from;
    how.save = true;
    consumed again = consumed_by(ds, how);
    gives(again, expected, all.size());
    std::size_t half = again.places.size() / 2;
    if (again.places.empty() || again.places[half].empty()) return;
    how.from = again.places[half];
    gives(consumed_by(ds, how), tail(c_.ordered ? expected : again.elements, half), all.size());
  }

  /// Records as slices of what is read at once, of which a file of 200 has several.
  void from_files() {
    CAPTURE("records of a file");
    for (int64 n : kSizes) {
      const std::string path = path_of("conformance", n, kFileSeed);
      auto with = std::make_shared<test_files>(test_files{.bytes = {{path, record_file(n, kFileSeed)}}});
      if (c_.files) add_files(*with, *c_.files);
      files_ = std::move(with);
      CAPTURE(n);
      auto ds = c_.over_records(tfrecord(path, {.read_bytes = 4096, .reads_in_flight = 2}));
      full_and_resumed(ds, c_.expected(numbers(n)));
      if (c_.ordered) passing_between(ds, c_.expected(numbers(n)));
    }
    files_ = c_.files;
  }

  /// Before every request some are passed over: what the stage has collected by then counts among them.
  void passing_between(const dataset<int64>& ds, const int64s& expected) const {
    for (std::uint64_t seed = 1; seed != 4; ++seed) {
      consumption how;
      how.seed = seed;
      how.ask_max = 4;
      how.pass_max = 3;
      consumed got = consumed_by(ds, how);
      CAPTURE(seed);
      CHECK(got.complaint() == "");
      CHECK(got.length == expected.size());
      REQUIRE(got.ordinals.size() == got.elements.size());
      for (std::size_t i = 0; i != got.elements.size(); ++i) {
        REQUIRE(got.ordinals[i] < expected.size());
        REQUIRE(got.elements[i] == expected[got.ordinals[i]]);
      }
    }
  }

  void broken(const input& in, int64 n) const {
    auto broken_at = [n](int64 x) {
      if (x == n) throw_status(data_loss_error(kFault));
      return x;
    };
    auto ds = c_.stage(in.make(n + 50) | map(broken_at));
    for (std::uint64_t i = 0; i != 4; ++i) {
      consumed got = consumed_by(ds, way(i));
      CHECK(got.mistake == "");
      CHECK(got.elements == c_.before_error(numbers(n)));
      CHECK(got.why.code() == status_code::data_loss);
      CHECK(got.why.to_string().find(kFault) != std::string::npos);
    }
  }

  /// Outputs are taken in requests of some size, and no more than so many: what has its inputs made by then?
  void exact_demand() const {
    for (int64 n : {5, 23, 200}) {
      int64s in = numbers(n);
      std::size_t length = c_.expected(in).size();
      for (std::size_t k : {std::size_t{1}, std::size_t{4}, length / 2}) {
        if (k > length) continue;
        for (std::uint32_t ask : {1u, 3u, 7u}) {
          auto made = std::make_shared<std::size_t>(0);
          auto counting_in = range(n) | map([made](int64 x) {
                               ++*made;
                               return x;
                             });
          consumption how;
          how.ask_max = ask;
          how.asks_all = true;
          how.elements_max = k;
          consumed got = consumed_by(c_.stage(counting_in), how);
          CAPTURE(n, k, ask);
          CHECK(got.complaint() == "");
          CHECK(got.elements.size() == k);
          CHECK(*made <= c_.needs(in, k));
        }
      }
    }
  }

  void stopped(const input& in) const {
    constexpr int64 kMany = 100'000;  // far more than anybody has ahead
    auto ds = c_.stage(in.make(kMany));
    for (std::size_t after : {0, 1, 7}) {
      CAPTURE(after);
      consumption how = way(after);
      how.stop_after = after;
      consumed got = consumed_by(ds, how);
      CHECK(got.mistake == "");
      if (int64s all = c_.expected(numbers(kMany)); all.size() < 1000 && got.why.ok())
        CHECK(in_order(got.elements) == in_order(all));  // it had ended by then
      else CHECK(got.why.code() == status_code::cancelled);
    }
  }

  const conformance& c_;
  std::shared_ptr<const test_files> files_ = c_.files;
};

}  // namespace

void conforms(const conformance& c) {
  lifetimes watched;
  suite(c).run();
  CHECK(watched.complaint() == "");
}

void round_trips(const node& plan, const std::string& text) {
  CHECK(plan_text(plan) == text);
  CHECK(same_plan(*parse_plan(text), plan));
  CHECK(same_plan(*parse_plan_json(plan_json(plan)), plan));
}

}  // namespace sluice::lib::test
