// SPDX-License-Identifier: Apache-2.0
// The whole service, dispatcher, worker and consumer, beside a stream of gRPC without anything else, in one process: elements
// of 1 MiB, which the worker makes without work. The consumer has a runtime of its own, so that its elements are sent over TCP.
// Jobs of different sizes show what the start of a job costs.
#if SLUICE_HAVE_GRPC && SLUICE_HAVE_ASIO

#include <cstdint>
#include <string>

#include "bench/bare_grpc_stream.hpp"
#include "bench/harness.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/worker.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kElementBytes = std::size_t{1} << 20;
constexpr double kServiceGoal = 0.85;
constexpr int kServicePairs = 7;

/// Elements share their bytes. These are random, since compression must not gain anything.
const slice& shared_bytes() {
  static const slice bytes = [] {
    std::string text;
    std::uint64_t x = 88172645463325252;
    for (std::size_t i = 0; i != kElementBytes; ++i) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      text += static_cast<char>(x);
    }
    return slice::copy_of(text);
  }();
  return bytes;
}
SLUICE_FUNCTION(bench_shared_megabyte, [](std::int64_t) { return record(shared_bytes()); });

task<std::uint64_t> count_bytes(stream<record> s) {
  std::uint64_t bytes = 0;
  while (auto x = co_await s.next()) bytes += x->size();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return bytes;
}

void service_stream(report& r) {
  register_asio_transport();
  runtime servers({.workers = 2}), client({.workers = 2});
  dispatcher d(servers);
  worker w(servers, d.address());
  for (const std::size_t count : {std::size_t{250}, std::size_t{1000}, std::size_t{4000}}) {
    auto ours = [&] {
      const auto plan = range(static_cast<std::int64_t>(count)) | map(bench_shared_megabyte) | distribute(d.address());
      stopwatch watch(timed::wall);
      const std::uint64_t bytes = sync_wait(client, count_bytes(plan.iterate(client)));
      return pass{bytes, static_cast<double>(count), watch.ns()};
    };
    auto theirs = [&] { return bare_grpc_stream({count, kElementBytes}); };
    const comparison c = compare(ours, theirs, kServicePairs);
    r.at_least("the service, " + std::to_string(count) + " elements of 1 MiB over TCP",
               "bare gRPC stream of 1 MiB frames", c.speedup(), kServiceGoal, "x");
  }
  sync_wait(servers, w.drain());
  sync_wait(servers, d.close());
}
SLUICE_BENCH(service_stream);

}  // namespace
}  // namespace sluice::lib::bench

#endif
