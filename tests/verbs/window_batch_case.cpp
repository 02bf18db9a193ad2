// SPDX-License-Identifier: Apache-2.0
// window_batch: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/window_batch_model.hpp"

namespace sluice::lib::window_batch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 number_of_numbers(const batched<int64>& b) {
  return number_of_rows(int64s(b.values().begin(), b.values().end()));
}

const register_verb window_batch_case(
    "window_batch",
    {.build = [](const verb_plan& p) { return p.in[0] | window_batch(p.a, lying_by(p.b)) | map(number_of_numbers); },
     .expected = [](const verb_lists& l) { return window_numbers(l.in(), l.a, lying_by(l.b)); },
     .resume = {.a = 5, .b = 3, .held = 5, .takes = 3}});

const register_verb window_batch_text_case(
    "window_batch of texts",
    {.build =
         [](const verb_plan& p) {
           return p.in[0] | map(as_text::made) | window_batch(p.a, lying_by(p.b)) | map(number_of_batch<as_text>());
         },
     .expected = [](const verb_lists& l) { return window_numbers(l.in(), l.a, lying_by(l.b)); },
     .resume = {.a = 5, .b = 3, .held = 5, .takes = 3}});

}  // namespace
}  // namespace sluice::lib::window_batch_case
