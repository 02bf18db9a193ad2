// SPDX-License-Identifier: Apache-2.0
// tfrecord: what it gives, by plain loops.

#include <cstdint>

#include "pipeline/record_files.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_plan.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/tfrecord_model.hpp"

namespace sluice::lib::tfrecord_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s sound_elements(const verb_lists& l) {
  int64s out;
  for (int64 i : some_damage(l).sound) out.push_back(l.element(i));
  return out;
}

dataset<int64> numbers_at(std::string_view of, const verb_plan& p) {
  return elements_of(tfrecord(path_for(of, p), some_reading<tfrecord_options>(p)), p);
}

const register_verb tfrecord_case("tfrecord",
                                  {.inputs = 0,
                                   .has_knob = true,
                                   .size = some_length,
                                   .files = [](const verb_use& u) -> test_files {
                                     return {.bytes = {{path_for("tfrecord", u), packed(record_file(u.a, u.b), u.b)}}};
                                   },
                                   .build = [](const verb_plan& p) { return numbers_at("tfrecord", p); },
                                   .expected = source_elements});

const register_verb tfrecord_damaged_case("tfrecord damaged",
                                          {.inputs = 0,
                                           .meets_errors = true,
                                           .has_knob = true,
                                           .size = some_length,
                                           .files = [](const verb_use& u) -> test_files {
                                             return {.bytes = {
                                                         {path_for("damaged", u), packed(some_damage(u).bytes, u.b)}}};
                                           },
                                           .build = [](const verb_plan& p) { return numbers_at("damaged", p); },
                                           .expected = sound_elements});

}  // namespace
}  // namespace sluice::lib::tfrecord_case
