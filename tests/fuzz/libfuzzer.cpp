// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls. The environment names the target, so that all of them are one program, linked once.
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.hpp"

namespace {

/// Ends the program where SLUICE_FUZZ_TARGET names none.
const sluice::lib::fuzz::target& chosen() {
  const char* name = std::getenv("SLUICE_FUZZ_TARGET");
  if (auto* t = sluice::lib::fuzz::find_target(name ? name : "")) return *t;
  std::fprintf(stderr, "SLUICE_FUZZ_TARGET must name one of:");
  for (auto& t : sluice::lib::fuzz::targets()) std::fprintf(stderr, " %s", std::string(t.name).c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sluice::lib::fuzz::target& t = chosen();
  t.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
