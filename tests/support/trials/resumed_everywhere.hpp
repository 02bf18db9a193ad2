// SPDX-License-Identifier: Apache-2.0
// A run that is resumed from the place of each of its elements.
//
//   resumes_everywhere(range(3) | scan(sum), {0, 1, 3});
#pragma once

#include "support/trials/consumption.hpp"

namespace sluice::lib::test {

/// Runs the dataset, and again from the place before each element and from the end. Fails the running test case unless each
/// run yields what was left, and the runs together count each error. Places that are not available are left out.
void resumes_everywhere(const dataset<std::int64_t>& ds, consumption how = {.marks_every = 3});
/// The same, and the whole run yields `expected`.
void resumes_everywhere(const dataset<std::int64_t>& ds, const int64s& expected, consumption how = {.marks_every = 3});

}  // namespace sluice::lib::test
