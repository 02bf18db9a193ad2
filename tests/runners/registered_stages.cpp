// SPDX-License-Identifier: Apache-2.0
// Functions of rows that fail, that have states, that open plans, or that make elements which no expression makes.
#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;

// --- States ---

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
int64 last_digits(std::string& text, int64 x) {
  text += std::to_string(x % 10);
  if (text.size() > 12) text.erase(0, 1);
  return std::stoll(text);
}
/// Fails at each element that ends in 3, after the state has changed.
int64 unless_three(int64 result, int64 x) {
  if (x % 10 == 3) throw std::runtime_error("a three");
  return result;
}
SLUICE_FUNCTION(three_sum, sum_of_three);
SLUICE_FUNCTION(picky_sum, [](int64& sum, int64 x) { return unless_three(sum += x, x); });
SLUICE_FUNCTION(picky_three, [](last_three& w, int64 x) { return unless_three(sum_of_three(w, x), x); });
SLUICE_FUNCTION(picky_digits, [](std::string& text, int64 x) { return unless_three(last_digits(text, x), x); });
SLUICE_FUNCTION(returning_three, [](last_three& w, int64 x) -> result<int64> {
  int64 made = sum_of_three(w, x);
  if (x % 10 == 3) return data_loss_error("a three");
  return made;
});
SLUICE_FUNCTION(returning_sum, [](int64& sum, int64 x) -> result<int64> {
  if (x == 13) return data_loss_error("a three");
  return sum += x;
});
SLUICE_FUNCTION(picky_add, [](int64& sum, int64 x) {
  sum += x;
  if (x == 13) throw std::runtime_error("bad");
});
SLUICE_FUNCTION(sum_but_three, [](int64& sum, int64 x) -> status {
  sum += x;
  return x == 3 ? data_loss_error("no") : status();
});
SLUICE_FUNCTION(not_ten, [](int64 sum) -> result<int64> {
  if (sum == 10) return data_loss_error("ten");
  return sum;
});

// --- Groups: as those of registered_functions.cpp, but they fail for some elements ---

struct picky_tally {
  int64 key = 0;
  int64 elements = 0;
};
SLUICE_FUNCTION(picky_begin, [](int64 key) {
  if (key == 2) throw std::runtime_error("no such group");
  return picky_tally{key, 0};
});
SLUICE_FUNCTION(tally_begin, [](int64 key) { return picky_tally{key, 0}; });
SLUICE_FUNCTION(tally_add, [](picky_tally& t, int64 x) { t.elements = number_of(t.elements, x); });
SLUICE_FUNCTION(picky_tally_add, [](picky_tally& t, int64 x) {
  t.elements = number_of(t.elements, x);
  if (x % 10 == 3 || x == 50) throw std::runtime_error("not this one");
});
SLUICE_FUNCTION(tally_number, [](const picky_tally& t) { return number_of(t.elements, t.key); });
SLUICE_FUNCTION(add_letter, [](std::string& text, int64) { text += 'x'; });
SLUICE_FUNCTION(not_seven, [](std::string text) -> result<int64> {  // takes the state, whatever it returns
  if (text.size() == 7) return data_loss_error("seven");
  return static_cast<int64>(text.size());
});
SLUICE_FUNCTION(unlucky_parity, [](int64 x) -> result<int64> {
  if (x == 13) return data_loss_error("unlucky");
  return x % 2;
});
SLUICE_FUNCTION(hoard, [](std::vector<int64>& all, int64 x) { all.push_back(x); });
SLUICE_FUNCTION(size_of_hoard, [](const std::vector<int64>& all) { return static_cast<int64>(all.size()); });

// --- Plans that are opened for elements ---

dataset<int64> opened(const std::string& plan) { return dataset<int64>(parse_plan(plan)); }
SLUICE_FUNCTION(open_sums,
                [](int64 k) { return opened("range(20, start=" + std::to_string(k) + ") | scan(0, state + it)"); });
SLUICE_FUNCTION(open_groups, [](int64 n) {
  return opened("range(" + std::to_string(n) + ") | group_by_reducer(it % 2, group_sum)");
});
SLUICE_FUNCTION(open_total, [](int64 n) { return opened("range(" + std::to_string(n) + ") | reduce(reduce_sum)"); });
SLUICE_FUNCTION(open_unless_two, [](int64 x) {
  if (x == 2) throw std::runtime_error("cannot open");
  return range(3);
});
SLUICE_FUNCTION(open_broken, [](int64 x) {
  return opened("range(4) | map(" + std::to_string(10 * x) + " + it + 0 / (" + std::to_string(x) + " * 10 + it - 12))");
});
SLUICE_FUNCTION(open_bad, [](int64) { return opened("range(5) | map(it + 0 / (it % 7 - 3))"); });

// --- Elements ---

SLUICE_FUNCTION(batch_of_tens, [](int64 n) {
  batched<int64> b;
  for (int64 i = 0; i != n; ++i) b.push_back(10 * n + i);
  return b;
});
SLUICE_FUNCTION(zeros_of, [](int64 n) { return tensor::zeros(dtype::uint8, {n}); });
SLUICE_FUNCTION(float_zeros_of, [](int64 n) { return tensor::zeros(dtype::float32, {n}); });
SLUICE_FUNCTION(numbers_of, [](int64 x, int64 n) { return std::vector<int64>(static_cast<std::size_t>(n), x); });
SLUICE_FUNCTION(texts_of, [](int64 n, int64 bytes) {
  return std::vector<std::string>(static_cast<std::size_t>(n), std::string(static_cast<std::size_t>(bytes), 'x'));
});
SLUICE_FUNCTION(record_of_text, [](const std::string& s) { return record(slice::copy_of(s)); });

}  // namespace
}  // namespace sluice::lib::test
