// SPDX-License-Identifier: Apache-2.0
// batch_by_bytes: what it gives, by plain loops.

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/batch_by_bytes_model.hpp"

namespace sluice::lib::batch_by_bytes_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// 1 to 7 bytes, at times 40.
std::size_t bytes_of(int64 x) {
  auto u = static_cast<std::uint64_t>(x);
  return u % 23 == 5 ? 40 : u % 7 + 1;
}

std::string text_of(int64 x) { return std::string(bytes_of(x), static_cast<char>('a' + bytes_of(x) % 26)); }

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

}  // namespace
}  // namespace sluice::lib::batch_by_bytes_case
