// SPDX-License-Identifier: Apache-2.0
// sluice/op/scan.hpp, engine/detail/state_functions.hpp, src/engine/held/state_box.hpp
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::scan_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

SLUICE_FUNCTION(scan_sum, [](int64& sum, const int64& x) { return sum += x; });
SLUICE_FUNCTION(scan_thrice, [](int64 x) { return 3 * x; });

int64s sums_of(const int64s& in, int64 from = 0) {
  int64s out;
  for (int64 x : in) out.push_back(from += x);
  return out;
}
int64s up_to(int64 n) {
  int64s all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The last three elements, and how many there were.
struct last_three {
  std::vector<int64> last = {};
  int64 seen = 0;
};
int64 sum_of_three(last_three& w, int64 x) {
  w.last.push_back(x);
  if (w.last.size() > 3) w.last.erase(w.last.begin());
  return std::accumulate(w.last.begin(), w.last.end(), ++w.seen * 1000);
}
int64s windows_of(const int64s& in) {
  last_three w;
  int64s out;
  for (int64 x : in) out.push_back(sum_of_three(w, x));
  return out;
}

int64 digits(std::string& text, int64 x) {
  text += std::to_string(x % 10);
  if (text.size() > 12) text.erase(0, 1);
  return std::stoll(text);
}
int64s digits_of(const int64s& in) {
  std::string text;
  int64s out;
  for (int64 x : in) out.push_back(digits(text, x));
  return out;
}

struct tally {
  std::map<std::string, std::pair<int64, double>> of = {};
  std::array<int64, 3> thirds = {};
  std::optional<bool> last_odd = {};
  float half[2] = {};
  std::set<int64> fifths = {};
  std::tuple<int64, std::string> latest = {};
  std::vector<bool> odd = {};
};
int64 tallied(tally& t, int64 x) {
  auto& [n, sum] = t.of[x % 2 ? "odd" : "even"];
  ++n;
  sum += static_cast<double>(x) / 2;
  int64 before = t.last_odd ? *t.last_odd : 7;
  t.last_odd = x % 2 != 0;
  t.half[x % 2] += 0.5f;
  t.fifths.insert(x % 5);
  std::get<std::string>(t.latest) += std::to_string(t.fifths.size());
  std::get<int64>(t.latest) +=
      static_cast<int64>(std::get<std::string>(t.latest).size()) + std::get<std::string>(t.latest).back();
  t.odd.push_back(x % 2 != 0 && t.odd.size() % 3 == 0);
  return ++t.thirds[static_cast<std::size_t>(x % 3)] * 1'000'000 + static_cast<int64>(sum) * 100 + n * 10 + before +
         static_cast<int64>(t.half[1]) + std::get<int64>(t.latest) % 1000 * 10'000'000 +
         static_cast<int64>(t.odd.size()) * 10'000'000'000 + (t.odd[t.odd.size() / 2] ? 1'000'000'000'000 : 0);
}
int64s tallies_of(const int64s& in) {
  tally t;
  int64s out;
  for (int64 x : in) out.push_back(tallied(t, x));
  return out;
}

template <class F> conformance of_state(F f, int64s (*expected)(const int64s&)) {
  return {.stage = [f](const auto& in) { return in | scan(f); },
          .expected = expected,
          .before_error = expected,
          .needs = one_each};
}

/// Fails at every element that ends in 3, after it has changed its state.
template <class S, class Change> struct picky {
  Change change;
  int64 operator()(S& s, int64 x) const {
    int64 made = change(s, x);
    if (x % 10 == 3) throw std::runtime_error("a three");
    return made;
  }
};
template <class S, class Change> picky<S, Change> picky_of(const S&, Change change) { return {change}; }

int64s without_threes(int64s in) {
  std::erase_if(in, [](int64 x) { return x % 10 == 3; });
  return in;
}

}  // namespace

TEST_CASE("scan conforms for every kind of state: a number, a text, a structure, a map") {
  auto sums = [](const int64s& in) { return sums_of(in); };
  conforms({.stage = [](const auto& in) { return in | scan(scan_sum); },
            .expected = sums,
            .before_error = sums,
            .needs = one_each});
  conforms(of_state(sum_of_three, windows_of));
  conforms(of_state(digits, digits_of));
  conforms(of_state(tallied, tallies_of));
}

TEST_CASE("scan conforms before every kind of channel") {
  auto sums = [](const int64s& in) { return sums_of(in); };
  auto same = [](int64 x) { return x; };
  conforms({.stage = [](const auto& in) { return in | scan(scan_sum) | prefetch(3); },
            .expected = sums,
            .before_error = sums});
  conforms({.stage = [=](const auto& in) { return in | scan(scan_sum) | map(same, {.parallelism = 4}); },
            .expected = sums,
            .before_error = sums});
  conforms(
      {.stage =
           [=](const auto& in) { return in | scan(scan_sum) | map(same, {.parallelism = 4, .order = order::sloppy}); },
       .expected = sums,
       .ordered = false});
}

TEST_CASE("take(5) after a scan calls its function five times, and skipping elements calls it for each") {
  auto calls = std::make_shared<int>(0);
  auto counted_sum = [calls](int64& sum, int64 x) {
    ++*calls;
    return sum += x;
  };
  CHECK(consume(range(100) | scan(counted_sum) | take(5), {}).elements == int64s{0, 1, 3, 6, 10});
  CHECK(std::exchange(*calls, 0) == 5);
  CHECK(consume(range(5'000) | scan(counted_sum) | skip(4'998), {}).elements ==
        int64s{4998 * 4999 / 2, 4999 * 5000 / 2});
  CHECK(*calls == 5'000);
}

TEST_CASE("a scan begins with the value it is given, of its function's type") {
  CHECK(consume(range(5) | scan(100, scan_sum), {}).elements == sums_of(up_to(5), 100));
  CHECK(consume(range(3) | scan(int64{1}, [](auto& product, int64 x) { return product *= x + 1; }), {}).elements ==
        int64s{1, 2, 6});
  auto scaled = range(4) | scan(last_three{{40}, 7}, sum_of_three);
  resumes_everywhere(scaled, {8040, 9041, 10'003, 11'006});
}

TEST_CASE("a scan that stopped at a bad element continues under skip, from the state before it") {
  for (const auto& ds :
       {range(40) | scan(picky_of(int64(), scan_sum)), range(40) | prefetch(2) | scan(picky_of(int64(), scan_sum))}) {
    consumption how;
    how.save = true;
    consumed first = consume(ds, how);
    CHECK(first.elements == sums_of({0, 1, 2}));
    CHECK(first.why.code() != status_code::ok);
    how.on_error = error_policy::skip;
    for (std::size_t at = 0; at <= 3; ++at) {
      CAPTURE(at);
      how.from = first.places[at];
      CHECK(consume(ds, how).elements == without_first(sums_of(without_threes(up_to(40))), at));
    }
  }
}

namespace {

/// Can be moved only; saves all of itself.
struct owned_sum {
  std::unique_ptr<int64> value = std::make_unique<int64>(0);
  void save(position_writer& w) const { w.number(static_cast<std::uint64_t>(*value)); }
  void load(position_reader& r) { *value = static_cast<int64>(r.number()); }
};
int64 add_owned(owned_sum& s, int64 x) noexcept { return *s.value += x; }
int64 add_owned_or_fail(owned_sum& s, int64 x) { return *s.value += x; }

/// More than its saved values: how wide it is stays as it began.
struct sliding {
  std::size_t width = 1;
  std::vector<int64> last = {};
  void save(position_writer& w) const { detail::save_value(w, last); }
  void load(position_reader& r) { detail::load_value(r, last); }
};
int64 slide(sliding& s, int64 x) {
  s.last.push_back(x);
  if (s.last.size() > s.width) s.last.erase(s.last.begin());
  return std::accumulate(s.last.begin(), s.last.end(), int64{0});
}

}  // namespace

TEST_CASE("a state may be a class that saves itself, and a move-only class") {
  resumes_everywhere(range(30) | scan(add_owned), sums_of(up_to(30)));
  resumes_everywhere(range(30) | scan(add_owned_or_fail), sums_of(up_to(30)));
  owned_sum from;
  *from.value = 5;
  CHECK((range(3) | scan(std::move(from), add_owned)).plan()->as<scan_arguments>().options.initial_state == "0005");
  resumes_everywhere(range(6) | scan(sliding{2}, slide), int64s{0, 1, 3, 5, 7, 9});
}

TEST_CASE("skip needs a state that can be copied, unless the function cannot fail") {
  consumption skipping;
  skipping.on_error = error_policy::skip;
  CHECK(consume(range(9) | scan(add_owned), skipping).elements == sums_of(up_to(9)));
  consumed refused = consume(range(9) | scan(add_owned_or_fail), skipping);
  CHECK_THAT(refused.complaint(),
             Contains("invalid_argument") && Contains("scan") && Contains("cannot be copied") && Contains("noexcept"));
}

TEST_CASE("a state above a mebibyte is refused, with advice") {
  auto hoard = [](std::string& all, int64 x) {
    all.append(60'000, 'x');
    return x;
  };
  consumption how;
  how.ask_max = 1;
  how.marks_every = 1;
  consumed got = consume(range(100) | scan(fn("hoard", 1, hoard)), how);
  CHECK(got.elements.size() < 25);
  CHECK(got.elements.size() >= 17);
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Contains("scan(hoard)") && Contains("the limit is 1048576") && Contains("window"));
  consumed behind = consume(range(100) | scan(hoard) | prefetch(2) | map(scan_thrice), how);
  CHECK(behind.why.code() == status_code::resource_exhausted);

  auto begins_large = [&] { return range(3) | scan(std::string(2 << 20, 'x'), hoard); };
  CHECK_THROWS_WITH(begins_large(), Contains("the limit is"));
}

namespace {

struct totals_1 {
  static constexpr std::uint32_t state_version = 1;
  int64 sum = 0;
};
/// Has learned to count, and reads what totals_1 wrote.
struct totals_2 {
  static constexpr std::uint32_t state_version = 2, state_version_oldest = 1;
  int64 sum = 0, count = 100;
  void save(position_writer& w) const {
    detail::save_value(w, sum);
    detail::save_value(w, count);
  }
  void load(position_reader& r) {
    detail::load_value(r, sum);
    if (r.version() >= 2) detail::load_value(r, count);
  }
};
struct totals_3 {
  static constexpr std::uint32_t state_version = 3;
  int64 sum = 0, count = 100;
};
struct listing {
  std::vector<std::string> texts = {};
};

template <class S> dataset<int64> totals() {
  return range(20) | scan(fn("totals", 1, [](S& s, int64 x) {
           if constexpr (requires { s.count; }) ++s.count;
           if constexpr (requires { s.sum; }) return s.sum += x;
           else return x;
         }));
}
consumed from_place(const dataset<int64>& ds, const checkpoint& from) {
  consumption how;
  how.save = true;
  how.from = from;
  return consume(ds, how);
}

}  // namespace

TEST_CASE("a state of another version is converted or refused, and the error has the version") {
  int64s expected = without_first(sums_of(up_to(20)), 7);
  checkpoint of_1 = from_place(totals<totals_1>(), {}).places[7], of_2 = from_place(totals<totals_2>(), {}).places[7];
  CHECK(from_place(totals<totals_1>(), of_1).elements == expected);
  CHECK(from_place(totals<totals_2>(), of_1).elements == expected);
  CHECK(from_place(totals<totals_2>(), of_2).elements == expected);
  for (const checkpoint& old : {of_1, of_2})
    CHECK_THAT(from_place(totals<totals_3>(), old).mistake,
               Contains("failed_precondition") && Contains("scan(totals)") && Contains("reads versions 3 to 3"));
  CHECK_THAT(from_place(totals<totals_1>(), of_2).mistake, Contains("in version 2") && Contains("versions 1 to 1"));
  // The same version of something else is damage, which the state's own bytes tell.
  CHECK_THAT(from_place(totals<listing>(), from_place(totals<last_three>(), {}).places[7]).mistake,
             Contains("data_loss"));
}

TEST_CASE("another version of a scan's function is another plan to a checkpoint, and so is another first state") {
  auto adding = [](int version, int64 from) { return range(20) | scan(from, fn("add", version, scan_sum.function)); };
  checkpoint at = from_place(adding(1, 0), {}).places[4];
  CHECK(from_place(adding(1, 0), at).elements == without_first(sums_of(up_to(20)), 4));
  CHECK_THAT(from_place(adding(2, 0), at).mistake, Contains("function `add` has version 1 there, 2 here"));
  CHECK_THAT(from_place(adding(1, 5), at).mistake, Contains("failed_precondition"));
}

}  // namespace sluice::lib::scan_test
