// SPDX-License-Identifier: Apache-2.0
#include "support/trials/resumed_everywhere.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <catch2/catch.hpp>

namespace sluice::lib::test {
namespace {

int64s elements_resumed(const dataset<std::int64_t>& ds, consumption how) {
  how.save = true;
  const consumed whole = consume(ds, how);
  CHECK(whole.complaint() == "");
  REQUIRE(whole.places.size() > whole.elements.size());
  for (std::size_t at = 0; at <= whole.elements.size(); ++at) {
    if (whole.places[at].empty() && at != 0) continue;
    CAPTURE(at);
    how.from = whole.places[at];
    how.ask_max = static_cast<std::uint32_t>(at % 4);
    how.seed = at + 2;
    const consumed rest = consume(ds, how);
    CHECK(rest.complaint() == "");
    CHECK(rest.elements == int64s(whole.elements.begin() + static_cast<std::ptrdiff_t>(at), whole.elements.end()));
    CHECK(rest.errors.back() + (at ? whole.errors[at - 1] : 0) >= whole.errors.back());
  }
  return whole.elements;
}

}  // namespace

void resumes_everywhere(const dataset<std::int64_t>& ds, consumption how) { elements_resumed(ds, std::move(how)); }
void resumes_everywhere(const dataset<std::int64_t>& ds, const int64s& expected, consumption how) {
  CHECK(elements_resumed(ds, std::move(how)) == expected);
}

}  // namespace sluice::lib::test
