// SPDX-License-Identifier: Apache-2.0
// A dispatcher, workers and a consumer in one process. In production, the servers are `sluice dispatcher` and `sluice worker`
// on other machines, and the consumer has only the address.
#include <cstdio>
#include <string>

#include "sluice/io/asio_network.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/register_dataset.hpp"
#include "sluice/service/worker.hpp"
#include "sluice/sluice.hpp"

using namespace sluice;

/// Worker processes find the function by its name.
SLUICE_FUNCTION(square, [](std::int64_t x) { return x * x; });

task<void> print_all(const char* title, stream<std::int64_t> s) {
  std::printf("%s: [", title);
  const char* separator = "";
  while (auto x = co_await s.next()) {
    std::printf("%s%ld", separator, static_cast<long>(*x));
    separator = ", ";
  }
  std::printf("]\n");
}

int main() {
  register_asio_transport();
  runtime rt;

  dispatcher d(rt);
  worker w(rt, d.address());
  auto dataset = range(10) | distribute(d.address(), {.mode = sharding::off});
  sync_wait(rt, print_all("each worker yields everything", dataset.iterate(rt)));

  worker second(rt, d.address());
  auto divided = range(10) | map(square) | distribute(d.address(), {.mode = sharding::dynamic});
  sync_wait(rt, print_all("two workers divide the elements", divided.iterate(rt)));

  auto endless = range(3) | distribute(d.address()) | repeat() | take(7);
  sync_wait(rt, print_all("epochs end with their consumer", endless.iterate(rt)));

  // One program registers a dataset, and others read it by its id, without its plan.
  std::string id = sync_wait(rt, register_dataset(rt, d.address(), range(10) | map(square), "squares"));
  auto registered = from_dataset_id<std::int64_t>(d.address(), id, {.job = "shared"});
  sync_wait(rt, print_all("a registered dataset", registered.iterate(rt)));

  sync_wait(rt, w.drain());
  sync_wait(rt, second.drain());
  sync_wait(rt, d.close());
}
