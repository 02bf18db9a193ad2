// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>
#include <string>

#include "element/serialise_parts.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/element/slice.hpp"
#include "support/budget.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::serialised_elements_test {
namespace {

using namespace test;

TEST_CASE("the parts of a written element are its bytes, and long ones are the element's own") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(200); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random, {});
    const value v = random_value(t, random);
    std::string bytes;
    serialise_bare(t, v.data(), bytes);
    byte_parts parts;
    serialise_bare(t, v.data(), parts);
    CHECK(parts.joined() == bytes);
  }
  std::vector<float> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const tensor t = tensor::of(std::span<const float>(numbers), {100, 100});
  byte_parts parts;
  serialise_bare(type_of<tensor>(), &t, parts);
  REQUIRE(parts.parts().size() == 2);
  CHECK(parts.parts()[1].data() == t.data());
  CHECK(parts.parts()[1].size() == t.size_bytes());
  const result<value> read = parse_bare(type_of<tensor>(), parts.joined());
  REQUIRE(read.ok());
  CHECK(read->as<tensor>() == t);
}

TEST_CASE("serialised elements are read behind those of a slab, and nothing is left there after damage") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(200); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random, {});
    const value v = random_value(t, random);
    if (!t.copy) continue;
    slab some(t), read(t);
    const std::size_t n = 1 + random.below(5);
    for (std::size_t i = 0; i != n; ++i) {
      t.copy(t, some.extend(1), v.data(), 1, t.size, t.size);
      some.add_live(1);
    }
    std::string bytes;
    serialise_elements(t, some.begin(), n, bytes);
    REQUIRE(parse_elements(bytes, n, nullptr, read).ok());
    REQUIRE(parse_elements(bytes, n, nullptr, read).ok());
    REQUIRE(read.size() == 2 * n);
    std::string expected, found;
    print(t, v.data(), expected);
    for (std::size_t i = 0; i != 2 * n; ++i) {
      found.clear();
      print(t, read.begin() + i * t.size, found);
      CHECK(found == expected);
    }
    for (std::size_t cut = 0; cut != bytes.size(); ++cut) {
      CHECK_FALSE(parse_elements(bytes.substr(0, cut), n, nullptr, read).ok());
      CHECK(read.size() == 2 * n);
    }
    CHECK_FALSE(parse_elements(bytes + '\0', n, nullptr, read).ok());
  }
}

TEST_CASE("records that are read from a buffer share it") {
  slab some(type_of<record>()), read(type_of<record>());
  for (std::string_view text : {"first", "", "third"}) {
    ::new (static_cast<void*>(some.extend(1))) record(slice::copy_of(text));
    some.add_live(1);
  }
  std::string bytes;
  serialise_elements(type_of<record>(), some.begin(), 3, bytes);
  buffer_ref arrived(buffer::make_exact(bytes.size()));
  std::memcpy(arrived->data(), bytes.data(), bytes.size());
  REQUIRE(parse_elements({arrived->data(), bytes.size()}, 3, arrived.get(), read).ok());
  const auto* records = reinterpret_cast<const record*>(read.begin());
  CHECK(records[0].view() == "first");
  CHECK(records[1].view().empty());
  CHECK(records[2].view() == "third");
  CHECK(records[0].owner() == arrived.get());
  CHECK(records[2].owner() == arrived.get());
}

}  // namespace
}  // namespace sluice::lib::serialised_elements_test
