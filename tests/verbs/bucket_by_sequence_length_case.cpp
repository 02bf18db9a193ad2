// SPDX-License-Identifier: Apache-2.0
// bucket_by_sequence_length: what it gives, by plain loops.

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/bucket_by_sequence_length_model.hpp"

namespace sluice::lib::bucket_by_sequence_length_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// What tells of a row which it was and how it is padded; of an empty one only its length.
int64 row_number(int64s row) {
  int64 sum = static_cast<int64>(row.size());
  for (int64 x : row) sum = static_cast<int64>(static_cast<std::uint64_t>(sum) * 31 + static_cast<std::uint64_t>(x));
  return sum;
}

void add_batch(int64s& out, int64s& bucket) {
  std::size_t longest = 0;
  for (int64 x : bucket) longest = std::max(longest, length_for(x));
  for (int64 x : bucket) {
    int64s row = list_of_length(x);
    row.resize(longest, -1);
    out.push_back(row_number(row));
  }
  bucket.clear();
}

int64s bucketed(const int64s& in, std::size_t size) {
  int64s out;
  std::vector<int64s> buckets(3);
  for (int64 x : in) {
    std::size_t b = length_for(x) < 1 ? 0 : length_for(x) < 3 ? 1 : 2;
    buckets[b].push_back(x);
    if (buckets[b].size() == size + 2 - b) add_batch(out, buckets[b]);
  }
  for (int64s& b : buckets)
    if (!b.empty()) add_batch(out, b);
  return out;
}

dataset<int64> in_length_buckets(const dataset<int64>& in, int64 size) {
  return in | map(list_of_length) |
         bucket_by_sequence_length([](const int64s& x) { return x.size(); }, {1, 3}, {size + 2, size + 1, size},
                                   {.values = {{"it", -1}}}) |
         unbatch() | map(row_number);
}

const register_verb bucket_case(
    "bucket_by_sequence_length",
    {.build = [](const verb_plan& p) { return in_length_buckets(p.in[0], p.a); },
     .expected = [](const verb_lists& l) { return bucketed(l.in(), static_cast<std::size_t>(l.a)); },
     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::bucket_by_sequence_length_case
