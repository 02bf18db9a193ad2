// SPDX-License-Identifier: Apache-2.0
// sluice/op/batch_by_bytes.hpp, src/engine/batching/sized_batches.hpp, src/element/content_bytes.hpp
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/batch_by_bytes_model.hpp"

namespace sluice::lib::batch_by_bytes_test {
namespace {

using namespace test;
using namespace batch_by_bytes_case;
using Catch::Contains;
using int64 = std::int64_t;

struct several_kinds {
  std::int32_t id;
  std::string text;
  std::vector<std::uint16_t> list;
  std::optional<double> maybe;
};
std::string sizes(byte_size most) {
  auto made = [](int64 x) {
    return several_kinds{
        1, std::string(static_cast<std::size_t>(x), 'x'), {1, 2}, x % 2 ? std::optional<double>(1) : std::nullopt};
  };
  return elements(range(4) | map(made) | batch_by_bytes(most) |
                  map([](const batched<several_kinds>& b) { return b.size(); }));
}

}  // namespace

TEST_CASE("batch_by_bytes counts the contents of elements") {
  // 8, 17, 10 and 19 bytes
  CHECK(sizes(25) == "2 1 1");
  CHECK(sizes(24) == "1 1 1 1");
  CHECK(sizes(35) == "3 1");
  CHECK(sizes(54) == "4");
  auto square = [](int64 n) { return tensor::zeros(dtype::float32, {2, n ? 2 : 2}); };
  CHECK(elements(range(5) | map(square) | batch_by_bytes(33) |
                 map([](const batched<tensor>& b) { return b.size(); })) == "2 2 1");
}

}  // namespace sluice::lib::batch_by_bytes_test
