// SPDX-License-Identifier: Apache-2.0
// sluice/op/batch_by_bytes.hpp, src/engine/sized_batches.hpp, src/element/content_bytes.hpp
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::batch_by_bytes_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

/// 1 to 7 bytes, at times 40.
std::size_t bytes_of(int64 x) {
  auto u = static_cast<std::uint64_t>(x);
  return u % 23 == 5 ? 40 : u % 7 + 1;
}
std::string text_of(int64 x) { return std::string(bytes_of(x), static_cast<char>('a' + bytes_of(x) % 26)); }
int64 number_of_texts(const batched<std::string>& b) {
  int64 all = b.size();
  for (std::string_view text : b.values()) all = number_of(all, static_cast<int64>(text.size()));
  return all;
}

/// By the words of the contract; 0 of `rows`: any number. `alone`: what has more is a batch, and not left out.
int64s byte_batches(const int64s& in, std::size_t most, std::size_t rows, bool alone) {
  int64s out;
  std::vector<std::size_t> part;
  std::size_t sum = 0;
  auto close = [&] {
    int64 all = static_cast<int64>(part.size());
    for (std::size_t n : part) all = number_of(all, static_cast<int64>(n));
    if (!part.empty()) out.push_back(all);
    part.clear();
    sum = 0;
  };
  for (int64 x : in) {
    const std::size_t n = bytes_of(x);
    if (n > most && !alone) continue;
    if (sum + n > most) close();
    part.push_back(n);
    sum += n;
    if (part.size() == rows || sum > most) close();
  }
  close();
  return out;
}

const register_verb alone_case("batch_by_bytes", {.build =
                                                      [](const verb_plan& p) {
                                                        batch_by_bytes_options o{.oversized = oversized::alone};
                                                        if (p.b % 2) o.rows_max = count(4);
                                                        return p.in[0] | map(text_of) | batch_by_bytes(p.a * 5, o) |
                                                               map(number_of_texts);
                                                      },
                                                  .expected =
                                                      [](const verb_lists& l) {
                                                        return byte_batches(l.in(), static_cast<std::size_t>(l.a * 5),
                                                                            l.b % 2 ? 4 : 0, true);
                                                      },
                                                  .resume = {.a = 5, .held = 9, .takes = 9}});
const register_verb refusing_case("batch_by_bytes refusing",
                                  {.meets_errors = true,
                                   .build =
                                       [](const verb_plan& p) {
                                         auto made = [](int64 x) -> result<std::string> {
                                           if (bytes_of(x) > 30) return data_loss_error("no text");
                                           return text_of(x);
                                         };
                                         return p.in[0] | map(made) | batch_by_bytes(p.a + 1) | map(number_of_texts);
                                       },
                                   .expected =
                                       [](const verb_lists& l) {
                                         int64s in;
                                         for (int64 x : l.in())
                                           if (bytes_of(x) <= 30) in.push_back(x);
                                         return byte_batches(in, static_cast<std::size_t>(l.a + 1), 0, false);
                                       },
                                   .resume = {.takes = 0}});

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

TEST_CASE("an element of more bytes than a batch may have is an error, or a batch") {
  auto texts = from_elements(std::vector<std::string>{"a", "bcdef", "g"});
  CHECK(elements(texts | on_error(error_policy::skip, batch_by_bytes(4))) == R"(["a","g"])");
}

TEST_CASE("batch_by_bytes says what does not fit, the plan and the memory") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{1} << 20});
  auto text = [](int64) { return std::string(10'000, 'x'); };
  consumed few = consume_on(rt, range(300) | map(text) | batch_by_bytes(200'000) | map(number_of_texts), {});
  CHECK(few.complaint() == "");
  CHECK(few.elements.size() == 15);
  consumed got = consume_on(rt, range(300) | map(text) | batch_by_bytes(2'000'000) | map(number_of_texts), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(rt.ledger().report().used_bytes == 0);
}

TEST_CASE("batch_by_bytes prints as text, and is read again; its rows are the input's elements") {
  round_trips(*(range(5) | batch_by_bytes(4 << 20, {.rows_max = count(9), .oversized = oversized::alone})).plan(),
              "range(5) | batch_by_bytes(4MiB, rows_max=9, oversized=alone)");
}

}  // namespace sluice::lib::batch_by_bytes_test
