// SPDX-License-Identifier: Apache-2.0
// sluice/op/tfrecord.hpp
#include <algorithm>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "pipeline/record_files.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/random_plan.hpp"

namespace sluice::lib::tfrecord_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// A file some of whose records are damaged, and those that are not.
struct damaged_file {
  std::string bytes;
  int64s sound = {};
  std::size_t first_damage = 0;  ///< its offset in the bytes before they are packed
};

/// A bit of the length, of its crc, of the data or of their crc is another; some files end within their last record.
damaged_file some_damage(const verb_use& use) {
  damaged_file f;
  bool is_damaged = false;
  for (int64 i = 0; i != use.a; ++i) {
    std::string frame;
    append_tfrecord(frame, text_of_number(i, use.b));
    const std::uint64_t way = mix(static_cast<std::uint64_t>(i) + use.b);
    const std::size_t bits[] = {way % 8, 8 + way % 4, kTfrecordHeaderBytes, frame.size() - 1};
    const bool is_cut = i + 1 == use.a && use.b % 3 == 0;
    const bool is_sound = !is_bad(i, use.b) && !is_cut;
    if (is_bad(i, use.b)) frame = testing::flipped(std::move(frame), bits[way / 5 % 4]);
    if (is_cut) frame.resize(1 + way % (frame.size() - 1));
    if (is_sound) f.sound.push_back(i);
    else if (!std::exchange(is_damaged, true)) f.first_damage = f.bytes.size();
    f.bytes += frame;
  }
  return f;
}

int64s sound_elements(const verb_lists& l) {
  int64s out;
  for (int64 i : some_damage(l).sound) out.push_back(l.element(i));
  return out;
}

std::string path_for(std::string_view of, const verb_use& use) { return path_of(of, use.a, use.b); }
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

TEST_CASE("a damaged record ends a run from any place in front of it, which names the place of the damage") {
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

TEST_CASE("tfrecord prints as text, and is read again") {
  round_trips(*tfrecord("a", {.read_bytes = 4096, .reads_in_flight = 2}).plan(),
              "tfrecord(\"a\", read_bytes=4KiB, reads_in_flight=2)");
}

}  // namespace sluice::lib::tfrecord_test
