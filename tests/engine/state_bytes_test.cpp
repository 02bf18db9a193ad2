// SPDX-License-Identifier: Apache-2.0
// What functions' states take of the memory budget: sluice/engine/state_bytes.hpp, src/engine/held/state_box.hpp.
#include "sluice/engine/state_bytes.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::state_bytes_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

int64s up_to(int64 n) {
  int64s all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct last_few {
  std::vector<int64> last = {};
  int64 seen = 0;
};
/// Can be moved only; saves all of itself.
struct owned_sum {
  std::unique_ptr<int64> value = std::make_unique<int64>(0);
  void save(position_writer& w) const { w.number(static_cast<std::uint64_t>(*value)); }
  void load(position_reader& r) { *value = static_cast<int64>(r.number()); }
};
struct measured {
  static std::size_t sluice_footprint(const measured*, std::size_t n) { return 1000 * n; }
  std::string inside = {};
};

}  // namespace

TEST_CASE("the memory of scan's and reduce's states is charged, and refused above the budget") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{256} << 10});
  auto hoard = [](std::vector<int64>& all, int64 x) {
    all.push_back(x);
    return x;
  };
  auto keep = [](std::map<int64, std::string>& all, int64 x) { all[x]; };
  auto size = [](const std::map<int64, std::string>& all) { return static_cast<int64>(all.size()); };
  auto kept = [&](int64 n) { return range(n) | reduce(std::map<int64, std::string>(), fn("keep", 1, keep), size); };
  CHECK(consume_on(rt, range(8'000) | scan(hoard), {}).elements == up_to(8'000));
  CHECK(rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::state)] == 0);
  CHECK(rt.ledger().report().peak_bytes >= 8'000 * sizeof(int64));
  CHECK(consume_on(rt, kept(1'000), {}).elements == int64s{1'000});

  consumed got = consume_on(rt, range(100'000) | scan(fn("hoard", 1, hoard)), {});
  CHECK(got.mistake == "");
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(),
             Contains("scan(hoard): the function's state alone takes more than the memory budget of") &&
                 Contains("store less in it"));
  CHECK(got.elements.size() >= 16'000);
  CHECK(got.elements.size() < 50'000);
  CHECK(got.elements == up_to(static_cast<int64>(got.elements.size())));
  got = consume_on(rt, kept(100'000), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Contains("reduce(keep): the function's state alone takes"));
  CHECK(rt.ledger().report().used_bytes == 0);
}

TEST_CASE("the memory of a state is counted: texts, capacities, nodes, and a class's own count") {
  using detail::bytes_owned_by;
  CHECK(bytes_owned_by(7) == 0);
  CHECK(bytes_owned_by(std::pair<int, float>()) == 0);
  CHECK(bytes_owned_by(std::string("short")) == 0);
  const std::string text(100, 'x');
  CHECK(bytes_owned_by(text) == text.capacity() + 1);
  std::vector<std::string> texts = {text, "short", text};
  texts.reserve(10);
  CHECK(bytes_owned_by(texts) == 10 * sizeof(std::string) + 2 * (text.capacity() + 1));
  CHECK(bytes_owned_by(std::map<int64, std::string>{{1, text}, {2, ""}}) >= 2 * (8 + sizeof(std::string) + 32) + 101);
  CHECK(bytes_owned_by(std::set<int64>{1, 2, 3}) >= 3 * (8 + 32));
  CHECK(bytes_owned_by(std::optional<std::string>(text)) == text.capacity() + 1);
  CHECK(bytes_owned_by(std::optional<std::string>()) == 0);
  CHECK(bytes_owned_by(std::tuple<int, std::string, std::array<std::string, 2>>(1, text, {text, ""})) ==
        2 * (text.capacity() + 1));
  last_few few;
  few.last.reserve(3);
  CHECK(bytes_owned_by(few) == 3 * sizeof(int64));
  CHECK(bytes_owned_by(owned_sum()) == 1);  // as many bytes as it saves
  CHECK(bytes_owned_by(std::vector<measured>(2)) == 2 * (sizeof(measured) + 1000));
}

}  // namespace sluice::lib::state_bytes_test
