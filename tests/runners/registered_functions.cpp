// SPDX-License-Identifier: Apache-2.0
// Functions that plans of rows call by name because an expression cannot compute them. The program `sluice` does not have
// them. Those of TensorFlow's rows have the names of the functions in tests/golden/tfdata_pipelines.py.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "op/opened_elements.hpp"
#if SLUICE_HAVE_PARQUET
#include "sluice/io/arrow_parquet.hpp"
#endif
#if SLUICE_HAVE_SQLITE
#include "sluice/io/sqlite_rows.hpp"
#endif
#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"

namespace sluice::lib::test {
namespace {

#if SLUICE_HAVE_PARQUET
const bool has_parquet = (register_parquet(), true);
#endif
#if SLUICE_HAVE_SQLITE
const bool has_sqlite = (register_sqlite(), true);
#endif

dataset<std::int64_t> numbers(const std::string& plan) { return dataset<std::int64_t>(parse_plan(plan)); }
std::string text(std::int64_t x) { return std::to_string(x); }
SLUICE_FUNCTION(tfdata_up_to, [](std::int64_t x) { return numbers("range(" + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_few, [](std::int64_t x) { return numbers("range(" + text(x % 5) + ")"); });
SLUICE_FUNCTION(tfdata_six, [](std::int64_t x) { return numbers("range(6) | map(it * 0 + " + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_copies,
                [](std::int64_t x) { return numbers("range(" + text(x) + ") | map(it * 0 + " + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_twice, [](std::int64_t x) { return numbers("range(" + text(x % 3) + ") | repeat(2)"); });
SLUICE_FUNCTION(tfdata_part, [](std::int64_t x) {
  return numbers("range(" + text(10 * x + x % 4) + ", start=" + text(10 * x) + ")");
});
SLUICE_FUNCTION(tfdata_failing,
                [](std::int64_t x) { return numbers("range(4) | map(12 / abs(it - " + text(x) + "))"); });
SLUICE_FUNCTION(tfdata_batches, [](std::int64_t x) {
  return dataset<batched<std::int64_t>>(parse_plan("range(" + text(x) + ") | batch(2)"));
});
SLUICE_FUNCTION(tfdata_nested,
                [](std::int64_t x) { return numbers("range(" + text(x) + ") | flat_map(tfdata_up_to)"); });

// Of tests/op.
using int64 = std::int64_t;
struct row {
  int64 label = 0;
  std::string text;
};
SLUICE_FUNCTION(row_of_number, [](int64 x) { return row{x, std::string(static_cast<std::size_t>(x), 'x')}; });
struct parts_row {
  std::array<int64, 3> numbers = {};
  std::pair<std::string, std::optional<int64>> pair;
};
SLUICE_FUNCTION(parts_of_number, [](int64 x) {
  return parts_row{{x, 2 * x, -x}, {std::to_string(x % 3), x % 4 ? std::optional<int64>(x) : std::nullopt}};
});
SLUICE_FUNCTION(halved, [](int64 x) { return x / 2; });
SLUICE_FUNCTION(weighted_sum, [](int64 x, const std::vector<double>& weights, const std::array<float, 2>& more) {
  return std::accumulate(weights.begin(), weights.end(), 0.0) * static_cast<double>(x) + static_cast<double>(more[1]);
});
SLUICE_FUNCTION(note_number, [](const int64&) {});
SLUICE_FUNCTION(note_words, [](const std::string&, const std::string&) {});
SLUICE_FUNCTION(running_total, [](int64& sum, int64 x) { return sum += x; });
SLUICE_FUNCTION(scan_sum, [](int64& sum, const int64& x) { return sum += x; });
SLUICE_FUNCTION(scan_thrice, [](int64 x) { return 3 * x; });
SLUICE_FUNCTION(thrice_and_one, [](int64 x) { return 3 * x + 1; });
SLUICE_FUNCTION(refuse_five, [](const int64& x) {
  if (x == 5) throw_status(data_loss_error("five is refused"));
});
SLUICE_FUNCTION(five_is_bad, [](int64 x) -> int64 {
  if (x == 5) throw_status(data_loss_error("five is refused"));
  return x;
});
SLUICE_FUNCTION(open_some, [](int64 x) { return opened_for(x); });
SLUICE_FUNCTION(open_a_few, [](int64 x) { return opened_for(x); });
SLUICE_FUNCTION(is_third, [](const int64& x) { return x % 3 == 0; });
SLUICE_FUNCTION(window_digit, [](const int64& x) { return x % 10; });
SLUICE_FUNCTION(window_size_of_digit, [](int64 digit) { return digit + 1; });
/// What is known of a group: its key, and its elements in order.
struct tally {
  int64 key = 0;
  int64 elements = 0;
};
SLUICE_FUNCTION(group_tens, [](int64 x) { return x / 10; });
SLUICE_FUNCTION(group_digit, [](const int64& x) { return std::to_string(x % 10); });
SLUICE_FUNCTION(group_half, [](int64 x) { return static_cast<double>(x) / 2; });
SLUICE_FUNCTION(group_begin, [](int64 key) { return tally{key, 0}; });
SLUICE_FUNCTION(group_add, [](tally& t, int64 x) { t.elements = number_of(t.elements, x); });
SLUICE_FUNCTION(group_number, [](const tally& t) { return number_of(t.elements, t.key); });
SLUICE_FUNCTION(group_sum, [](int64& sum, int64 x) { sum = added(sum, x); });
SLUICE_FUNCTION(group_line, [](const line& l) { return l.view().size(); });

struct mean {
  int64 sum = 0;
  int64 count = 0;
};
SLUICE_FUNCTION(reduce_sum, [](int64& sum, const int64& x) { sum += x; });
SLUICE_FUNCTION(reduce_mean, [](mean& m, int64 x) {
  m.sum += x;
  ++m.count;
});
SLUICE_FUNCTION_VERSION(reduce_quotient, 2, [](const mean& m) { return m.count ? m.sum / m.count : -1; });
SLUICE_FUNCTION(reduce_half, [](int64 x) { return x / 2; });
SLUICE_FUNCTION(reduce_scan, [](int64& sum, int64 x) { return sum += x; });
SLUICE_FUNCTION(reduce_drawing, [](const mean& m, random_source& r) { return m.sum + static_cast<int64>(r.below(2)); });

struct label_options {
  std::string before = "<", after = ">";
  std::int64_t times = 1;
  std::optional<std::int64_t> limit;
  std::vector<double> weights = {0.5, 1.5};
};
const bool label_options_are_named = (accept_by_name(type_of<label_options>()), true);
/// Its last parameter has members that calls may name.
SLUICE_FUNCTION(labelled, [](std::int64_t n, const label_options& o) {
  std::string s;
  for (std::int64_t i = 0; i != o.times; ++i) s += o.before + std::to_string(n) + o.after;
  if (o.limit) s.resize(std::min(s.size(), static_cast<std::size_t>(*o.limit)));
  for (double w : o.weights) s += " " + std::to_string(static_cast<int>(w * 2));
  return s;
});
SLUICE_FUNCTION(volume_of, [](double w, double h, double d) { return w * h * d; });
SLUICE_FUNCTION(repeated_text, [](const std::string& text, int64 n) {
  std::string out;
  for (int64 i = 0; i != n; ++i) out += text;
  return out;
});
SLUICE_FUNCTION(one_below, [](int64 below, int64 plus, random_source& random) {
  return static_cast<int64>(random.below(static_cast<std::uint64_t>(below))) + plus;
});
SLUICE_FUNCTION(are_equal, [](int64 a, int64 b) { return a == b; });

SLUICE_OVERLOAD("kind_of_value", 1, [](const int64& x) { return "integer " + std::to_string(x); });
SLUICE_OVERLOAD("kind_of_value", 1, [](const std::string& s) { return "text " + s; });
SLUICE_OVERLOAD("kind_of_value", 1, [](int64 a, const std::string& b) { return std::to_string(a) + " and " + b; });

}  // namespace
}  // namespace sluice::lib::test
