// SPDX-License-Identifier: Apache-2.0
// sluice/op/list_files.hpp
#include <string>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"

namespace sluice::lib::list_files_test {

using namespace testing;

TEST_CASE(
    "a list that does not fit the budget is refused at the pattern where it does not, before the next is listed") {
  file_world w(1, 100'000);
  for (int i = 0; i != 2000; ++i) w.files->put("a/a-long-name-of-a-file-" + std::to_string(i), "x");
  outcome got = run(w.rt, list_files("a/*,nothing/*"));
  CAPTURE(got.message());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(w.rt.ledger().report().used_bytes == 0);
}

}  // namespace sluice::lib::list_files_test
