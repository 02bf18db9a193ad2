// SPDX-License-Identifier: Apache-2.0
// row_landing: what it gives, by plain loops.

#include <cstdint>

#include "sluice/format/example.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::row_landing_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// --- For all suites: functions that write a number as a row of a batch, whose rows then become elements again. ---

struct affine_rows {
  std::uint64_t b;
  int64 operator()(int64 x) const { return affine(x, b); }
  void append_to(column& rows, int64 x) const { rows.append_value(affine(x, b)); }
};

/// Fails before, or after, it has appended a row.
struct fallible_affine_rows {
  std::uint64_t b;
  int64 operator()(int64 x) const {
    if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
    return affine(x, b);
  }
  void append_to(column& rows, int64 x) const {
    if (x % 2 == 0) rows.append_value(affine(x, b));
    if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
    if (x % 2 != 0) rows.append_value(affine(x, b));
  }
};

const register_verb rows_case("batch of rows", {.build =
                                                    [](const verb_plan& p) {
                                                      return p.in[0] | map(affine_rows{p.b}) | batch(p.a) | unbatch();
                                                    },
                                                .expected =
                                                    [](const verb_lists& l) {
                                                      int64s out = l.in();
                                                      for (int64& x : out) x = affine(x, l.b);
                                                      return out;
                                                    },
                                                .resume = {.a = 50, .held = 100}});

const register_verb rows_ahead_case("batch of rows made ahead",
                                    {.build =
                                         [](const verb_plan& p) {
                                           return p.in[0] | map(affine_rows{p.b}, {.parallelism = 3}) | batch(p.a) |
                                                  unbatch();
                                         },
                                     .expected =
                                         [](const verb_lists& l) {
                                           int64s out = l.in();
                                           for (int64& x : out) x = affine(x, l.b);
                                           return out;
                                         },
                                     .resume = {.a = 50, .held = 100}});

const register_verb failing_rows_ahead_case("batch of rows made ahead failing",
                                            {.meets_errors = true,
                                             .build =
                                                 [](const verb_plan& p) {
                                                   return p.in[0] | map(fallible_affine_rows{p.b}, {.parallelism = 3}) |
                                                          batch(p.a) | unbatch();
                                                 },
                                             .expected =
                                                 [](const verb_lists& l) {
                                                   int64s out;
                                                   for (int64 x : l.in())
                                                     if (!is_bad(x, l.b)) out.push_back(affine(x, l.b));
                                                   return out;
                                                 }});

const register_verb failing_rows_case(
    "batch of rows failing",
    {.meets_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | map(fallible_affine_rows{p.b}) | batch(p.a) | unbatch(); },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           for (int64 x : l.in())
             if (!is_bad(x, l.b)) out.push_back(affine(x, l.b));
           return out;
         }});

}  // namespace
}  // namespace sluice::lib::row_landing_case
