// SPDX-License-Identifier: Apache-2.0
// Plans that are registered with a dispatcher, read in C++.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/register_dataset.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::register_dataset_test {

TEST_CASE("from_dataset_id refuses an element type that is not that of the registered plan") {
  register_asio_transport();
  runtime rt({.workers = 1});
  dispatcher d(rt);
  const std::string id = sync_wait(rt, register_dataset(rt, d.address(), range(4), "four"));
  CHECK_NOTHROW(from_dataset_id<std::int64_t>(d.address(), id));
  try {
    (void)from_dataset_id<std::string>(d.address(), id);
    FAIL("another type was accepted");
  } catch (const error& e) {
    INFO(e.what());
    CHECK(e.code() == status_code::invalid_argument);
    CHECK(std::string(e.what()).find("int64") != std::string::npos);
  }
  sync_wait(rt, d.close());
}

}  // namespace sluice::lib::register_dataset_test
