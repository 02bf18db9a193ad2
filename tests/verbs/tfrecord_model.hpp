// SPDX-License-Identifier: Apache-2.0
// What the cases of tfrecord and its tests share.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/record_files.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_plan.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::tfrecord_case {

using namespace test;
using int64 = std::int64_t;

/// A file some of whose records are damaged, and those that are not.
struct damaged_file {
  std::string bytes;
  int64s sound = {};
  std::size_t first_damage = 0;  ///< its offset in the bytes before they are packed
};

/// A bit of the length, of its crc, of the data or of their crc is another; some files end within their last record.
inline damaged_file some_damage(const verb_use& use) {
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

inline std::string path_for(std::string_view of, const verb_use& use) { return path_of(of, use.a, use.b); }

}  // namespace sluice::lib::tfrecord_case
