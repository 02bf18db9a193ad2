// SPDX-License-Identifier: Apache-2.0
// A run that stopped at a bad element goes on under error_policy::skip, from any of its places; the other way round it is
// refused. And under skip a stage's place is found by its site, as under stop.
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "coro/positions/position_records.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/forged_checkpoint.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/format/example.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::other_policy_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;

bool is_bad(int64 x) { return x % 7 == 3; }
int64 good(int64 x) {
  if (is_bad(x)) throw std::runtime_error("three is out");
  return x;
}
bool good_and_even(const int64& x) { return good(x) % 2 == 0; }
int64 not_fifty(int64 x) {
  if (x % 50 == 0 && x) throw std::runtime_error("fifty is out");
  return x;
}

stream<int64> sums(saved<int64> sum, stream<int64> in) {
  while (auto x = co_await in.next()) {
    *sum += good(*x);
    co_yield *sum;
  }
}
stream<int64> thrice(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 n = good(*x) * 10;
    co_yield n;
    co_yield n + 1;
    co_yield n + 2;
  }
}
/// Sums of two neighbours and their number; says itself where it can start again.
stream<int64> pairs(saved<int64> count, stream<int64> in) {
  for (;;) {
    count.commit();
    auto a = co_await in.next();
    if (!a) break;
    int64 first = good(*a);
    auto b = co_await in.next();
    if (!b) break;
    int64 sum = first + good(*b);
    *count += 1;
    co_yield sum * 100 + *count;
  }
}
/// The lengths of what it has seen so far, and what it has seen: another kind of state than the others'.
stream<int64> lengths(saved<std::string> seen, stream<int64> in) {
  while (auto x = co_await in.next()) {
    *seen += std::to_string(not_fifty(*x));
    co_yield static_cast<int64>(seen->size());
  }
}
auto summing = [](stream<int64> in) { return sums(saved<int64>(), std::move(in)); };
auto tripling = [](stream<int64> in) { return thrice(stateless(), std::move(in)); };
auto pairing = [](stream<int64> in) { return pairs(saved<int64>(), std::move(in)); };
auto measuring = [](stream<int64> in) { return lengths(saved<std::string>(), std::move(in)); };
auto summing_twice = [](stream<int64> in) { return sums(saved<int64>(), sums(saved<int64>(), std::move(in))); };

struct labelled {
  std::int64_t label = 0;
};
std::string shown(const labelled& x) { return std::to_string(x.label); }
/// Those with i % 5 == 3 lack their label.
dataset<std::string> examples(int n) {
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    example_writer w;
    w.bytes("text", "text");
    if (i % 5 != 3) w.int64("label", i);
    all.emplace_back(w.finish());
  }
  return from_elements(std::move(all));
}

iterate_options under(error_policy p, checkpoint from = {}) {
  iterate_options o;
  o.on_error = p;
  o.from = std::move(from);
  return o;
}
texts from_on(const texts& all, std::size_t i) {
  return texts(all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size())), all.end());
}

/// Every place of a run that stopped at its first bad element is one that a run under skip goes on from, as `tuned`; and so
/// is every place of that one.
template <class T> void check_goes_on(const dataset<T>& ds, const dataset<T>& tuned) {
  CAPTURE(plan_text(*ds.plan()), plan_text(*tuned.plan()));
  file_world w;
  outcome whole = run(w.rt, ds, under(error_policy::skip));
  REQUIRE(whole.message() == "ok");
  outcome stopped = run(w.rt, ds);
  REQUIRE(stopped.why.code() != status_code::ok);
  REQUIRE(stopped.elements.size() < whole.elements.size());
  for (std::size_t i = 0; i != stopped.places.size(); ++i) {
    CAPTURE(i);
    outcome rest = run(w.rt, tuned, under(error_policy::skip, stopped.places[i]));
    CHECK(rest.message() == "ok");
    CHECK(rest.elements == from_on(whole.elements, i));
    for (std::size_t k = 0; k < rest.places.size(); k += 3)
      CHECK(run(w.rt, ds, under(error_policy::skip, rest.places[k])).elements == from_on(whole.elements, i + k));
  }
}
template <class T> void check_goes_on(const dataset<T>& ds) {
  check_goes_on(ds, ds);
  check_goes_on(ds | prefetch(3), ds | prefetch(1));
}

std::string position_of(const checkpoint& c) {
  std::size_t begin = position_begin(c.bytes);
  return c.bytes.substr(begin, c.bytes.size() - 4 - begin);
}

}  // namespace

TEST_CASE("a run that stopped at a bad element of a user's stage continues under skip, for any state of the stage") {
  check_goes_on(range(40) | transform(summing));
  check_goes_on(range(40) | transform(pairing));
  check_goes_on(range(40) | transform(tripling));
}

TEST_CASE("a run that stopped at a bad element of a map, a filter or a parser continues under skip") {
  check_goes_on(range(40) | map(good));
  check_goes_on(range(40) | map(good), range(40) | map(good, {.parallelism = 3}));
  check_goes_on(range(40) | map(good, {.parallelism = 3}), range(40) | map(good));
  check_goes_on(range(40) | filter(good_and_even));
  check_goes_on(range(40) | map(good) | batch(3) | unbatch());
  check_goes_on(range(40) | map(good) | shuffle(2, {.seed = 4}));
  check_goes_on(examples(30) | parse_example<labelled>());
  check_goes_on(examples(30) | parse_example<labelled>(), examples(30) | parse_example<labelled>({.parallelism = 4}));
}

TEST_CASE("a run that stopped with several users' stages in a chain continues under skip, each with its own state") {
  check_goes_on(range(60) | transform(summing) | transform(measuring));
  check_goes_on(range(60) | transform(measuring) | transform(summing));
  check_goes_on(range(60) | transform(summing) | map(not_fifty) | transform(summing) | transform(tripling));
  check_goes_on(range(3) | flat_map([](int64 x) { return range(10 * x + 9, {.start = 10 * x}) | transform(summing); }));
}

TEST_CASE("a place under skip names each user's stage by its site") {
  file_world w;
  auto ds = range(60) | transform(summing) | transform(measuring);
  for (error_policy p : {error_policy::stop, error_policy::skip}) {
    outcome got = run(w.rt, ds, under(p));
    position_records records(position_of(got.places[2]));
    CHECK(records.take(ds.plan()->site) != nullptr);
    CHECK(records.take(ds.plan()->inputs[0]->site) != nullptr);
    CHECK(records.take(ds.plan()->inputs[0]->inputs[0]->site) != nullptr);
    CHECK(records.finish().ok());
  }
}

TEST_CASE("a stage that was called again after a bad element is still found by its site") {
  file_world w;
  auto ds = range(60) | transform(summing) | transform(measuring);
  outcome got = run(w.rt, ds, under(error_policy::skip));
  REQUIRE(got.elements.size() > 20);
  for (std::size_t i : {5, 12, 20}) {
    position_records records(position_of(got.places[i]));
    CHECK(records.take(ds.plan()->site) != nullptr);
    CHECK(records.take(ds.plan()->inputs[0]->site) != nullptr);
    CHECK(run(w.rt, ds, under(error_policy::skip, got.places[i])).elements == from_on(got.elements, i));
  }
}

TEST_CASE("a place under skip from when such stages had no site is still one") {
  file_world w;
  auto ds = range(60) | transform(summing) | transform(measuring);
  outcome got = run(w.rt, ds, under(error_policy::skip));
  for (std::size_t i = 0; i < got.places.size(); i += 5) {
    std::string bytes = got.places[i].bytes;
    for (const node* n : {ds.plan().get(), ds.plan()->inputs[0].get()}) {
      std::string site(reinterpret_cast<const char*>(&n->site), sizeof n->site);
      std::size_t at = bytes.find(site, position_begin(bytes));
      REQUIRE(at != std::string::npos);
      bytes.replace(at, site.size(), site.size(), '\0');
    }
    CAPTURE(i);
    CHECK(run(w.rt, ds, under(error_policy::skip, {sealed_again(bytes)})).elements == from_on(got.elements, i));
  }
}

TEST_CASE("a function of several coroutines has its first one's state under its site, and continues with that of all") {
  file_world w;
  auto ds = range(3) | transform(summing_twice);
  outcome got = run(w.rt, ds, under(error_policy::skip));
  outcome stopped = run(w.rt, ds);
  CHECK(stopped.elements == got.elements);
  for (std::size_t i = 0; i != got.places.size(); ++i) {
    CHECK(run(w.rt, ds, under(error_policy::skip, got.places[i])).elements == from_on(got.elements, i));
    CHECK(run(w.rt, ds, under(error_policy::skip, stopped.places[i])).elements == from_on(got.elements, i));
  }
}

TEST_CASE("a place under skip is refused under stop, for every stage") {
  file_world w;
  for (const auto& ds : {range(40) | transform(summing), range(40) | transform(pairing), range(40) | map(good),
                         range(40) | transform(summing) | transform(measuring)}) {
    outcome skipped = run(w.rt, ds, under(error_policy::skip));
    for (std::size_t i : {std::size_t{1}, skipped.places.size() - 1}) {
      outcome refused = run(w.rt, ds, under(error_policy::stop, skipped.places[i]));
      CHECK(refused.elements.empty());
      CHECK(refused.why.code() == status_code::failed_precondition);
      CHECK_THAT(refused.message(), Contains("error policy"));
    }
  }
}

}  // namespace sluice::lib::other_policy_test
