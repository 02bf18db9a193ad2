// SPDX-License-Identifier: Apache-2.0
// What a resume costs: elements made again, and the time to the first element.
//
//   dataset<std::int64_t> ds = counted(range(kEndless)) | shuffle(50, {.seed = 1});
//   resume_cost c = resume_after(rt, ds, 60'000, {.ask = 4});
//   CHECK(c.made_again <= …);
//
// `counted` is a stage that nobody can pass over without making its elements (a filter that keeps all), so whatever a
// resume replays is seen. What a resumed run reads ahead counts as made again, too.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::test {

/// More elements than any test takes.
inline constexpr std::int64_t kEndless = std::int64_t{1} << 50;

/// Every element that comes through is one of made().
dataset<std::int64_t> counted(const dataset<std::int64_t>& in);
/// How many elements all counted stages have made since the last call.
std::uint64_t made_since_last();

struct life {
  std::uint32_t ask = 0;  ///< elements a request; 0: by next()
  checkpoint from = {};
};
struct life_cost {
  std::uint64_t taken = 0;  ///< elements delivered
  std::uint64_t made = 0;   ///< by the counted stages, until the run was cleaned up
  double first_ms = 0;      ///< until the first element was there
  checkpoint at_end;
  std::string complaint;
};
/// One run: takes `elements`, notes where it is, and is dropped.
life_cost live(runtime& rt, const dataset<std::int64_t>& ds, std::uint64_t elements, const life& how);

struct resume_cost {
  std::uint64_t made = 0;        ///< by the run that was saved
  std::uint64_t made_again = 0;  ///< by the resumed one, for one element
  double first_ms = 0;
  std::size_t checkpoint_bytes = 0;
  std::string complaint;
};
/// Takes `elements`, saves, resumes and takes one.
resume_cost resume_after(runtime& rt, const dataset<std::int64_t>& ds, std::uint64_t elements, const life& how);

}  // namespace sluice::lib::test
