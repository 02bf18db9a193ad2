// SPDX-License-Identifier: Apache-2.0
// Plans on threads with small stacks. tests/cli/bounds_test.py runs the program with them.
#include <catch2/catch.hpp>

#include <pthread.h>
#include <sys/mman.h>

#include <functional>
#include <string>

#include "base/memory/stack.hpp"
#include "plan/plan_depth.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::small_stack_test {
using Catch::Contains;

namespace {

void on_stack_of(std::size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  REQUIRE(::pthread_attr_init(&attributes) == 0);
  // Memory of its own: for a stack by its size glibc may take a larger one of a thread that has ended.
  void* const stack = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(stack != MAP_FAILED);
  REQUIRE(::pthread_attr_setstack(&attributes, stack, bytes) == 0);
  pthread_t thread{};
  auto start = [](void* f) -> void* {
    (*static_cast<std::function<void()>*>(f))();
    return nullptr;
  };
  REQUIRE(::pthread_create(&thread, &attributes, start, &work) == 0);
  REQUIRE(::pthread_join(thread, nullptr) == 0);
  ::pthread_attr_destroy(&attributes);
  ::munmap(stack, bytes);
}

std::string chain_of(int stages) {
  std::string text = "range(3)";
  for (int i = 1; i < stages; ++i) text += " | take(2)";
  return text;
}

std::string why_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const error& e) { return e.why().to_string(); }
  return "ok";
}

}  // namespace

TEST_CASE("a thread knows its stack") {
  for (std::size_t kib : {256, 512, 4096}) {
    std::size_t all = 0, left = 0;
    on_stack_of(kib << 10, [&] {
      all = stack_bytes();
      left = stack_left();
    });
    CHECK(all <= kib << 10);
    CHECK(all >= (kib - 16) << 10);
    CHECK(left < all);
    CHECK(left > all - (std::size_t{64} << 10));
  }
}

TEST_CASE("the depth of a plan is bounded by the stack of the thread that builds it, and of the one that opens it") {
  runtime rt({.workers = 1});
  const node_ptr deep = parse_plan(chain_of(1000)), small = parse_plan(chain_of(kPlanDepthAlways));
  CHECK_THAT(why_of([&] { (void)parse_plan(chain_of(1001)); }), Contains("more than 1000 stages deep"));
  CHECK(why_of([&] { (void)open_run(rt, deep, {}); }) == "ok");
  std::string made, opened, of_small;
  std::uint32_t most = 0;
  on_stack_of(std::size_t{512} << 10, [&] {
    most = plan_depth_max();
    made = why_of([] { (void)parse_plan(chain_of(990)); });
    opened = why_of([&] { (void)open_run(rt, deep, {}); });
    of_small = why_of([&] { (void)open_run(rt, small, {}); });
  });
  CHECK(most < 128);
  CHECK(most > kPlanDepthAlways);
  const std::string limit =
      "the plan is more than " + std::to_string(most) + " stages deep, and this thread's stack of ";
  CHECK_THAT(made, Contains("invalid_argument") && Contains(limit) && Contains("ulimit -s 8192"));
  CHECK_THAT(opened, Contains("resource_exhausted") && Contains(limit));
  CHECK(of_small == "ok");
}

}  // namespace sluice::lib::small_stack_test
