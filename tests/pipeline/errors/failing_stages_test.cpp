// SPDX-License-Identifier: Apache-2.0
// What a user's own stage throws: which element it is told of, and how a run that drops bad elements goes on.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::failing_stages_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;
using texts = std::vector<std::string>;
/// Can be moved, and not copied.
struct owned {
  std::unique_ptr<int64> number;
};
std::string shown(const owned& x) { return std::to_string(*x.number); }

bool is_bad(int64 x) { return x % 7 == 3; }
int64 good(int64 x) {
  if (is_bad(x)) throw std::runtime_error("three is out");
  return x;
}

/// Yields once before an element is looked at and twice behind it: 100x, 100x + 1, 100x + 2.
stream<int64> thrice(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 n = *x;
    co_yield n * 100;
    good(n);
    co_yield n * 100 + 1;
    co_yield n * 100 + 2;
  }
}
stream<int64> sums(saved<int64> sum, stream<int64> in) {
  while (auto x = co_await in.next()) {
    *sum += *x;  // undone for a bad element
    good(*x);
    co_yield *sum;
  }
}
/// Sums of two neighbours; a pair is the unit that is dropped.
stream<int64> pairs(saved<int64> count, stream<int64> in) {
  for (;;) {
    count.commit();
    auto a = co_await in.next();
    if (!a) break;
    int64 first = good(*a);
    auto b = co_await in.next();
    if (!b) break;
    int64 both = first + good(*b);
    ++*count;
    co_yield both * 1000 + *count;
  }
}
stream<int64> opaque(stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 n = good(*x);
    co_yield n;
  }
}
stream<std::string> worded(stateless, stream<std::string> in) {
  while (auto x = co_await in.next()) {
    std::string s = "a text that is too long for its own small buffer: " + *x;
    good(std::stoll(*x));
    co_yield std::move(s);
  }
}
stream<std::string> joined(saved<std::string> so_far, stream<std::string> in) {
  while (auto x = co_await in.next()) {
    so_far->append(*x).append(" ");
    good(std::stoll(*x));
    co_yield *so_far;
  }
}
stream<owned> boxed(stateless, stream<owned> in) {
  while (auto x = co_await in.next()) {
    owned mine = std::move(*x);
    good(*mine.number);
    co_yield std::move(mine);
  }
}
task<int64> fetched(int64 x) {
  co_await sleep_for(std::chrono::microseconds(5));
  co_return good(x);
}
stream<int64> fetching(stateless, may_suspend, stream<int64> in) {
  while (auto x = co_await in.next()) {
    auto fetching_one = fetched(*x);
    int64 n = co_await fetching_one;
    co_yield n;
  }
}
stream<int64> first_then(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) co_yield *x;
  throw std::runtime_error("after the end");
}
stream<int64> nothing_taken(stateless, stream<int64> in) {
  throw std::runtime_error("before the first");
  while (auto x = co_await in.next()) co_yield *x;
}

auto with_stateless = [](auto coroutine) {
  return [coroutine](auto in) { return coroutine(stateless(), std::move(in)); };
};
auto summing = [](stream<int64> in) { return sums(saved<int64>(), std::move(in)); };
auto pairing = [](stream<int64> in) { return pairs(saved<int64>(), std::move(in)); };
auto joining = [](stream<std::string> in) { return joined(saved<std::string>(), std::move(in)); };
auto waiting = [](stream<int64> in) { return fetching(stateless(), may_suspend(), std::move(in)); };

iterate_options skipping(std::uint64_t errors_max = ~std::uint64_t{0}) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.errors_max = errors_max;
  return o;
}

/// The run gives `expected`, counts `errors`, and every place in it is one that the rest can be had from: once whole, and
/// once more by a run that is left after three elements.
template <class T>
void check_passes_over(runtime& rt, const dataset<T>& ds, const texts& expected, std::uint64_t errors) {
  outcome got = run(rt, ds, skipping());
  CAPTURE(got.message());
  CHECK(got.why.ok());
  CHECK(got.elements == expected);
  CHECK(got.report.errors == errors);
  iterate_options o = skipping();
  for (std::size_t i = 0; i < got.places.size(); ++i) {
    CAPTURE(i);
    o.from = got.places[i];
    outcome rest = run(rt, ds, o);
    CHECK(rest.message() == "ok");
    CHECK(rest.elements ==
          texts(expected.begin() + static_cast<std::ptrdiff_t>(std::min(i, expected.size())), expected.end()));
    std::size_t again = std::min<std::size_t>(3, rest.places.size() - 1);
    o.from = rest.places[again];
    CHECK(run(rt, ds, o).elements.size() == rest.elements.size() - again);
  }
}

template <class T> void everywhere(const dataset<T>& ds, const texts& expected, std::uint64_t errors) {
  CAPTURE(plan_text(*ds.plan()));
  for (std::size_t world = 1; world != 3; ++world) {
    file_world w(world);
    check_passes_over(w.rt, ds, expected, errors);
  }
  for (unsigned workers : {1u, 2u}) {
    CAPTURE(workers);
    runtime rt({.workers = workers});
    check_passes_over(rt, ds, expected, errors);
  }
}

/// Behind a channel, above one, between two, and where elements are passed over.
template <class T, class F> void in_all_places(const dataset<T>& in, F f, const texts& expected, std::uint64_t errors) {
  everywhere(in | transform(f), expected, errors);
  everywhere(in | prefetch(3) | transform(f), expected, errors);
  everywhere(in | prefetch(2) | transform(f) | prefetch(4), expected, errors);
  texts rest(expected.begin() + 4, expected.end());
  everywhere(in | transform(f) | skip(4), rest, errors);
}

texts thrice_of(int64 n) {
  texts out;
  for (int64 x = 0; x < n; ++x)
    for (int64 k = 0; k < (is_bad(x) ? 1 : 3); ++k) out.push_back(std::to_string(x * 100 + k));
  return out;
}
texts sums_of(int64 n) {
  texts out;
  int64 sum = 0;
  for (int64 x = 0; x < n; ++x)
    if (!is_bad(x)) out.push_back(std::to_string(sum += x));
  return out;
}
texts pairs_of(int64 n) {
  texts out;
  int64 count = 0;
  for (int64 x = 0; x < n;) {
    if (is_bad(x)) {
      x += 1;
    } else if (x + 1 < n && is_bad(x + 1)) {
      x += 2;
    } else {
      if (x + 1 < n) out.push_back(std::to_string((2 * x + 1) * 1000 + ++count));
      x += 2;
    }
  }
  return out;
}
texts good_up_to(int64 n, const std::string& before = "") {
  texts out;
  for (int64 x = 0; x < n; ++x)
    if (!is_bad(x)) out.push_back(before + std::to_string(x));
  return out;
}
texts joined_of(int64 n) {
  texts out;
  std::string so_far;
  for (int64 x = 0; x < n; ++x)
    if (!is_bad(x)) out.push_back(so_far += std::to_string(x) + " ");
  return out;
}
std::string text_of(int64 x) { return std::to_string(x); }
owned box_of(int64 x) { return owned{std::make_unique<int64>(x)}; }

}  // namespace

TEST_CASE("an exception of a stage names the element that it had consumed, for any source") {
  std::vector<dataset<int64>> ways = {
      range(100, {.start = 4}) | transform(opaque),
      range(100, {.start = 4}) | prefetch(2) | transform(opaque),
      range(100, {.start = 4}) | transform(summing),
      range(100, {.start = 4}) | transform(waiting),
      range(100, {.start = 1}) | skip(3) | transform(with_stateless(thrice)),
      range(4, {.start = 0}) | skip(4) | transform(opaque),
  };
  for (std::size_t i = 0; i != ways.size(); ++i) {
    CAPTURE(i);
    file_world w(i + 1);
    outcome got = run(w.rt, ways[i]);
    if (i == 5) {
      CHECK(got.why.ok());
      continue;
    }
    CHECK(got.why.where().stage == "transform");
    CHECK(got.why.where().element == 6);  // 10
    CHECK(got.message() == "unknown: transform at element 6: three is out");
  }
}

TEST_CASE("the element's number is right after a resume, too") {
  auto ds = range(60) | transform([](stream<int64> in) { return pairs(saved<int64>(), std::move(in)); });
  file_world w;
  outcome got = run(w.rt, range(60) | transform(summing));
  REQUIRE(got.places.size() == 4);
  iterate_options o;
  o.from = got.places[2];
  outcome rest = run(w.rt, range(60) | transform(summing), o);
  CHECK(rest.why.where().element == 3);
}

TEST_CASE("under skip a stateless stage continues after a bad element, and its outputs for it come once") {
  in_all_places(range(40), with_stateless(thrice), thrice_of(40), 6);
}

TEST_CASE("under skip a stage with saved state continues with the state from before the bad element") {
  in_all_places(range(40), summing, sums_of(40), 6);
  in_all_places(range(40) | map(text_of), joining, joined_of(40), 6);
}

TEST_CASE("under skip a stage that commits drops all that it took since, and counts each") {
  // 3 alone; 10 behind nothing taken; (16, 17), then 17 comes with its pair…: as pairs_of() says
  texts expected = pairs_of(40);
  file_world w;
  outcome got = run(w.rt, range(40) | transform(pairing), skipping());
  CHECK(got.elements == expected);
  std::size_t told = 0;
  for (const status& why : got.report.first_errors)
    told += std::string(why.message()).find("dropped with element ") != std::string::npos;
  CHECK(told > 0);
  CHECK(got.report.errors == 6 + told);
  in_all_places(range(40), pairing, expected, got.report.errors);
}

TEST_CASE("under skip stages of texts and of move-only elements continue as well") {
  in_all_places(range(40) | map(text_of), with_stateless(worded),
                good_up_to(40, "a text that is too long for its own small buffer: "), 6);
  auto boxes = range(40) | map(box_of);
  everywhere(boxes | transform(with_stateless(boxed)), good_up_to(40), 6);
  everywhere(boxes | prefetch(3) | transform(with_stateless(boxed)) | prefetch(2), good_up_to(40), 6);
}

TEST_CASE("under skip a stage of records continues, and its dropped elements name file and record only if known") {
  file_world w;
  std::string lines_of_bytes;
  for (int i = 0; i < 20; ++i) lines_of_bytes.append(static_cast<std::size_t>(i), 'x').append("\n");
  w.files->put("a.txt", lines_of_bytes);
  auto sizes = [](stream<line> in) {
    struct stage {
      static stream<int64> sized(stateless, stream<line> lines) {
        while (auto x = co_await lines.next()) {
          int64 n = good(static_cast<int64>(x->view().size()));
          co_yield n;
        }
      }
    };
    return stage::sized(stateless(), std::move(in));
  };
  check_passes_over(w.rt, lines("a.txt") | transform(sizes), good_up_to(20), 3);
  check_passes_over(w.rt, lines("a.txt") | prefetch(2) | transform(sizes) | prefetch(2), good_up_to(20), 3);
}

TEST_CASE("under skip a task that fails within a stage drops the element it was awaited for") {
  in_all_places(range(40), waiting, good_up_to(40), 6);
}

TEST_CASE("under skip errors are counted up to errors_max, and name the element") {
  file_world w;
  outcome got = run(w.rt, range(40) | transform(with_stateless(thrice)), skipping(2));
  CHECK(got.why.where().element == 17);
  CHECK(got.report.errors >= 2);
  REQUIRE(got.report.first_errors.size() >= 2);
  CHECK(got.report.first_errors[0].to_string() == "unknown: transform at element 3: three is out");
  CHECK(got.report.first_errors[1].where().element == 10);
}

TEST_CASE("a stage that declares nothing about its state ends under skip, with advice") {
  file_world w;
  outcome got = run(w.rt, range(40) | transform(opaque), skipping());
  CHECK(got.elements == texts{"0", "1", "2"});
  CHECK(got.report.errors == 0);
  CHECK_THAT(got.message(), Contains("transform at element 3: three is out") && Contains("a parameter `stateless`") &&
                                Contains("saved<S>"));
}

TEST_CASE("coroutines joined in one function end under skip, with the advice to separate them") {
  file_world w;
  auto two = [](stream<int64> in) { return thrice(stateless(), thrice(stateless(), std::move(in))); };
  outcome got = run(w.rt, range(40) | transform(two), skipping());
  CHECK_THAT(got.message(), Contains("three is out") && Contains("a transform of its own"));
  outcome parted =
      run(w.rt, range(40) | transform(with_stateless(thrice)) | transform(with_stateless(thrice)), skipping());
  CHECK(parted.why.ok());
}

TEST_CASE("an exception of a stage before its first element or after its last one ends it under any policy") {
  file_world w;
  for (const auto& options : {iterate_options(), skipping()}) {
    outcome late = run(w.rt, range(5) | transform(with_stateless(first_then)), options);
    CHECK(late.elements.size() == 5);
    CHECK(late.message() == "unknown: transform: after the end");
    outcome early = run(w.rt, range(5) | transform(with_stateless(nothing_taken)), options);
    CHECK(early.message() == "unknown: transform: before the first");
  }
}

TEST_CASE("an error of a stage's input, and a stop, are no errors of its elements under skip") {
  file_world w;
  auto from = range(9) | transform([](stream<int64> in) { return opaque(std::move(in)); });
  outcome got = run(w.rt, from | transform(with_stateless(thrice)), skipping());
  CHECK(got.report.errors == 0);
  CHECK_THAT(got.message(), Contains("at element 3"));
  CHECK(got.elements.size() == 9);
}

}  // namespace sluice::lib::failing_stages_test
