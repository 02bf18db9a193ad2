// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/keep_freed_memory.hpp"

#include <sys/resource.h>

#include <cstring>
#include <memory>
#include <vector>

#include "support/process_memory.hpp"

using namespace sluice::lib::testing;

namespace {

struct faults {
  long met = 0;
  bool accepted = true;
  std::size_t peak_bytes = 0;
};

/// Makes and frees 3 MB of strings again and again, as a pipeline does with its blocks.
faults of_blocks(bool keeps) {
  return in_own_process<faults>([keeps] {
    faults told;
    if (keeps) told.accepted = sluice::keep_freed_memory();
    auto minor = [] {
      rusage used{};
      ::getrusage(RUSAGE_SELF, &used);
      return used.ru_minflt;
    };
    long before = 0;
    for (int round = 0; round < 50; ++round) {
      if (round == 1) before = minor();  // the first one needs its pages in any case
      std::vector<std::unique_ptr<char[]>> block;
      for (int i = 0; i < 30; ++i) {
        block.push_back(std::make_unique<char[]>(100'000));
        std::memset(block.back().get(), i + 1, 100'000);
      }
    }
    told.met = minor() - before;
    return told;
  });
}

}  // namespace

TEST_CASE("memory that is freed and kept is not fetched from the system again", "[memory]") {
  if (kSanitized) return;  // their malloc is another
  faults by_itself = of_blocks(false), kept = of_blocks(true);
#if defined(__GLIBC__)
  CHECK(kept.accepted);
  INFO("page faults: " << by_itself.met << " by itself, " << kept.met << " kept");
  CHECK(kept.met < 100);
  CHECK(by_itself.met > 1000);
#else
  CHECK_FALSE(kept.accepted);
#endif
}
