// SPDX-License-Identifier: Apache-2.0
// Batches of random nests of every kind.
#include <catch2/catch.hpp>

#include <algorithm>

#include "element/build.hpp"
#include "sluice/element/serialise.hpp"
#include "support/budget.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::nests_test {
using namespace sluice::lib::test;

TEST_CASE("batch then unbatch is the identity over nests of every kind, in blocks of any size") {
  std::size_t with_tensors = 0;
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(600); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random);
    CAPTURE(type_text(t));
    with_tensors += type_text(t).find("tensor") != std::string::npos;
    const tensor_spec spec = random_spec(random);
    std::vector<value> rows;
    for (auto n = 1 + random.below(20); n != 0; --n) rows.push_back(random_value(t, random, &spec));

    batch_storage b, copy;
    for (std::size_t i = 0; i != rows.size();) {
      const std::size_t n = std::min<std::size_t>(1 + random.below(6), rows.size() - i);
      detail::item_room block(t, n);
      for (std::size_t k = 0; k != n; ++k) {
        t.copy(t, static_cast<char*>(block.data()) + k * t.size, rows[i + k].data(), 1, t.size, t.size);
        block.set_live(k + 1);
      }
      block.set_live(0);
      b.append(t, block.data(), n);
      i += n;
    }
    copy.make_rows(t).append_copies(b.rows_column(), 0, rows.size());
    CHECK(b.rows_column().is_whole());

    for (batch_storage* from : {&b, &copy}) {
      const element_type& batch = *batched_of(&t);
      const value whole = value::copy_of(batch, from);
      auto again = parse_value(serialise(whole));
      REQUIRE(again.ok());
      CHECK(*again == whole);
      for (std::size_t i = 0; i != rows.size();) {
        REQUIRE(whole.at(i) == rows[i]);
        const std::size_t n = std::min<std::size_t>(1 + random.below(6), rows.size() - i);
        detail::item_room block(t, n);
        from->take_front(t, block.data(), n);
        block.set_live(n);
        for (std::size_t k = 0; k != n; ++k)
          REQUIRE(value::copy_of(t, static_cast<char*>(block.data()) + k * t.size) == rows[i + k]);
        i += n;
      }
      CHECK(from->empty());
    }
  }
  CHECK(with_tensors > cases(600) / 10);
}

}  // namespace sluice::lib::nests_test
