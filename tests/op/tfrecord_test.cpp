// SPDX-License-Identifier: Apache-2.0
// sluice/op/tfrecord.hpp
#include <cstdint>

#include <catch2/catch.hpp>

#include "pipeline/record_files.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_plan.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/tfrecord_model.hpp"

namespace sluice::lib::tfrecord_test {
using namespace test;
using namespace tfrecord_case;
using int64 = std::int64_t;

TEST_CASE("a damaged record ends a run from any place before it, with the place of the damage") {
  const verb_case& damaged = case_named("tfrecord damaged");
  std::size_t tried = 0;
  for (std::uint64_t b = 1; b != 60; ++b) {
    const verb_use use{.a = 30, .b = b};
    const damaged_file file = some_damage(use);
    if (file.sound.size() == 30) continue;
    int64s before;  // the first numbers, without a gap
    while (before.size() != file.sound.size() && file.sound[before.size()] == static_cast<int64>(before.size()))
      before.push_back(file.sound[before.size()]);
    plan_ptr p = above(damaged, use, {});
    consumption how;
    how.files = files_of(*p);
    how.save = true;
    how.ask_max = static_cast<std::uint32_t>(b % 3);
    how.seed = b;
    consumed whole = consume(build(*p), how);
    for (std::size_t at = 0; at < whole.places.size(); at += 5) {
      if (whole.places[at].empty()) continue;
      how.from = whole.places[at];
      consumed got = consume(build(*p), how);
      CAPTURE(b, at, got.why.to_string());
      CHECK(got.mistake == "");
      CHECK(got.elements == without_first(before, at));
      CHECK(got.why.code() == status_code::data_loss);
      CHECK(got.why.where().file == path_for("damaged", use));
      CHECK(got.why.where().offset_bytes == file.first_damage);
      CHECK(got.why.where().record_index == before.size());
      ++tried;
    }
  }
  CHECK(tried > 60);
}

}  // namespace sluice::lib::tfrecord_test
