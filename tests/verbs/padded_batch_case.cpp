// SPDX-License-Identifier: Apache-2.0
// padded_batch: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/counting_element.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/padded_batch_model.hpp"

namespace sluice::lib::padded_batch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s padded_sums(const int64s& in, std::size_t size) {
  int64s out;
  for (std::size_t i = 0; i < in.size(); i += size) {
    std::size_t longest = 0, end = std::min(in.size(), i + size);
    for (std::size_t k = i; k != end; ++k) longest = std::max(longest, some_of(in[k]).size());
    for (std::size_t k = i; k != end; ++k) {
      int64s row = some_of(in[k]);
      row.resize(longest, 7);
      int64 sum = static_cast<int64>(longest);
      for (int64 x : row)
        sum = static_cast<int64>(static_cast<std::uint64_t>(sum) * 31 + static_cast<std::uint64_t>(x));
      out.push_back(sum);
    }
  }
  return out;
}

const register_verb padded_case(
    "padded_batch", {.build = [](const verb_plan& p) { return padded(p.in[0], p.a); },
                     .expected = [](const verb_lists& l) { return padded_sums(l.in(), static_cast<std::size_t>(l.a)); },
                     .resume = {.a = 3}});

}  // namespace
}  // namespace sluice::lib::padded_batch_case
