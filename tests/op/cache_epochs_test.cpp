// SPDX-License-Identifier: Apache-2.0
// The memory of a process over 100 epochs of a cache, a shuffle and batches.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/process_memory.hpp"
#include "support/sanitizers.hpp"

namespace sluice::lib::cache_epochs_test {
namespace {

using int64 = std::int64_t;

constexpr int kEpochs = 100;
constexpr int kWarm = 20;  // the first epochs make the elements, and fill pools and buffers
constexpr int64 kNumbers = 8000;
constexpr std::size_t kBudget = std::size_t{2} << 20;  // half of it has no room for the texts

struct epoch_memory {
  std::size_t peak_bytes = 0;  // unused
  int64 lengths = 0;           // of all texts
  int64 resident[kEpochs] = {};
};

task<void> measured_epochs(stream<int64> s, epoch_memory& m) {
  for (int epoch = 0; epoch != kEpochs; ++epoch) {
    for (int64 left = kNumbers / 8; left != 0; --left) {
      auto n = co_await s.next();
      m.lengths += n ? *n : 0;
    }
    m.resident[epoch] = static_cast<int64>(testing::memory_line("VmRSS"));
  }
}

/// The largest of ten epochs, which ignores memory that the system takes back for a while.
int64 largest(const epoch_memory& m, int from) { return *std::max_element(m.resident + from, m.resident + from + 10); }

}  // namespace

TEST_CASE("the memory of a process does not grow over 100 epochs of a cache, a shuffle and batches") {
  if (testing::kSanitized) return;  // freed memory stays in quarantine
  std::string file = "/tmp/sluice-epochs-XXXXXX";
  REQUIRE(::close(::mkstemp(file.data())) == 0);
  std::remove(file.c_str());
  for (const std::string& arguments : {std::string(), "\"" + file + "\"", std::string("over_budget=spill")}) {
    CAPTURE(arguments);
    const auto m = testing::in_own_process<epoch_memory>([&] {
      runtime rt({.workers = 1, .memory_budget_bytes = arguments.starts_with("over") ? kBudget : 0});
      epoch_memory made;
      const std::string number = "map(string(it + 100000)) | map(it + it + it + it) | map(it + it + it + it)";
      const dataset<int64> ds(parse_plan("range(" + std::to_string(kNumbers) + ") | " + number + " | cache(" +
                                         arguments + ") | shuffle(500, seed=1) | batch(8) | repeat(" +
                                         std::to_string(kEpochs) + ") | map(length(it[0]) + length(it[7]))"));
      sync_wait(rt, measured_epochs(ds.iterate(rt), made));
      return made;
    });
    CHECK(m.lengths == kEpochs * kNumbers / 8 * 2 * 6 * 16);
    // A page in two epochs would be 160 KiB.
    CHECK(largest(m, kEpochs - 10) - largest(m, kWarm) <= 128 << 10);
  }
  std::remove(file.c_str());
}

}  // namespace sluice::lib::cache_epochs_test
