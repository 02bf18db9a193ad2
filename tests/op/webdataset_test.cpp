// SPDX-License-Identifier: Apache-2.0
// sluice/op/webdataset.hpp

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::webdataset_test {
using testing::temporary_folder;

TEST_CASE("a sample of webdataset lists its parts") {
  webdataset_sample s{"k", {{"jpg", record(slice::copy_of("1"))}, {"cls", record(slice::copy_of("2"))}}};
  CHECK(s.find("cls")->view() == "2");
  CHECK(s.find("png") == nullptr);
  CHECK(s.at("jpg").view() == "1");
  CHECK_THROWS_WITH(s.at("png"), Catch::Contains("the sample k has no part png, but jpg, cls"));
}

}  // namespace sluice::lib::webdataset_test
